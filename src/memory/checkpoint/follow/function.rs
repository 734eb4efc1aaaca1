//! Finding the definition of a function, with the tags queries of tree-sitter grammars.

use std::collections::HashSet;
use std::path::Path;

use tree_sitter::{Language, Node, Parser, Query, QueryCursor, StreamingIterator as _};

use super::inside::locate;
use super::{Definition, FollowContext, FollowError, Followed};
use crate::memory::checkpoint::document::ReferenceKind;

/// Longer files are not searched.
const MAX_FILE_LEN: u64 = 4 << 20;
const MAX_DEFINITIONS: usize = 10;
/// How many files that contain the name are parsed.
const MAX_FILES: usize = 500;

/// A definition and how well it matches the reference.
struct Candidate {
    definition: Definition,
    is_qualified: bool,
    has_body: bool,
}

/// Finds the definitions for a reference such as `module.name()`.
pub(crate) fn find(context: &FollowContext<'_>, reference: &str) -> Result<Followed, FollowError> {
    let (qualifiers, name) = names(reference);
    if name.is_empty() {
        return Ok(Followed::Stale(format!("`{reference}` does not name a function")));
    }
    let of_table = context.breadcrumbs.iter().filter(|one| one.known_kind() == Some(ReferenceKind::File));
    let mut named: Vec<_> = of_table.map(|one| one.reference.clone()).collect();
    named.extend(context.artifacts.iter().cloned());
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    search(context.root, &named, &mut seen, &name, &qualifiers, &mut found);
    // A definition in the wrong module is used only if no tracked file has a better one.
    if !found.iter().any(|one| one.is_qualified && one.has_body) {
        let tracked = files_with(context, &name)?;
        search(context.root, &tracked, &mut seen, &name, &qualifiers, &mut found);
    }
    let best = found.iter().map(|one| (one.is_qualified, one.has_body)).max();
    found.retain(|one| Some((one.is_qualified, one.has_body)) == best);
    let definitions: Vec<_> = found.into_iter().take(MAX_DEFINITIONS).map(|one| one.definition).collect();
    Ok(if definitions.is_empty() {
        Followed::Stale(format!("no definition of `{name}` was found in the tracked files"))
    } else {
        Followed::Function(definitions)
    })
}

/// Splits `Parser::new(text)` into the qualifiers `Parser` and the name `new`.
fn names(reference: &str) -> (Vec<String>, String) {
    let path = reference.split('(').next().unwrap_or_default();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let mut words: Vec<_> = path.split(|c| !is_name(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let name = words.pop().unwrap_or_default();
    (words, name)
}

/// The tracked files that contain a word.
fn files_with(context: &FollowContext<'_>, name: &str) -> Result<Vec<String>, FollowError> {
    let args = ["-c", "submodule.recurse=false", "grep", "-z", "-l", "-F", "-w", "-I", "--no-color", "-e", name];
    let answer = context.git.ask(&args)?;
    let paths = answer.stdout.split(|b| *b == 0).filter_map(|path| std::str::from_utf8(path).ok());
    Ok(paths.filter(|path| !path.is_empty() && grammar(path).is_some()).take(MAX_FILES).map(str::to_owned).collect())
}

fn search(
    root: &Path,
    paths: &[String],
    seen: &mut HashSet<String>,
    name: &str,
    qualifiers: &[String],
    found: &mut Vec<Candidate>,
) {
    for path in paths {
        let Some(grammar) = grammar(path) else { continue };
        if !seen.insert(path.clone()) {
            continue;
        }
        // Paths outside of the repository and missing files are skipped.
        let Ok(Some((location, metadata))) = locate(root, path) else { continue };
        if !metadata.is_file() || metadata.len() > MAX_FILE_LEN {
            continue;
        }
        let Ok(text) = std::fs::read(&location) else { continue };
        if memchr::memmem::find(&text, name.as_bytes()).is_some() {
            definitions(&grammar, path, &text, name, qualifiers, found);
        }
    }
}

/// A language and its tags query.
struct Grammar {
    language: Language,
    tags: String,
}

fn grammar(path: &str) -> Option<Grammar> {
    let grammar = |language: tree_sitter_language::LanguageFn, tags: &str| {
        Some(Grammar { language: language.into(), tags: tags.to_owned() })
    };
    // TypeScript's query contains only additions to JavaScript's.
    let typescript = || [tree_sitter_javascript::TAGS_QUERY, tree_sitter_typescript::TAGS_QUERY].join("\n");
    let (_, extension) = path.rsplit_once('.')?;
    match extension {
        "rs" => grammar(tree_sitter_rust::LANGUAGE, tree_sitter_rust::TAGS_QUERY),
        "py" | "pyi" => grammar(tree_sitter_python::LANGUAGE, tree_sitter_python::TAGS_QUERY),
        "js" | "jsx" | "mjs" | "cjs" => grammar(tree_sitter_javascript::LANGUAGE, tree_sitter_javascript::TAGS_QUERY),
        "ts" | "mts" | "cts" => grammar(tree_sitter_typescript::LANGUAGE_TYPESCRIPT, &typescript()),
        "tsx" => grammar(tree_sitter_typescript::LANGUAGE_TSX, &typescript()),
        "go" => grammar(tree_sitter_go::LANGUAGE, tree_sitter_go::TAGS_QUERY),
        "java" => grammar(tree_sitter_java::LANGUAGE, tree_sitter_java::TAGS_QUERY),
        "c" => grammar(tree_sitter_c::LANGUAGE, tree_sitter_c::TAGS_QUERY),
        // Headers may be C or C++; the C++ grammar parses nearly all of C.
        "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => {
            grammar(tree_sitter_cpp::LANGUAGE, tree_sitter_cpp::TAGS_QUERY)
        }
        _ => None,
    }
}

fn definitions(
    grammar: &Grammar,
    path: &str,
    text: &[u8],
    name: &str,
    qualifiers: &[String],
    found: &mut Vec<Candidate>,
) {
    let mut parser = Parser::new();
    if parser.set_language(&grammar.language).is_err() {
        return;
    }
    let (Some(tree), Ok(query)) = (parser.parse(text, None), Query::new(&grammar.language, &grammar.tags)) else {
        return;
    };
    let captures = query.capture_names();
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(&query, tree.root_node(), text);
    let mut spans = HashSet::new();
    while let Some(one) = matches.next() {
        let named = one.captures.iter().find(|capture| captures[capture.index as usize] == "name");
        let defined = one.captures.iter().find(|capture| captures[capture.index as usize].starts_with("definition."));
        let (Some(named), Some(defined)) = (named, defined) else { continue };
        if last_name(text_of(named.node, text)) != name {
            continue;
        }
        let node = complete_definition(defined.node);
        if !spans.insert(node.byte_range()) {
            continue;
        }
        let around = around(node, named.node, text);
        let stem = path.rsplit('/').next().and_then(|file| file.split('.').next()).unwrap_or_default();
        let is_known = |qualifier: &String| {
            let is_it = |word: &str| word.eq_ignore_ascii_case(qualifier);
            is_it(stem) || path.split('/').any(is_it) || around.iter().any(|text| words(text).any(is_it))
        };
        let (line, source) = lines(node, text);
        found.push(Candidate {
            definition: Definition { path: path.to_owned(), line, source },
            is_qualified: qualifiers.is_empty() || qualifiers.last().is_some_and(is_known),
            has_body: has_body(node),
        });
    }
}

fn text_of<'t>(node: Node<'_>, text: &'t [u8]) -> &'t str {
    text.get(node.byte_range()).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
}

/// The last component of a name such as `Canvas::paint`.
fn last_name(text: &str) -> &str {
    text.rsplit("::").next().unwrap_or(text).trim()
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
mod tests {
    use super::*;

    fn found(path: &str, text: &str, reference: &str) -> Vec<(usize, String, bool, bool)> {
        let (qualifiers, name) = names(reference);
        let mut found = Vec::new();
        definitions(&grammar(path).unwrap(), path, text.as_bytes(), &name, &qualifiers, &mut found);
        found
            .into_iter()
            .map(|one| (one.definition.line, one.definition.source, one.is_qualified, one.has_body))
            .collect()
    }

    #[test]
    fn every_query_matches_its_grammar() {
        for path in ["a.rs", "a.py", "a.js", "a.ts", "a.tsx", "a.go", "a.java", "a.c", "a.h"] {
            let grammar = grammar(path).unwrap();
            Query::new(&grammar.language, &grammar.tags).unwrap();
        }
    }

    #[test]
    fn definitions_are_found_in_every_language() {
        let cases = [
            (
                "a.rs",
                "struct P;\nimpl P {\n    /// New.\n    #[must_use]\n    fn make(a: u8) -> P {\n        P\n    }\n}\n",
                "P::make()",
                3,
                5,
            ),
            ("a.py", "import x\n\nclass P:\n    @x\n    def make(self):\n        return 1\n", "P.make", 4, 3),
            ("p.js", "// About.\nexport const make = (a) => {\n  return a;\n};\n", "p.make()", 2, 3),
            ("p.ts", "class P {\n  async make<T>(a: T): Promise<T> {\n    return a;\n  }\n}\n", "P.make()", 2, 3),
            ("p.tsx", "export function make(a: number) {\n  return <b>{a}</b>;\n}\n", "make", 1, 3),
            ("p.go", "package p\n\n// About.\nfunc (p *P) make(a int) int {\n\treturn a\n}\n", "P.make()", 3, 4),
            ("P.java", "class P {\n  int make(int a) {\n    return a;\n  }\n}\n", "P.make()", 2, 3),
            ("p.c", "int make(int a);\nstatic int *make(int a) {\n  return 0;\n}\n", "make()", 2, 3),
            ("p.cpp", "int P::make(int a) {\n  return a;\n}\n", "P::make()", 1, 3),
            ("p.hpp", "class P {\n  int make(int a) {\n    return a;\n  }\n};\n", "P::make()", 2, 3),
        ];
        for (path, text, reference, line, len) in cases {
            let found = found(path, text, reference);
            let best = found.iter().filter(|one| one.2 && one.3).collect::<Vec<_>>();
            assert_eq!(best.len(), 1, "{path}: {found:?}");
            assert_eq!((best[0].0, best[0].1.lines().count()), (line, len), "{path}: {found:?}");
        }
    }

    #[test]
    fn invalid_source_does_not_fail() {
        for text in ["fn make( {{{{ \u{0}", "((((((((", "", "fn make() { \"\u{1F600}"] {
            for path in ["a.rs", "a.py", "a.ts", "a.go", "a.java", "a.c", "a.cpp"] {
                found(path, text, "make");
            }
        }
    }
}
