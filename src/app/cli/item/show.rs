//! `git trace show`: an item's content.

use crate::app::cli::ExitStatus;
use crate::app::context::Context;
use crate::app::ui::{BOLD, DIM, ID, escaped};
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

impl ShowArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let repo = context.repo()?;
        let name = context.trace_name(None)?;
        let tip = Tip::of_trace(repo, &name)?;
        let shown = find(repo, &name, &tip, &self.item, self.revision)?;
        if self.json {
            let object = to_json(repo, &shown)?;
            context.ui.json(&object)?;
            return Ok(ExitStatus::Success);
        }
        let item = &shown.item;
        if self.header {
            let bytes = repo.read_blob(shown.slot.blob)?;
            context.ui.write_content(&bytes)?;
            return Ok(ExitStatus::Success);
        }
        if context.ui.is_terminal() {
            context.ui.page()?;
            let line = caption(context, &shown);
            writeln!(context.ui, "{line}\n")?;
            context.ui.write_content(&item.body)?;
            if !item.body.ends_with(b"\n") {
                writeln!(context.ui)?;
            }
        } else {
            context.ui.write_content(&item.body)?;
        }
        Ok(ExitStatus::Success)
    }
}

/// What an item is, in one line for a terminal.
fn caption(context: &Context, shown: &Shown) -> String {
    let Shown { slot, item, is_live } = shown;
    let fields = &item.fields;
    let mut line = context.ui.styled(BOLD, &format!("#{} {}", slot.seq, fields.item_type));
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
    line.push_str(&context.ui.styled(DIM, &details));
    line.push(' ');
    line.push_str(&context.ui.styled(ID, &item.id.to_string()));
    line
}
