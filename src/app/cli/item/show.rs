//! `git trace show`: the content of items.

use crate::app::cli::flags::items::ItemsArgs;
use crate::app::cli::{BOLD, Context, DIM, Result, bail, escaped};
use crate::tokens::TokenUsage;
use crate::trace::query::select::Among;
use crate::trace::query::show::{Shown, read, to_json};

/// Print the content of items unchanged
///
/// On a terminal, and if there are several items, a line that describes each item comes first. On a terminal, control characters are
/// shown as escapes. A deleted item is shown too.
#[derive(clap::Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    items: ItemsArgs,
    /// Revision to show, of one item [default: the newest]
    #[arg(long, value_name = "N")]
    revision: Option<u32>,
    /// Print the entire item file: header, empty line, content
    #[arg(long, conflicts_with = "json")]
    header: bool,
    /// Print everything known about each item as JSON, one object per line
    #[arg(long)]
    json: bool,
}

impl ShowArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let (repo, name, tip) = context.current(None)?;
        let ids = self.items.select(context, &name, &tip, Among::LiveOrNamed)?;
        if self.revision.is_some() && ids.len() > 1 {
            bail!("--revision belongs to one item, and {} were named", ids.len());
        }
        if !self.json && !self.header && context.ui.is_terminal() {
            context.ui.page()?;
        }
        ids.iter().enumerate().try_for_each(|(number, id)| {
            let shown = read(repo, &name, &tip, *id, self.revision)?;
            if self.json {
                return context.ui.json(&to_json(repo, &shown, context.counter()?)?);
            }
            let gap = if number > 0 { "\n" } else { "" };
            if ids.len() > 1 || (context.ui.is_terminal() && !self.header) {
                writeln!(context.ui, "{gap}{}\n", caption(context, &shown)?)?;
            }
            let bytes = if self.header { repo.read_blob(shown.slot.blob)? } else { shown.item.body };
            context.ui.write_content(&bytes)?;
            // Only the content of a single item is exact.
            let is_exact = ids.len() == 1 && (self.header || !context.ui.is_terminal());
            if is_exact || bytes.ends_with(b"\n") { Ok(()) } else { writeln!(context.ui) }
        })
    }
}

pub(crate) fn caption(context: &Context, shown: &Shown) -> Result<String> {
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
    details = format!("{details}, {} tokens", item.token_count(context.counter()?));
    if let Some(usage) = item.reported_usage() {
        let TokenUsage { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens } = usage;
        details = format!(
            "{details}, {} reported ({input_tokens} input, {cache_read_tokens} read from and {cache_write_tokens} written to the \
             cache, {output_tokens} output)",
            usage.context_tokens()
        );
    }
    if !is_live {
        details.push_str(", not in this trace any more");
    }
    line.push_str(&context.ui.styled(DIM, &details));
    line.push(' ');
    line.push_str(&context.ui.id(item.id));
    Ok(line)
}
