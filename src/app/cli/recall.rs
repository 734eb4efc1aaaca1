//! `git trace recall`: searches all memories by words.

use crate::app::cli::flags::NulArgs;
use crate::app::cli::{Context, DIM, ErrorContext as _, ExitStatus, MATCH, Result, Values, escaped};
use crate::app::recall::{command, label, to_json};
use crate::base::when::When;
use crate::memory::recall::{Hit, Kind, Query, search};

/// Search all memory files by words, best match first
///
/// Any of the words may match, in any form: `retry` finds `retries`. Entries with more and rarer words, and words in keys and
/// sections, rank higher. `agent:WORD`, `kind:WORD`, `key:WORD`, and `section:WORD` must match. The index is in the git
/// directory and follows each change. The exit status is 1 if nothing matches.
#[derive(clap::Args, Debug)]
pub(crate) struct RecallArgs {
    /// Words, and fields such as `agent:spark` or `section:decisions`
    #[arg(required = true)]
    query: Vec<String>,
    /// Most entries to print
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Only breadcrumb, crumb, forward, archive, checkpoint, or trace
    #[arg(long, value_name = "KIND", add = Values::OneOf(Kind::VALUES))]
    kind: Option<String>,
    /// Only entries of this agent
    #[arg(long, value_name = "NAME", add = Values::Agents)]
    agent: Option<String>,
    /// Only entries with a time since this one, such as `yesterday` or `2 days ago`; lines of crumb files have none
    #[arg(long, value_name = "TIME")]
    since: Option<When>,
    /// Search the items of all traces too
    #[arg(long)]
    traces: bool,
    /// Print one JSON object per entry
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

impl RecallArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        self.nul.apply(context);
        let ui = &context.ui;
        let mut query = Query::parse(&self.query.join(" "))?;
        for (field, value) in [("kind", &self.kind), ("agent", &self.agent)] {
            if let Some(value) = value {
                query.require(field, value).with_context(|| format!("invalid --{field}"))?;
            }
        }
        query.limit = self.limit;
        query.traces |= self.traces;
        query.since = self.since.map(|since| since.before(&context.clock())).transpose()?;
        let found = search(context.repo()?, &context.folder()?, &query, context.now())?;
        for warning in &found.warnings {
            ui.note(format!("warning: {warning}"));
        }
        for Hit { entry, snippet, .. } in found.hits.iter().filter(|_| !self.json) {
            let mut shown = String::new();
            let mut written = 0;
            for place in &snippet.places {
                shown.push_str(&escaped(&snippet.text[written..place.start]));
                shown.push_str(&ui.styled(MATCH, &escaped(&snippet.text[place.clone()])));
                written = place.end;
            }
            shown.push_str(&escaped(&snippet.text[written..]));
            let command = ui.styled(DIM, &format!("({})", escaped(&command(entry))));
            ui.write_wrapped(4, &format!("{} {}: {shown} {command}", entry.kind, escaped(&label(entry))))?;
        }
        if self.json {
            found.hits.iter().try_for_each(|hit| ui.json(&to_json(hit)))?;
        }
        Ok(match (found.hits.is_empty(), found.warnings.is_empty()) {
            (_, false) => ExitStatus::Incomplete,
            (is_empty, true) => ExitStatus::of(!is_empty),
        })
    }
}
