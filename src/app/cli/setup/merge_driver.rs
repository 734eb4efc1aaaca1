//! `git trace merge-driver`: what git calls to merge one file.
//!
//! Git reads an exit status of 0 as merged, 1 to 128 as a conflict left in the file, and only more as failure; so whatever
//! goes wrong here, a panic included, is 129. Nothing is printed on stdout and nothing read from stdin: both belong to the
//! command that merges.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;

use crate::app::cli::{Context, ErrorContext as _, ExitStatus, Result, Ui, bail};
use crate::base::bounded;
use crate::base::escape::escaped;
use crate::base::merge::{FileKind, Labels, Markers, MergeInput, Merged, Style};
use crate::base::process::Process;
use crate::base::worktree_path::{check_outside_git, check_regular, check_regular_or_open};
use crate::memory::crumb::merge::MergeNote;
use crate::memory::crumb::{CrumbError, CrumbFile, archive};
use crate::memory::{breadcrumb, checkpoint, crumb};
use crate::trace::store::signature::Signature;

/// The exit status of a merge that could not be made.
const FAILED: u8 = 129;

/// Merge one file by meaning; git and jj call this
///
/// `git trace install` configures git to use it. The exit status is 0 for a clean merge, 1 if the result contains conflicts,
/// and 129 if the merge failed; then nothing is written.
#[derive(clap::Args, Debug)]
pub(crate) struct MergeDriverArgs {
    /// File with the common base version, git's %O
    base: PathBuf,
    /// File with our version, git's %A; receives the result
    ours: PathBuf,
    /// File with their version, git's %B
    theirs: PathBuf,
    /// Length of conflict markers, git's %L
    marker_size: Option<String>,
    /// Path in the repository, which determines the kind of file, git's %P
    path: Option<OsString>,
    /// Name of the base in conflicts, git's %S
    base_label: Option<OsString>,
    /// Name of our side, git's %X
    our_label: Option<OsString>,
    /// Name of their side, git's %Y
    their_label: Option<OsString>,
    /// Kind of file, regardless of the path: breadcrumbs, crumb, checkpoint, checkpoint-index
    #[arg(long)]
    kind: Option<FileKind>,
    /// File to write instead of our version
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Conflict style: merge, diff3 or zdiff3 [default: `merge.conflictStyle`]
    #[arg(long, value_name = "STYLE", value_parser = style)]
    style: Option<Style>,
}

fn style(text: &str) -> Result<Style, String> {
    match text {
        "merge" => Ok(Style::Merge),
        "diff3" => Ok(Style::Diff3),
        "zdiff3" => Ok(Style::Zdiff3),
        _ => Err("merge, diff3 or zdiff3 is expected".to_owned()),
    }
}

/// Makes sure that no path or label that others chose is read as an option: a branch may contain a file `--output=.git/config`, and
/// `git am` takes the label of their side from the subject of a mail. The command that `install` configures has `--` before them. An
/// earlier one has not: then they follow four words of git's or jj's own. Fails if a word may be either.
pub(crate) fn protect_words(args: &mut Vec<OsString>) -> Result<(), clap::Error> {
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let is_any_of = |options: &[&str], word: &OsString| {
        options.iter().any(|option| word.as_encoded_bytes().starts_with(option.as_bytes()))
    };
    if args.len() < 7 || args[2..6].iter().any(is_option) {
        return Ok(());
    }
    // Git gives a path and all labels, and nothing else.
    let is_git = args.len() == 10;
    let (options, words) = if is_git { (&OPTIONS[..], &args[6..]) } else { (&OUTPUT[..], &args[6..7]) };
    if let Some(word) = words.iter().find(|word| is_any_of(options, word)) {
        let message = format!(
            "`{}` may be an option or a name: call `git-trace merge-driver [OPTION…] -- BASE OURS THEIRS …`; `git trace install` \
             configures git like this\n",
            escaped(&word.to_string_lossy())
        );
        return Err(clap::Error::raw(ErrorKind::ArgumentConflict, message));
    }
    if is_git {
        args.insert(2, "--".into());
    } else if is_option(&args[6]) && !is_any_of(&OPTIONS, &args[6]) {
        // It means the same, and options may follow.
        let mut protected = OsString::from("./");
        protected.push(&args[6]);
        args[6] = protected;
    }
    Ok(())
}

const OUTPUT: [&str; 2] = ["-o", "--output"];
const OPTIONS: [&str; 4] = [OUTPUT[0], OUTPUT[1], "--kind", "--style"];

/// The exit status that git understands.
pub(crate) fn driver_status(status: u8) -> u8 {
    if status <= 1 { status } else { FAILED }
}

impl MergeDriverArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let labels = Labels {
            base: label(self.base_label.as_deref(), "%S", "base"),
            ours: label(self.our_label.as_deref(), "%X", "ours"),
            theirs: label(self.their_label.as_deref(), "%Y", "theirs"),
        };
        let size = match self.marker_size.as_deref() {
            None | Some("" | "%L") => Markers::DEFAULT_SIZE,
            Some(text) => match text.parse() {
                Ok(size @ 1..=10_000) => size,
                // Git takes any length that the attributes of a branch name.
                Ok(10_001..) => 10_000,
                _ => bail!("invalid length of conflict markers: `{text}`"),
            },
        };
        let output = self.output.as_ref().unwrap_or(&self.ours);
        check_outside_git(output).with_context(|| format!("cannot write `{}`", output.display()))?;
        let mut markers = Markers { size, style: self.style.unwrap_or_default(), labels };
        let path = self.path.as_deref().unwrap_or_default();
        if self.output.is_none() {
            check_regular(&self.ours).with_context(|| format!("cannot write `{}`", self.ours.display()))?;
        }
        // Once: they may be pipes.
        let (base, ours, theirs) = (read(&self.base)?, read(&self.ours)?, read(&self.theirs)?);
        let input = MergeInput { base: &base, ours: &ours, theirs: &theirs };
        match self.kind.or_else(|| FileKind::of_path(path.as_encoded_bytes())) {
            Some(kind) => merge_kind(self, context, kind, input, &mut markers),
            None => merge_text(self, input, &markers),
        }
    }
}

/// A label from git; older versions leave placeholders that they do not know.
fn label(given: Option<&OsStr>, placeholder: &str, default: &str) -> String {
    let given = given.filter(|text| !text.is_empty() && *text != placeholder);
    given.map_or(default.to_owned(), |text| text.to_string_lossy().into_owned())
}

/// Merges by meaning. A version that cannot be read as a file of the kind is merged as text.
fn merge_kind(
    args: &MergeDriverArgs,
    context: &Context,
    kind: FileKind,
    input: MergeInput<'_>,
    markers: &mut Markers,
) -> Result<ExitStatus> {
    let ui = &context.ui;
    match kind {
        FileKind::Breadcrumbs => return write_merged(args, ui, markers, &breadcrumb::merge(input), "breadcrumbs"),
        FileKind::Crumb => {
            if let Some(merged) = crumb::merge(input) {
                keep_subsumed(context, input.ours, &merged.notes);
                return write_merged(args, ui, markers, &merged, "crumb");
            }
        }
        FileKind::Checkpoint | FileKind::CheckpointIndex => {
            if ![input.base, input.ours, input.theirs].into_iter().any(is_binary)
                && let Some(merged) = checkpoint::merge(input)
            {
                return write_merged(args, ui, markers, &merged, "checkpoint");
            }
        }
    }
    merge_text(args, input, markers)
}

/// Archives the summaries that the merge of a crumb file dropped. The merge succeeds without the archive.
fn keep_subsumed(context: &Context, ours: &[u8], notes: &[MergeNote]) {
    let subsumed: Vec<(&str, &str)> = notes
        .iter()
        .filter_map(|note| match note {
            MergeNote::Subsumed { kept, dropped } => Some((kept.as_str(), dropped.as_str())),
            _ => None,
        })
        .collect();
    let (Ok(repo), Ok(crumb), false) = (context.repo(), CrumbFile::parse(ours), subsumed.is_empty()) else { return };
    let Some(header) = crumb.header() else { return };
    let signature = Signature::take(repo, context.now());
    let stored = signature
        .map_err(CrumbError::from)
        .and_then(|signature| archive::store_subsumed(repo, header.identity, &subsumed, &signature));
    if let Err(error) = stored {
        context.ui.note(format!("warning: cannot archive what the merge dropped: {error}"));
    }
}

/// Prints the notes of a merge and writes its result. `unnamed` replaces a path that git did not pass.
fn write_merged<N: Display>(
    args: &MergeDriverArgs,
    ui: &Ui,
    markers: &mut Markers,
    merged: &Merged<'_, N>,
    unnamed: &str,
) -> Result<ExitStatus> {
    let path = args.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(unnamed.as_ref());
    for note in &merged.notes {
        ui.note(format!("{}: {note}", path.display()));
    }
    if !merged.is_clean() && args.style.is_none() {
        markers.style = configured_style();
    }
    let output = args.output.as_deref().unwrap_or(&args.ours);
    let failed = || format!("cannot write `{}`", output.display());
    let mut out = BufWriter::with_capacity(1 << 17, File::create(output).with_context(failed)?);
    merged.write(&mut out, markers).and_then(|()| out.flush()).with_context(failed)?;
    Ok(ExitStatus::of(merged.is_clean()))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let bytes = check_regular_or_open(path).and_then(|()| bounded::read_file(path));
    bytes.with_context(|| format!("cannot read `{}`", path.display()))
}

/// The value of `merge.conflictStyle`; read only for a conflict, because it takes a call of git.
fn configured_style() -> Style {
    let asked = Process::new("git").args(["config", "--get", "merge.conflictStyle"]).output();
    let answer = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    style(&answer).unwrap_or_default()
}

fn merge_text(args: &MergeDriverArgs, input: MergeInput<'_>, markers: &Markers) -> Result<ExitStatus> {
    let Labels { base, ours, theirs } = &markers.labels;
    let texts = [input.ours, input.base, input.theirs];
    if texts.into_iter().any(is_binary) {
        // As in git's own merge, ours stays, and it is a conflict.
        if let Some(output) = &args.output {
            fs::write(output, input.ours).with_context(|| format!("cannot write `{}`", output.display()))?;
        }
        return Ok(ExitStatus::No);
    }
    // A pipe, or stdin, can be read only once.
    let copies = tempfile::tempdir().context("cannot make a temporary folder")?;
    let paths = ["ours", "base", "theirs"].map(|name| copies.path().join(name));
    for (path, text) in paths.iter().zip(texts) {
        fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    let mut command = Process::new("git");
    command.args(["merge-file", "-p", "-q", &format!("--marker-size={}", markers.size)]);
    match args.style {
        Some(Style::Diff3) => drop(command.arg("--diff3")),
        Some(Style::Zdiff3) => drop(command.arg("--zdiff3")),
        Some(Style::Merge) | None => {}
    }
    command.args(["-L", ours, "-L", base, "-L", theirs, "--"]).args(&paths);
    let merged = command.show_stderr().output().context("cannot run `git merge-file`")?;
    // The number of conflicts, at most 127.
    let is_clean = match merged.status.code() {
        Some(0) => true,
        Some(1..=127) => false,
        _ => bail!("`git merge-file` failed"),
    };
    let output = args.output.as_deref().unwrap_or(&args.ours);
    fs::write(output, merged.stdout).with_context(|| format!("cannot write `{}`", output.display()))?;
    Ok(ExitStatus::of(is_clean))
}

/// Whether git takes a text for binary: a NUL among its first bytes.
fn is_binary(text: &[u8]) -> bool {
    text[..text.len().min(8000)].contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_is_one_that_git_reads_as_failure() {
        for (status, expected) in [(0, 0), (1, 1), (2, 129), (101, 129), (141, 129)] {
            assert_eq!(driver_status(status), expected);
        }
    }

    #[test]
    fn placeholders_that_an_older_git_left_are_no_labels() {
        assert_eq!(label(Some("%X".as_ref()), "%X", "ours"), "ours");
        assert_eq!(label(Some("HEAD".as_ref()), "%X", "ours"), "HEAD");
        assert_eq!(label(None, "%X", "ours"), "ours");
    }
}
