//! The lines of our settings in the text of a configuration file.
//!
//! Git adds them, but `git config --unset` also removes empty lines, or leaves empty sections beside comments. So uninstalling removes
//! the lines here. The rest of the file keeps its bytes.

/// The sections that we write to, with their first lines as git writes them.
const SECTIONS: [(&str, &[u8]); 2] =
    [("merge.trace", b"[merge \"trace\"]"), ("diff.trace-crumb", b"[diff \"trace-crumb\"]")];

/// Words of the record: the file was new, its last line had no end.
const NEW_FILE: &str = "file:new";
const OPEN_LINE: &str = "line:open";
/// Followed by the name of a section that was in the file.
const SECTION: &str = "section:";

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|b| *b == b'\n')
}

/// What the file was like before we wrote to it, as words of the record.
pub(super) fn state(text: Option<&[u8]>) -> Vec<String> {
    let Some(text) = text else { return vec![NEW_FILE.to_owned()] };
    let is_open = text.last().is_some_and(|last| *last != b'\n');
    let is_there = |header: &[u8]| lines(text).any(|line| line.trim_ascii_start().starts_with(header));
    let sections = SECTIONS.iter().filter(|(_, header)| is_there(header)).map(|(name, _)| format!("{SECTION}{name}"));
    is_open.then(|| OPEN_LINE.to_owned()).into_iter().chain(sections).collect()
}

/// The text without the lines of `keys`, which are ours; `None` if the file is not needed anymore. `state` contains the words of [`state`].
pub(super) fn without(text: &[u8], keys: &[&str], state: &[&str]) -> Option<Vec<u8>> {
    let mut rest = Vec::with_capacity(text.len());
    let mut ends_with_ours = false;
    let all: Vec<&[u8]> = lines(text).collect();
    // Each block but the first starts with the first line of a section.
    for block in all.chunk_by(|_, next| !next.trim_ascii_start().starts_with(b"[")) {
        let section = SECTIONS.iter().find(|(_, header)| block[0].trim_ascii() == *header);
        let is_ours = |line: &[u8]| section.is_some_and(|(name, _)| keys.iter().any(|key| sets(line, name, key)));
        let others: Vec<&[u8]> = block[1..].iter().copied().filter(|line| !is_ours(line)).collect();
        let is_unused = others.iter().all(|line| matches!(line.trim_ascii().first(), None | Some(b'#' | b';')));
        let was_there = section.is_some_and(|(name, _)| state.contains(&&*format!("{SECTION}{name}")));
        if others.len() == block.len() - 1 || !is_unused || was_there {
            rest.extend_from_slice(block[0]);
        }
        rest.extend(others.concat());
        ends_with_ours = block[1..].last().is_some_and(|line| is_ours(line));
    }
    if ends_with_ours && state.contains(&OPEN_LINE) && rest.last() == Some(&b'\n') {
        rest.pop();
    }
    (!rest.is_empty() || !state.contains(&NEW_FILE)).then_some(rest)
}

/// Whether a line of `section` sets `key`, and ends there.
fn sets(line: &[u8], section: &str, key: &str) -> bool {
    let Some(variable) = key.strip_prefix(section).and_then(|rest| rest.strip_prefix('.')) else { return false };
    let line = line.trim_ascii();
    let (name, rest) = line.split_at(line.len().min(variable.len()));
    name.eq_ignore_ascii_case(variable.as_bytes())
        && rest.trim_ascii_start().starts_with(b"=")
        && !line.ends_with(b"\\")
}

#[cfg(test)]
#[path = "../../../../tests/unit/install/lines.rs"]
mod tests;
