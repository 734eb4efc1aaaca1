//! Finding the definition of a function with git's patterns of function lines.

use std::collections::{BTreeSet, HashSet};

use super::inside::locate;
use super::language::{Language, SETTING, language};
use super::source::{around, defined_at, extent, words};
use super::{Definition, FollowContext, FollowError, Followed};
use crate::base::bounded;
use crate::memory::checkpoint::document::ReferenceKind;
use crate::memory::checkpoint::folder::path_below;

const MAX_FILE_LEN: u64 = 4 << 20;
/// Longer lines are those of generated files.
const MAX_LINE_LEN: usize = 1000;
const MAX_DEFINITIONS: usize = 10;
/// The bytes of a definition that are shown. Nested ones contain each other.
const MAX_SOURCE: usize = 128 << 10;
/// How many files that contain the name are read.
const MAX_FILES: usize = 500;
/// How many lines git is asked about at a time. Calls look like definitions too.
const MAX_CANDIDATES: usize = 20_000;

/// A line that looks like a definition.
struct Candidate {
    path: String,
    language: Language,
    /// From 0.
    line: usize,
    text: String,
}

/// A search for a function, and the definitions found so far.
struct Search<'c> {
    context: &'c FollowContext<'c>,
    qualifiers: Vec<String>,
    name: String,
    seen: HashSet<String>,
    /// The languages of the files that contain the name.
    languages: BTreeSet<String>,
    /// The first ones of the best rank: whether a definition has the qualifiers of the reference, and whether it has a body.
    found: Vec<((bool, bool), Definition)>,
}

/// Finds the definitions for a reference such as `module.name()`.
pub(crate) fn find(context: &FollowContext<'_>, reference: &str) -> Result<Followed, FollowError> {
    let mut search = Search::new(context, reference);
    if search.name.is_empty() {
        return Ok(Followed::Stale(format!("`{reference}` does not name a function")));
    }
    let of_table = context.breadcrumbs.iter().filter(|one| one.known_kind() == Some(ReferenceKind::File));
    let named = of_table.map(|one| &one.reference).chain(&context.artifacts);
    search.search(named.cloned().collect())?;
    // A definition in the wrong module is used only if no tracked file has a better one.
    if !search.found.iter().any(|(rank, _)| *rank == (true, true)) {
        search.search(tracked_files(context, &search.name)?)?;
    }
    let Search { name, found, languages, .. } = search;
    let definitions: Vec<_> = found.into_iter().map(|(_, definition)| definition).collect();
    Ok(if !definitions.is_empty() {
        Followed::Function(definitions)
    } else if languages.is_empty() {
        Followed::Stale(format!("`{name}` is in no tracked file of a known language"))
    } else {
        let languages = Vec::from_iter(languages).join(", ");
        Followed::NotFound(format!("no definition of `{name}` was found by git's patterns for {languages}"))
    })
}

/// The tracked files that contain a name.
fn tracked_files(context: &FollowContext<'_>, name: &str) -> Result<Vec<String>, FollowError> {
    let args = ["-c", "submodule.recurse=false", "grep", "-z", "-l", "-F", "-w", "-I", "--no-color", "-e", name];
    let answer = context.git.ask(&args)?;
    let paths = answer.stdout.split(|b| *b == 0).filter_map(|path| std::str::from_utf8(path).ok());
    Ok(paths.filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

/// The text of a file; `None` if it is outside of the repository, missing, too large, or binary.
fn read(context: &FollowContext<'_>, path: &str) -> Option<String> {
    let (location, metadata) = locate(context.root, path).ok()??;
    // A FIFO would be waited for.
    let is_readable = metadata.is_file() && metadata.len() <= MAX_FILE_LEN;
    let text = is_readable.then(|| bounded::read_file(&location).ok())??;
    (!text.contains(&0)).then(|| String::from_utf8_lossy(&text).into_owned())
}

impl<'c> Search<'c> {
    /// Splits `Parser::new(text)` into the qualifiers `Parser` and the name `new`.
    fn new(context: &'c FollowContext<'c>, reference: &str) -> Self {
        let path = reference.split('(').next().unwrap_or_default();
        let mut qualifiers: Vec<_> = words(path).map(str::to_owned).collect();
        let name = qualifiers.pop().unwrap_or_default();
        let (seen, languages) = (HashSet::new(), BTreeSet::new());
        Self { context, qualifiers, name, seen, languages, found: Vec::new() }
    }

    fn search(&mut self, paths: Vec<String>) -> Result<(), FollowError> {
        let root = self.context.root;
        let exists = |path: String| Some(path_below(root, &locate(root, &path).ok()??.0));
        let paths: Vec<_> =
            paths.into_iter().filter_map(exists).filter(|path| self.seen.insert(path.clone())).collect();
        let attributes = self.context.git.diff_attributes(&paths)?;
        let languages = paths.iter().zip(&attributes).map(|(path, attribute)| language(path, attribute));
        let files: Vec<_> =
            paths.iter().zip(languages).filter_map(|(path, language)| Some((path, language?))).collect();
        let mut candidates = Vec::new();
        for (path, language) in files.into_iter().take(MAX_FILES) {
            candidates.extend(self.candidates(path, &language));
        }
        candidates.truncate(MAX_CANDIDATES);
        let lines: Vec<_> = candidates.iter().map(|one| (one.language.driver.as_str(), one.text.as_str())).collect();
        let are_functions = self.context.git.function_lines(&lines, &[SETTING])?;
        let functions = candidates.into_iter().zip(are_functions).filter(|(_, is)| *is).map(|(one, _)| one);
        let functions: Vec<_> = functions.collect();
        for of_file in functions.chunk_by(|one, other| one.path == other.path) {
            let Some(text) = read(self.context, &of_file[0].path) else { continue };
            let lines: Vec<_> = text.split('\n').collect();
            // The file may have changed since.
            for one in of_file.iter().filter(|one| lines.get(one.line) == Some(&one.text.as_str())) {
                let found = self.definition(one, &lines);
                self.keep(found);
            }
        }
        Ok(())
    }

    fn keep(&mut self, found: ((bool, bool), Definition)) {
        let best = self.found.first().map(|(rank, _)| *rank);
        if best.is_some_and(|best| best < found.0) {
            self.found.clear();
        }
        if best.is_none_or(|best| best <= found.0) && self.found.len() < MAX_DEFINITIONS {
            self.found.push(found);
        }
    }

    fn candidates(&mut self, path: &str, language: &Language) -> Vec<Candidate> {
        let text = read(self.context, path).filter(|text| words(text).any(|word| word == self.name));
        let Some(text) = text else { return Vec::new() };
        self.languages.insert(language.name.clone());
        // The default pattern takes calls too.
        let needs_keyword = language.driver == "set";
        let lines = text.split('\n').enumerate().filter(|(_, line)| line.len() <= MAX_LINE_LEN);
        let defining = lines.filter(|(_, line)| defined_at(line, &self.name, needs_keyword).is_some());
        let candidate = |(line, text): (usize, &str)| Candidate {
            path: path.to_owned(),
            language: language.clone(),
            line,
            text: text.to_owned(),
        };
        defining.map(candidate).take(MAX_CANDIDATES).collect()
    }

    fn definition(&self, one: &Candidate, lines: &[&str]) -> ((bool, bool), Definition) {
        let at = defined_at(&one.text, &self.name, false).unwrap_or_default();
        let around = around(lines, one.line);
        let stem = one.path.rsplit('/').next().and_then(|file| file.split('.').next()).unwrap_or_default();
        let is_known = |qualifier: &String| {
            let is_it = |word: &str| word.eq_ignore_ascii_case(qualifier);
            let near = around.iter().copied().filter(|line| line.len() <= MAX_LINE_LEN);
            let mut near = near.chain([&one.text[..at]]).flat_map(words);
            is_it(stem) || one.path.split('/').any(is_it) || near.any(is_it)
        };
        let extent = extent(lines, one.line);
        let mut room = MAX_SOURCE;
        let shown = lines[extent.clone()].iter().take_while(|line| {
            let fits = line.len() < room;
            room = room.saturating_sub(line.len() + 1);
            fits
        });
        let source = shown.copied().collect::<Vec<&str>>().join("\n").trim_end().to_owned() + "\n";
        let has_body = !source.ends_with(";\n") || source.contains(['{', '=']);
        let definition = Definition { path: one.path.clone(), line: extent.start + 1, source };
        ((self.qualifiers.last().is_none_or(is_known), has_body), definition)
    }
}

#[cfg(test)]
#[path = "../../../../tests/unit/checkpoint/function.rs"]
mod tests;
