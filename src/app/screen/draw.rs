//! How the screen looks.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line as Text, Span};
use ratatui::widgets::{Block, Borders, Cell, Clear, Paragraph, Row, Table, Wrap};

use super::help::{KEYS, PRESET_KEYS};
use super::list::Line;
use super::state::{Pane, State};
use crate::app::ui::{escaped, grouped, one_line};
use crate::clean::{Action, Plan, Preset, Row as PlanRow};
use crate::trace::query::size::ContextSize;
use crate::trace::store::turns::is_prompt;

/// From this width on, the preview is to the right of the list.
const WIDE: u16 = 110;
/// From this height on, the preview is below the list.
const TALL: u16 = 24;
/// From this width on, the list shows presets.
const WITH_PRESETS: u16 = 72;
const HELP_WIDTH: u16 = 60;
/// How many presets a line of the help names.
const PRESETS_IN_LINE: usize = 3;
/// The longest text that the preview shows, in bytes.
const MAX_PREVIEW: usize = 64 << 10;

pub(super) fn draw(state: &mut State<'_>, frame: &mut Frame<'_>) {
    let rows = [Constraint::Min(3), Constraint::Length(1), Constraint::Length(1), Constraint::Length(1)];
    let [body, presets, sums, bottom] = Layout::vertical(rows).areas(frame.area());
    let panes = if body.width >= WIDE {
        Layout::horizontal([Constraint::Percentage(60), Constraint::Percentage(40)]).split(body)
    } else if body.height >= TALL {
        Layout::vertical([Constraint::Percentage(65), Constraint::Percentage(35)]).split(body)
    } else {
        [body].into()
    };
    match panes[..] {
        [list, preview] => {
            draw_list(state, frame, list);
            draw_preview(state, frame, preview);
        }
        _ if state.pane == Pane::Preview => draw_preview(state, frame, body),
        _ => draw_list(state, frame, body),
    }
    frame.render_widget(Paragraph::new(preset_line(state)), presets);
    let text = totals(state.plan, state.size, sums.width.into());
    frame.render_widget(Paragraph::new(text), sums);
    let bottom_line = match (&state.input, &state.message) {
        (Some(input), _) => format!("/{input}"),
        (None, Some(message)) => message.clone(),
        (None, None) => format!("space cut/keep  c t d p  w write  q quit  ? help  ({})", state.order.name()),
    };
    frame.render_widget(Paragraph::new(escaped(&bottom_line).into_owned()), bottom);
    if state.shows_help {
        draw_help(frame);
    }
}

fn bold(text: &str) -> Span<'_> {
    Span::styled(text, Style::new().add_modifier(Modifier::BOLD))
}

fn right(text: String) -> Cell<'static> {
    Cell::from(Text::from(text).alignment(Alignment::Right))
}

fn draw_list(state: &mut State<'_>, frame: &mut Frame<'_>, area: Rect) {
    state.height = usize::from(area.height.saturating_sub(1)).max(1);
    state.top = state.top.min(state.at).max((state.at + 1).saturating_sub(state.height));
    let has_presets = area.width >= WITH_PRESETS;
    let header = ["", "age", "kind", "target", "tokens", "%", if has_presets { "preset" } else { "" }];
    let numbers = |text: &str| matches!(text, "age" | "tokens" | "%");
    let header = Row::new(header.map(|text| if numbers(text) { right(text.to_owned()) } else { Cell::from(text) }));
    let range = state.range.map(|other| state.at.min(other)..=state.at.max(other));
    let shown = state.lines.iter().enumerate().skip(state.top).take(state.height).map(|(index, line)| {
        let row = match line {
            Line::Turn(turn) => turn_row(state, *turn),
            Line::Item(row) => item_row(state, *row),
        };
        let is_in_range = range.as_ref().is_some_and(|range| range.contains(&index));
        let marked = if index == state.at || is_in_range { Modifier::REVERSED } else { Modifier::empty() };
        row.style(Style::new().add_modifier(marked))
    });
    let widths = [
        Constraint::Length(1),
        Constraint::Length(4),
        Constraint::Length(11),
        Constraint::Fill(1),
        Constraint::Length(8),
        Constraint::Length(3),
        Constraint::Length(if has_presets { 13 } else { 0 }),
    ];
    let header = header.style(Style::new().add_modifier(Modifier::UNDERLINED));
    frame.render_widget(Table::new(shown.collect::<Vec<_>>(), widths).header(header), area);
}

fn percent(part: u64, total: u64) -> String {
    ((part * 100 + total / 2) / total.max(1)).to_string()
}

fn turn_row(state: &State<'_>, index: usize) -> Row<'static> {
    let (turn, plan) = (&state.turns[index], &*state.plan);
    let rows = &plan.rows[turn.rows.clone()];
    let prompt = rows.iter().find(|row| is_prompt(&row.entry.item)).or(rows.first());
    let prompt = prompt.map(|row| one_line(&row.entry.target(), 200)).unwrap_or_default();
    let saved: u64 = rows.iter().map(PlanRow::saved).sum();
    let is_open = state.open.contains(&index);
    Row::new([
        Cell::from(if is_open { "-" } else { "+" }),
        Cell::from(""),
        Cell::from(Text::from(format!("turn {}", turn.number)).style(Modifier::BOLD)),
        Cell::from(Text::from(prompt).style(Modifier::BOLD)),
        right(grouped(turn.tokens)),
        right(percent(turn.tokens, plan.before)),
        Cell::from(if saved == 0 { String::new() } else { format!("-{}", grouped(saved)) }),
    ])
}

fn item_row(state: &State<'_>, index: usize) -> Row<'static> {
    let row = &state.plan.rows[index];
    let entry = &row.entry;
    let mark = match row.action {
        Action::Cut => "c",
        Action::Trim => "t",
        Action::Delete => "d",
        Action::Summarize => "S",
        Action::Keep if state.protected.contains(&index) => "p",
        Action::Keep => "",
    };
    let kind = match entry.tool() {
        Some(tool) if entry.item.fields.is_call() => format!("{tool} >"),
        Some(tool) => tool.to_owned(),
        None => entry.slot.item_type.to_string(),
    };
    let preset = match row.preset {
        Some(preset) => preset.as_str(),
        None if row.action == Action::Keep => "",
        None => "by hand",
    };
    Row::new([
        Cell::from(mark),
        right(entry.age.to_string()),
        Cell::from(one_line(&kind, 20)),
        Cell::from(one_line(&entry.target(), 200)),
        right(grouped(entry.tokens)),
        right(percent(entry.tokens, state.plan.before)),
        Cell::from(preset),
    ])
}

fn draw_preview(state: &mut State<'_>, frame: &mut Frame<'_>, area: Rect) {
    let row = match state.current() {
        Some(Line::Item(row)) => Some(row),
        Some(Line::Turn(turn)) => state.turns[turn].rows.clone().next(),
        None => None,
    };
    let mut lines = Vec::new();
    if let Some(row) = row.map(|row| &state.plan.rows[row]) {
        if row.action != Action::Keep {
            lines.push(Text::from(bold("after")));
            match row.content_after() {
                Some(text) => lines.extend(text_lines(text)),
                None if row.action == Action::Summarize => lines.push(Text::from("part of a summary")),
                None => lines.push(Text::from("deleted")),
            }
            lines.push(Text::default());
            lines.push(Text::from(bold("before")));
        }
        lines.extend(text_lines(&row.entry.item.body));
    }
    let wide = usize::from(area.width.max(1));
    let total: usize = lines.iter().map(|line| line.width().div_ceil(wide).max(1)).sum();
    let last = total.saturating_sub(usize::from(area.height).saturating_sub(1));
    state.scroll = state.scroll.min(u16::try_from(last).unwrap_or(u16::MAX));
    let title = row.map(|row| state.plan.rows[row].entry.slot.id.short()).unwrap_or_default();
    let active = if state.pane == Pane::Preview { Modifier::REVERSED } else { Modifier::empty() };
    let block = Block::new().borders(Borders::TOP).title(Span::styled(format!(" {title} "), active));
    let preview = Paragraph::new(lines).wrap(Wrap { trim: false }).scroll((state.scroll, 0)).block(block);
    frame.render_widget(preview, area);
}

/// The lines of a text that came from anywhere, with visible control characters.
fn text_lines(text: &[u8]) -> Vec<Text<'static>> {
    let shown = String::from_utf8_lossy(&text[..text.len().min(MAX_PREVIEW)]);
    let mut lines: Vec<_> = shown.lines().map(|line| Text::from(escaped(line).replace('\t', "    "))).collect();
    if shown.len() < text.len() {
        lines.push(Text::from(format!("… {} more bytes", grouped((text.len() - shown.len()) as u64))));
    }
    lines
}

/// The keys of the presets; those that are on are between brackets.
fn preset_line(state: &State<'_>) -> String {
    let parameters = &state.plan.parameters;
    let keys = Preset::ALL
        .iter()
        .zip(PRESET_KEYS)
        .map(|(preset, key)| if parameters.presets.contains(preset) { format!("[{key}]") } else { format!(" {key} ") });
    format!("keep {}  presets {}", parameters.keep, keys.collect::<String>())
}

/// The tokens before and after, with percentages of the window if it is known. A narrow terminal shows less.
pub(crate) fn totals(plan: &Plan, size: &ContextSize, width: usize) -> String {
    let of_window = |tokens| size.percent_text(tokens).map(|percent| format!(" [{percent}]")).unwrap_or_default();
    let before = grouped(plan.before);
    let after = format!("{}{}", grouped(plan.after()), of_window(plan.size_after(size)));
    let saved = format!("saved {} ({}%)", grouped(plan.saved()), percent(plan.saved(), plan.before));
    let (full, short) = (of_window(size.size.tokens), format!("{before} → {after}  {saved}"));
    let long = format!("before {before}{full}  after {after}  {saved}{}", size.omission());
    let fitting = [long, format!("{short}{}", size.omission())].into_iter().find(|text| text.chars().count() <= width);
    fitting.unwrap_or(short)
}

fn draw_help(frame: &mut Frame<'_>) {
    let mut lines: Vec<_> = KEYS.iter().map(|(keys, what)| Text::from(format!("{keys:<8} {what}"))).collect();
    let presets: Vec<_> = Preset::ALL.iter().zip(PRESET_KEYS).map(|(preset, key)| format!("{key} {preset}")).collect();
    lines.extend(presets.chunks(PRESETS_IN_LINE).map(|chunk| Text::from(format!("{:9}{}", "", chunk.join("  ")))));
    let area = frame.area();
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(area.height);
    let width = HELP_WIDTH.min(area.width);
    let area = Rect { x: (area.width - width) / 2, y: (area.height - height) / 2, width, height };
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(" keys ")), area);
}
