//! `git trace show`: an item's content.

use crate::app::cli::{BOLD, Context, DIM, Result, Values, escaped};
use crate::trace::query::show::{Shown, find, to_json};

/// Print the content of an item unchanged
///
/// On a terminal, a line that describes the item comes first, and control characters are shown as escapes. A deleted item
/// is shown too.
#[derive(clap::Args, Debug)]
pub(crate) struct ShowArgs {
    /// Item: id or at least four digits of it, #<position>, or a commit that changed it
    #[arg(add = Values::Items)]
    item: String,
    /// Revision to show [default: the newest]
    #[arg(long, value_name = "N")]
    revision: Option<u32>,
    /// Print the entire item file: header, empty line, content
    #[arg(long, conflicts_with = "json")]
    header: bool,
    /// Print everything known about the item as JSON
    #[arg(long)]
    json: bool,
}

impl ShowArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let (repo, name, tip) = context.current(None)?;
        let shown = find(repo, &name, &tip, &self.item, self.revision)?;
        if self.json {
            return context.ui.json(&to_json(repo, &shown)?);
        }
        let item = &shown.item;
        if self.header {
            return context.ui.write_content(repo.read_blob(shown.slot.blob)?);
        }
        if !context.ui.is_terminal() {
            return context.ui.write_content(&item.body);
        }
        context.ui.page()?;
        writeln!(context.ui, "{}\n", caption(context, &shown))?;
        context.ui.write_content(&item.body)?;
        if !item.body.ends_with(b"\n") {
            writeln!(context.ui)?;
        }
        Ok(())
    }
}

pub(crate) fn caption(context: &Context, shown: &Shown) -> String {
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
    line.push_str(&context.ui.id(item.id));
    line
}
