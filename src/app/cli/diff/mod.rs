//! `git trace diff`: what differs between two states, by item.

mod text;

use super::ui::{BOLD, DIM, ID, escaped};
use super::{ExitStatus, Session};
use crate::base::error::{Result, bail};
use crate::trace::query::diff::json::{diff_to_json, revision_to_json};
use crate::trace::query::diff::markdown::markdown;
use crate::trace::query::diff::revisions::{Revision, revisions};
use crate::trace::query::diff::{Diff, Target, between, target};
use crate::trace::store::write::encoding;
use crate::trace::{ItemId, Tip, TraceName};
use text::Style;

/// Show what differs between two states, by item
///
/// Without an argument: what the last commit changed, and priorities since. With one: from there to now. `A..B` and `A B` go from A
/// to B, `A...B` from what both have in common to B. A state is a trace (or `origin/main`), a commit, an item (the commit that
/// last touched it) or an RFC 3339 time; an item alone shows its revisions.
#[derive(clap::Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct DiffArgs {
    /// States to compare, or an item
    #[arg(value_name = "STATE", num_args = 0..=2)]
    states: Vec<String>,

    /// Lines around what differs
    #[arg(short = 'U', long = "unified", value_name = "N", default_value_t = 3)]
    context: usize,

    /// Mark words as [-removed-] and {+added+} in place of colours
    #[arg(long)]
    word_diff: bool,

    /// One line an item, with how many lines came and went
    #[arg(long, conflicts_with_all = ["name_only", "json", "markdown"])]
    stat: bool,

    /// Only the items' ids
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    name_only: bool,

    /// Answer as JSON, with the items on both sides
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// A comment for a pull request
    #[arg(long)]
    markdown: bool,

    /// Exit with 1 if there is a difference
    #[arg(long)]
    exit_code: bool,
}

pub(crate) fn run(session: &mut Session, args: &DiffArgs) -> Result<ExitStatus> {
    let name = session.trace(None)?;
    let differs = match target(&session.repo, &name, &args.states)? {
        Target::States(states) => {
            let (before, after) = *states;
            let diff = between(&session.repo, before, after, encoding(&session.repo)?)?;
            show(session, args, &diff)?;
            !diff.items.is_empty()
        }
        Target::Item(id) => show_revisions(session, args, &name, id)?,
    };
    Ok(if args.exit_code && differs { ExitStatus::No } else { ExitStatus::Success })
}

fn show(session: &mut Session, args: &DiffArgs, diff: &Diff) -> Result<()> {
    if args.json {
        let answer = diff_to_json(&session.repo, diff)?;
        return Ok(session.ui.json_line(&answer)?);
    }
    if args.markdown {
        let page = markdown(&session.repo, diff, args.context)?;
        return Ok(session.ui.write_content(page.as_bytes())?);
    }
    if diff.items.is_empty() {
        return Ok(());
    }
    session.ui.page(&session.repo)?;
    if args.name_only {
        for slot in diff.items.iter().filter_map(|item| item.entry()) {
            writeln!(session.ui.out(), "{}", slot.id)?;
        }
        return Ok(());
    }
    let summary = session.ui.styled(BOLD, &diff.summary());
    if args.stat {
        for item in &diff.items {
            text::stat(session, item)?;
        }
        writeln!(session.ui.out(), "{summary}")?;
        return Ok(());
    }
    writeln!(session.ui.out(), "{summary}")?;
    let style = Style { context: args.context, words: args.word_diff };
    for item in &diff.items {
        writeln!(session.ui.out())?;
        text::item(session, item, style)?;
    }
    Ok(())
}

/// Shows the revisions of an item, newest first; whether it has more than one.
fn show_revisions(session: &mut Session, args: &DiffArgs, name: &TraceName, id: ItemId) -> Result<bool> {
    let tip = Tip::of_trace(&session.repo, name)?;
    let revisions = revisions(&session.repo, &tip, id)?;
    if args.markdown {
        bail!("--markdown is for two states: an item's revisions are shown as text or JSON");
    }
    if !args.json {
        session.ui.page(&session.repo)?;
    }
    for (number, revision) in revisions.iter().enumerate() {
        if args.json {
            let answer = revision_to_json(&session.repo, revision)?;
            session.ui.json_line(&answer)?;
            continue;
        }
        let Revision { tip, item } = revision;
        if args.name_only {
            writeln!(session.ui.out(), "{}", tip.commit.oid)?;
            continue;
        }
        if number > 0 && !args.stat {
            writeln!(session.ui.out())?;
        }
        let oid = session.ui.styled(ID, &tip.commit.oid.to_string());
        let by = escaped(&format!("{}, {}", tip.time(), tip.commit.author)).into_owned();
        let by = session.ui.styled(DIM, &by);
        writeln!(session.ui.out(), "commit {oid} {by}")?;
        if args.stat {
            text::stat(session, item)?;
        } else {
            text::item(session, item, Style { context: args.context, words: args.word_diff })?;
        }
    }
    Ok(revisions.len() > 1)
}
