//! `git trace why`: from lines of the code to the prompts and calls that wrote them.

mod markdown;

use std::ops::RangeInclusive;
use std::path::Path;

use self::markdown::markdown;
use crate::app::cli::flags::NulArgs;
use crate::app::cli::{BOLD, Context, Error, ExitStatus, Result, Value, bail, escaped, json};
use crate::app::width::one_line;
use crate::git::{CodeLine, Oid};
use crate::trace::query::code::commits;
use crate::trace::query::why::{Answer, Certainty, Cited, Origin, explain};

/// Neighboring lines that help to find the call that wrote a line.
const NEIGHBORS: usize = 5;

/// The columns of a prompt if the width of the lines is not limited.
const PREVIEW: usize = 72;

/// Show which prompts and calls wrote lines of the code
///
/// Git finds the commit that added a line. The sessions before that commit are searched for a call whose new text has the line.
///
/// `certain`: a call wrote exactly this line into this file between the commit and its parent. `likely`: with other white space, with a
/// command, up to two weeks earlier, or near a line as short as `}`. `possible`: the last prompt before the commit is shown, and no call has the line. `unknown`: no
/// recorded session is known to have to do with it. The exit status is 1 if all lines are unknown.
#[derive(clap::Args, Debug)]
pub(crate) struct WhyArgs {
    /// FILE, `FILE:LINE`, `FILE:FIRST-LAST`, a commit of the code, or a range A..B; of commits, the lines that they added
    #[arg(value_name = "FILE:LINE")]
    target: String,
    /// Print one JSON object per group of lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
    /// Print Markdown for a pull request comment: the sessions behind commits, their prompts, and the edits of their traces
    #[arg(long, conflicts_with_all = ["json", "nul"])]
    markdown: bool,
}

impl WhyArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        self.nul.apply(context);
        let answers = self.answers(context)?;
        if answers.is_empty() {
            context.ui.note("no lines were added");
        }
        let is_known = answers.iter().any(|answer| answer.certainty != Certainty::Unknown);
        if self.markdown {
            context.ui.write_content(&markdown(context, &self.target, &answers)?)?;
            return Ok(ExitStatus::of(is_known));
        }
        for (number, answer) in answers.iter().enumerate() {
            if self.json {
                context.ui.json(&to_json(answer))?;
                continue;
            }
            if number > 0 && !context.ui.ends_with_nul() {
                writeln!(context.ui)?;
            }
            context.ui.entry(|| print(context, answer))?;
        }
        Ok(ExitStatus::of(is_known))
    }

    fn answers(&self, context: &Context) -> Result<Vec<Answer>> {
        let repo = context.repo()?;
        let (file, lines) = split(&self.target);
        let folder = context.folder()?;
        if !folder.join(file).is_file() {
            if let Some(commits) = commits(repo, &self.target)? {
                return Ok(explain(repo, &repo.added_lines(&commits)?, |_| true)?);
            }
            let message = format!("`{}` is neither a file nor a commit of the code", escaped(&self.target));
            let hint = "name a file that is checked out, from this folder, or a commit whose lines you mean";
            return Err(Error::with_hint(message, hint));
        }
        if self.markdown {
            bail!("--markdown is for a commit or a range, A..B, not for a file");
        }
        let wide = lines.as_ref().map(|lines| lines.start().saturating_sub(NEIGHBORS).max(1)..=lines.end() + NEIGHBORS);
        let found = repo.blamed_lines(&context.git()?, Path::new(file), wide)?;
        let is_wanted = |line: &CodeLine| lines.as_ref().is_none_or(|lines| lines.contains(&line.number));
        if let Some(lines) = lines.as_ref().filter(|_| !found.iter().any(is_wanted)) {
            bail!("`{file}` has no line {}", lines.start());
        }
        Ok(explain(repo, &found, is_wanted)?)
    }
}

/// The file and the lines of `FILE:LINE` or `FILE:FIRST-LAST`.
fn split(target: &str) -> (&str, Option<RangeInclusive<usize>>) {
    let split = || {
        let (file, lines) = target.rsplit_once(':')?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last && last < usize::MAX / 2).then_some((file, Some(first..=last)))
    };
    split().unwrap_or((target, None))
}

fn count_lines(answer: &Answer) -> usize {
    answer.lines.1 - answer.lines.0 + 1
}

fn print(context: &Context, answer: &Answer) -> Result<()> {
    let Answer { commit, path, lines: (first, last), certainty, origin } = answer;
    let lines = if first == last { first.to_string() } else { format!("{first}-{last}") };
    let place = context.ui.styled(BOLD, &escaped(&format!("{path}:{lines}")));
    match commit {
        Some(commit) => {
            let subject = context.repo()?.read_commit(*commit)?.subject().to_owned();
            writeln!(context.ui, "{place}  {} {}", context.ui.oid(*commit), escaped(&subject))?;
        }
        None => writeln!(context.ui, "{place}  not committed")?,
    }
    let Some(Origin { trace, prompt, calls, .. }) = origin else {
        return writeln!(context.ui, "  {certainty}: no recorded session");
    };
    writeln!(context.ui, "  {certainty}: trace `{trace}`")?;
    let cite = |what: &str, cited: &Cited| {
        let head = format!("  {what} #{} ", cited.seq);
        let most = context.ui.width().map_or(PREVIEW, |_| usize::MAX);
        let text = one_line(&cited.text, context.ui.left(head.len() + 20).min(most));
        writeln!(context.ui, "{head}{text} {}", context.ui.id(cited.id))
    };
    prompt.iter().try_for_each(|prompt| cite("prompt", prompt))?;
    calls.iter().try_for_each(|call| cite("call  ", call))
}

fn to_json(answer: &Answer) -> Value {
    let Answer { commit, path, lines: (first, last), certainty, origin } = answer;
    let mut object = json!({ "file": path, "first": first, "last": last, "certainty": certainty.as_str() });
    if let Some(commit) = commit {
        object["commit"] = Oid::to_string(commit).into();
    }
    let Some(Origin { trace, prompt, model, calls }) = origin else { return object };
    let cited = |cited: &Cited, name: &str| json!({ "id": cited.id.to_string(), "seq": cited.seq, "at": cited.at.to_string(), name: cited.text });
    object["trace"] = trace.as_str().into();
    object["calls"] = calls.iter().map(|call| cited(call, "tool")).collect();
    if let Some(prompt) = prompt {
        object["prompt"] = cited(prompt, "text");
    }
    if let Some(model) = model {
        object["model"] = model.as_str().into();
    }
    object
}
