//! Our lines in a file of attributes: a block between two comments, at its end.

/// The lines that hand files to the driver; later lines win, so the block goes to the end.
pub(crate) const LINES: [&str; 4] = [
    "**/.synapse/breadcrumbs.jsonl merge=trace",
    "*.crumb merge=trace diff=trace-crumb",
    "**/checkpoints/**/*.md merge=trace",
    "chk-*.md merge=trace",
];

/// Paths of each kind, which must come out as handed to the driver.
pub(crate) const SAMPLES: [&str; 4] =
    [".synapse/breadcrumbs.jsonl", "memory/notes.crumb", "checkpoints/active/plan.md", "chk-plan.md"];

const BEGIN: &str = "# git-trace: begin";
const END: &str = "# git-trace: end";

/// What the first comment adds where there was no file.
const IS_NEW: &str = " (of a new file)";
/// What the first comment adds where the text before it had no line end.
const WAS_OPEN: &str = " (the line above had no end)";

/// A text without our block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Without {
    /// It had none.
    Same,
    Nothing,
    Text(Vec<u8>),
}

/// Whether a text has our block.
#[must_use]
pub(crate) fn has_block(text: &[u8]) -> bool {
    find(text).is_some()
}

/// The text with our block as it should be; `None` if it is so already.
#[must_use]
pub(crate) fn with_block(text: Option<&[u8]>) -> Option<Vec<u8>> {
    let old = text.unwrap_or_default();
    let ending: &[u8] = if first_line(old).ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
    let (before, note, foreign, after) = match find(old) {
        Some(block) => (&old[..block.start], block.note, block.foreign, &old[block.end..]),
        None if text.is_none() => (old, IS_NEW, Vec::new(), &[][..]),
        None if !old.is_empty() && !old.ends_with(b"\n") => (old, WAS_OPEN, Vec::new(), &[][..]),
        None => (old, "", Vec::new(), &[][..]),
    };
    let mut new = before.to_vec();
    if !before.is_empty() && !before.ends_with(b"\n") {
        new.extend(ending);
    }
    let begin = format!("{BEGIN}{note}");
    for line in [begin.as_str()].iter().chain(&LINES).chain(&[END]) {
        new.extend(line.as_bytes());
        new.extend(ending);
    }
    // What others wrote into the block stands behind it from now on.
    new.extend(foreign.concat());
    new.extend(after);
    (new != old).then_some(new)
}

/// The text without our block, as it was before.
#[must_use]
pub(crate) fn without_block(text: &[u8]) -> Without {
    let mut rest = text.to_vec();
    let mut found = false;
    let mut is_new = false;
    while let Some(block) = find(&rest) {
        found = true;
        is_new |= block.note == IS_NEW;
        let mut before = rest[..block.start].to_vec();
        let after = [block.foreign.concat(), rest[block.end..].to_vec()].concat();
        if block.note == WAS_OPEN && after.is_empty() {
            before.pop();
            if before.ends_with(b"\r") {
                before.pop();
            }
        }
        before.extend(after);
        rest = before;
    }
    match (found, is_new && rest.is_empty()) {
        (false, _) => Without::Same,
        (true, true) => Without::Nothing,
        (true, false) => Without::Text(rest),
    }
}

struct Block<'t> {
    start: usize,
    end: usize,
    note: &'static str,
    /// Lines in it that are not ours.
    foreign: Vec<&'t [u8]>,
}

fn find(text: &[u8]) -> Option<Block<'_>> {
    let mut at = 0;
    let lines: Vec<(usize, &[u8])> = text
        .split_inclusive(|b| *b == b'\n')
        .map(|line| {
            at += line.len();
            (at - line.len(), line)
        })
        .collect();
    let begins = |line: &[u8]| {
        let note = std::str::from_utf8(line).ok()?.trim_end().strip_prefix(BEGIN)?;
        ["", IS_NEW, WAS_OPEN].into_iter().find(|known| *known == note)
    };
    let (begin, note) = lines.iter().enumerate().find_map(|(n, (_, line))| Some((n, begins(line)?)))?;
    let rest = &lines[begin + 1..];
    let is_ours = |line: &[u8]| is_our_line(line);
    let is_end = |line: &[u8]| line.trim_ascii_end() == END.as_bytes();
    // Where somebody took the last comment out, only the lines that follow at once and are ours belong to it.
    let (inside, last) = if let Some(end) = rest.iter().position(|(_, line)| is_end(line)) {
        (&rest[..end], begin + 1 + end)
    } else {
        let len = rest.iter().position(|(_, line)| !is_ours(line)).unwrap_or(rest.len());
        (&rest[..len], begin + len)
    };
    let foreign = inside.iter().map(|(_, line)| *line).filter(|line| !is_ours(line)).collect();
    let (last_start, last_line) = lines[last];
    Some(Block { start: lines[begin].0, end: last_start + last_line.len(), note, foreign })
}

/// Whether a line within the block is one that we write, or wrote in an earlier version.
fn is_our_line(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.strip_suffix(b" diff=trace-crumb").unwrap_or(line).ends_with(b" merge=trace")
}

fn first_line(text: &[u8]) -> &[u8] {
    text.split_inclusive(|b| *b == b'\n').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(text: Option<&str>) -> String {
        String::from_utf8(with_block(text.map(str::as_bytes)).unwrap()).unwrap()
    }

    #[test]
    fn what_is_put_in_comes_out_to_the_byte() {
        for before in ["", "*.txt text\n", "*.txt text", "a\r\nb\r\n", "a\r\nb", "\n\n", "# git-trace: beginning\n"] {
            let after = installed(Some(before));
            assert_eq!(with_block(Some(after.as_bytes())), None, "{before:?}");
            assert_eq!(without_block(after.as_bytes()), Without::Text(before.into()), "{before:?}");
            assert_eq!(after.contains("\r\n"), before.contains("\r\n"));
        }
        assert_eq!(without_block(installed(None).as_bytes()), Without::Nothing);
        assert_eq!(without_block(b"*.txt text\n"), Without::Same);
        insta::assert_snapshot!(installed(Some("*.txt text")), @"
        *.txt text
        # git-trace: begin (the line above had no end)
        **/.synapse/breadcrumbs.jsonl merge=trace
        *.crumb merge=trace diff=trace-crumb
        **/checkpoints/**/*.md merge=trace
        chk-*.md merge=trace
        # git-trace: end
        ");
    }

    #[test]
    fn lines_of_others_stay_wherever_they_wrote_them() {
        let text = installed(Some("*.txt text\n")).replace("*.crumb", "*.md merge=union\n*.crumb") + "*.png binary\n";
        let upgraded = installed(Some(&text));
        assert!(upgraded.ends_with("# git-trace: end\n*.md merge=union\n*.png binary\n"), "{upgraded}");
        let left = Without::Text(b"*.txt text\n*.md merge=union\n*.png binary\n".to_vec());
        assert_eq!(without_block(text.as_bytes()), left);
        assert_eq!(without_block(upgraded.as_bytes()), left);
        let without_end = installed(None).replace(END, "mine merge=union");
        assert_eq!(without_block(without_end.as_bytes()), Without::Text(b"mine merge=union\n".to_vec()));
    }

    #[test]
    fn an_older_block_is_brought_up_to_date() {
        let old = installed(Some("a\n")).replace(" diff=trace-crumb\n", "\n");
        assert_eq!(installed(Some(&old)), installed(Some("a\n")));
    }
}
