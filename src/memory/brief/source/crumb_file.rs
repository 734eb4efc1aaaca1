//! What the agent's crumb file says: who it is, what it must and must not do, and what went wrong before.

use super::cause;
use crate::memory::brief::Request;
use crate::memory::brief::section::{Kind, Section};
use crate::memory::crumb::{CrumbFile, FAILURE_LIMIT, FAILURES, read as read_file, triage};

/// Reads the file's `core`, `rules` and `failures`. Of failures only those are told that matter most, the most important first.
pub(crate) fn read(request: &Request) -> Result<Vec<Section>, String> {
    let Some(path) = &request.crumb else { return Ok(Vec::new()) };
    let bytes = read_file(path).map_err(|error| cause(&error))?;
    let unreadable = |error: &dyn std::error::Error| format!("cannot read `{}`: {error}", path.display());
    let crumb = CrumbFile::parse(&bytes).map_err(|error| unreadable(&error))?;
    let [mut identity, mut rules, mut failures] = [Kind::Identity, Kind::Rules, Kind::Failures].map(Section::new);
    if let Some(header) = crumb.header() {
        identity.push(&format!("{}, session {}", header.identity, header.session), "");
    }
    for (index, section, _) in crumb.entries() {
        match section {
            "core" => identity.push(&crumb.lines[index].text, ""),
            "rules" => rules.push(&crumb.lines[index].text, ""),
            _ => {}
        }
    }
    for score in triage(&crumb).iter().filter(|score| score.section == FAILURES).take(FAILURE_LIMIT) {
        failures.push(&score.line, "");
    }
    Ok(vec![identity, rules, failures])
}
