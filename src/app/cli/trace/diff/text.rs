//! Items of a comparison as text.
//!
//! Lines of items begin with their sign, and control characters are made visible, so nothing that an item says can pass for a
//! line of ours.

use anstyle::{AnsiColor, Style as Ansi};

use crate::app::cli::{BOLD, Context, DIM, ID, Result, Ui, columns, escaped, one_line, padded};
use crate::trace::Item;
use crate::trace::model::trailers::preview;
use crate::trace::query::diff::ItemDiff;
use crate::trace::query::diff::content::{Body, Content};
use crate::trace::query::diff::lines::{Fate, Hunk, Line};

#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// Lines around what differs.
    pub(crate) context: usize,
    /// Whether words are marked by brackets.
    pub(crate) words: bool,
}

const REMOVED: Ansi = AnsiColor::Red.on_default();
const ADDED: Ansi = AnsiColor::Green.on_default();
const HUNK: Ansi = AnsiColor::Cyan.on_default();

/// Columns of the first words of an item, without a terminal.
const PREVIEW: usize = 50;

/// Columns for the differences of an item.
const DIFFERENCES: usize = 12;

pub(crate) fn item(context: &Context, item: &ItemDiff, style: Style) -> Result<()> {
    let content = Content::read(context.repo()?, item)?;
    let body = content.body(style.context);
    let headers = content.headers();
    let shown = matches!(body, Body::Same) && headers.is_empty();
    heading(context, item, &content, shown)?;
    let ui = &context.ui;
    for (key, before, after) in headers {
        for (fate, value) in [(Fate::Removed, before), (Fate::Added, after)] {
            if let Some(value) = value {
                let text = format!("{}{key}: {}", fate.sign(), escaped(&value));
                writeln!(ui, "{}", ui.styled(color(fate), &text))?;
            }
        }
    }
    match body {
        Body::Same => {}
        Body::Binary(before, after) => {
            let size = |len: Option<usize>| len.map_or_else(|| "none".to_owned(), |len| format!("{len} bytes"));
            writeln!(ui, "binary: {} → {}", size(before), size(after))?;
        }
        Body::Text(lines) => {
            for hunk in &lines.hunks {
                write_hunk(ui, hunk, style, item.is_whole(), lines.ends_differ)?;
            }
        }
    }
    Ok(())
}

/// The change of an item, its number, and its kind; also its first words if no text follows.
fn heading(context: &Context, item: &ItemDiff, content: &Content, first_words: bool) -> Result<()> {
    let (Some(slot), Some(shown)) = (item.entry(), content.item()) else { return Ok(()) };
    let ui = &context.ui;
    let mut line = ui.styled(BOLD, &item.changes().join(", "));
    line.extend([" #", &slot.seq.to_string()]);
    if let (true, Some(before)) = (item.moved, &item.before) {
        line.push_str(&ui.styled(DIM, &format!(" (was #{})", before.seq)));
    }
    line.push(' ');
    line.push_str(&if first_words { escaped(&preview(shown)).into_owned() } else { kind(shown) });
    if let Some((before, after)) = item.levels {
        line.push_str(&ui.styled(DIM, &format!(" ({before} → {after})")));
    }
    line.push(' ');
    line.push_str(&ui.id(slot.id));
    writeln!(ui, "{line}")
}

/// The kind of an item: type, direction, role, name or path.
fn kind(item: &Item) -> String {
    let fields = &item.fields;
    let role = fields.role.filter(|_| fields.direction.is_none()).map(|role| role.to_string());
    let words = [fields.direction.map(|word| word.to_string()), role, fields.name.clone(), fields.path.clone()];
    let mut kind = fields.item_type.to_string();
    for word in words.into_iter().flatten() {
        kind.push(' ');
        kind.push_str(&escaped(&word));
    }
    kind
}

fn color(fate: Fate) -> Ansi {
    match fate {
        Fate::Kept => Ansi::new(),
        Fate::Removed => REMOVED,
        Fate::Added => ADDED,
    }
}

fn write_hunk(ui: &Ui, hunk: &Hunk, style: Style, whole: bool, ends_differ: bool) -> Result<()> {
    // A text that was added or removed completely needs no positions.
    if !whole {
        let (old, new) = (hunk.old, hunk.new);
        writeln!(ui, "{}", ui.styled(HUNK, &format!("@@ -{},{} +{},{} @@", old.0, old.1, new.0, new.1)))?;
    }
    for line in &hunk.lines {
        writeln!(ui, "{}", render_line(ui, line, style))?;
        if ends_differ && !line.ended {
            writeln!(ui, "\\ No newline at end")?;
        }
    }
    Ok(())
}

fn render_line(ui: &Ui, line: &Line, style: Style) -> String {
    let plain = color(line.fate);
    let mut text = ui.styled(plain, &line.fate.sign().to_string());
    for (marked, part) in &line.parts {
        let part = escaped(part);
        text.push_str(&match (marked, style.words, line.fate) {
            (true, true, Fate::Removed) => ui.styled(plain, &format!("[-{part}-]")),
            (true, true, Fate::Added) => ui.styled(plain, &format!("{{+{part}+}}")),
            (true, false, _) => ui.styled(plain.invert(), &part),
            _ if line.fate == Fate::Kept => part.into_owned(),
            _ => ui.styled(plain, &part),
        });
    }
    text
}

/// One line for an item: what happened to it, and the number of added and removed lines.
pub(crate) fn stat(context: &Context, item: &ItemDiff) -> Result<()> {
    let content = Content::read(context.repo()?, item)?;
    let (Some(slot), Some(shown)) = (item.entry(), content.item()) else { return Ok(()) };
    let size = match content.body(0) {
        Body::Same => String::new(),
        Body::Text(lines) => format!("+{} -{}", lines.added, lines.removed),
        Body::Binary(before, after) => format!("{} → {} bytes", before.unwrap_or(0), after.unwrap_or(0)),
    };
    let changes = item.changes().join(", ");
    let levels = item.levels.map(|(before, after)| format!("{before} → {after}"));
    let differs: Vec<String> = [size, levels.unwrap_or_default()].into_iter().filter(|part| !part.is_empty()).collect();
    let (place, differs) = (format!(" {changes:<8} {:>6} ", format!("#{}", slot.seq)), differs.join(" "));
    // The differences of most items are short, such as `+10 -230`.
    let used = columns(&place) + slot.id.short().len() + columns(&differs).max(DIFFERENCES) + " ".len() + " | ".len();
    let width = context.ui.width().map_or(PREVIEW, |_| context.ui.left(used));
    let first = padded(&one_line(&preview(shown), width), width);
    let line = format!("{place}{} {first} | {differs}", context.ui.styled(ID, &slot.id.short()));
    writeln!(context.ui, "{}", line.trim_end_matches([' ', '|']))
}
