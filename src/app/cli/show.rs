//! `git trace show`: an item's content.

use super::ui::{BOLD, DIM, ID, escaped};
use super::{ExitStatus, Session};
use crate::base::error::Result;
use crate::trace::Tip;
use crate::trace::query::show::{Shown, find, to_json};

/// Show the content of an item, byte for byte
///
/// On a terminal, a line that says what it is goes before it, and control characters are made visible. An item that was
/// taken out of the trace is shown too.
#[derive(clap::Args, Debug)]
pub(crate) struct ShowArgs {
    /// Item: its id or four digits of it, #<position>, or a commit that touched it
    item: String,

    /// Revision to show [default: the newest]
    #[arg(long, value_name = "N")]
    revision: Option<u32>,

    /// Show the whole item file: header, empty line, content
    #[arg(long, conflicts_with = "json")]
    header: bool,

    /// Show all that is known of it as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(session: &mut Session, args: &ShowArgs) -> Result<ExitStatus> {
    let repo = &session.repo;
    let name = session.trace(None)?;
    let tip = Tip::of_trace(repo, &name)?;
    let shown = find(repo, &name, &tip, &args.item, args.revision)?;
    if args.json {
        let object = to_json(repo, &shown)?;
        session.ui.json_line(&object.into())?;
        return Ok(ExitStatus::Success);
    }
    let item = &shown.item;
    if args.header {
        let bytes = repo.read_blob(shown.slot.blob)?;
        session.ui.write_content(&bytes)?;
        return Ok(ExitStatus::Success);
    }
    if session.ui.is_terminal() {
        session.ui.page(&session.repo)?;
        let line = caption(session, &shown);
        writeln!(session.ui.out(), "{line}\n")?;
        session.ui.write_content(&item.body)?;
        if !item.body.ends_with(b"\n") {
            writeln!(session.ui.out())?;
        }
    } else {
        session.ui.write_content(&item.body)?;
    }
    Ok(ExitStatus::Success)
}

/// What an item is, in one line for a terminal.
fn caption(session: &Session, shown: &Shown) -> String {
    let Shown { slot, item, is_live } = shown;
    let fields = &item.fields;
    let mut line = session.ui.styled(BOLD, &format!("#{} {}", slot.seq, fields.item_type));
    let words =
        [fields.direction.map(|word| word.to_string()), fields.role.map(|word| word.to_string()), fields.name.clone()];
    for word in words.into_iter().flatten() {
        line.push(' ');
        line.push_str(&escaped(&word));
    }
    let mut details = format!(" revision {}", item.revision);
    if let Some(tokens) = item.tokens {
        details = format!("{details}, {} tokens", tokens.count);
    }
    if !is_live {
        details.push_str(", not in this trace any more");
    }
    line.push_str(&session.ui.styled(DIM, &details));
    line.push(' ');
    line.push_str(&session.ui.styled(ID, &item.id.to_string()));
    line
}
