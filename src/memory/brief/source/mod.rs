//! Where a brief takes its entries from: one file a source.

mod breadcrumbs;
mod checkpoint;
mod crumb_file;
mod file;
mod forward;
mod trace;

use super::Request;
use super::section::{Kind, Section};
use crate::git::Repo;
use crate::trace::Time;

/// Reads every source. One that fails is named among the warnings, and the others go on.
pub(crate) fn read_all(repo: &Repo, request: &Request, now: Time, warnings: &mut Vec<String>) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut take = |what: &str, read: Result<Vec<Section>, String>| match read {
        Ok(read) => sections.extend(read),
        Err(cause) => warnings.push(format!("{what}: {cause}")),
    };
    let mut noted = Vec::new();
    take("forward crumbs", forward::read(repo, request, now, &mut noted));
    take("crumb file", crumb_file::read(request));
    take("checkpoint", checkpoint::read(repo));
    take("inbox", file::read(Kind::Inbox, request.inbox.as_deref()));
    take("team", file::read(Kind::Team, request.team.as_deref()));
    take("breadcrumbs", breadcrumbs::read(repo, request, now, &mut noted));
    take("trace", trace::read(repo, request));
    warnings.append(&mut noted);
    sections
}

/// An error in the words of its chain.
fn cause(error: &impl std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}
