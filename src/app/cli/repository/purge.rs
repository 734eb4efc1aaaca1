//! `git trace purge`: removes a text or items from everything that is stored.

mod there;

use std::collections::{BTreeSet, HashSet};
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use regex::bytes::Regex;

use crate::app::cli::flags::items::ReasonArgs;
use crate::app::cli::remote::{
    print_priorities, print_received, priority_json, received_json, remote_of, removes_purged,
};
use crate::app::cli::{
    Context, Error, ErrorContext as _, ExitStatus, Plain, Result, Value, Values, bail, escaped, json,
};
use crate::app::ui::confirmed;
use crate::base::bounded;
use crate::check::purge::{
    self, Missing, Needle, Plan, Purged, Received, SHORTEST, Target as Content, apply_received, rewrite_fetched,
};
use crate::git::{Direction, PushedRef, short_oid};
use crate::trace::model::name::RECORDS;
use crate::trace::store::priority::{Before, ChangedPriority, in_traces};
use crate::trace::store::resolve::Resolver;
use crate::trace::store::tombstone::{DEFAULT_REASON, LONGEST_REASON};
use crate::trace::sync::{
    EVERYTHING, Target, all_targets, fetch, fetch_unnamed_refs, fetched_private_refs, forget_archived,
    forget_unnamed_refs, plan_replacement,
};
use crate::trace::{ItemId, Tip, TraceError};
use there::{replace, report};

/// Remove a text or items from everything that is stored
///
/// Rewrites all traces, backups, remote-tracking refs, priorities, forward crumbs, and archives that contain it, with `[purged:
/// REASON]` in its place; the default reason is `secret`. Item ids, authors, and dates stay; signatures do not. Removes the replaced
/// objects, the reflogs that lead to them, and derived files such as the operation log. This cannot be undone.
///
/// The code's history is reported and stays. The agent's own session file, exports, other clones, and backups are out of reach: see
/// docs/privacy.md.
#[derive(clap::Args, Debug)]
#[command(group(clap::ArgGroup::new("what").args(["items", "text", "pattern", "push"]).multiple(true).required(true)))]
pub(crate) struct PurgeArgs {
    /// Items whose content is removed: id or at least four digits of it, #<position>, or a commit that changed it
    #[arg(value_name = "ITEM", add = Values::Items)]
    items: Vec<String>,
    /// Read the text from stdin, and find it also in JSON, HTML, URLs, base64, hex, and UTF-16
    #[arg(long, value_name = "-", value_parser = ["-"], conflicts_with = "items")]
    text: Option<String>,
    /// Regular expression, for bytes as they are stored
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true, conflicts_with = "items")]
    pattern: Option<String>,
    #[command(flatten)]
    reason: ReasonArgs,
    /// Fetch from this remote first, and then replace its purged refs; alone: replace what earlier purges and pulls rewrote
    #[arg(long, value_name = "REMOTE", add = Values::Remotes)]
    push: Option<String>,
    /// Only show what would be rewritten
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl PurgeArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let Some(remote) = &self.push else { return self.run_with(context, &[]) };
        self.run_with(context, &all_targets(context.repo()?, &remote_of(context, Some(remote), Direction::Push)?)?)
    }

    fn run_with(&self, context: &Context, targets: &[Target]) -> Result<ExitStatus> {
        let content = if self.is_alone() { None } else { Some(self.content(context)?) };
        if !self.yes
            && let Some(answer) = self.ask(context, content.as_ref(), targets)?
        {
            return Ok(answer);
        }
        let Some(first) = targets.first() else { return self.apply(context, content.as_ref(), targets) };
        let (repo, remote) = (context.repo()?, &first.remote);
        let kept = fetched_private_refs(repo, remote)?;
        let done = self.apply(context, content.as_ref(), targets);
        // Other commands do not fetch these refs, so they are here only during the search.
        forget_unnamed_refs(repo, remote, &kept)?;
        forget_archived(repo, remote)?;
        done
    }

    fn apply(&self, context: &Context, content: Option<&Content>, targets: &[Target]) -> Result<ExitStatus> {
        let mut is_complete = true;
        let mut fetch = |target: &Target| -> Result<()> {
            is_complete &= Self::fetch(context, target)?;
            Ok(())
        };
        // An address that cannot be reached does not stop the purge here, and that of the others.
        let first = targets.first().map_or(Ok(()), &mut fetch);
        let is_done = match content {
            Some(content) => self.purge(context, content, targets, first, &mut fetch)?,
            None => {
                let replaced = replace(context, targets, first, HashSet::new(), |target, _| fetch(target))?;
                if self.json {
                    self.print(context, &Plan::default(), Some(&Purged::default()), &Applied::default())?;
                }
                removes_purged(context)? && replaced.iter().all(PushedRef::is_accepted)
            }
        };
        Ok(ExitStatus::of(is_done && is_complete))
    }

    /// Shows the changes that are known without a fetch, and asks. Moves no ref. `None` if the purge is confirmed.
    fn ask(&self, context: &Context, content: Option<&Content>, targets: &[Target]) -> Result<Option<ExitStatus>> {
        let repo = context.repo()?;
        let plan = content.map(|content| purge::plan(repo, content)).transpose()?;
        if plan.is_some() || self.json {
            self.print(context, plan.as_ref().unwrap_or(&Plan::default()), None, &Applied::default())?;
        }
        context.ui.flush()?;
        let found = plan.as_ref().map(Plan::found).unwrap_or_default();
        let (mut there, mut failed) = (Vec::new(), None);
        for target in targets {
            match plan_replacement(repo, target, plan.as_ref().map(Plan::objects), &found) {
                Ok(planned) => {
                    for pushed in &planned {
                        report(context, target, pushed);
                    }
                    there.extend(planned);
                }
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        if let Some(error) = failed {
            if self.dry_run || !io::stdin().is_terminal() {
                return Err(error.into());
            }
            context.ui.note(format!("error: {error}"));
        }
        let is_empty = plan.is_some_and(|plan| plan.is_empty());
        if self.dry_run {
            let is_known = there.iter().all(PushedRef::is_accepted);
            return Ok(Some(ExitStatus::of(is_known && !(is_empty && there.is_empty()))));
        }
        // Others may have pushed more.
        if is_empty && targets.is_empty() {
            return Ok(Some(ExitStatus::No));
        }
        if !io::stdin().is_terminal() {
            context.ui.note("dry run, because there is no terminal to ask on: --yes purges");
            return Ok(Some(ExitStatus::No));
        }
        if let Some(remote) = self.push.as_ref().filter(|_| !self.json) {
            let applied = content.map_or("", |_| "applies here what others purged, as `git trace pull`, and ");
            let remote = escaped(remote);
            context.ui.note(format!("this fetches from `{remote}`, {applied}also purges what others pushed"));
        }
        context.ui.flush()?;
        let is_confirmed = confirmed("Purge this? It cannot be undone.")?;
        Ok((!is_confirmed).then_some(ExitStatus::No))
    }

    fn is_alone(&self) -> bool {
        self.items.is_empty() && self.text.is_none() && self.pattern.is_none()
    }

    /// Fetches what others pushed meanwhile, which may contain it too, and also archived traces, which a fetch without names leaves there.
    /// Returns whether everything was fetched.
    fn fetch(context: &Context, target: &Target) -> Result<bool> {
        let (repo, remote) = (context.repo()?, &target.remote);
        let mut skipped = match fetch(repo, target.fetch(), &[EVERYTHING.to_owned()], &["--quiet"]) {
            Err(TraceError::NoRemoteMatch { .. }) => Vec::new(),
            fetched => fetched?,
        };
        skipped.extend(fetch_unnamed_refs(repo, target.fetch())?);
        for (name, cause) in &skipped {
            context.ui.note(format!("error: {} → {remote}: not searched, because {cause}", escaped(name)));
        }
        // A replacement may never be pushed from the clone that purged it.
        rewrite_fetched(repo, &context.signature()?, remote, Missing::Replace)?;
        Ok(skipped.is_empty())
    }

    fn content(&self, context: &Context) -> Result<Content> {
        let mut text = None;
        if self.text.is_some() {
            if io::stdin().is_terminal() {
                context.ui.note("type the text, then Enter and Ctrl-D:");
            }
            let mut bytes = bounded::read_all(io::stdin()).context("cannot read stdin")?;
            // `echo` adds it.
            for end in [b"\n", b"\r"] {
                if bytes.ends_with(end) {
                    bytes.pop();
                }
            }
            if bytes.len() < SHORTEST {
                bail!("the text is too short: at least {SHORTEST} bytes are expected");
            }
            text = Some(bytes);
        }
        let pattern = self.pattern.as_deref().map(Regex::new).transpose()?;
        let needle = Needle::new(text.as_deref(), pattern);
        let reason = self.reason.get(context)?;
        let Some(content) = Content::new(self.ids(context)?, needle, reason.as_deref().unwrap_or(DEFAULT_REASON))
        else {
            bail!(
                "the reason must be one line of at most {LONGEST_REASON} bytes, without double quotes, backslashes, square brackets, and `…`"
            );
        };
        let marker = &content.marker;
        if content.needle.is_in(marker.as_bytes()) {
            bail!("what replaces the text, `{marker}`, contains it; give another with --reason");
        }
        Ok(content)
    }

    /// A full id may be of any trace, and of a forward crumb.
    fn ids(&self, context: &Context) -> Result<BTreeSet<ItemId>> {
        let mut ids = BTreeSet::new();
        for spec in &self.items {
            let id = match spec.parse() {
                Ok(id) => id,
                Err(_) => {
                    let (repo, name) = (context.repo()?, context.trace_name(None)?);
                    match Resolver::new(repo, &name, &Tip::of_trace(repo, &name)?)?.item(spec) {
                        Err(unknown @ TraceError::UnknownItem { .. }) if !spec.starts_with('#') => {
                            let hint = "`git trace purge --text -` removes a text that it reads from stdin";
                            return Err(Error::with_hint(unknown.to_string(), hint));
                        }
                        found => found?,
                    }
                }
            };
            ids.insert(id);
        }
        Ok(ids)
    }

    /// Returns whether everything was purged.
    fn purge(
        &self,
        context: &Context,
        content: &Content,
        targets: &[Target],
        first: Result<()>,
        fetch: &mut dyn FnMut(&Target) -> Result<()>,
    ) -> Result<bool> {
        let (repo, signature, mut all) = (context.repo()?, context.signature()?, Applied::default());
        // A purge that knows of those of others needs not be joined with them.
        let first_received = targets.first().map_or(Ok(()), |first| self.receive(context, &first.remote, &mut all));
        let mut purged = match first_received.and_then(|()| Ok(purge::purge(repo, content, &signature)?)) {
            Ok(purged) => purged,
            Err(error) => {
                // There is no JSON to list it.
                if self.json {
                    all.print(context)?;
                }
                return Err(error);
            }
        };
        all.priorities.extend(purged.priorities.clone());
        if !self.json {
            self.print(context, &purged.plan, Some(&purged), &Applied::default())?;
            print_priorities(context, &purged.priorities)?;
        }
        let is_left = |purged: &Purged| !purged.left.is_empty() || purged.lent > 0;
        let mut is_complete = !is_left(&purged);
        let replaced = replace(context, targets, first, purged.plan.found(), |target, found| {
            fetch(target)?;
            self.receive(context, &target.remote, &mut all)?;
            let more = purge::purge(repo, content, &signature)?;
            is_complete &= !is_left(&more);
            purged.failed = purged.failed.take().or(more.failed);
            found.extend(more.plan.found());
            all.priorities.extend(more.priorities.clone());
            if !self.json {
                print_refs(context, &more.plan)?;
                print_priorities(context, &more.priorities)?;
            }
            Ok(())
        });
        if self.json {
            self.print(context, &purged.plan, Some(&purged), &all)?;
        }
        let replaced = replaced?;
        // A purge that was stopped before it reached the remote has nothing left to do here.
        is_complete &= !purged.plan.is_empty() || !replaced.is_empty();
        // A file of another user must not keep the text on the remote.
        is_complete &= replaced.iter().all(PushedRef::is_accepted);
        purged.failed.map_or(Ok(is_complete), |failure| Err(failure.into()))
    }

    /// Applies what others purged, and prints it, also before a failure.
    fn receive(&self, context: &Context, remote: &str, all: &mut Applied) -> Result<()> {
        let (repo, mut new) = (context.repo()?, Applied::default());
        let before = Before::read(repo)?;
        let done = apply_received(repo, &context.signature()?, (remote, None), &mut new.received);
        let listed = in_traces(repo, &before).map(|priorities| new.priorities = priorities);
        if !self.json {
            new.print(context)?;
        }
        all.received.extend(new.received);
        all.priorities.extend(new.priorities);
        Ok(done.and(listed)?)
    }

    fn print(&self, context: &Context, plan: &Plan, purged: Option<&Purged>, applied: &Applied) -> Result<()> {
        if self.json {
            let mut answer = to_json(plan, purged);
            answer["received"] = applied.received.iter().map(received_json).collect();
            answer["changed_priorities"] = applied.priorities.iter().map(priority_json).collect();
            return context.ui.json(&answer);
        }
        let ui = &context.ui;
        let is_done = purged.is_some();
        if plan.is_empty() {
            writeln!(ui, "nothing to purge")?;
        }
        let counts = plan.counts;
        print_refs(context, plan)?;
        for refname in &plan.reflogs {
            writeln!(ui, "{}  reflog removed", escaped(refname))?;
        }
        for (count, what) in [
            (counts.items, "revisions of items"),
            (counts.messages, "commit messages rewritten"),
            (counts.record_files, "files of the priority record"),
            (counts.archive_files, "files of archives"),
            (counts.signatures, "signed commits"),
            (plan.unreachable.len(), "objects that no ref leads to"),
        ] {
            if count > 0 {
                writeln!(ui, "{what}: {count}")?;
            }
        }
        let removed = removed(plan, purged);
        if removed > 0 {
            let done = if is_done { "removed" } else { "to remove" };
            writeln!(ui, "objects {done}: {removed}")?;
        }
        if plan.is_in_derived {
            writeln!(ui, "files of git-trace {}", if is_done { "removed" } else { "to remove" })?;
        }
        let outside = &plan.outside;
        for refname in &outside.names {
            writeln!(ui, "stays as a name, until the ref is renamed or deleted: {}", escaped(refname))?;
        }
        for (oid, path) in &outside.code {
            let what = if path.is_empty() { "commit" } else { path };
            writeln!(ui, "stays in the code's history: {} {}", short_oid(*oid), escaped(what))?;
        }
        for (count, what) in [
            (outside.authors, "as author or committer, commits"),
            (outside.reasons, "in reasons of earlier purges, in `refs/trace-purged`"),
            (outside.in_tombstones, "in other texts of tombstones, in `refs/trace-purged` or as fetched"),
        ] {
            if count > 0 {
                writeln!(ui, "stays {what}: {count}")?;
            }
        }
        let files = outside.files.iter().map(|path| ("stays in a file", path));
        let files = files.chain(outside.named_files.iter().map(|path| ("stays as the name of a file", path)));
        for (what, path) in files.chain(outside.unread.iter().map(|path| ("cannot be searched, and stays", path))) {
            writeln!(ui, "{what}: {}", Plain(&path.display().to_string()))?;
        }
        let Some(purged) = purged else { return Ok(()) };
        for (oid, _) in &purged.left {
            writeln!(ui, "still contains it: object {oid}")?;
        }
        if purged.lent > 0 {
            writeln!(ui, "stays in the repository that lends its objects: {}", purged.lent)?;
        }
        ui.flush()?;
        if counts.signatures > 0 {
            ui.note("rewritten commits lost their signatures, unless `trace.sign` is set");
        }
        let remotes = match &self.push {
            Some(remote) => format!("other remotes, objects that `{}` keeps until its next `git gc`", escaped(remote)),
            None => "remotes".to_owned(),
        };
        ui.note(format!("not reached: the agent's own session file, exports, other clones, {remotes}, and backups"));
        if context.repo()?.worktree().is_none() || !context.repo()?.list_refs(RECORDS)?.is_empty() {
            ui.note("clones that push here do not learn of this purge; repeat it in one of them, with `--push`");
        }
        Ok(())
    }
}

/// The number of objects that are removed, or would be.
fn removed(plan: &Plan, purged: Option<&Purged>) -> usize {
    plan.removed.len() - purged.map_or(0, |purged| purged.lent)
}

/// Changes by purges of others, and the levels that purges changed.
#[derive(Default)]
struct Applied {
    received: Vec<Received>,
    priorities: Vec<ChangedPriority>,
}

impl Applied {
    fn print(&self, context: &Context) -> Result<()> {
        print_received(context, &self.received)?;
        print_priorities(context, &self.priorities)
    }
}

fn print_refs(context: &Context, plan: &Plan) -> Result<()> {
    for change in &plan.refs {
        let old = change.old.map(short_oid).unwrap_or_default();
        writeln!(context.ui, "{}  {old} -> {}", escaped(&change.refname), short_oid(change.new))?;
    }
    Ok(())
}

fn to_json(plan: &Plan, purged: Option<&Purged>) -> Value {
    let refs = plan.refs.iter().map(|change| {
        let old = change.old.map(|old| old.to_string());
        json!({ "ref": change.refname, "old": old, "new": change.new.to_string() })
    });
    let code = plan.outside.code.iter().map(|(oid, path)| json!({ "object": oid.to_string(), "path": path }));
    let shown = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let left = purged.map(|purged| purged.left.iter().map(|(oid, _)| oid.to_string()).collect::<Vec<_>>());
    json!({
        "purged": purged.is_some(),
        "refs": refs.collect::<Vec<_>>(),
        "reflogs": plan.reflogs,
        "items": plan.counts.items,
        "messages": plan.counts.messages,
        "record_files": plan.counts.record_files,
        "archive_files": plan.counts.archive_files,
        "signatures": plan.counts.signatures,
        "unreachable": plan.unreachable.len(),
        "objects": removed(plan, purged),
        "code": code.collect::<Vec<_>>(),
        "authors": plan.outside.authors,
        "reasons": plan.outside.reasons,
        "tombstones": plan.outside.in_tombstones,
        "files": shown(&plan.outside.files),
        "named_files": shown(&plan.outside.named_files),
        "names": plan.outside.names,
        "unread": shown(&plan.outside.unread),
        "derived": plan.is_in_derived,
        "lent": purged.map(|purged| purged.lent),
        "left": left,
    })
}
