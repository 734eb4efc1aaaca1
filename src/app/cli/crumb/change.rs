//! The commands that add an entry to a crumb file or remove one.

use std::path::{Path, PathBuf};

use super::{agent, read};
use crate::app::cli::{Context, Error, ErrorContext as _, Result};
use crate::app::secrets::{Caller, refuse_secret_text};
use crate::base::escape::Plain;
use crate::memory::crumb::{self, CrumbError, CrumbFile, EntryKind, NewEntry};

/// Create a crumb file with session 1 and the five standard sections
#[derive(clap::Args, Debug)]
pub(crate) struct NewArgs {
    /// File; without an extension, `.crumb` is added, by which git merges it
    file: PathBuf,
    /// Identity of the agent, one word [default: the file name in capitals]
    #[arg(long, value_name = "NAME")]
    identity: Option<String>,
    /// Fact for the section `core`
    #[arg(long = "fact", value_name = "TEXT")]
    facts: Vec<String>,
}

/// Start a session: increment the number in the header
#[derive(clap::Args, Debug)]
pub(crate) struct StartArgs {
    /// Crumb file
    file: PathBuf,
}

/// The arguments of most entries.
#[derive(clap::Args, Debug)]
struct TextArgs {
    /// Crumb file
    file: PathBuf,
    /// Text, which becomes one line (`-` is stdin)
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// Letter of the agent, in a file of several agents
    #[arg(long = "letter", alias = "agent", value_name = "LETTER", value_parser = agent)]
    agent: Option<char>,
}

/// A command that adds an entry of one kind to one section.
macro_rules! add_command {
    ($(#[$doc:meta])* $name:ident, $kind:expr, $section:literal) => {
        $(#[$doc])*
        #[derive(clap::Args, Debug)]
        pub(crate) struct $name {
            #[command(flatten)]
            text: TextArgs,
        }

        impl $name {
            pub(crate) fn run(&self, context: &Context) -> Result<()> {
                self.text.add(context, $kind, $section)
            }
        }
    };
}

add_command! {
    /// Add a note about this session: `n @15 …` in the section `volatile`
    NoteArgs, EntryKind::Note, "volatile"
}
add_command! {
    /// Add a constraint: `! …` in the section `rules`
    RuleArgs, EntryKind::Constraint, "rules"
}
add_command! {
    /// Add a warning: `* …` in the section `active`
    WarnArgs, EntryKind::Warning, "active"
}
add_command! {
    /// Add a directive: `> …` in the section `volatile`
    DirectArgs, EntryKind::Directive, "volatile"
}

/// Add a fact: `. …`
#[derive(clap::Args, Debug)]
pub(crate) struct FactArgs {
    #[command(flatten)]
    text: TextArgs,
    /// Section, such as `active`
    #[arg(long, value_name = "NAME", default_value = "core")]
    section: String,
}

/// Record a failure: increment the count of the named one, or add it to the section `failures`
#[derive(clap::Args, Debug)]
pub(crate) struct FailArgs {
    /// Crumb file
    file: PathBuf,
    /// Name of the failure, as in `api:rate-limit`
    #[arg(value_name = "AREA:TOPIC")]
    key: String,
    /// What went wrong; new words are added to the text of a known failure
    #[arg(default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    text: String,
    /// Letter of the agent, in a file of several agents
    #[arg(long = "letter", alias = "agent", value_name = "LETTER", value_parser = agent)]
    agent: Option<char>,
}

/// Remove an entry
#[derive(clap::Args, Debug)]
pub(crate) struct RemoveArgs {
    /// Crumb file
    file: PathBuf,
    /// Line number, name of the failure, sessions as in `@10-13`, or a unique part of its text
    entry: String,
}

impl NewArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let stem = self.file.file_stem().unwrap_or_default().to_string_lossy().to_uppercase();
        self.facts.iter().try_for_each(|fact| refuse_secret_text(Caller::Person, fact))?;
        let identity = self.identity.as_deref().unwrap_or(&stem);
        refuse_secret_text(Caller::Person, identity)?;
        let mut file = self.file.clone();
        if file.extension().is_none() {
            file.set_extension("crumb");
        }
        context.git()?.check_checked_out(&file)?;
        crumb::create(&file, &crumb::new_file(identity, &self.facts)?)?;
        context.ui.write_content(format!(
            "created {} for {}, session 1\n",
            Plain(&file.to_string_lossy()),
            Plain(identity)
        ))
    }
}

impl StartArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        #[expect(clippy::redundant_closure_for_method_calls, reason = "the method itself is for one lifetime only")]
        let session = edit(&self.file, |crumb| crumb.start_session())?;
        context.ui.write_content(format!("session {session}\n"))
    }
}

impl FactArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        self.text.add(context, EntryKind::Fact, &self.section)
    }
}

impl TextArgs {
    fn add(&self, context: &Context, kind: EntryKind, section: &str) -> Result<()> {
        if !self.file.exists() && Path::new(&self.text).is_file() {
            let missing = CrumbError::NoSuchFile { path: self.file.clone() };
            return Err(Error::with_hint(missing.to_string(), "the file comes first, then the text"));
        }
        let text = read_text(&self.text)?;
        let entry = NewEntry { kind, section, agent: self.agent, text: &text };
        let line = edit(&self.file, |crumb| crumb.add(&entry))?;
        context.ui.write_content(format!("{line}\n"))
    }
}

impl FailArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        refuse_secret_text(Caller::Person, &self.key)?;
        let text = read_text(&self.text)?;
        let line = edit(&self.file, |crumb| crumb.add_failure(&self.key, &text, self.agent))?;
        context.ui.write_content(format!("{line}\n"))
    }
}

impl RemoveArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let removed = edit(&self.file, |crumb| {
            let index = crumb.select(&self.entry)?;
            Ok(crumb.remove(index))
        })?;
        context.ui.write_content(format!("removed {removed}\n"))
    }
}

/// The text, or stdin if it is `-`. A text that looks like a secret is refused.
fn read_text(text: &str) -> Result<String> {
    let text = match text {
        "-" => String::from_utf8(read(Path::new("-"))?).context("the text is not UTF-8")?,
        text => text.to_owned(),
    };
    refuse_secret_text(Caller::Person, &text)?;
    Ok(text)
}

fn edit<T>(path: &Path, change: impl FnMut(&mut CrumbFile<'_>) -> Result<T, CrumbError>) -> Result<T> {
    crumb::edit(path, change).with_context(|| format!("cannot change `{}`", path.display()))
}
