//! Asking the user to choose from a list.

use std::io::{self, Write as _};

use super::ui::{Ui, columns, escaped, one_line, without_middle};
use crate::base::error::{Result, bail};

/// Lets the user choose one of the names, shown with their titles, on stderr by its number; `None` if the answer is empty.
pub(crate) fn choose(ui: &Ui, choices: &[(String, String)]) -> Result<Option<usize>> {
    let width = ui.width().unwrap_or(80).max(20) - "  1  ".len();
    for (index, (name, title)) in choices.iter().enumerate() {
        // The end of a name tells branches apart, so a long one loses its middle.
        let name = without_middle(&escaped(name), if title.is_empty() { width } else { width / 2 });
        let title = one_line(title, width.saturating_sub(columns(&name) + 2));
        ui.note(format!("{:>3}  {name}  {title}", index + 1).trim_end());
    }
    let _ = io::stderr().write_all(b"number (empty: none): ");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    let answer = answer.trim();
    if answer.is_empty() {
        ui.note("nothing was chosen");
        return Ok(None);
    }
    let chosen = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    match chosen.filter(|chosen| *chosen < choices.len()) {
        Some(chosen) => Ok(Some(chosen)),
        None => bail!("`{}` is not a number from 1 to {}", escaped(answer), choices.len()),
    }
}
