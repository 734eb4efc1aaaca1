//! Output: stdout or the pager, stderr, colors, tables, and the rule that no hostile text reaches a terminal raw.

use super::width::terminal_columns;
pub(crate) use super::width::{columns, one_line, padded, shortened, with_note, without_middle, wrapped};
use crate::base::effect;
use crate::base::error::{Context as _, Result};
pub(crate) use crate::base::escape::{Plain, escaped, message};
use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::fs;
use std::io::{self, BufWriter, IsTerminal as _, Stderr, Stdout, Write};
use std::path::Path;
use std::process::Child;
use std::rc::Rc;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::base::process::Process;
use crate::base::replace::{Access, put, real_path};
use crate::base::terminal::Uninterrupted;
use crate::base::worktree_path::check_outside_git;
use crate::git::{Env, Oid, Repo, parse_bool, short_oid};
use crate::tokens::counter;
use crate::trace::Time;

pub(crate) const DIM: Style = Style::new().dimmed();
/// A match of a search.
pub(crate) const MATCH: Style = AnsiColor::Red.on_default().bold();
pub(crate) const ID: Style = AnsiColor::Yellow.on_default();
pub(crate) const BOLD: Style = Style::new().bold();

/// A text has this many columns even where too few are left.
const LEAST_TEXT: usize = 12;

pub(crate) struct Ui {
    out: RefCell<Out>,
    is_terminal: bool,
    /// The columns that lines may have, if there is a limit.
    width: Option<usize>,
    no_color: bool,
    /// Whether entries of lists end with NUL instead of a newline.
    ends_with_nul: Cell<bool>,
    /// Whether the first line of the answer starts the pager.
    pages: Cell<bool>,
    colored: OnceCell<bool>,
    /// The repository, once a command has opened it: its settings decide on colors and on the pager.
    repo: Rc<OnceCell<Repo>>,
}

/// How many bytes are written at once.
const BLOCK: usize = 64 * 1024;

fn width(env: &Env) -> Option<usize> {
    let told = env.text("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    told.or_else(|| io::stdout().is_terminal().then(terminal_columns))
}

enum Out {
    Stdout(BufWriter<Stdout>),
    Pager {
        child: Child,
        _uninterrupted: Uninterrupted,
    },
    /// Stdout could not be written after the command had changed something.
    Stderr(Stderr),
    Memory(Vec<u8>),
}

impl Out {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Stdout(stdout) => stdout,
            Self::Stderr(stderr) => stderr,
            Self::Memory(text) => text,
            Self::Pager { child, .. } => match &mut child.stdin {
                Some(stdin) => stdin,
                None => unreachable!("a pager is started with its stdin piped, and only finish takes it"),
            },
        }
    }
}

impl Ui {
    pub(crate) fn new(env: &Env, repo: Rc<OnceCell<Repo>>) -> Self {
        Self {
            out: RefCell::new(Out::Stdout(BufWriter::with_capacity(BLOCK, io::stdout()))),
            is_terminal: io::stdout().is_terminal(),
            width: width(env),
            ends_with_nul: Cell::new(false),
            pages: Cell::new(false),
            no_color: env.text("NO_COLOR").is_some() || env.text("TERM") == Some("dumb"),
            colored: OnceCell::new(),
            repo,
        }
    }

    /// Output without colors that [`Ui::take`] returns.
    pub(crate) fn in_memory() -> Self {
        let out = RefCell::new(Out::Memory(Vec::new()));
        Self {
            out,
            is_terminal: false,
            width: None,
            no_color: true,
            ends_with_nul: Cell::new(false),
            pages: Cell::new(false),
            colored: OnceCell::from(false),
            repo: Rc::default(),
        }
    }

    /// The output so far of a [`Ui::in_memory`].
    pub(crate) fn take(&self) -> String {
        match &mut *self.out.borrow_mut() {
            Out::Memory(text) => String::from_utf8_lossy(&std::mem::take(text)).into_owned(),
            _ => String::new(),
        }
    }

    /// What `write` would print.
    pub(crate) fn capture(&self, write: impl FnOnce() -> Result<()>) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.capture_bytes(write)?).into_owned())
    }

    fn capture_bytes(&self, write: impl FnOnce() -> Result<()>) -> Result<Vec<u8>> {
        let before = self.out.replace(Out::Memory(Vec::new()));
        let done = write();
        let written = self.out.replace(before);
        let bytes = if let Out::Memory(bytes) = written { bytes } else { Vec::new() };
        done.map(|()| bytes)
    }

    /// From now on, each entry of a list ends with NUL, and no line is fitted to the width.
    pub(crate) fn end_with_nul(&self) {
        self.ends_with_nul.set(true);
    }

    /// Whether the output is for a program that reads entries up to a NUL, so that headings and totals are left out.
    pub(crate) fn ends_with_nul(&self) -> bool {
        self.ends_with_nul.get()
    }

    /// Writes an entry of a list that may have several lines.
    pub(crate) fn entry(&self, write: impl FnOnce() -> Result<()>) -> Result<()> {
        if !self.ends_with_nul.replace(false) {
            return write();
        }
        let written = self.capture_bytes(write);
        self.ends_with_nul.set(true);
        let mut bytes = written?;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        bytes.push(0);
        Ok(self.deliver(&bytes)?)
    }

    /// Drops what is written from now on. Notes are still printed.
    pub(crate) fn silence(&self) {
        *self.out.borrow_mut() = Out::Memory(Vec::new());
    }

    fn is_colored(&self) -> bool {
        *self.colored.get_or_init(|| {
            let Some(repo) = self.repo.get() else { return false };
            let setting = repo.config().and_then(|config| config.text("color.ui")).ok().flatten();
            match setting.map(|word| word.to_ascii_lowercase()).as_deref() {
                Some("always") => true,
                Some(word) if matches!(word, "" | "never") || parse_bool(word) == Some(false) => false,
                _ => self.is_terminal && !self.no_color,
            }
        })
    }

    /// Whether the answer goes through git's pager if stdout is a terminal, as in git's own commands. JSON is for programs.
    pub(crate) fn page(&self, is_text: bool) {
        self.pages.set(is_text && self.is_terminal);
    }

    fn start_pager(&self) -> Option<Child> {
        let repo = self.repo.get()?;
        let env = repo.env();
        let pager = env.given("GIT_PAGER").map(str::to_owned).or_else(|| repo.program("GIT_PAGER").ok()?)?;
        if matches!(&*pager, "" | "cat") {
            return None;
        }
        let mut command = repo.shell(&Process::on_terminal(&pager));
        if env.text("LESS").is_none() {
            command.env("LESS", "FRX");
        }
        // If the pager cannot be started, the answer goes to the terminal itself.
        command.start_writing().ok()
    }

    /// Makes `writeln!(ui, …)` work. Text from outside must be [`escaped`] first.
    pub(crate) fn write_fmt(&self, text: fmt::Arguments<'_>) -> Result<()> {
        let mut text = text.to_string();
        if self.ends_with_nul() && text.ends_with('\n') {
            text.pop();
            text.push('\0');
        }
        Ok(self.deliver(text.as_bytes())?)
    }

    pub(crate) fn write_raw(&self, bytes: &[u8]) -> Result<()> {
        Ok(self.deliver(bytes)?)
    }

    pub(crate) fn flush(&self) -> Result<()> {
        Ok(self.flush_out()?)
    }

    fn deliver(&self, bytes: &[u8]) -> io::Result<()> {
        // The content may include a token count.
        counter::check().map_err(io::Error::other)?;
        let is_first = matches!(*self.out.borrow(), Out::Stdout(_)) && self.pages.take();
        if let Some(pager) = is_first.then(|| self.start_pager()).flatten() {
            *self.out.borrow_mut() = Out::Pager { child: pager, _uninterrupted: Uninterrupted::new() };
        }
        self.attempt(|writer| writer.write_all(bytes))
    }

    fn flush_out(&self) -> io::Result<()> {
        self.attempt(|writer| writer.flush())
    }

    /// Writes to stdout. If that fails after the command has changed something, the answer goes to stderr: an exit status that
    /// means failure would make the caller repeat the change.
    fn attempt(&self, write: impl Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut out = self.out.borrow_mut();
        match write(out.writer()) {
            Err(error)
                if matches!(*out, Out::Stdout(_))
                    && error.kind() != io::ErrorKind::BrokenPipe
                    && effect::has_changed() =>
            {
                note(&format!("warning: cannot write to stdout: {error}; the command is done, and answers here:"));
                let before = std::mem::replace(&mut *out, Out::Stderr(io::stderr()));
                if let Out::Stdout(stdout) = before {
                    // If stderr is closed as well, nobody can be told.
                    let _ = io::stderr().write_all(&stdout.into_parts().1.unwrap_or_default());
                }
                let _ = write(out.writer());
                Ok(())
            }
            done => done,
        }
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// The columns that lines may have: as in git, `$COLUMNS`, else those of the terminal. Without a terminal there is no limit.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width.filter(|_| !self.ends_with_nul())
    }

    /// A text from outside on one line that has `used` columns already, shortened to the remaining width.
    pub(crate) fn fit(&self, used: usize, text: &str) -> String {
        one_line(text, self.left(used))
    }

    /// A line that is broken at spaces where it is too long.
    pub(crate) fn write_wrapped(&self, indent: usize, text: &str) -> Result<()> {
        writeln!(self, "{}", self.width().map_or_else(|| text.to_owned(), |width| wrapped(text, indent, width)))
    }

    /// The columns that are left of a line.
    pub(crate) fn left(&self, used: usize) -> usize {
        self.width().map_or(usize::MAX, |width| width.saturating_sub(used).max(LEAST_TEXT))
    }

    /// The name of a trace. Its end tells branches apart, so a long one loses its middle: it gets a quarter of the width.
    pub(crate) fn fit_name(&self, name: &str) -> String {
        let name = escaped(name);
        self.width()
            .map_or_else(|| name.clone().into_owned(), |width| without_middle(&name, (width / 4).max(LEAST_TEXT)))
    }

    /// Whether a person can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        self.is_terminal && io::stdin().is_terminal()
    }

    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        if self.is_colored() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    pub(crate) fn id(&self, id: impl fmt::Display) -> String {
        self.styled(ID, &id.to_string())
    }

    pub(crate) fn oid(&self, oid: Oid) -> String {
        self.styled(ID, &short_oid(oid))
    }

    /// Writes text from outside: unchanged to a file or pipe, with visible control characters to a terminal.
    pub(crate) fn write_content(&self, bytes: impl AsRef<[u8]>) -> Result<()> {
        Ok(self.content().write_all(bytes.as_ref())?)
    }

    /// A writer with the effect of [`Ui::write_content`].
    pub(crate) fn content(&self) -> ContentWriter<'_> {
        ContentWriter(self)
    }

    /// Writes text from outside to stdout, or to a file if one is named. The file is replaced atomically, except for a pipe,
    /// a terminal, and a file in a read-only folder.
    pub(crate) fn write_file(&self, path: Option<&Path>, bytes: &[u8]) -> Result<()> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else { return self.write_content(bytes) };
        let write = || {
            check_outside_git(path)?;
            // The name is kept as it was given: links below /proc lead to pipes that have no path.
            match fs::metadata(path) {
                Ok(found) if !found.is_file() => return fs::write(path, bytes),
                Ok(found) if found.permissions().readonly() => return Err(io::ErrorKind::PermissionDenied.into()),
                _ => {}
            }
            let real = real_path(path)?;
            // Does not create a missing folder, which is most often a typing error.
            fs::metadata(real.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))?;
            match put(&real, Access::Usual, bytes) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => fs::write(&real, bytes),
                done => done,
            }
        };
        write().with_context(|| format!("cannot write `{}`", path.display()))
    }

    pub(crate) fn json(&self, value: &impl Serialize) -> Result<()> {
        self.write_json(serde_json::to_string(value)?)
    }

    pub(crate) fn json_pretty(&self, value: &impl Serialize) -> Result<()> {
        self.write_json(serde_json::to_string_pretty(value)?)
    }

    fn write_json(&self, text: String) -> Result<()> {
        self.page(false);
        self.entry(|| self.write_content(text + "\n"))
    }

    /// Writes rows in columns that align, one line per row.
    pub(crate) fn table<const N: usize>(&self, rows: &[[impl AsRef<str>; N]]) -> Result<()> {
        let mut widths = [0; N];
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(columns(cell.as_ref()));
            }
        }
        // The last column gets what is left.
        let left = self.left(widths.iter().rev().skip(1).map(|width| width + 2).sum());
        let mut text = Vec::new();
        for row in rows {
            for (index, (cell, width)) in row.iter().map(AsRef::as_ref).zip(&widths).enumerate() {
                if index + 1 == N {
                    text.extend(shortened(cell, left).as_bytes());
                } else {
                    text.extend(cell.as_bytes());
                    text.resize(text.len() + width - columns(cell) + 2, b' ');
                }
            }
            while text.last() == Some(&b' ') {
                text.pop();
            }
            text.push(if self.ends_with_nul() { 0 } else { b'\n' });
            if text.len() >= BLOCK {
                self.deliver(&text)?;
                text.clear();
            }
        }
        Ok(self.deliver(&text)?)
    }

    /// Tells the user something about what was printed before.
    pub(crate) fn note(&self, text: impl AsRef<str>) {
        // A failure is reported at the end.
        let _ = self.flush_out();
        note(text.as_ref());
    }

    /// Writes what is buffered and waits for the pager.
    pub(crate) fn finish(&self) -> io::Result<()> {
        if let Out::Pager { child, .. } = &mut *self.out.borrow_mut() {
            drop(child.stdin.take());
            return child.wait().map(drop);
        }
        self.flush_out()
    }
}

impl Drop for Ui {
    /// Waits for the pager even if the command fails: the pager owns the terminal until it ends.
    fn drop(&mut self) {
        // The error was reported before, or nobody is there to read it.
        let _ = self.finish();
    }
}

pub(crate) struct ContentWriter<'u>(&'u Ui);

impl Write for ContentWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.0.is_terminal {
            self.0.deliver(escaped(&String::from_utf8_lossy(bytes)).as_bytes())
        } else {
            self.0.deliver(bytes)
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush_out()
    }
}

/// Tells the user something that is not part of the answer.
pub(crate) fn note(text: &str) {
    // If stderr is closed, nobody can be told.
    let _ = io::stderr().write_all(format!("{}\n", message(text)).as_bytes());
}

/// Asks on the terminal. The caller has checked that stdin is one.
pub(crate) fn confirmed(question: &str) -> Result<bool> {
    let mut stderr = io::stderr();
    write!(stderr, "{} [y/N] ", message(question))?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).context("cannot read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "Yes"))
}

/// A number with a comma between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let (first, rest) = digits.split_at((digits.len() - 1) % 3 + 1);
    let groups = rest.as_bytes().chunks(3).map(|group| format!(",{}", String::from_utf8_lossy(group)));
    first.to_owned() + &groups.collect::<String>()
}

/// A time to the minute, in UTC.
pub(crate) fn minute(time: Time) -> String {
    let text = time.to_string();
    text.get(..16).unwrap_or(&text).replace('T', " ")
}
