//! The sessions behind a range of commits as Markdown, for a comment on a pull request.
//!
//! Texts and names are in code spans, and possible secrets are redacted, as on the page of `view`. Texts that were removed from a
//! trace are not shown.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{PREVIEW, count_lines};
use crate::app::cli::{Context, Result};
use crate::app::ui::grouped;
use crate::app::view::redact::Redactor;
use crate::app::width::shortened;
use crate::git::Repo;
use crate::trace::model::trailers::{Op, one_line};
use crate::trace::query::code::CodeRange;
use crate::trace::query::diff::markdown::{MAX_LEN, code};
use crate::trace::query::log::{Entry, Query, Range, entries};
use crate::trace::query::why::{Answer, Certainty, Cited, Origin};
use crate::trace::store::settings;
use crate::trace::{ItemId, TraceError, TraceName, View};
use crate::transcript::title::title;

/// How many prompts, files, items, or changes are listed at most.
const MOST: usize = 20;

/// Numbers of lines by file.
type Files<'a> = BTreeMap<&'a str, usize>;

/// The lines that a session wrote.
#[derive(Default)]
struct Share<'a> {
    /// By certainty: certain, likely, possible.
    lines: [usize; 3],
    models: BTreeSet<&'a str>,
    /// The prompts in the order of the trace, each with the number of lines by file.
    prompts: BTreeMap<(u32, ItemId), (&'a Cited, Files<'a>)>,
    /// Lines without a known prompt, by file.
    unasked: Files<'a>,
}

impl Share<'_> {
    /// The lines that a call wrote.
    fn written(&self) -> usize {
        self.lines[0] + self.lines[1]
    }
}

/// `spec` is the range that `answers` explain.
pub(super) fn markdown(context: &Context, spec: &str, answers: &[Answer]) -> Result<String> {
    let repo = context.repo()?;
    let redactor = Redactor::of_settings(repo)?;
    let all: usize = answers.iter().map(count_lines).sum();
    let mut shares: Vec<(&TraceName, Share<'_>)> = shares(answers).into_iter().collect();
    shares.sort_by_key(|(name, share)| (std::cmp::Reverse((share.written(), share.lines[2])), *name));
    let written: usize = shares.iter().map(|(_, share)| share.written()).sum();
    let writers = shares.iter().filter(|(_, share)| share.written() > 0).count();
    let sessions = if writers == 1 { "1 session".to_owned() } else { format!("{writers} sessions") };
    let from = if written == 0 { "a recorded session".to_owned() } else { sessions };
    let mut page = format!("**Context** of {}: {written} of {all} added lines are from {from}\n", code(spec));
    let possible: usize = shares.iter().map(|(_, share)| share.lines[2]).sum();
    if possible > 0 {
        let _ = write!(page, "\n{possible} more were added after a prompt, and no recorded call has them\n");
    }
    let query = Query { code: Some(CodeRange::resolve(repo, spec)?), ..Query::default() };
    for (number, (name, share)) in shares.iter().enumerate() {
        let section = section(repo, &redactor, &query, name, share)?;
        if page.len() + section.len() > MAX_LEN - 100 {
            let _ = write!(page, "\nand {} more sessions; `git trace why` shows them\n", shares.len() - number);
            break;
        }
        page.push_str(&section);
    }
    Ok(page)
}

fn shares(answers: &[Answer]) -> BTreeMap<&TraceName, Share<'_>> {
    let mut shares: BTreeMap<&TraceName, Share<'_>> = BTreeMap::new();
    for answer in answers {
        let Some(Origin { trace, prompt, model, .. }) = &answer.origin else { continue };
        let place = match answer.certainty {
            Certainty::Certain => 0,
            Certainty::Likely => 1,
            Certainty::Possible => 2,
            Certainty::Unknown => continue,
        };
        let share = shares.entry(trace).or_default();
        share.lines[place] += count_lines(answer);
        share.models.extend(model.as_deref());
        let files = match prompt {
            Some(prompt) => &mut share.prompts.entry((prompt.seq, prompt.id)).or_insert((prompt, Files::new())).1,
            None => &mut share.unasked,
        };
        *files.entry(&answer.path).or_default() += count_lines(answer);
    }
    shares
}

fn section(
    repo: &Repo,
    redactor: &Redactor,
    query: &Query,
    name: &TraceName,
    share: &Share<'_>,
) -> Result<String, TraceError> {
    let view = View::open(repo, name, None)?;
    let shown = |text: &str| code(&shortened(&one_line(&redactor.text(text)), PREVIEW));
    let mut words: Vec<String> = title(repo, name, &view).iter().map(|title| format!("**{}**", shown(title))).collect();
    words.push(code(name.as_str()));
    words.extend(share.models.iter().map(|model| shown(model)));
    let tokens = view.listed_total(repo, settings::counter(repo, Some(name))?)?.tokens;
    let [certain, likely, possible] = share.lines;
    let lines = [(certain, "certain"), (likely, "likely"), (possible, "possible")];
    let lines: Vec<String> =
        lines.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let mut page = format!("\n{}: {} tokens; lines: {}\n\n", words.join(" "), grouped(tokens), lines.join(", "));
    let of_prompts = share.prompts.values().map(|(prompt, files)| {
        let place = code(&format!("#{}", prompt.seq));
        format!("- {place} {}: {}\n", shown(&prompt.text), list_files(files, &shown))
    });
    let unasked =
        (!share.unasked.is_empty()).then(|| format!("- without a prompt: {}\n", list_files(&share.unasked, &shown)));
    push_most(&mut page, of_prompts.chain(unasked));
    let range = Range { tips: vec![view.tip.clone()], without: None };
    let edits = entries(repo, query, &range)?.map(|entry| entry.map(|entry| describe(&entry, &shown)));
    let edits: Vec<String> = edits.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    if !edits.is_empty() {
        page.push_str("\nedited out:\n\n");
        push_most(&mut page, edits.into_iter());
    }
    Ok(page)
}

fn list_files(files: &Files<'_>, shown: &dyn Fn(&str) -> String) -> String {
    let mut listed: Vec<String> =
        files.iter().take(MOST).map(|(path, lines)| format!("{} +{lines}", shown(path))).collect();
    if files.len() > MOST {
        listed.push(format!("{} more", files.len() - MOST));
    }
    listed.join(", ")
}

/// A commit that changed or removed items of the context, without their texts.
fn describe(entry: &Entry, shown: &dyn Fn(&str) -> String) -> Option<String> {
    let trailers = &entry.tip.trailers;
    let op = trailers.op.filter(|op| matches!(op, Op::Edit | Op::Delete | Op::Compress | Op::Clean))?;
    let mut places: Vec<u32> =
        entry.touched.iter().filter(|change| change.sides().0.is_some()).map(|change| change.entry().seq).collect();
    places.sort_unstable();
    let mut listed: Vec<String> = places.iter().take(MOST).map(|seq| code(&format!("#{seq}"))).collect();
    if places.len() > MOST {
        listed.push(format!("{} more", places.len() - MOST));
    }
    let reason = trailers.reason.as_deref().map(|reason| format!(": {}", shown(reason))).unwrap_or_default();
    (!listed.is_empty()).then(|| format!("- `{}` {}{reason}\n", op.as_str(), listed.join(", ")))
}

fn push_most(page: &mut String, lines: impl Iterator<Item = String>) {
    let mut rest = 0;
    for (number, line) in lines.enumerate() {
        if number < MOST {
            page.push_str(&line);
        } else {
            rest += 1;
        }
    }
    if rest > 0 {
        let _ = writeln!(page, "- {rest} more");
    }
}
