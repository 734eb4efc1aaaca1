//! Output: where it goes, whether it is coloured, and that no hostile text reaches a terminal raw.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write};
use std::process::{Child, Command, Stdio};

use anstyle::{AnsiColor, Style};

use crate::base::error::Result;
use crate::git::{Env, Repo};

/// Dim, for what is beside the point.
pub(crate) const DIM: Style = Style::new().dimmed();
/// For ids.
pub(crate) const ID: Style = AnsiColor::Yellow.on_default();
/// For headings.
pub(crate) const BOLD: Style = Style::new().bold();

/// stdout and stderr of this command.
pub(crate) struct Ui {
    out: Out,
    is_terminal: bool,
    /// Whether styles are written; settled by [`Ui::settle_colour`].
    coloured: bool,
    no_color: bool,
}

/// Where the answer goes.
enum Out {
    Stdout(BufWriter<Stdout>),
    Pager(Child),
}

impl Ui {
    pub(crate) fn new(env: &Env) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let no_color = env.text("NO_COLOR").is_some() || env.text("TERM") == Some("dumb");
        let out = Out::Stdout(BufWriter::with_capacity(1 << 16, io::stdout()));
        Self { out, is_terminal, coloured: false, no_color }
    }

    /// Settles whether styles are written, as `color.ui` says.
    pub(crate) fn settle_colour(&mut self, repo: &Repo) -> Result<()> {
        let setting = repo.config()?.text("color.ui")?;
        self.coloured = match setting.as_deref() {
            Some("always") => true,
            Some("never" | "false" | "no" | "off" | "0") => false,
            _ => self.is_terminal && !self.no_color,
        };
        Ok(())
    }

    /// Sends the answer through git's pager where stdout is a terminal, as git's own commands do.
    pub(crate) fn page(&mut self, repo: &Repo) -> Result<()> {
        self.settle_colour(repo)?;
        if !self.is_terminal {
            return Ok(());
        }
        let env = repo.env();
        let configured = repo.config()?.text("core.pager")?;
        if env.is_set("GIT_PAGER") && env.text("GIT_PAGER").is_none() {
            return Ok(());
        }
        let pager = env.text("GIT_PAGER").or(configured.as_deref()).or(env.text("PAGER")).unwrap_or("less");
        if matches!(pager, "" | "cat") {
            return Ok(());
        }
        let mut command = Command::new("sh");
        command.args(["-c", pager]).stdin(Stdio::piped());
        if env.text("LESS").is_none() {
            command.env("LESS", "FRX");
        }
        // Without a pager the answer goes to the terminal itself.
        if let Ok(child) = command.spawn() {
            self.out = Out::Pager(child);
        }
        Ok(())
    }

    /// Where the answer goes. Text of others is to be [`escaped`] before it is written here.
    pub(crate) fn out(&mut self) -> &mut dyn Write {
        match &mut self.out {
            Out::Stdout(stdout) => stdout,
            Out::Pager(child) => match &mut child.stdin {
                Some(stdin) => stdin,
                None => unreachable!("a pager is started with its stdin piped, and it is taken only by finish"),
            },
        }
    }

    /// Whether the answer is read on a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// `text` in a style.
    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        if self.coloured { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Writes content of others: byte for byte into a file or pipe, with its control characters made visible on a terminal.
    pub(crate) fn write_content(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.is_terminal {
            let text = String::from_utf8_lossy(bytes);
            let visible = escaped(&text);
            self.out().write_all(visible.as_bytes())
        } else {
            self.out().write_all(bytes)
        }
    }

    /// A writer of content of others, see [`Ui::write_content`].
    pub(crate) fn content(&mut self) -> Content<'_> {
        Content(self)
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json_line(&mut self, value: &serde_json::Value) -> io::Result<()> {
        let line = value.to_string() + "\n";
        self.write_content(line.as_bytes())
    }

    /// Says something beside the answer, on stderr.
    #[expect(clippy::unused_self, reason = "commands speak through their Ui only")]
    pub(crate) fn note(&self, text: &str) {
        // Where stderr is closed there is nobody to tell.
        let _ = io::stderr().write_all(format!("{}\n", escaped(text)).as_bytes());
    }

    /// Writes out what is buffered and waits for the pager.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        match &mut self.out {
            Out::Stdout(stdout) => stdout.flush(),
            Out::Pager(child) => {
                drop(child.stdin.take());
                child.wait().map(drop)
            }
        }
    }
}

impl Drop for Ui {
    /// Waits for the pager also where the command failed half-way: the terminal is its own until it ends.
    fn drop(&mut self) {
        // What could not be written was said before, or nobody is there to read it.
        let _ = self.finish();
    }
}

/// Writes content of others.
pub(crate) struct Content<'u>(&'u mut Ui);

impl Write for Content<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_content(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.out().flush()
    }
}

/// `text` with every control character but tab and line break, and every character that turns the direction of a line,
/// written as an escape: a terminal obeys those.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    let dangerous = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{061c}')
    };
    if !text.contains(dangerous) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if dangerous(c) {
            // Writing to a String cannot fail. The form is JSON's, so that escaped JSON is JSON.
            let _ = write!(visible, "\\u{:04x}", u32::from(c));
        } else {
            visible.push(c);
        }
    }
    Cow::Owned(visible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_control_characters() {
        assert_eq!(escaped("a\u{1b}[31m\u{9b}2J\r\u{202e}b\n\tc"), "a\\u001b[31m\\u009b2J\\u000d\\u202eb\n\tc");
        assert!(matches!(escaped("plain — text"), Cow::Borrowed(_)));
    }
}
