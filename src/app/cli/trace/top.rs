//! `git trace top`: what fills the context.

use super::branch::NARROW;
use crate::app::cli::flags::NulArgs;
use crate::app::cli::{Context, DIM, ID, Result, Values, columns, escaped, one_line, shortened, without_middle};
use crate::trace::TraceName;
use crate::trace::query::size::ContextSize;
use crate::trace::query::top::{By, Row, Top, top, window_percent};

/// Columns of a text, without a terminal.
const WIDTH: usize = 48;

/// List what fills the context, heaviest first
///
/// Tokens are counted by this program, with those of each item's message. Items that are left out of the context are not
/// listed. A turn is a user prompt and everything up to the next.
#[derive(clap::Args, Debug)]
pub(crate) struct TopArgs {
    /// Trace to show [default: the current trace]
    name: Option<TraceName>,
    /// List `item`, `turn`, `tool`, `path` or `type`
    #[arg(long, value_name = "UNIT", default_value_t = By::Item, add = Values::OneOf(By::VALUES))]
    by: By,
    /// Size of the model's context window in tokens [default: `trace.window`, or that of the session's model]
    #[arg(long, value_name = "N")]
    window: Option<u64>,
    /// Maximum number of rows to list
    #[arg(short = 'n', long = "max-count", value_name = "N", default_value_t = 20)]
    max_count: usize,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

impl TopArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        self.nul.apply(context);
        let (repo, name, view) = context.view(self.name.as_ref(), None)?;
        let counter = context.counter()?;
        let (top, size) = (top(repo, &view, counter, self.by)?, ContextSize::of(repo, &view, counter, self.window)?);
        if self.json {
            return context.ui.json(&top.to_json(repo, &view, &name, (&size, counter), self.max_count)?);
        }
        print(context, &top, &size, self.max_count)
    }
}

/// Prints the heaviest rows. The share of the window is shown if the window is known.
pub(crate) fn print(context: &Context, top: &Top, size: &ContextSize, count: usize) -> Result<()> {
    let ui = &context.ui;
    let width = top.total.to_string().len().max("tokens".len());
    let heading = match top.by {
        By::Item => "item",
        By::Turn => "turn  items  prompt",
        By::Tool | By::Path | By::Type => "items",
    };
    let of_window = if size.window.is_some() { "  window" } else { "" };
    if !ui.ends_with_nul() {
        writeln!(ui, "{}", ui.styled(DIM, &format!("{:>width$}      %{of_window}  {heading}", "tokens")))?;
    }
    for row in top.rows.iter().take(count) {
        let of_window = window_percent(size, row).map(|percent| format!("  {percent:>6.1}")).unwrap_or_default();
        let size = format!("{:>width$}  {:>5.1}{of_window}  ", row.tokens, top.percent(row));
        writeln!(ui, "{size}{}", label(context, top.by, row, columns(&size)))?;
    }
    if ui.ends_with_nul() {
        return Ok(());
    }
    let more = top.rows.len().saturating_sub(count);
    let more = if more > 0 { format!("; {more} more rows: -n {}", top.rows.len()) } else { String::new() };
    let gap = " ".repeat(of_window.len());
    let full = size
        .percent_text(size.size.tokens)
        .map(|percent| format!("; {percent} of the window is full{}", size.omission()));
    let indent = width + 9 + gap.len();
    ui.write_wrapped(indent, &format!("{:>width$}  100.0{gap}  total{}{more}", top.total, full.unwrap_or_default()))
}

/// The label of a row, to the right of `used` columns.
fn label(context: &Context, by: By, row: &Row, used: usize) -> String {
    let ui = &context.ui;
    let text = |used: usize| one_line(&row.text, ui.left(used).min(ui.width().map_or(WIDTH, |_| usize::MAX)));
    let group = row.tool.as_ref().or(row.path.as_ref()).or(row.item_type.as_ref());
    let line = match (by, &row.item) {
        (By::Turn, _) => {
            let place = format!("{:>4}  {:>5}  ", row.turn.unwrap_or_default(), row.items);
            let text = text(used + columns(&place));
            place + &text
        }
        (_, Some(slot)) => {
            let turn = row.turn.unwrap_or_default();
            // A narrow terminal has room for the position only.
            let id = if ui.width().is_some_and(|width| width < NARROW) {
                String::new()
            } else {
                format!("{} ", slot.id.short())
            };
            let place = columns(&format!("#{:<5} {id}turn {turn:<3}  ", slot.seq));
            // A path may be long, and its end says most.
            let path = row.path.as_ref().map(|path| without_middle(&escaped(path), ui.left(used + place) / 2));
            let parts = [row.item_type.as_deref(), row.direction, row.tool.as_deref()];
            let parts = parts.into_iter().flatten().map(|part| escaped(part).into_owned());
            let kind = parts.chain(path).collect::<Vec<_>>().join(" ");
            let text = text(used + place + columns(&kind) + 2);
            let about = shortened(&format!("{kind}  {text}"), ui.left(used + place));
            format!("#{:<5} {}turn {turn:<3}  {about}", slot.seq, ui.styled(ID, &id))
        }
        _ => {
            let count = format!("{:>5}  ", row.items);
            let group = escaped(group.map_or("", String::as_str));
            let group = without_middle(&group, ui.left(used + count.len()));
            count + &group
        }
    };
    line.trim_end().to_owned()
}
