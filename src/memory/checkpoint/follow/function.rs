//! Finding the definition of a function, with the tags queries of tree-sitter grammars.

use std::collections::HashSet;
use std::path::Path;

use tree_sitter::{Language, Node, Parser, Query, QueryCursor, StreamingIterator as _};

use super::inside::locate;
use super::{Definition, FollowContext, FollowError, Followed};
use crate::memory::checkpoint::document::ReferenceKind;

const MAX_FILE_LEN: u64 = 4 << 20;
const MAX_DEFINITIONS: usize = 10;
/// How many files that contain the name are parsed.
const MAX_FILES: usize = 500;

struct Candidate {
    definition: Definition,
    /// Whether it has the qualifiers of the reference, and whether it has a body.
    rank: (bool, bool),
}

/// A search for a function, and the definitions found so far.
struct Search {
    qualifiers: Vec<String>,
    name: String,
    seen: HashSet<String>,
    found: Vec<Candidate>,
}

/// Finds the definitions for a reference such as `module.name()`.
pub(crate) fn find(context: &FollowContext<'_>, reference: &str) -> Result<Followed, FollowError> {
    let mut search = Search::new(reference);
    if search.name.is_empty() {
        return Ok(Followed::Stale(format!("`{reference}` does not name a function")));
    }
    let of_table = context.breadcrumbs.iter().filter(|one| one.known_kind() == Some(ReferenceKind::File));
    let named = of_table.map(|one| &one.reference).chain(&context.artifacts);
    search.search(context.root, named.cloned());
    // A definition in the wrong module is used only if no tracked file has a better one.
    if !search.found.iter().any(|one| one.rank == (true, true)) {
        let tracked = files_with(context, &search.name)?;
        search.search(context.root, tracked);
    }
    let Search { name, mut found, .. } = search;
    let best = found.iter().map(|one| one.rank).max();
    found.retain(|one| Some(one.rank) == best);
    let definitions: Vec<_> = found.into_iter().take(MAX_DEFINITIONS).map(|one| one.definition).collect();
    Ok(if definitions.is_empty() {
        Followed::Stale(format!("no definition of `{name}` was found in the tracked files"))
    } else {
        Followed::Function(definitions)
    })
}

fn files_with(context: &FollowContext<'_>, name: &str) -> Result<Vec<String>, FollowError> {
    let args = ["-c", "submodule.recurse=false", "grep", "-z", "-l", "-F", "-w", "-I", "--no-color", "-e", name];
    let answer = context.git.ask(&args)?;
    let paths = answer.stdout.split(|b| *b == 0).filter_map(|path| std::str::from_utf8(path).ok());
    Ok(paths.filter(|path| !path.is_empty() && grammar(path).is_some()).take(MAX_FILES).map(str::to_owned).collect())
}

struct Grammar {
    language: Language,
    tags: String,
}

fn grammar(path: &str) -> Option<Grammar> {
    // TypeScript's query contains only additions to JavaScript's.
    let typescript = || [tree_sitter_javascript::TAGS_QUERY, tree_sitter_typescript::TAGS_QUERY].join("\n");
    let (_, extension) = path.rsplit_once('.')?;
    let (language, tags) = match extension {
        "rs" => (tree_sitter_rust::LANGUAGE, tree_sitter_rust::TAGS_QUERY.to_owned()),
        "py" | "pyi" => (tree_sitter_python::LANGUAGE, tree_sitter_python::TAGS_QUERY.to_owned()),
        "js" | "jsx" | "mjs" | "cjs" => {
            (tree_sitter_javascript::LANGUAGE, tree_sitter_javascript::TAGS_QUERY.to_owned())
        }
        "ts" | "mts" | "cts" => (tree_sitter_typescript::LANGUAGE_TYPESCRIPT, typescript()),
        "tsx" => (tree_sitter_typescript::LANGUAGE_TSX, typescript()),
        "go" => (tree_sitter_go::LANGUAGE, tree_sitter_go::TAGS_QUERY.to_owned()),
        "java" => (tree_sitter_java::LANGUAGE, tree_sitter_java::TAGS_QUERY.to_owned()),
        "c" => (tree_sitter_c::LANGUAGE, tree_sitter_c::TAGS_QUERY.to_owned()),
        // Headers may be C or C++; the C++ grammar parses nearly all of C.
        "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => {
            (tree_sitter_cpp::LANGUAGE, tree_sitter_cpp::TAGS_QUERY.to_owned())
        }
        _ => return None,
    };
    Some(Grammar { language: language.into(), tags })
}

impl Search {
    /// Splits `Parser::new(text)` into the qualifiers `Parser` and the name `new`.
    fn new(reference: &str) -> Self {
        let path = reference.split('(').next().unwrap_or_default();
        let words = path.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')));
        let mut qualifiers: Vec<_> = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let name = qualifiers.pop().unwrap_or_default();
        Self { qualifiers, name, seen: HashSet::new(), found: Vec::new() }
    }

    fn search(&mut self, root: &Path, paths: impl IntoIterator<Item = String>) {
        for path in paths {
            let Some(grammar) = grammar(&path).filter(|_| self.seen.insert(path.clone())) else { continue };
            // Paths outside of the repository and missing files are skipped.
            let Ok(Some((location, metadata))) = locate(root, &path) else { continue };
            if !metadata.is_file() || metadata.len() > MAX_FILE_LEN {
                continue;
            }
            let Ok(text) = std::fs::read(&location) else { continue };
            if memchr::memmem::find(&text, self.name.as_bytes()).is_some() {
                self.add_definitions(&grammar, &path, &text);
            }
        }
    }

    fn add_definitions(&mut self, grammar: &Grammar, path: &str, text: &[u8]) {
        let mut parser = Parser::new();
        let tree = parser.set_language(&grammar.language).ok().and_then(|()| parser.parse(text, None));
        let (Some(tree), Ok(query)) = (tree, Query::new(&grammar.language, &grammar.tags)) else { return };
        let captures = query.capture_names();
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(&query, tree.root_node(), text);
        let mut spans = HashSet::new();
        while let Some(one) = matches.next() {
            let find = |is_it: fn(&str) -> bool| {
                one.captures.iter().find(|capture| is_it(captures[capture.index as usize])).map(|capture| capture.node)
            };
            let (Some(named), Some(defined)) =
                (find(|name| name == "name"), find(|name| name.starts_with("definition.")))
            else {
                continue;
            };
            let node = complete_definition(defined);
            // A name such as `Canvas::paint` is qualified.
            let name = text_of(named, text).rsplit("::").next().unwrap_or_default().trim();
            if name != self.name || !spans.insert(node.byte_range()) {
                continue;
            }
            let around = around(node, named, text);
            let stem = path.rsplit('/').next().and_then(|file| file.split('.').next()).unwrap_or_default();
            let is_known = |qualifier: &String| {
                let is_it = |word: &str| word.eq_ignore_ascii_case(qualifier);
                is_it(stem) || path.split('/').any(is_it) || around.iter().any(|text| words(text).any(is_it))
            };
            let (line, source) = lines(node, text);
            self.found.push(Candidate {
                definition: Definition { path: path.to_owned(), line, source },
                rank: (self.qualifiers.last().is_none_or(is_known), has_body(node)),
            });
        }
    }
}

fn text_of<'t>(node: Node<'_>, text: &'t [u8]) -> &'t str {
    text.get(node.byte_range()).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// The complete definition: C's queries capture only the declarator, and decorators are parent nodes.
fn complete_definition(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    while let Some(parent) = node.parent() {
        let is_part = node.kind().ends_with("declarator") || matches!(node.kind(), "qualified_identifier");
        if !is_part && parent.kind() != "decorated_definition" && parent.kind() != "template_declaration" {
            break;
        }
        node = parent;
    }
    node
}

fn has_body(node: Node<'_>) -> bool {
    let is_body = |node: Node<'_>| node.child_by_field_name("body").is_some();
    let mut cursor = node.walk();
    // In decorated definitions, templates, and constants, the function is one or two levels below.
    is_body(node)
        || node.children(&mut cursor).any(|child| {
            let mut cursor = child.walk();
            is_body(child) || child.children(&mut cursor).any(is_body)
        })
}

/// The names that enclose a definition: classes, implementations, modules, Go's receiver, C++'s scope.
fn around<'t>(node: Node<'_>, name: Node<'_>, text: &'t [u8]) -> Vec<&'t str> {
    let mut names = Vec::new();
    let mut at = Some(name);
    while let Some(node) = at {
        names.extend(node.child_by_field_name("scope").map(|scope| text_of(scope, text)));
        at = node.parent().filter(|parent| parent.kind() == "qualified_identifier");
    }
    names.extend(node.child_by_field_name("receiver").map(|receiver| text_of(receiver, text)));
    let mut at = node.parent();
    while let Some(node) = at {
        let fields = ["name", "type", "trait"].into_iter().filter_map(|field| node.child_by_field_name(field));
        names.extend(fields.map(|field| text_of(field, text)));
        at = node.parent();
    }
    names
}

/// The lines of a definition, including comments and attributes directly above, and the number of the first line.
fn lines(node: Node<'_>, text: &[u8]) -> (usize, String) {
    let mut first = node.start_position().row;
    let mut at = node;
    while let Some(before) = at.prev_sibling() {
        let is_about = before.kind().contains("comment") || before.kind() == "attribute_item";
        // A line comment may end where the next line starts.
        let end = before.end_position();
        let last_row = if end.column == 0 && end.row > before.start_position().row { end.row - 1 } else { end.row };
        if !is_about || last_row + 1 != first {
            break;
        }
        first = before.start_position().row;
        at = before;
    }
    let last = node.end_position().row;
    let lines = text.split_inclusive(|b| *b == b'\n').skip(first).take(last - first + 1);
    let source = lines.flatten().copied().collect::<Vec<_>>();
    (first + 1, String::from_utf8_lossy(&source).trim_end().to_owned() + "\n")
}

#[cfg(test)]
#[path = "../../../../tests/unit/checkpoint/function.rs"]
mod tests;
