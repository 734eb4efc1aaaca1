//! Committing an item with what comes beside it: what it answers, its priority, the usage that was reported.

use serde_json::{Map, Value, json};

use super::append::{self, Committed};
use crate::base::error::{Context as _, Result, bail};
use crate::git::{Oid, Repo};
use crate::secrets::Policy;
use crate::tokens::{TokenUsage, parse_usage};
use crate::trace::model::json::draft_from;
use crate::trace::model::types::{BadRule, Types, level_in_meta};
use crate::trace::store::budget::BudgetPolicy;
use crate::trace::store::priority::{self, Level, Request};
use crate::trace::store::resolve::Resolver;
use crate::trace::store::secrets::SecretScanner;
use crate::trace::store::write::Signature;
use crate::trace::{Draft, Time, Tip, TraceName};

/// An item that is to be committed, and what comes with it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The item.
    pub draft: Draft,
    /// First line of the commit, in place of a preview.
    pub subject: Option<String>,
    /// What it answers, as the user names it.
    pub reply_to: Option<String>,
    /// Its priority, in place of that of its type.
    pub priority: Option<Level>,
    /// Why it has that priority.
    pub reason: Option<String>,
    /// What the provider reported of the context.
    pub usage: Option<TokenUsage>,
}

impl Entry {
    /// Reads an entry from its JSON form, an item with `subject`, `reply_to`, `priority`, `reason` and `usage` beside it.
    ///
    /// # Errors
    ///
    /// Names the field that cannot be read.
    pub(crate) fn of_json(object: &Map<String, Value>) -> Result<Self> {
        const APART: [&str; 5] = ["reply_to", "priority", "reason", "subject", "usage"];
        let text = |field: &str| -> Result<Option<String>> {
            match object.get(field) {
                None | Some(Value::Null) => Ok(None),
                Some(Value::String(text)) => Ok(Some(text.clone())),
                Some(_) => bail!("field `{field}`: a text is expected"),
            }
        };
        Ok(Entry {
            draft: draft_from(object, &APART)?,
            subject: text("subject")?,
            reply_to: text("reply_to")?,
            priority: text("priority")?.map(|level| level.parse()).transpose().context("field `priority`")?,
            reason: text("reason")?,
            usage: match object.get("usage") {
                None | Some(Value::Null) => None,
                Some(usage) => Some(parse_usage(usage.to_string().as_bytes()).context("field `usage`")?),
            },
        })
    }
}

/// Commits an item at the end of a trace, under the budget of `guard`, and sets its priority.
///
/// `warn` is told which secrets it holds, and where the budget is gone over all the same. What the setting `trace.secrets`
/// says is done about the secrets, and nothing where it says nothing.
///
/// # Errors
///
/// Those of [`append`](append::append) and [`priority::set`], and a `reply_to`, a subject, or a
/// secret that cannot be let in.
pub(crate) fn commit(
    repo: &Repo,
    name: &TraceName,
    clock: Time,
    guard: &BudgetPolicy,
    mut warn: impl FnMut(&str),
    mut entry: Entry,
) -> Result<Committed> {
    if let Some(spec) = &entry.reply_to {
        let tip = Tip::of_trace(repo, name)?;
        let replied = Resolver::new(repo, name, &tip)?.item(spec);
        entry.draft.fields.reply_to = Some(replied.context("nothing to reply to")?);
    }
    if entry.subject.as_ref().is_some_and(|subject| subject.chars().any(char::is_control)) {
        bail!("the subject must be one line of text without control characters");
    }
    let Draft { fields, body } = &mut entry.draft;
    let found = SecretScanner::new(repo, Policy::Warn).look(fields, body, entry.subject.as_mut())?;
    for found in found {
        warn(&found.to_string());
    }
    let signature = Signature::take(repo, clock)?;
    let fields = &entry.draft.fields;
    let level = entry.priority.or_else(|| level_in_meta(fields));
    let in_force = level.map_or_else(|| Ok(Types::read(repo)?.rules(&fields.item_type).priority), Ok::<_, BadRule>)?;
    let request = append::Request {
        draft: &entry.draft,
        subject: entry.subject.as_deref(),
        skipped: in_force == Level::Skip,
        reported_tokens: entry.usage.map(|usage| usage.context_tokens()),
    };
    let committed = guard.run(warn, |accounting| append::append(repo, name, &signature, accounting, &request))?;
    if let Some(level) = level {
        let introduced = introduced(repo, name, &committed)?;
        let request = Request {
            item: committed.item.id,
            level,
            reason: entry.reason,
            seq: Some(committed.seq),
            at: committed.at,
            by: None,
            introduced,
        };
        priority::set(repo, &signature, &[request])?;
    }
    Ok(committed)
}

/// The commit that brought the item in: this one, unless it replaced an instruction.
fn introduced(repo: &Repo, name: &TraceName, committed: &Committed) -> Result<Oid> {
    match committed.commit {
        Some(commit) if committed.item.revision == 1 => Ok(commit),
        _ => {
            let tip = Tip::of_trace(repo, name)?;
            let found = priority::tags::introduction(repo, &tip, committed.item.id)?;
            Ok(found.unwrap_or(tip.commit.oid))
        }
    }
}

/// What is told of a commit, as JSON: `id`, `seq`, `op`, `revision`, and where they are known `commit` and `tokens`.
#[must_use]
pub(crate) fn to_json(committed: &Committed) -> Value {
    let Committed { item, seq, commit, op, .. } = committed;
    let mut answer = json!({ "id": item.id.to_string(), "seq": seq, "op": op.as_str(), "revision": item.revision });
    if let Some(commit) = commit {
        answer["commit"] = commit.to_string().into();
    }
    if let Some(tokens) = item.tokens {
        answer["tokens"] = tokens.count.into();
    }
    answer
}
