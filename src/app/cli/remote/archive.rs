//! `git trace archive`: lets a remote keep traces instead of this repository.

use super::remote_of;
use crate::app::cli::{Context, Error, ExitStatus, Result, Value, Values, escaped, json, minute};
use crate::base::escape::shell_word;
use crate::base::when::When;
use crate::git::{Direction, Oid, Repo};
use crate::trace::model::trailers::ImportPosition;
use crate::trace::store::archived::Archived;
use crate::trace::store::{head, session, settings};
use crate::trace::sync::{Archival, archive, named};
use crate::trace::{Tip, TraceError, TraceName, View};
use crate::transcript::import::expired::{Expired, expired};
use crate::transcript::title::title;

/// Let a remote keep traces instead of this repository
///
/// Pushes the traces with the priorities of their items, and asks the remote which it has. Those that it has with the same newest commit
/// are removed here, with their remote-tracking and backup refs; `git trace gc` then frees the space, two weeks later. The others stay,
/// and each is printed with the reason. Priorities stay here, too.
///
/// `git trace sessions --archived` lists archived traces, and `git trace switch` fetches one. If its agent continues the session, or you
/// import it again, the hook or the import fetches the trace first. `fetch` and `pull` without a name leave archived traces where they
/// are.
///
/// Without a name, it archives recorded sessions: neither current traces nor traces that you changed after their last
/// import, renamed, or branched off.
#[derive(clap::Args, Debug)]
pub(crate) struct ArchiveArgs {
    /// Remote [default: trace.contextRemote, the remote to which git pushes the checked-out branch, the only remote, or origin]
    #[arg(add = Values::Remotes)]
    remote: Option<String>,
    /// Traces, or globs such as 'codex/*' [default: recorded sessions that are old enough]
    #[arg(value_name = "TRACE", add = Values::Traces)]
    traces: Vec<String>,
    /// Only traces whose last change is older, such as `90 days`
    #[arg(long, value_name = "TIME", required_unless_present = "traces")]
    older_than: Option<When>,
    /// Only print what would be archived
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl ArchiveArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let remote = remote_of(context, self.remote.as_deref(), Direction::Push)?;
        let repo = context.repo()?;
        let (found, mut kept) = self.find(context)?;
        let wanted = found.into_iter().map(|(name, tip)| describe(repo, &remote, name, tip));
        let wanted = wanted.collect::<Result<Vec<Archived>, TraceError>>()?;
        let shown = escaped(&remote);
        if wanted.is_empty() && kept.is_empty() && !self.json {
            context.ui.note("no recorded session that you left unchanged is old enough to archive");
        }
        if self.dry_run {
            if self.json {
                print_json(context, &remote, &wanted, &kept)?;
            } else {
                for one in &wanted {
                    let (name, day) = (escaped(one.name.as_str()), minute(one.at));
                    writeln!(context.ui, "would archive trace `{name}` of {day} on `{shown}`")?;
                }
                print_kept(context, &kept)?;
            }
            return Ok(ExitStatus::Success);
        }
        let archival = if wanted.is_empty() {
            Archival { archived: Vec::new(), kept: Vec::new(), failed: None }
        } else {
            archive(repo, &context.signature()?, &remote, wanted)?
        };
        kept.extend(archival.kept);
        if self.json {
            print_json(context, &remote, &archival.archived, &kept)?;
        } else {
            for one in &archival.archived {
                writeln!(context.ui, "Archived trace `{}` on `{shown}`", escaped(one.name.as_str()))?;
            }
            print_kept(context, &kept)?;
        }
        if let Some(one) = archival.archived.first() {
            context.ui.note(format!("`git trace switch {}` brings it back", shell_word(&one.name)));
        }
        archival.failed.map_or(Ok(ExitStatus::of(kept.is_empty())), |error| Err(Error::from(error)))
    }

    /// The traces to archive with their tips, and those that were named and stay, with the reasons.
    #[expect(clippy::type_complexity, reason = "two lists of pairs")]
    fn find(&self, context: &Context) -> Result<(Vec<(TraceName, Oid)>, Vec<(TraceName, String)>)> {
        let repo = context.repo()?;
        let before = self.older_than.as_ref().map(|when| when.before(&context.clock())).transpose()?;
        if let (true, Some(before)) = (self.traces.is_empty(), before) {
            let mut found: Vec<Expired> = expired(repo, before)?;
            let names: Vec<TraceName> = found.iter().map(|one| one.name.clone()).collect();
            // The trace of a sub-agent goes with that of its session.
            let stays = |above: &str| {
                let name: Option<TraceName> = above.parse().ok();
                name.is_some_and(|name| {
                    !names.contains(&name) && repo.find_ref(&name.refname()).is_ok_and(|oid| oid.is_some())
                })
            };
            found.retain(|one| !one.name.above_sub_agents().any(stays));
            return Ok((found.into_iter().map(|one| (one.name, one.tip)).collect(), Vec::new()));
        }
        let mut current = vec![head::current(repo)?];
        current.extend(head::of_worktrees(repo)?.into_iter().filter_map(|(_, chosen)| chosen));
        let (mut found, mut kept) = (Vec::new(), Vec::new());
        for name in named(repo, &self.traces)? {
            let tip = Tip::of_trace(repo, &name)?;
            if current.contains(&name) {
                kept.push((name, "it is checked out".to_owned()));
            } else if before.is_none_or(|before| tip.time() < before) {
                found.push((name, tip.commit.oid));
            }
        }
        Ok((found, kept))
    }
}

/// The facts about a trace that stay known without its objects.
fn describe(repo: &Repo, remote: &str, name: TraceName, tip: Oid) -> Result<Archived, TraceError> {
    let view = View::at(repo, Tip::read(repo, tip)?, None)?;
    let total = view.listed_total(repo, settings::counter(repo, Some(&name))?)?;
    // The length of another session says nothing about the file that the trace is named after.
    let is_own = |mark: &&ImportPosition| name.as_str().ends_with(&format!("/{}", mark.session));
    Ok(Archived {
        remote: remote.to_owned(),
        tip,
        at: view.tip.time(),
        title: title(repo, &name, &view),
        items: view.slots.len(),
        tokens: total.tokens,
        sessions: session::of_traces(repo, &[&name])?,
        read: view.tip.trailers.source.as_ref().filter(is_own).map(|mark| mark.offset),
        name,
    })
}

fn print_kept(context: &Context, kept: &[(TraceName, String)]) -> Result<()> {
    for (name, why) in kept {
        writeln!(context.ui, "kept trace `{}`: {}", escaped(name.as_str()), escaped(why))?;
    }
    Ok(())
}

fn print_json(context: &Context, remote: &str, archived: &[Archived], kept: &[(TraceName, String)]) -> Result<()> {
    let archived: Vec<Value> =
        archived.iter().map(|one| json!({ "trace": one.name.as_str(), "commit": one.tip.to_string() })).collect();
    let kept: Vec<Value> = kept.iter().map(|(name, why)| json!({ "trace": name.as_str(), "reason": why })).collect();
    context.ui.json(&json!({ "remote": remote, "archived": archived, "kept": kept }))
}
