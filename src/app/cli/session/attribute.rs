//! `git trace attribute`: which lines of commits recorded sessions wrote, for other tools.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::app::cli::{Context, Result, Value, bail, json};
use crate::git::Oid;
use crate::tokens::window::provider_of_model;
use crate::trace::Time;
use crate::trace::query::code::commits;
use crate::trace::query::why::{Answer, Certainty, Origin, explain};
use crate::transcript::export::uuid;

/// The schema has two numbers, although the text of the specification has three.
const VERSION: &str = "0.1";

/// Write which lines of commits sessions wrote, as Agent Trace
///
/// Prints one JSON object per commit with such lines, oldest first, in the format of Agent Trace 0.1. A record names the trace as the
/// conversation, such as `git-trace:claude-code/6b2e`, with its model and the prompts. Only lines that `git trace why` calls certain or
/// likely are in it. The same commit always gets the same record.
#[derive(clap::Args, Debug)]
pub(crate) struct AttributeArgs {
    /// Commits of the code: one, or a range A..B [default: HEAD]
    #[arg(value_name = "A..B")]
    range: Option<String>,
    /// File to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl AttributeArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let repo = context.repo()?;
        let range = self.range.as_deref().unwrap_or("HEAD");
        let Some(mut commits) = commits(repo, range)? else { bail!("`{range}` is not a commit of the code") };
        commits.reverse();
        let answers = explain(repo, &repo.added_lines(&commits)?, |_| true)?;
        let mut text = String::new();
        for commit in commits {
            let of_commit = answers.iter().filter(|answer| answer.commit == Some(commit));
            let written: Vec<(&Answer, &Origin)> = of_commit
                .filter(|answer| matches!(answer.certainty, Certainty::Certain | Certainty::Likely))
                .filter_map(|answer| Some((answer, answer.origin.as_ref()?)))
                .collect();
            if !written.is_empty() {
                let time = Time::from_second(repo.read_commit(commit)?.commit_time);
                let _ = writeln!(text, "{}", record(commit, time, &written));
            }
        }
        context.ui.write_file(self.output.as_deref(), text.as_bytes())
    }
}

fn record(commit: Oid, time: Time, written: &[(&Answer, &Origin)]) -> Value {
    // A conversation has one model, so a trace with two is two conversations.
    let mut files: BTreeMap<&str, BTreeMap<(&str, Option<&str>), Conversation>> = BTreeMap::new();
    for (answer, origin) in written {
        let file = files.entry(&answer.path).or_default();
        let conversation = file.entry((origin.trace.as_str(), origin.model.as_deref())).or_default();
        let (start, end) = answer.lines;
        conversation.ranges.push(json!({ "start_line": start, "end_line": end }));
        if let Some(prompt) = &origin.prompt {
            let url = format!("{}#{}", url(origin.trace.as_str()), prompt.id);
            let prompt = json!({ "type": "prompt", "url": url });
            if !conversation.prompts.contains(&prompt) {
                conversation.prompts.push(prompt);
            }
        }
    }
    let files = files.into_iter().map(|(path, conversations)| {
        let conversations = conversations.into_iter().map(|((trace, model), conversation)| {
            let mut contributor = json!({ "type": "ai" });
            if let Some(model) = model {
                contributor["model_id"] = model_id(model).into();
            }
            let Conversation { ranges, prompts } = conversation;
            let mut object = json!({ "url": url(trace), "contributor": contributor, "ranges": ranges });
            if !prompts.is_empty() {
                object["related"] = prompts.into();
            }
            object
        });
        json!({ "path": path, "conversations": conversations.collect::<Vec<_>>() })
    });
    json!({
        "version": VERSION,
        "id": uuid(format!("agent-trace\n{commit}").as_bytes()),
        "timestamp": time.to_string(),
        "vcs": { "type": "git", "revision": commit.to_string() },
        "tool": { "name": "git-trace", "version": env!("CARGO_PKG_VERSION") },
        "files": files.collect::<Vec<_>>(),
    })
}

#[derive(Default)]
struct Conversation {
    ranges: Vec<Value>,
    prompts: Vec<Value>,
}

fn url(trace: &str) -> String {
    let mut url = "git-trace:".to_owned();
    for byte in trace.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => url.push(char::from(byte)),
            _ => {
                let _ = write!(url, "%{byte:02X}");
            }
        }
    }
    url
}

/// The id with its provider, as models.dev writes it, if the model's name shows the provider.
fn model_id(model: &str) -> String {
    let known = provider_of_model(model).filter(|_| !model.contains('/'));
    let id = known.map_or_else(|| model.to_owned(), |provider| format!("{provider}/{model}"));
    id.chars().take(250).collect()
}
