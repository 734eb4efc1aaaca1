//! The tools, one file per kind of memory.

/// Declares the tools of a file: the function, its effect, when to use it, its arguments, and its record; a
/// tool without one answers a text.
macro_rules! tools {
    ($($name:ident: $effect:ident, $description:literal; $input:expr $(=> $output:expr)?;)+) => {
        pub(super) const TOOLS: &[$crate::app::mcp::tool::Tool] = &[$($crate::app::mcp::tool::Tool {
            name: stringify!($name),
            description: $description,
            effect: $crate::app::mcp::tool::Effect::$effect,
            input: $input,
            output: $crate::app::mcp::tool::first(&[$($output)?]),
            run: $name,
        }),+];
    };
}

mod breadcrumb;
pub(crate) mod brief;
pub(crate) mod checkpoint;
mod crumb;
mod forward;
mod history;
mod item;
mod line;
mod recall;
mod search;
mod trace;

use super::tool::{Group, Groups, Tool};

/// The tools in the order in which they are listed, with their group; whether they are for daily use, and so offered by default.
const TABLES: [(Group, bool, &[Tool]); 11] = [
    (Group::Brief, true, brief::TOOLS),
    (Group::Brief, false, recall::TOOLS),
    (Group::Breadcrumb, true, breadcrumb::TOOLS),
    (Group::Forward, true, forward::TOOLS),
    (Group::Trace, true, trace::TOOLS),
    (Group::Trace, true, search::TOOLS),
    (Group::Trace, false, history::TOOLS),
    (Group::Trace, false, item::TOOLS),
    (Group::Trace, false, line::TOOLS),
    (Group::Crumb, false, crumb::TOOLS),
    (Group::Checkpoint, false, checkpoint::TOOLS),
];

pub(crate) fn all() -> impl Iterator<Item = (Group, bool, &'static Tool)> {
    TABLES.into_iter().flat_map(|(group, by_default, tools)| tools.iter().map(move |tool| (group, by_default, tool)))
}

pub(crate) fn offered(groups: &Groups) -> impl Iterator<Item = &'static Tool> {
    let is_offered = |group: Group, by_default: bool| {
        groups.0.iter().any(|chosen| match chosen {
            Group::All => true,
            Group::Default => by_default,
            chosen => *chosen == group,
        })
    };
    all().filter_map(move |(group, by_default, tool)| is_offered(group, by_default).then_some(tool))
}
