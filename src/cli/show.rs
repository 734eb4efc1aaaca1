//! `git trace show`: an item's content.

use anyhow::{Result, bail};

use super::ui::{BOLD, DIM, ID, escaped};
use super::{ExitStatus, Session};
use crate::trace::priority::Record;
use crate::trace::resolve::Resolver;
use crate::trace::tree::Slot;
use crate::trace::{Item, Tip, TraceError, json, revision, total};

/// Show the content of an item, byte for byte
///
/// On a terminal, a line that says what it is goes before it, and control characters are made visible. An item that was
/// taken out of the trace is shown too.
#[derive(clap::Args, Debug)]
pub(super) struct ShowArgs {
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

pub(super) fn run(session: &mut Session, args: &ShowArgs) -> Result<ExitStatus> {
    let repo = &session.repo;
    let name = session.trace(None)?;
    let tip = Tip::of_trace(repo, &name)?;
    let resolver = Resolver::new(repo, &name, &tip)?;
    let id = resolver.item(&args.item)?;
    let in_trace = resolver.find_live(id);
    let (slot, item) = match (in_trace, args.revision) {
        (Some(slot), None) => (slot.clone(), total::read_item(repo, slot)?),
        (_, revision) => match (revision::find(repo, &tip, id, revision)?, revision) {
            (Some(found), _) => found.wanted,
            (None, Some(revision)) => bail!(TraceError::NoSuchRevision { item: id, revision, trace: name }),
            (None, None) => bail!(TraceError::UnknownItem { spec: args.item.clone(), trace: name }),
        },
    };
    if args.json {
        return show_json(session, &slot, &item, in_trace.is_some());
    }
    if args.header {
        let bytes = repo.read_blob(slot.blob)?;
        session.ui.write_content(&bytes)?;
        return Ok(ExitStatus::Success);
    }
    if session.ui.is_terminal() {
        session.ui.page(&session.repo)?;
        let line = caption(session, &slot, &item, in_trace.is_some());
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
fn caption(session: &Session, slot: &Slot, item: &Item, in_trace: bool) -> String {
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
    if !in_trace {
        details.push_str(", not in this trace any more");
    }
    line.push_str(&session.ui.styled(DIM, &details));
    line.push(' ');
    line.push_str(&session.ui.styled(ID, &item.id.to_string()));
    line
}

fn show_json(session: &mut Session, slot: &Slot, item: &Item, in_trace: bool) -> Result<ExitStatus> {
    let levels = Record::open(&session.repo)?.levels(&session.repo, std::slice::from_ref(slot), None)?;
    let mut object = json::to_json(item);
    object.insert("seq".to_owned(), slot.seq.into());
    object.insert("priority".to_owned(), levels.of(slot.id, &slot.item_type).level().as_str().into());
    object.insert("live".to_owned(), in_trace.into());
    session.ui.json_line(&object.into())?;
    Ok(ExitStatus::Success)
}
