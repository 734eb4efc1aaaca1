//! Checks what is committed, or is about to be: blobs as git has them, never the files of the working tree.
//!
//! Git lists the blobs, since libgit2 cannot read a sparse index. `judge` chooses the validator for each kind of file.

mod checkpoint;
pub(crate) mod fix;
mod other;
mod settings;
mod source;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use thiserror::Error;

use crate::base::error::Diagnostic;
use crate::base::finding::{Finding, LineIndex, Position, Weight};
use crate::base::merge::FileKind;
use crate::git::{Env, Git, GitError};
use crate::memory::breadcrumb::check::Rules;
use crate::memory::breadcrumb::encryption::is_encrypted;
use crate::memory::breadcrumb::store::lines::Lines;
use crate::memory::breadcrumb::{self, Namespaces, Record, StoreFile};
use crate::memory::crumb;
use crate::secrets::{self, Policy, Secret};
use crate::tokens::Counter;
use crate::trace::Time;
use settings::Settings;
use source::Entry;

pub(crate) enum Source {
    Rev(String),
    /// Those that differ between `HEAD` and the index; `GIT_INDEX_FILE` applies.
    Staged,
}

pub(crate) struct Checked {
    /// The path in the repository; bytes that are not UTF-8 are shown as U+FFFD.
    pub(crate) path: String,
    /// `None`: only secrets were looked for.
    pub(crate) kind: Option<FileKind>,
    pub(crate) findings: Vec<Finding>,
}

#[derive(Debug, Error)]
pub(crate) enum CheckError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("`{rev}` is not a commit or tree")]
    NoSuchRev { rev: String },
}

impl Diagnostic for CheckError {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Git(error) => Some(error),
            Self::NoSuchRev { .. } => None,
        }
    }
}

/// The declared namespaces of each store, by folder; an error if the `config.json` cannot be used.
type Declared = HashMap<Vec<u8>, Result<Namespaces, String>>;

/// Checks every file that has a validator, ordered by path, then the others. Settings are read only if a file needs them.
pub(crate) fn check(git: &Git, env: Env, source: &Source, now: Time) -> Result<Vec<Checked>, CheckError> {
    let source = &source::resolved(git, source)?;
    let settings = Settings::new(git, env);
    let source::Listed { entries, others } = source::list(git, source, &settings)?;
    settings.check_kinds()?;
    let declared = declared(git, source, &entries)?;
    let mut checked = Vec::with_capacity(entries.len());
    let (mut checkpoints, mut with_odd_keys) = (Vec::new(), Vec::new());
    let none = HashSet::new();
    let names: Vec<_> = entries.iter().map(|entry| entry.oid.clone()).collect();
    git.blobs::<CheckError>(&names, |index, blob| {
        let entry = &entries[index];
        let findings = match blob {
            _ if entry.is_unmerged => {
                vec![of_file("unmerged", "the file has conflicts", "resolve them and `git add` it")]
            }
            None => vec![of_file("missing", "the blob is not in this repository", "fetch it with `git fetch`")],
            Some(_) if entry.is_link => Vec::new(),
            Some(text) => match entry.kind {
                FileKind::Breadcrumbs => {
                    let findings = judge_breadcrumbs(entry, &text, &declared, &settings, &none, now);
                    if findings.iter().any(|finding| ["bad-key", "unknown-namespace"].contains(&finding.code)) {
                        with_odd_keys.push((index, text));
                    }
                    findings
                }
                FileKind::Crumb => with_secrets(crumb::check(&text, Counter::default()), &text, entry.kind, &settings),
                // Checkpoints are judged together, once all are read.
                FileKind::Checkpoint | FileKind::CheckpointIndex => {
                    checkpoints.push((index, text));
                    Vec::new()
                }
            },
        };
        checked.push(Checked { path: entry.shown_path(), kind: Some(entry.kind), findings });
        Ok(())
    })?;
    for (index, text) in &with_odd_keys {
        let earlier_keys = earlier_keys(git, source, &entries[*index])?;
        checked[*index].findings = judge_breadcrumbs(&entries[*index], text, &declared, &settings, &earlier_keys, now);
    }
    checkpoint::judge(git, source, &settings, &entries, &checkpoints, &mut checked)?;
    except_filtered(git, source, &entries, &mut checked)?;
    other::judge(git, &settings, &others, &mut checked)?;
    Ok(checked)
}

/// Whether a finding is about what a file says, which users of a filter see differently.
fn is_of_content(finding: &Finding) -> bool {
    !["secret", "secret-file", "unmerged", "missing"].contains(&finding.code)
}

/// Replaces what is wrong with the blobs of files that git stores through a filter, such as those of Git LFS: what a filter encrypts may
/// contain anything.
fn except_filtered(git: &Git, source: &Source, entries: &[Entry], checked: &mut [Checked]) -> Result<(), CheckError> {
    let is_wrong = |at: &usize| checked[*at].findings.iter().any(is_of_content);
    let wrong: Vec<usize> = (0..entries.len()).filter(is_wrong).collect();
    let paths: Vec<&[u8]> = wrong.iter().map(|at| &*entries[*at].path).collect();
    let from = match source {
        Source::Rev(rev) => format!("--source={rev}"),
        Source::Staged => "--cached".to_owned(),
    };
    for (at, filter) in wrong.into_iter().zip(git.filters(&paths, Some(&from))?) {
        let Some(filter) = filter else { continue };
        let findings = &mut checked[at].findings;
        findings.retain(|finding| !is_of_content(finding));
        let message = format!("git stores the file through the filter `{filter}`, so it was not checked");
        let remedy = "except it from the filter in `.gitattributes`";
        findings.push(Finding { weight: Weight::Warning, ..of_file("filtered", &message, remedy) });
    }
    Ok(())
}

/// The keys that a file had in the parents of the commit.
fn earlier_keys(git: &Git, source: &Source, entry: &Entry) -> Result<HashSet<Vec<u8>>, CheckError> {
    let mut keys = HashSet::new();
    // `git cat-file` reads one name per line.
    let Some(path) = std::str::from_utf8(&entry.path).ok().filter(|path| !path.contains('\n')) else { return Ok(keys) };
    let parents = match source {
        Source::Rev(rev) => [format!("{rev}^1"), format!("{rev}^2")],
        Source::Staged => ["HEAD", "MERGE_HEAD"].map(str::to_owned),
    };
    git.blobs::<CheckError>(&parents.map(|parent| format!("{parent}:{path}")), |_, blob| {
        let text = blob.unwrap_or_default();
        keys.extend(Lines::new(&text).lines.into_iter().filter_map(|line| Some(line.key?.into_owned())));
        Ok(())
    })?;
    Ok(keys)
}

fn judge_breadcrumbs(
    entry: &Entry,
    text: &[u8],
    declared: &Declared,
    settings: &Settings<'_>,
    earlier_keys: &HashSet<Vec<u8>>,
    now: Time,
) -> Vec<Finding> {
    let declared = declared.get(entry.folder());
    let mut findings = Vec::new();
    let is_secret = entry.path.ends_with(StoreFile::Secret.file_name().as_bytes());
    if is_secret {
        let remedy = "`git rm --cached` it, add it to `.gitignore`, and replace the secrets if it was pushed";
        findings.push(of_file("secret-file", "the file of the secrets is in git", remedy));
    }
    if let Some(Err(problem)) = declared {
        let message = format!("`config.json` in its folder cannot be used: {problem}");
        findings.push(Finding { weight: Weight::Warning, ..of_file("bad-config", &message, "correct it") });
    }
    let none = Namespaces::default();
    let namespaces = declared.and_then(|declared| declared.as_ref().ok()).unwrap_or(&none);
    let file = if is_secret { StoreFile::Secret } else { StoreFile::Shared };
    let stale_before = settings.breadcrumbs_stale_before();
    findings.extend(breadcrumb::check(text, &Rules { file, namespaces, now, earlier_keys, stale_before }));
    with_secrets(findings, text, entry.kind, settings)
}

fn with_secrets(mut findings: Vec<Finding>, text: &[u8], kind: FileKind, settings: &Settings<'_>) -> Vec<Finding> {
    let elsewhere = match kind {
        FileKind::Breadcrumbs => "keep it under a key `secret.*`",
        _ => "move it to a breadcrumb `secret.*`",
    };
    findings.extend(judge_secrets(text, secrets::find(text), elsewhere, settings));
    findings.sort_by_key(|finding| finding.position);
    findings
}

/// The findings about the secrets of `text`. `elsewhere` says where they belong.
fn judge_secrets(text: &[u8], mut secrets: Vec<Secret>, elsewhere: &str, settings: &Settings<'_>) -> Vec<Finding> {
    secrets.retain(|secret| !is_ciphertext(text, &secret.span));
    if secrets.is_empty() {
        return Vec::new();
    }
    // A file is never changed without its author's knowledge, so `redact` refuses as well.
    let weight = match settings.secrets_policy() {
        Some(Policy::Off) => return Vec::new(),
        Some(Policy::Warn) => Weight::Warning,
        Some(Policy::Redact | Policy::Refuse) | None => Weight::Error,
    };
    let index = LineIndex::new(text);
    let finding = |secret: Secret| Finding {
        position: index.position(secret.span.start),
        code: "secret",
        weight,
        message: format!("this looks like {}", secret.what),
        remedy: format!(
            "{elsewhere}, and replace it if it was pushed; if this is a false alarm: \
             git config --add trace.allowSecret {}",
            secret.fingerprint(text)
        ),
        span: secret.span,
    };
    settings.allowed_secrets().others(text, secrets).into_iter().map(finding).collect()
}

/// Whether a span is a part of an encrypted value, which may be committed.
fn is_ciphertext(text: &[u8], span: &Range<usize>) -> bool {
    let start = memchr::memrchr(b'\n', &text[..span.start]).map_or(0, |end| end + 1);
    let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |len| start + len);
    let (Ok(record), Some(found)) = (Record::parse(&text[start..end]), text.get(span.clone())) else { return false };
    let found = String::from_utf8_lossy(found);
    // The line breaks of the value are escapes in the file.
    is_encrypted(&record.value) && found.split("\\n").all(|part| record.value.contains(part))
}

fn of_file(code: &'static str, message: &str, remedy: &str) -> Finding {
    let position = Position { line: 1, column: 1 };
    let (message, remedy) = (message.to_owned(), remedy.to_owned());
    Finding { span: 0..0, position, code, weight: Weight::Error, message, remedy }
}

fn declared(git: &Git, source: &Source, entries: &[Entry]) -> Result<Declared, CheckError> {
    let prefix = match source {
        Source::Rev(rev) => rev.as_str(),
        Source::Staged => "",
    };
    let stores = entries.iter().filter(|entry| entry.kind == FileKind::Breadcrumbs);
    let mut folders: Vec<&[u8]> = stores.map(Entry::folder).collect();
    folders.dedup();
    // `git cat-file` reads one name per line, so other folders have no declared namespaces.
    folders.retain(|folder| std::str::from_utf8(folder).is_ok_and(|folder| !folder.contains('\n')));
    let name = |folder: &&[u8]| format!("{prefix}:{}config.json", String::from_utf8_lossy(folder));
    let names: Vec<_> = folders.iter().map(name).collect();
    let mut found = HashMap::new();
    git.blobs::<CheckError>(&names, |index, blob| {
        let namespaces = blob.map(|text| Namespaces::parse(&text).map_err(|error| error.to_string()));
        found.extend(namespaces.map(|namespaces| (folders[index].to_vec(), namespaces)));
        Ok(())
    })?;
    Ok(found)
}
