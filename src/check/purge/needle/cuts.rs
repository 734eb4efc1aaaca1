//! Parts of texts that other commands cut off: before and after `…` and `[…]`, and on the lines around a stub of `clean`.
//!
//! ```text
//! [git-trace cut Bash deploy --key hunt…, 1804 tokens; git trace show 3fa9c1d2 --revision 1]
//! [git-trace cut Read …/contract.txt, 1804 tokens; git trace show 3fa9c1d2 --revision 1]
//! ```
//!
//! Each text is searched in one pass in each direction, however many texts there are.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memchr::memmem;

use super::SHORTEST;
use crate::clean::stub;
use crate::trace::model::trailers::one_line;

const ELLIPSIS: &[u8] = "…".as_bytes();

/// A longer part between two marks is no part of a line that was cut.
const LONGEST_PART: usize = 1024;

/// Finds the beginnings and ends of texts at cuts.
#[derive(Debug)]
pub(super) struct Cuts {
    heads: Trie,
    /// Of the texts backwards.
    tails: Trie,
    /// All texts, for parts that were cut off on both sides.
    texts: Vec<u8>,
}

impl Cuts {
    pub(super) fn of<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> Self {
        let texts: HashSet<Vec<u8>> = texts.into_iter().flat_map(forms_of).collect();
        let mut cuts = Self { heads: Trie::new(), tails: Trie::new(), texts: Vec::new() };
        for text in texts.into_iter().filter(|text| text.len() > SHORTEST) {
            cuts.heads.add(text.iter());
            cuts.tails.add(text.iter().rev());
            cuts.texts.extend(text);
            cuts.texts.push(0);
        }
        cuts.heads.link();
        cuts.tails.link();
        cuts
    }

    /// The parts of the texts at cuts, in order. They may overlap.
    pub(super) fn spans(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let Places { marks, heads, tails } = Places::of(bytes);
        let mut spans = Vec::new();
        let (mut node, mut read) = (ROOT, 0);
        for Place { at, reach, is_line } in heads {
            node = bytes[read..at].iter().fold(node, |node, byte| self.heads.step(node, *byte));
            read = at;
            spans.extend(self.heads.found(node, is_line).map(|len| at - len..reach));
        }
        (node, read) = (ROOT, bytes.len());
        for Place { at, reach, is_line } in tails.into_iter().rev() {
            node = bytes[at..read].iter().rev().fold(node, |node, byte| self.tails.step(node, *byte));
            read = at;
            spans.extend(self.tails.found(node, is_line).map(|len| reach..at + len));
        }
        let (finder, mut known) = (|part: &[u8]| memmem::find(&self.texts, part).is_some(), HashMap::new());
        for pair in marks.windows(2) {
            let part = trimmed(bytes, pair[0].end, pair[1].start);
            if (SHORTEST..=LONGEST_PART).contains(&part.len())
                && *known.entry(&bytes[part.clone()]).or_insert_with_key(|part| finder(part))
            {
                spans.push(part);
            }
        }
        spans.sort_by_key(|span| (span.start, span.end));
        spans
    }
}

/// The text, with other line ends, and on one line; also in JSON.
fn forms_of(text: &[u8]) -> Vec<Vec<u8>> {
    let Ok(text) = std::str::from_utf8(text) else { return vec![text.to_vec()] };
    let line = one_line(text);
    let quoted = |text: &str| {
        let quoted = serde_json::Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let crlf = text.replace("\r\n", "\n").replace('\n', "\r\n");
    [quoted(text), quoted(&line), line, crlf, text.to_owned()].map(String::into_bytes).into()
}

/// Where a text may end or begin.
struct Place {
    at: usize,
    /// The other end of the part to replace, which contains the mark.
    reach: usize,
    /// Only complete lines are there.
    is_line: bool,
}

struct Places {
    /// The marks within lines.
    marks: Vec<Range<usize>>,
    /// In order.
    heads: Vec<Place>,
    /// In order.
    tails: Vec<Place>,
}

impl Places {
    fn of(bytes: &[u8]) -> Self {
        let mut places = Self { marks: Vec::new(), heads: Vec::new(), tails: Vec::new() };
        for start in memmem::find_iter(bytes, ELLIPSIS) {
            let end = start + ELLIPSIS.len();
            let is_bracketed = start > 0 && bytes[start - 1] == b'[' && bytes.get(end) == Some(&b']');
            let mark = if is_bracketed { start - 1..end + 1 } else { start..end };
            let head = bytes[..mark.start].trim_ascii_end().len();
            let is_space = |byte: &&u8| **byte == b' ';
            let tail = mark.end + bytes[mark.end..].iter().take_while(is_space).count();
            let reach = if is_bracketed { head..tail } else { mark.end..mark.start };
            places.heads.push(Place { at: head, reach: reach.start, is_line: false });
            places.tails.push(Place { at: tail, reach: reach.end, is_line: false });
            places.marks.push(mark);
        }
        for start in memmem::find_iter(bytes, stub::START).filter(|start| *start == 0 || bytes[start - 1] == b'\n') {
            if let Some(above) = bytes[..start].strip_suffix(b"\n") {
                let at = above.strip_suffix(b"\r").unwrap_or(above).len();
                places.heads.push(Place { at, reach: at, is_line: true });
            }
            if let Some(end) = memchr::memchr(b'\n', &bytes[start..]) {
                let at = start + end + 1;
                places.tails.push(Place { at, reach: at, is_line: true });
            }
        }
        places.heads.sort_by_key(|place| place.at);
        places.tails.sort_by_key(|place| place.at);
        places
    }
}

fn trimmed(bytes: &[u8], start: usize, end: usize) -> Range<usize> {
    let part = bytes[start..end].trim_ascii_start();
    let start = end - part.len();
    start..start + part.trim_ascii_end().len()
}

const ROOT: u32 = 0;

/// An automaton after Aho and Corasick: its state is the longest beginning of a text that ends at the last byte.
#[derive(Debug)]
struct Trie {
    next: HashMap<(u32, u8), u32>,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Node {
    parent: u32,
    byte: u8,
    depth: u32,
    /// The longest shorter state.
    fallback: u32,
    /// The length of the longest beginning that is a number of complete lines.
    lines: u32,
}

impl Trie {
    fn new() -> Self {
        Self { next: HashMap::new(), nodes: vec![Node::default()] }
    }

    fn add<'b>(&mut self, text: impl Iterator<Item = &'b u8>) {
        let mut node = ROOT;
        for byte in text {
            let Ok(new) = u32::try_from(self.nodes.len()) else { return };
            let depth = self.nodes[node as usize].depth + 1;
            let next = *self.next.entry((node, *byte)).or_insert(new);
            if next == new {
                self.nodes.push(Node { parent: node, byte: *byte, depth, ..Node::default() });
            }
            node = next;
        }
    }

    /// Adds the fallbacks, shortest beginnings first.
    fn link(&mut self) {
        let mut order: Vec<u32> = (1..).take(self.nodes.len() - 1).collect();
        order.sort_by_key(|node| self.nodes[*node as usize].depth);
        for index in order {
            let Node { parent, byte, depth, .. } = self.nodes[index as usize];
            let fallback = if parent == ROOT { ROOT } else { self.step(self.nodes[parent as usize].fallback, byte) };
            let is_line = [b'\n', b'\r'].iter().any(|end| self.next.contains_key(&(index, *end)));
            let is_found = is_line && depth as usize >= SHORTEST;
            let lines = if is_found { depth } else { self.nodes[fallback as usize].lines };
            let node = &mut self.nodes[index as usize];
            (node.fallback, node.lines) = (fallback, lines);
        }
    }

    fn step(&self, mut node: u32, byte: u8) -> u32 {
        loop {
            match self.next.get(&(node, byte)) {
                Some(next) => return *next,
                None if node == ROOT => return ROOT,
                None => node = self.nodes[node as usize].fallback,
            }
        }
    }

    fn found(&self, node: u32, is_line: bool) -> Option<usize> {
        let node = self.nodes[node as usize];
        let len = if is_line { node.lines } else { node.depth } as usize;
        (len >= SHORTEST).then_some(len)
    }
}
