//! The tools, a file for each kind of memory.

mod breadcrumb;
mod brief;
mod forward;
mod trace;

use super::tool::Tool;

/// All tools, in the order in which they are listed.
pub(super) fn all() -> impl Iterator<Item = &'static Tool> {
    let tables: [&'static [Tool]; 4] = [&brief::TOOLS, &breadcrumb::TOOLS, &forward::TOOLS, &trace::TOOLS];
    tables.into_iter().flatten()
}
