//! `git trace sessions`: what agents' sessions were recorded.

use crate::app::cli::{Context, DIM, ID, Result, Value, escaped, json, minute};
use crate::trace::Time;
use crate::transcript::import::sessions::{RecordedSession, list};

/// List the recorded sessions of agents, newest first
///
/// Shows for each its items and tokens, the first words of the user, and the code commits made during the session.
#[derive(clap::Args, Debug)]
pub(crate) struct SessionsArgs {
    /// Most entries to list
    #[arg(short = 'n', long = "max-count", value_name = "N")]
    max_count: Option<usize>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

impl SessionsArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let found = list(context.repo()?, context.encoding()?)?;
        if !self.json {
            context.ui.page()?;
        }
        for recorded in found.iter().take(self.max_count.unwrap_or(usize::MAX)) {
            if self.json {
                context.ui.json(&to_json(recorded))?;
            } else {
                print(context, recorded)?;
            }
        }
        Ok(())
    }
}

fn print(context: &Context, recorded: &RecordedSession) -> Result<()> {
    let RecordedSession { name, began, ended, items, total, first_prompt, sub_agents, commits, .. } = recorded;
    let name = context.ui.styled(ID, name.as_str());
    let agents = if *sub_agents > 0 { format!(", {sub_agents} sub-agents") } else { String::new() };
    let when = context.ui.styled(DIM, &format!("{} to {}", minute(*began), minute(*ended)));
    writeln!(context.ui, "{name}  {when}  {items} items, {} tokens ({}){agents}", total.tokens, total.basis.source())?;
    if !first_prompt.is_empty() {
        writeln!(context.ui, "    {}", escaped(first_prompt))?;
    }
    for commit in commits {
        let oid = context.ui.oid(commit.oid);
        writeln!(context.ui, "    {oid} {}", escaped(&commit.subject))?;
    }
    Ok(())
}

fn to_json(recorded: &RecordedSession) -> Value {
    let commits = recorded.commits.iter().map(|commit| {
        let at = Time::from_second(commit.time).to_string();
        json!({ "commit": commit.oid.to_string(), "at": at, "subject": commit.subject })
    });
    json!({
        "trace": recorded.name.as_str(),
        "agent": recorded.agent.as_str(),
        "began_at": recorded.began.to_string(),
        "ended_at": recorded.ended.to_string(),
        "items": recorded.items,
        "tokens": recorded.total.tokens,
        "source": recorded.total.basis.source(),
        "first_words": recorded.first_prompt,
        "sub_agents": recorded.sub_agents,
        "commits": commits.collect::<Vec<_>>(),
    })
}
