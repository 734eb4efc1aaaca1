//! Text files of lines: the inbox, and the memory that agents share.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::memory::brief::section::{Kind, Section};

/// How much of a file is read, in bytes; a brief holds a few thousand.
const MAX_LEN: u64 = 64 * 1024;

/// Reads the lines of a file, each an entry. Heads of Markdown and of crumb files (`∴CRUMB2 …`, `§core`, `=team`) are none, and
/// marks of lists are left out.
pub(crate) fn read(kind: Kind, path: Option<&Path>) -> Result<Vec<Section>, String> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_LEN).read_to_end(&mut bytes));
    read.map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut section = Section::new(kind);
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        if !line.starts_with(['#', '=', '§']) && !line.starts_with("∴CRUMB") {
            section.push(["- ", "* ", "• "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line), "");
        }
    }
    Ok(vec![section])
}
