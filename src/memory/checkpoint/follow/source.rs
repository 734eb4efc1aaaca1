//! The extent of a definition, and what encloses it, by indentation. This serves all languages, and parses none.

use std::ops::Range;

/// Lines of a definition, of a comment above it, and between a function and its class.
const MAX_LINES: usize = 5000;

/// Words in front of the name that is defined. Languages without them put parentheses, `=`, or `:` behind it.
const KEYWORDS: &[&str] = &[
    "class",
    "def",
    "defmacro",
    "defmodule",
    "defp",
    "define",
    "enum",
    "entry",
    "fn",
    "fun",
    "func",
    "function",
    "interface",
    "macro",
    "mod",
    "module",
    "namespace",
    "object",
    "package",
    "procedure",
    "program",
    "protocol",
    "record",
    "struct",
    "sub",
    "subroutine",
    "syntax",
    "task",
    "trait",
    "type",
    "union",
];

/// Words and signs with which a definition continues at its own indentation.
const CONTINUATIONS: &[&str] = &[
    "{",
    ")",
    "]",
    ">",
    ":",
    "->",
    "=>",
    "begin",
    "catch",
    "do",
    "else",
    "ensure",
    "exception",
    "finally",
    "is",
    "rescue",
    "then",
    "var",
    "where",
];

/// The place of `name` in a line that defines it. A name in parentheses, such as a parameter, is not defined there.
pub(super) fn defined_at(line: &str, name: &str, needs_keyword: bool) -> Option<usize> {
    line.match_indices(name).map(|(at, _)| at).find(|at| {
        let (before, after) = (&line[..*at], &line[at + name.len()..]);
        if before.ends_with(is_word) || after.starts_with(is_word) {
            return false;
        }
        let is_lisp = before.trim_start().starts_with('(');
        if before.matches('(').count() > before.matches(')').count() && !is_lisp {
            return false;
        }
        // Ruby's names end in these.
        let after = without_generics(after.trim_start_matches(['?', '!']).trim_start());
        if after.starts_with("::") || after.starts_with('.') {
            return false;
        }
        words(before).next_back().is_some_and(|word| KEYWORDS.contains(&word))
            || !needs_keyword && !is_lisp && after.starts_with(['(', '=', ':'])
            || before.starts_with(['-', '+']) && before.trim_end().ends_with(')')
    })
}

/// The text after type parameters.
fn without_generics(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '<' | '[' => depth += 1,
            '>' | ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => return text[at..].trim_start(),
            _ => {}
        }
    }
    text
}

/// The lines that enclose a line: classes, implementations, and modules, from the inside.
pub(super) fn around<'t>(lines: &[&'t str], at: usize) -> Vec<&'t str> {
    let mut own = indent(lines[at]);
    let mut found = Vec::new();
    for line in lines[..at].iter().rev().take(MAX_LINES) {
        let text = line.trim();
        // Perl's packages enclose what follows.
        if text.starts_with("package ") {
            found.push(*line);
            break;
        }
        let is_label =
            text.ends_with(':') && ["public", "private", "protected"].iter().any(|word| text.starts_with(word));
        if indent(line) < own
            && !text.is_empty()
            && !is_label
            && !continues(text)
            && !is_closing(text)
            && !is_about(text)
        {
            own = indent(line);
            found.push(*line);
        }
    }
    found
}

/// The lines of a definition, including comments and attributes directly above.
pub(super) fn extent(lines: &[&str], at: usize) -> Range<usize> {
    first_line(lines, at)..last_line(lines, at) + 1
}

fn first_line(lines: &[&str], at: usize) -> usize {
    let mut first = at;
    let mut is_in_block = false;
    for line in (at.saturating_sub(MAX_LINES)..at).rev() {
        let text = lines[line].trim();
        is_in_block |= text.ends_with("*/") && (text.starts_with("/*") || !text.contains("/*"));
        if !is_in_block && !is_about(text) {
            break;
        }
        is_in_block &= !text.contains("/*");
        if !is_in_block {
            first = line;
        }
    }
    first
}

fn last_line(lines: &[&str], at: usize) -> usize {
    let own = indent(lines[at]);
    let mut is_braced = lines[at].trim_end().ends_with('{');
    let (mut last, mut is_over) = (at, false);
    for (line, text) in lines.iter().enumerate().skip(at + 1).take(MAX_LINES) {
        let (depth, text) = (indent(text), text.trim());
        if text.is_empty() || is_over && depth > own {
            continue;
        }
        if depth > own {
            last = line;
        } else if depth == own && is_closing(text) {
            return line;
        } else if depth == own && !is_over && continues(text) {
            is_braced |= text.ends_with('{');
            last = line;
        } else if is_braced && (own == 0 || text.starts_with('#')) {
            // Labels, instructions for the preprocessor, and texts of several lines start in the first column.
            is_over = true;
        } else {
            break;
        }
    }
    last
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub(super) fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

/// Whether a line is a comment, an attribute, or the parameters of a template.
fn is_about(text: &str) -> bool {
    let starts = ["//", "/*", "--", "@", ";", "%", "[", "! ", "(*", "template<", "template <"];
    // `#include` and `#define` are neither.
    starts.iter().any(|start| text.starts_with(start))
        || text.strip_prefix('#').is_some_and(|rest| !rest.starts_with(is_word))
}

fn continues(text: &str) -> bool {
    CONTINUATIONS.iter().any(|start| {
        let rest = text.strip_prefix(start);
        rest.is_some_and(|rest| !start.ends_with(is_word) || !rest.starts_with(is_word))
    })
}

fn is_closing(text: &str) -> bool {
    let end = text.strip_prefix("end").map(str::trim_start);
    text.starts_with('}')
        || end.is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_alphabetic() || c == ';'))
}
