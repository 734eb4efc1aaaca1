//! The tools, a file for each kind of memory.

mod breadcrumb;
mod brief;
mod checkpoint;
mod crumb;
mod forward;
mod item;
mod line;
mod trace;

use super::tool::Tool;

/// All tools, in the order in which they are listed.
pub(crate) fn all() -> impl Iterator<Item = &'static Tool> {
    let tables: [&'static [Tool]; 8] = [
        &brief::TOOLS,
        &breadcrumb::TOOLS,
        &forward::TOOLS,
        &trace::TOOLS,
        &item::TOOLS,
        &line::TOOLS,
        &crumb::TOOLS,
        &checkpoint::TOOLS,
    ];
    tables.into_iter().flatten()
}
