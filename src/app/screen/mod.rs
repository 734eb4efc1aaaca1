//! The full-screen view of `git trace clean`: the turns and items of a session, what happens to each, and a preview.
//!
//! [`State`] holds the list and reacts to keys, `draw` shows it. No colors are used.

mod draw;
mod help;
mod list;
mod state;

use ratatui::crossterm::event::{self, Event, KeyEventKind};

use crate::base::error::{Context as _, Result};
use crate::clean::Plan;
use crate::trace::query::size::ContextSize;

pub(crate) use draw::totals;
pub(crate) use state::State;

/// What the user decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    Write,
    Quit,
}

/// What follows a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    Stay,
    /// Let the user change the list in an editor.
    Edit,
    Leave(Decision),
}

/// Lets the user change a plan. `edit` lets them change it as a list in their editor; it has the terminal while it runs.
pub(crate) fn run(
    plan: &mut Plan,
    size: &ContextSize,
    mut edit: impl FnMut(&mut Plan) -> Result<()>,
) -> Result<Decision> {
    let mut state = State::new(plan, size);
    loop {
        let next = show(&mut state);
        ratatui::restore();
        match next? {
            Next::Leave(decision) => return Ok(decision),
            Next::Edit | Next::Stay => state.edit(&mut edit),
        }
    }
}

/// Shows the screen until something else needs the terminal.
fn show(state: &mut State<'_>) -> Result<Next> {
    const FAILED: &str = "cannot use the terminal";
    let mut terminal = ratatui::try_init().context(FAILED)?;
    loop {
        terminal.draw(|frame| draw::draw(state, frame)).context(FAILED)?;
        let Event::Key(key) = event::read().context(FAILED)? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match state.press(key) {
            Next::Stay => {}
            next => return Ok(next),
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/screen.rs"]
mod tests;
