//! Expanding: restoring what compression removed.

use crate::memory::crumb::check::FAILURES;
use crate::memory::crumb::compress::archive::Archive;
use crate::memory::crumb::error::CrumbError;
use crate::memory::crumb::grammar::document::{CrumbFile, Line};
use crate::memory::crumb::grammar::entry::{Entry, is_key};

/// Replaces a compressed line by its originals, or adds the archived failure `area:topic` to its section again; returns the
/// restored lines.
pub(crate) fn expand(
    crumb: &mut CrumbFile<'_>,
    archive: &Archive<'_>,
    selector: &str,
) -> Result<Vec<String>, CrumbError> {
    let identity = crumb.header().ok_or(CrumbError::NoHeader)?.identity.to_owned();
    let not_archived = |line: &str| CrumbError::NotArchived { identity: identity.clone(), line: line.to_owned() };
    let is_there = crumb.entries().any(|(_, _, entry)| entry.key() == Some(selector));
    if is_key(selector) && !is_there {
        let mut lines = archive.failure(selector)?;
        lines.retain(|line| Entry::parse(line).is_some_and(|entry| entry.key() == Some(selector)));
        if lines.is_empty() {
            return Err(not_archived(selector));
        }
        for line in &lines {
            crumb.append(FAILURES, line.clone())?;
        }
        return Ok(lines);
    }
    let index = crumb.select(selector)?;
    let line = crumb.lines[index].text.to_string();
    let mut originals = archive.originals(&line)?.ok_or_else(|| not_archived(&line))?;
    // Others may write to a pulled archive, too. Only notes and summaries are compressed, so a rule is no original of them.
    originals.retain(|original| Entry::parse(original).is_some_and(|entry| entry.kind.is_dated()));
    if originals.is_empty() {
        return Err(not_archived(&line));
    }
    let (last_ending, ending) = (crumb.lines[index].ending, crumb.ending());
    let mut lines: Vec<Line<'_>> = originals.iter().map(|original| Line::new(original.clone(), ending)).collect();
    if let Some(last) = lines.last_mut() {
        last.ending = last_ending;
    }
    crumb.lines.splice(index..=index, lines);
    crumb.fix_line_endings();
    Ok(originals)
}
