//! The commands that add to a crumb file, or take an entry out.

use crate::base::error::{Context as _, Result};
use std::path::{Path, PathBuf};

use super::{Context, ExitStatus, Ui, agent, read};
use crate::app::secrets::refuse_secret_text;
use crate::memory::crumb::{self, CrumbError, CrumbFile, EntryKind, NewEntry, Selector};

/// Create a crumb file, at session 1 with the five standard sections
#[derive(clap::Args, Debug)]
pub(crate) struct NewArgs {
    /// File, by custom ending in `.crumb`
    file: PathBuf,

    /// Whose memory it is, one word [default: the name of the file in capitals]
    #[arg(long, value_name = "NAME")]
    identity: Option<String>,

    /// A fact for the section `core`
    #[arg(long = "fact", value_name = "TEXT")]
    facts: Vec<String>,
}

/// Start a session: raise the number in the header
#[derive(clap::Args, Debug)]
pub(crate) struct StartArgs {
    /// CrumbFile file
    file: PathBuf,
}

/// What most entries are made of.
#[derive(clap::Args, Debug)]
struct TextArgs {
    /// CrumbFile file
    file: PathBuf,

    /// What it says; becomes one line (`-` is stdin)
    #[arg(allow_hyphen_values = true)]
    text: String,

    /// Letter of the agent whose it is, in a file of several agents
    #[arg(long, value_name = "LETTER", value_parser = agent)]
    agent: Option<char>,
}

/// Note what happened in this session: `n @15 …` in the section `volatile`
#[derive(clap::Args, Debug)]
pub(crate) struct NoteArgs {
    #[command(flatten)]
    text: TextArgs,
}

/// Add a fact: `. …`
#[derive(clap::Args, Debug)]
pub(crate) struct FactArgs {
    #[command(flatten)]
    text: TextArgs,

    /// Section it goes to, such as `active`
    #[arg(long, value_name = "NAME", default_value = "core")]
    section: String,
}

/// Add a constraint: `! …` in the section `rules`
#[derive(clap::Args, Debug)]
pub(crate) struct RuleArgs {
    #[command(flatten)]
    text: TextArgs,
}

/// Note a failure: count up the one of that name, or add it to the section `failures`
#[derive(clap::Args, Debug)]
pub(crate) struct FailArgs {
    /// CrumbFile file
    file: PathBuf,

    /// Name of the failure, as in `api:rate-limit`
    #[arg(value_name = "AREA:TOPIC")]
    key: String,

    /// What went wrong; the words of a known failure stay as they are
    #[arg(default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    text: String,

    /// Letter of the agent whose it is, in a file of several agents
    #[arg(long, value_name = "LETTER", value_parser = agent)]
    agent: Option<char>,
}

/// Add a warning: `* …` in the section `active`
#[derive(clap::Args, Debug)]
pub(crate) struct WarnArgs {
    #[command(flatten)]
    text: TextArgs,
}

/// Add a directive: `> …` in the section `volatile`
#[derive(clap::Args, Debug)]
pub(crate) struct DirectArgs {
    #[command(flatten)]
    text: TextArgs,
}

/// Take an entry out
#[derive(clap::Args, Debug)]
pub(crate) struct RemoveArgs {
    /// CrumbFile file
    file: PathBuf,

    /// Number of its line, name of the failure, its sessions as in `@10-13`, or a part of it that no other has
    entry: Selector,
}

impl NewArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let ui = &context.ui;
        let stem = self.file.file_stem().unwrap_or_default().to_string_lossy().to_uppercase();
        self.facts.iter().try_for_each(|fact| refuse_secret_text(fact))?;
        let identity = self.identity.as_deref().unwrap_or(&stem);
        let text = crumb::new_file(identity, &self.facts)?;
        crumb::create(&self.file, &text)?;
        answer(ui, &format!("created {} for {identity}, session 1", self.file.display()))
    }
}

impl StartArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let ui = &context.ui;
        let session = edit(&self.file, crumb::start_session)?;
        answer(ui, &format!("session {session}"))
    }
}

impl NoteArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let ui = &context.ui;
        add(&self.text, EntryKind::Note, "volatile", ui)
    }
}

impl FactArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let ui = &context.ui;
        add(&self.text, EntryKind::Fact, &self.section, ui)
    }
}

impl RuleArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let ui = &context.ui;
        add(&self.text, EntryKind::Constraint, "rules", ui)
    }
}

impl WarnArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let ui = &context.ui;
        add(&self.text, EntryKind::Warning, "active", ui)
    }
}

impl DirectArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let ui = &context.ui;
        add(&self.text, EntryKind::Directive, "volatile", ui)
    }
}

fn add(args: &TextArgs, kind: EntryKind, section: &str, ui: &Ui) -> Result<ExitStatus> {
    let text = text(&args.text)?;
    let addition = NewEntry { kind, section, agent: args.agent, text: &text };
    let line = edit(&args.file, |crumb| crumb::add(crumb, &addition))?;
    answer(ui, &line)
}

impl FailArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let ui = &context.ui;
        refuse_secret_text(&self.key)?;
        let text = text(&self.text)?;
        let counted = edit(&self.file, |crumb| crumb::add_failure(crumb, &self.key, &text, self.agent))?;
        answer(ui, &counted.line)
    }
}

impl RemoveArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let ui = &context.ui;
        let removed = edit(&self.file, |crumb| {
            let index = crumb::select(crumb, &self.entry)?;
            Ok(crumb::remove(crumb, index))
        })?;
        answer(ui, &format!("removed {removed}"))
    }
}

/// What was given, or what stdin holds.
fn text(given: &str) -> Result<String> {
    let text = if given == "-" {
        String::from_utf8(read(Path::new("-"))?).context("the text is not UTF-8")?
    } else {
        given.to_owned()
    };
    refuse_secret_text(&text)?;
    Ok(text)
}

fn edit<T>(path: &Path, change: impl FnMut(&mut CrumbFile<'_>) -> Result<T, CrumbError>) -> Result<T> {
    crumb::edit(path, change).with_context(|| format!("cannot change `{}`", path.display()))
}

fn answer(ui: &Ui, line: &str) -> Result<ExitStatus> {
    ui.write_content(format!("{line}\n").as_bytes())?;
    Ok(ExitStatus::Success)
}
