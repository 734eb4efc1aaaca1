//! Following a breadcrumb of a checkpoint to a file, the source of a function, the reason for a decision, or an address.
//!
//! Nothing outside of the repository is read, and nothing is fetched. A missing target makes a breadcrumb stale. That is a
//! result, not an error: the target may exist on another branch.

pub(crate) mod cost;
mod external;
mod function;
mod inside;
mod language;
mod source;

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;

use super::document::{Document, Reference, ReferenceKind};
use crate::base::error::Diagnostic;
use crate::git::{Git, GitError};

pub(crate) use external::address;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Followed {
    File {
        path: String,
        content: Vec<u8>,
    },
    /// The names are sorted, and those of folders end in `/`.
    Folder {
        path: String,
        names: Vec<String>,
    },
    Function(Vec<Definition>),
    Decision(String),
    External(String),
    Stale(String),
    /// It may exist: a function that git's patterns do not recognize, an address or a reason that nobody wrote down.
    NotFound(String),
}

/// `line` counts from 1 and includes the comment above the definition; `source` consists of complete lines.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Definition {
    pub path: String,
    pub line: usize,
    pub source: String,
}

#[derive(Debug, Error)]
pub(crate) enum FollowError {
    #[error("cannot follow `{reference}`: {why}")]
    Outside { reference: String, why: &'static str },
    #[error("the checkpoint has no breadcrumb `{reference}`")]
    Unknown { reference: String },
    #[error("`{reference}` matches several breadcrumbs: {}", found.join(", "))]
    Ambiguous { reference: String, found: Vec<String> },
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Diagnostic for FollowError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unknown { .. } => {
                "list them with `git trace checkpoint breadcrumbs`, or follow an unlisted reference with --type"
            }
            Self::Ambiguous { .. } => "use its number, such as `#2`",
            _ => return None,
        };
        Some(hint.to_owned())
    }

    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        if let Self::Git(error) = self { Some(error) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_of_git_is_kept() {
        let error = crate::base::error::Error::from(FollowError::Git(GitError::NotARepository));
        assert_eq!(error.hint(), Some("run `git init` first, or change into a repository"));
    }
}

/// The repository in which breadcrumbs are followed, and the checkpoint that contains them.
#[derive(Clone, Debug)]
pub(crate) struct FollowContext<'a> {
    pub root: &'a Path,
    /// Runs in `root`.
    pub git: &'a Git,
    pub breadcrumbs: Vec<Reference>,
    /// The files in the Artifact Trail; functions are searched there after the files of breadcrumbs.
    pub artifacts: Vec<String>,
}

impl<'a> FollowContext<'a> {
    pub(crate) fn new(root: &'a Path, git: &'a Git, document: Option<&Document<'_>>) -> Self {
        let breadcrumbs = document.map(Document::breadcrumbs).unwrap_or_default();
        let artifacts = document.map(Document::artifacts).unwrap_or_default();
        Self { root, git, breadcrumbs, artifacts }
    }
}

impl Followed {
    /// The target in `found` and the fields for it, with the fields of the breadcrumb. Without a target, `stale` or `not_found` has the reason.
    pub(crate) fn to_json(&self, reference: &Reference) -> Value {
        let mut value = match self {
            Self::File { path, content } => match std::str::from_utf8(content) {
                Ok(text) => json!({ "found": "file", "path": path, "text": text }),
                Err(_) => json!({ "found": "file", "path": path, "base64": STANDARD.encode(content) }),
            },
            Self::Folder { path, names } => json!({ "found": "folder", "path": path, "names": names }),
            Self::Function(definitions) => json!({ "found": "function", "definitions": definitions }),
            Self::Decision(hint) => json!({ "found": "decision", "text": hint }),
            Self::External(address) => json!({ "found": "external", "address": address }),
            Self::Stale(reason) => json!({ "found": null, "stale": reason }),
            Self::NotFound(reason) => json!({ "found": null, "not_found": reason }),
        };
        value["type"] = reference.kind.clone().into();
        value["reference"] = reference.reference.clone().into();
        value["hint"] = reference.hint.clone().into();
        value
    }
}

/// The breadcrumb with a number (`#2` or `2`), with this reference, or with a reference that contains this text.
pub(crate) fn find_breadcrumb<'r>(breadcrumbs: &'r [Reference], wanted: &str) -> Result<&'r Reference, FollowError> {
    let unknown = || FollowError::Unknown { reference: wanted.to_owned() };
    let plain = super::document::markdown::plain(wanted);
    let exact: Vec<_> = breadcrumbs.iter().filter(|one| one.reference == plain).collect();
    if let [one, ..] = exact[..] {
        return Ok(one);
    }
    let number = plain.strip_prefix('#').unwrap_or(plain).parse::<usize>().ok();
    if let Some(number) = number {
        return number.checked_sub(1).and_then(|at| breadcrumbs.get(at)).ok_or_else(unknown);
    }
    let lower = plain.to_lowercase();
    let like: Vec<_> = breadcrumbs.iter().filter(|one| one.reference.to_lowercase().contains(&lower)).collect();
    match like[..] {
        [one] if !plain.is_empty() => Ok(one),
        [_, _, ..] if !plain.is_empty() => {
            let found = like.iter().map(|one| one.reference.clone()).collect();
            Err(FollowError::Ambiguous { reference: wanted.to_owned(), found })
        }
        _ => Err(unknown()),
    }
}

/// Whether a breadcrumb leads nowhere in this repository.
pub(crate) fn is_stale(context: &FollowContext<'_>, reference: &Reference) -> bool {
    matches!(follow(context, reference), Ok(Followed::Stale(_)) | Err(FollowError::Outside { .. }))
}

/// Follows a breadcrumb; one of unknown type leads to its hint.
///
/// A function is searched in the files that the checkpoint names, then in the tracked files in which `git grep` finds its name.
pub(crate) fn follow(context: &FollowContext<'_>, reference: &Reference) -> Result<Followed, FollowError> {
    if reference.reference.is_empty() {
        return Ok(Followed::Stale("the row has no reference".to_owned()));
    }
    match reference.known_kind() {
        Some(ReferenceKind::File) => inside::read(context.root, &reference.reference),
        Some(ReferenceKind::Function) => function::find(context, &reference.reference),
        Some(ReferenceKind::External) => Ok(match address(&reference.reference) {
            Some(address) => Followed::External(address),
            None => Followed::NotFound(format!("no address is known; search the web for `{}`", reference.reference)),
        }),
        Some(ReferenceKind::Decision) if reference.hint.is_empty() => {
            Ok(Followed::NotFound("no reason is recorded; ask the user".to_owned()))
        }
        Some(ReferenceKind::Decision) | None => Ok(Followed::Decision(reference.hint.clone())),
    }
}
