//! Our lines in a file of attributes: a block between two comments, at its end.

/// The lines that select our drivers. Later lines win, so the block is at the end.
pub(crate) const LINES: [&str; 4] = [
    "**/.synapse/breadcrumbs.jsonl merge=trace",
    "*.crumb merge=trace diff=trace-crumb",
    "**/checkpoints/**/*.md merge=trace",
    "chk-*.md merge=trace",
];

/// A path of each kind, which git must hand to the driver.
pub(crate) const SAMPLES: [&str; 4] =
    [".synapse/breadcrumbs.jsonl", "memory/notes.crumb", "checkpoints/active/plan.md", "chk-plan.md"];

const BEGIN: &str = "# git-trace: begin";
pub(crate) const END: &str = "# git-trace: end";

/// Follows [`BEGIN`] if there was no file.
const IS_NEW: &str = " (of a new file)";
/// Follows [`BEGIN`] if the text before it had no line end.
const WAS_OPEN: &str = " (the line above had no end)";

pub(crate) fn has_block(text: &[u8]) -> bool {
    find(text).is_some()
}

/// The text with the current block; `None` if it has it already.
pub(crate) fn with_block(text: Option<&[u8]>) -> Option<Vec<u8>> {
    let old = text.unwrap_or_default();
    let first_line = old.split_inclusive(|b| *b == b'\n').next().unwrap_or_default();
    let ending: &[u8] = if first_line.ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
    let block = find(old).unwrap_or_else(|| {
        let note = match text {
            None => IS_NEW,
            Some(old) if !old.is_empty() && !old.ends_with(b"\n") => WAS_OPEN,
            Some(_) => "",
        };
        Block { before: old, note, foreign: Vec::new(), after: &[] }
    });
    let mut new = block.before.to_vec();
    if !new.is_empty() && !new.ends_with(b"\n") {
        new.extend(ending);
    }
    for line in [format!("{BEGIN}{}", block.note).as_str()].iter().chain(&LINES).chain(&[END]) {
        new.extend(line.as_bytes());
        new.extend(ending);
    }
    // Lines that others wrote into the block follow it from now on.
    new.extend(block.foreign.concat());
    new.extend(block.after);
    (new != old).then_some(new)
}

/// The text as it was before; `Some(None)` if there was no file, `None` if it has no block.
#[expect(clippy::option_option, reason = "the file may be kept, changed, or removed")]
pub(crate) fn without_block(text: &[u8]) -> Option<Option<Vec<u8>>> {
    find(text)?;
    let mut rest = text.to_vec();
    let mut is_new = false;
    while let Some(Block { before, note, foreign, after }) = find(&rest) {
        is_new |= note == IS_NEW;
        let after = [&foreign.concat(), after].concat();
        let mut before = before;
        if note == WAS_OPEN && after.is_empty() {
            before = before.strip_suffix(b"\n").unwrap_or(before);
            before = before.strip_suffix(b"\r").unwrap_or(before);
        }
        rest = [before, &after].concat();
    }
    Some((!is_new || !rest.is_empty()).then_some(rest))
}

struct Block<'t> {
    before: &'t [u8],
    note: &'static str,
    foreign: Vec<&'t [u8]>,
    after: &'t [u8],
}

fn find(text: &[u8]) -> Option<Block<'_>> {
    let lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
    let note_of = |line: &[u8]| {
        let note = std::str::from_utf8(line).ok()?.trim_end().strip_prefix(BEGIN)?;
        ["", IS_NEW, WAS_OPEN].into_iter().find(|known| *known == note)
    };
    let (begin, note) = lines.iter().enumerate().find_map(|(n, line)| Some((n, note_of(line)?)))?;
    let rest = &lines[begin + 1..];
    let end = rest.iter().position(|line| line.trim_ascii_end() == END.as_bytes());
    // Without the last comment, only the lines of ours that follow immediately belong to the block.
    let len = end.or_else(|| rest.iter().position(|line| !is_our_line(line))).unwrap_or(rest.len());
    let foreign = rest[..len].iter().copied().filter(|line| !is_our_line(line)).collect();
    let start: usize = lines[..begin].iter().map(|line| line.len()).sum();
    let after: usize = rest[len + usize::from(end.is_some())..].iter().map(|line| line.len()).sum();
    Some(Block { before: &text[..start], note, foreign, after: &text[text.len() - after..] })
}

/// Whether this or an earlier version of ours wrote a line of the block.
fn is_our_line(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.strip_suffix(b" diff=trace-crumb").unwrap_or(line).ends_with(b" merge=trace")
}
