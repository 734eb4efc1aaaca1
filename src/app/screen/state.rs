//! The state of the screen, and what keys do to it.

use std::collections::BTreeSet;
use std::mem;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use regex::bytes::{Regex, RegexBuilder};

use super::help::PRESET_KEYS;
use super::list::{Line, Order, Turn, lines, turns, usual_cut};
use super::{Decision, Next};
use crate::base::error::Result;
use crate::clean::{Action, Bundle, Choice, Parameters, Plan, Preset};
use crate::trace::query::size::ContextSize;

/// What undo goes back to.
#[derive(Clone, PartialEq, Debug)]
struct Snapshot {
    parameters: Parameters,
    marks: Vec<(usize, Action)>,
    protected: BTreeSet<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pane {
    List,
    Preview,
}

pub(crate) struct State<'p> {
    pub(super) plan: &'p mut Plan,
    pub(super) size: &'p ContextSize,
    pub(super) turns: Vec<Turn>,
    pub(super) lines: Vec<Line>,
    pub(super) order: Order,
    pub(super) open: BTreeSet<usize>,
    /// The line of the cursor.
    pub(super) at: usize,
    /// The first line on the screen.
    pub(super) top: usize,
    /// The number of lines on the screen.
    pub(super) height: usize,
    /// The other end of a range.
    pub(super) range: Option<usize>,
    pub(super) protected: BTreeSet<usize>,
    pub(super) pane: Pane,
    pub(super) scroll: u16,
    /// A search text that is being typed.
    pub(super) input: Option<String>,
    search: Option<Regex>,
    pub(super) message: Option<String>,
    pub(super) shows_help: bool,
    bundle: usize,
    undo: Vec<Snapshot>,
    redo: Vec<Snapshot>,
}

impl<'p> State<'p> {
    pub(crate) fn new(plan: &'p mut Plan, size: &'p ContextSize) -> Self {
        let turns = turns(plan);
        // A single turn is of no use closed.
        let open = if turns.len() == 1 { BTreeSet::from([0]) } else { BTreeSet::new() };
        let mut state = Self {
            plan,
            size,
            turns,
            lines: Vec::new(),
            order: Order::Reading,
            open,
            at: 0,
            top: 0,
            height: 1,
            range: None,
            protected: BTreeSet::new(),
            pane: Pane::List,
            scroll: 0,
            input: None,
            search: None,
            message: None,
            shows_help: false,
            bundle: 0,
            undo: Vec::new(),
            redo: Vec::new(),
        };
        state.list(None);
        state
    }

    /// The line of the cursor; `None` if there are no items.
    pub(super) fn current(&self) -> Option<Line> {
        self.lines.get(self.at).copied()
    }

    pub(super) fn press(&mut self, key: KeyEvent) -> Next {
        self.message = None;
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if self.shows_help {
            self.shows_help = false;
            return Next::Stay;
        }
        if is_control && key.code == KeyCode::Char('c') {
            return Next::Leave(Decision::Quit);
        }
        if self.input.is_some() {
            self.type_search(key.code);
            return Next::Stay;
        }
        let page = isize::try_from(self.height.max(2) / 2).unwrap_or(1);
        match key.code {
            KeyCode::Char('d') if is_control => self.go(page),
            KeyCode::Char('u') if is_control => self.go(-page),
            _ if is_control => {}
            KeyCode::Char('w') => return self.write(),
            KeyCode::Char('q') => return Next::Leave(Decision::Quit),
            KeyCode::Char('e') => return Next::Edit,
            KeyCode::Char('?') => self.shows_help = true,
            KeyCode::Char('j') | KeyCode::Down => self.go(1),
            KeyCode::Char('k') | KeyCode::Up => self.go(-1),
            KeyCode::PageDown => self.go(page * 2),
            KeyCode::PageUp => self.go(-page * 2),
            KeyCode::Char('g') | KeyCode::Home => self.go(isize::MIN),
            KeyCode::Char('G') | KeyCode::End => self.go(isize::MAX),
            KeyCode::Tab => self.pane = if self.pane == Pane::List { Pane::Preview } else { Pane::List },
            KeyCode::Esc => (self.range, self.pane, self.search) = (None, Pane::List, None),
            KeyCode::Enter => self.enter(),
            KeyCode::Char('s') => {
                self.order = self.order.next();
                self.list(self.current());
            }
            KeyCode::Char('v') => self.range = if self.range.is_some() { None } else { Some(self.at) },
            KeyCode::Char(' ') => self.toggle(),
            KeyCode::Char('c') => self.mark(Action::Cut),
            KeyCode::Char('t') => self.mark(Action::Trim),
            KeyCode::Char('d') => self.mark(Action::Delete),
            KeyCode::Char('S') => self.mark(Action::Summarize),
            KeyCode::Char('p') => self.protect(),
            KeyCode::Char('+' | '=') => self.keep(1),
            KeyCode::Char('-') => self.keep(-1),
            KeyCode::Char('b') => self.next_bundle(),
            KeyCode::Char(key) if PRESET_KEYS.contains(&key) => self.toggle_preset(key),
            KeyCode::Char('z') => self.take_back(),
            KeyCode::Char('Z') => self.take_back_undo(),
            KeyCode::Char('/') => self.input = Some(String::new()),
            KeyCode::Char('n') => self.find(false),
            KeyCode::Char('N') => self.find(true),
            _ => {}
        }
        Next::Stay
    }

    /// Lets the user change the list in their editor.
    pub(super) fn edit(&mut self, edit: &mut impl FnMut(&mut Plan) -> Result<()>) {
        let before = self.snapshot();
        match edit(self.plan) {
            Ok(()) => self.remember(before),
            Err(error) => self.message = Some(error.to_string()),
        }
        let plan = &*self.plan;
        self.protected.retain(|row| plan.rows[*row].action == Action::Keep);
    }

    fn write(&mut self) -> Next {
        if self.plan.changed().next().is_some() {
            return Next::Leave(Decision::Write);
        }
        self.message = Some("nothing is selected".to_owned());
        Next::Stay
    }

    fn go(&mut self, by: isize) {
        if self.pane == Pane::Preview {
            self.scroll = self.scroll.saturating_add_signed(i16::try_from(by).unwrap_or(if by < 0 {
                i16::MIN
            } else {
                i16::MAX
            }));
            return;
        }
        self.at = self.at.saturating_add_signed(by).min(self.lines.len().saturating_sub(1));
        self.scroll = 0;
    }

    fn enter(&mut self) {
        match self.current() {
            Some(Line::Turn(turn)) => {
                if !self.open.remove(&turn) {
                    self.open.insert(turn);
                }
                self.list(self.current());
            }
            Some(Line::Item(_)) => self.pane = Pane::Preview,
            None => {}
        }
    }

    /// Lists the turns and items again. The cursor goes to `line`.
    fn list(&mut self, line: Option<Line>) {
        self.lines = lines(self.plan, &self.turns, &self.open, self.order);
        self.range = None;
        self.at = line.and_then(|line| self.lines.iter().position(|other| *other == line)).unwrap_or(0);
    }

    /// The rows that the cursor or the range is on.
    fn selected(&self) -> Vec<usize> {
        let (first, last) = (self.at.min(self.range.unwrap_or(self.at)), self.at.max(self.range.unwrap_or(self.at)));
        let lines = self.lines.get(first..=last).unwrap_or_default();
        let rows = lines.iter().flat_map(|line| match line {
            Line::Turn(turn) => self.turns[*turn].rows.clone(),
            Line::Item(row) => *row..row + 1,
        });
        rows.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Cuts what is kept; if nothing selected is, keeps it.
    fn toggle(&mut self) {
        let (before, rows) = (self.snapshot(), self.selected());
        let is_cut = rows.iter().any(|row| self.plan.rows[*row].action != Action::Keep);
        let mut done = 0;
        for row in &rows {
            let action = if is_cut { Some(Action::Keep) } else { usual_cut(self.plan, *row) };
            done += usize::from(action.is_some_and(|action| self.plan.mark(*row, action)));
            if !is_cut {
                self.protected.remove(row);
            }
        }
        self.finish(before, &rows, done, "cut");
    }

    fn mark(&mut self, action: Action) {
        let (before, rows) = (self.snapshot(), self.selected());
        let done = rows.iter().filter(|row| self.plan.mark(**row, action)).count();
        let plan = &*self.plan;
        self.protected.retain(|row| plan.rows[*row].action == Action::Keep);
        self.finish(before, &rows, done, action.as_str());
    }

    fn protect(&mut self) {
        let (before, rows) = (self.snapshot(), self.selected());
        for row in &rows {
            self.plan.mark(*row, Action::Keep);
            self.protected.insert(*row);
        }
        self.finish(before, &rows, rows.len(), "protect");
    }

    fn finish(&mut self, before: Snapshot, rows: &[usize], done: usize, verb: &str) {
        self.range = None;
        if done == 0 {
            let or_useless = if ["cut", "trim"].contains(&verb) { ", or it saves nothing" } else { "" };
            self.message = Some(format!("cannot {verb} this{or_useless}"));
        } else if done < rows.len() {
            self.message = Some(format!("{verb}: {done} of {} items", rows.len()));
        }
        self.remember(before);
        if rows.len() == 1 && matches!(self.current(), Some(Line::Item(_))) {
            self.go(1);
        }
    }

    fn keep(&mut self, by: isize) {
        let mut parameters = self.plan.parameters.clone();
        parameters.keep = parameters.keep.saturating_add_signed(by);
        self.choose(parameters);
    }

    fn next_bundle(&mut self) {
        let bundles = [Bundle::Safe, Bundle::Default, Bundle::Aggressive];
        let bundle = bundles[self.bundle % bundles.len()];
        self.bundle += 1;
        self.choose(Parameters::new(&[Choice::Bundle(bundle)], None));
        self.message = Some(format!("bundle {}, keep {}", bundle.as_str(), self.plan.parameters.keep));
    }

    fn toggle_preset(&mut self, key: char) {
        let mut presets = Preset::ALL.into_iter().zip(PRESET_KEYS);
        let Some((preset, _)) = presets.find(|(_, other)| *other == key) else { return };
        let mut parameters = self.plan.parameters.clone();
        if !parameters.presets.remove(&preset) {
            parameters.presets.insert(preset);
        }
        let is_on = parameters.presets.contains(&preset);
        self.choose(parameters);
        self.message = Some(format!("{} is {}", preset.as_str(), if is_on { "on" } else { "off" }));
    }

    /// Uses other presets. What the user marked stays.
    fn choose(&mut self, parameters: Parameters) {
        let before = self.snapshot();
        self.restore(Snapshot { parameters, ..before.clone() });
        self.remember(before);
    }

    fn snapshot(&self) -> Snapshot {
        let protected = self.protected.clone();
        Snapshot { parameters: self.plan.parameters.clone(), marks: self.plan.marks(), protected }
    }

    fn restore(&mut self, snapshot: Snapshot) {
        // Reading the presets' selection again is needed only if they changed.
        if self.plan.parameters == snapshot.parameters {
            for (row, _) in self.plan.marks() {
                self.plan.unmark(row);
            }
        } else {
            self.plan.select(snapshot.parameters);
        }
        let kept = snapshot.protected.iter().map(|row| (*row, Action::Keep));
        for (row, action) in snapshot.marks.into_iter().chain(kept) {
            self.plan.mark(row, action);
        }
        self.protected = snapshot.protected;
    }

    /// Makes `before` what undo goes back to, if something changed.
    fn remember(&mut self, before: Snapshot) {
        if before != self.snapshot() {
            self.undo.push(before);
            self.redo.clear();
        }
    }

    fn take_back(&mut self) {
        let Some(snapshot) = self.undo.pop() else { return self.message = Some("nothing to undo".to_owned()) };
        self.redo.push(self.snapshot());
        self.restore(snapshot);
    }

    fn take_back_undo(&mut self) {
        let Some(snapshot) = self.redo.pop() else { return self.message = Some("nothing to redo".to_owned()) };
        self.undo.push(self.snapshot());
        self.restore(snapshot);
    }

    fn type_search(&mut self, key: KeyCode) {
        let Some(input) = &mut self.input else { return };
        match key {
            KeyCode::Esc => self.input = None,
            KeyCode::Backspace => drop(input.pop()),
            KeyCode::Char(c) => input.push(c),
            KeyCode::Enter => {
                let text = mem::take(input);
                self.input = None;
                let search = RegexBuilder::new(&regex::escape(&text)).case_insensitive(true).build();
                self.search = search.ok().filter(|_| !text.is_empty());
                self.find(false);
            }
            _ => {}
        }
    }

    /// Goes to the next or the previous item that matches, and opens its turn.
    fn find(&mut self, backward: bool) {
        let Some(search) = &self.search else { return };
        let start = match self.current() {
            Some(Line::Item(row)) => row,
            Some(Line::Turn(turn)) if backward => self.turns[turn].rows.start,
            // The first item of the turn is a match too.
            Some(Line::Turn(turn)) => self.turns[turn].rows.start + self.plan.rows.len() - 1,
            None => return,
        };
        let count = self.plan.rows.len();
        let order = (1..=count).map(|by| (if backward { start + count - by } else { start + by }) % count);
        let is_match = |row: &usize| {
            let entry = &self.plan.rows[*row].entry;
            search.is_match(&entry.item.body) || search.is_match(entry.target().as_bytes())
        };
        let Some(row) = order.into_iter().find(is_match) else {
            self.message = Some("not found".to_owned());
            return;
        };
        let turn = self.turns.iter().position(|turn| turn.rows.contains(&row));
        self.open.extend(turn);
        self.list(Some(Line::Item(row)));
        self.scroll = 0;
    }
}
