//! Leaving a crumb, and saying later what became of it.

use super::crumb::{self, About, Crumb, CrumbStatus, CrumbType, Priority};
use super::error::ForwardError;
use super::order;
use super::text::{self, Content, Head};
use crate::git::{Oid, Repo};
use crate::tokens::Encoding;
use crate::trace::model::schema;
use crate::trace::model::trailers::{Op, one_line};
use crate::trace::store::signature::Signature;
use crate::trace::store::trace::Trace;
use crate::trace::{AgentName, Draft, ItemId, TraceError, TraceName};

/// A crumb that is to be left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Note {
    /// What it tells.
    pub content: Content,
    /// How much it matters; `MEDIUM` where nobody says.
    pub priority: Priority,
    /// What it is about; `orientation` where nobody says.
    pub crumb_type: CrumbType,
    /// The crumb that it goes on from, live or not.
    pub parent: Option<ItemId>,
}

impl Note {
    /// A crumb with the protocol's defaults.
    #[must_use]
    pub(crate) fn new(content: Content) -> Self {
        Self { content, priority: Priority::Medium, crumb_type: CrumbType::Orientation, parent: None }
    }
}

/// Leaves a crumb for the next session of `agent`.
///
/// Costs the same however many there are. Two that are left in one second are two, in the order of their positions.
///
/// # Errors
///
/// [`ForwardError::BadPart`] for content that is not what it should be; nothing was written then.
pub(crate) fn leave(
    repo: &Repo,
    agent: &AgentName,
    signature: &Signature,
    encoding: Encoding,
    note: &Note,
) -> Result<Crumb, ForwardError> {
    let content = cleaned(&note.content)?;
    let about = About {
        created: signature.at,
        priority: note.priority,
        crumb_type: note.crumb_type,
        status: CrumbStatus::Active,
        session_id: text::session_id(agent, signature.at),
        parent: note.parent,
        source: None,
    };
    let head = Head {
        priority: about.priority,
        crumb_type: about.crumb_type,
        session_id: about.session_id.clone(),
        agent: agent.to_string(),
        at: about.created,
    };
    let text = text::render(&head, &content);
    let subject = subject(&about, &content.summary);
    let name = TraceName::of_agent(agent);
    let trace = Trace::new(repo, name, signature.clone()).with_encoding(encoding);
    let (_, (id, seq)) = trace.change(|change| {
        let newest = change.tip().map(|tip| order::newest(repo, tip)).transpose()?.flatten();
        let newest = newest.map_or(about.created, |newest| newest.max(about.created));
        let draft = about.draft(&text, change.free_seq()?, newest);
        schema::validate(&draft).map_err(TraceError::from)?;
        let (item, seq) = change.append(draft, Some(&subject))?;
        Ok::<_, ForwardError>((item.id, seq))
    })?;
    Ok(Crumb { id, seq, about, text })
}

/// The first line of the commit of a crumb.
pub(crate) fn subject(about: &About, summary: &str) -> String {
    let line = one_line(&format!("{} {}: {summary}", about.priority, about.crumb_type));
    if line.chars().count() <= 72 { line } else { line.chars().take(71).chain(['…']).collect() }
}

/// Trims what is to be told, leaves out what is empty, and refuses what the text could not hold.
fn cleaned(content: &Content) -> Result<Content, ForwardError> {
    let bad = |part, cause: &str| ForwardError::BadPart { part, cause: cause.to_owned() };
    let trimmed = |text: &String| text.replace("\r\n", "\n").trim().to_owned();
    let list = |entries: &[String]| entries.iter().map(trimmed).filter(|entry| !entry.is_empty()).collect();
    let summary = trimmed(&content.summary);
    if summary.is_empty() {
        return Err(bad("summary", "a crumb says in a line or more what happened; this one is empty"));
    }
    let name = |text: &str| {
        let text = text.trim().to_owned();
        let plain = !text.is_empty() && !text.contains([':', ',']) && !text.chars().any(char::is_control);
        plain.then_some(text)
    };
    let mut emotional = Vec::new();
    for (key, value) in &content.emotional {
        let key = name(key).ok_or_else(|| bad("emotional state", "a name is one line without `:` and `,`"))?;
        emotional.push((key, trimmed(value)));
    }
    let mut references: Vec<(String, Vec<String>)> = Vec::new();
    for (kind, ids) in &content.references {
        let kind = name(kind).ok_or_else(|| bad("references", "a kind is one line without `:` and `,`"))?;
        let plain = |id: &String| !id.trim().is_empty() && !id.contains(',') && !id.chars().any(char::is_control);
        if !ids.iter().all(plain) {
            return Err(bad("references", "an id is one line without `,`"));
        }
        let ids = ids.iter().map(|id| id.trim().to_owned());
        match references.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, known)) => known.extend(ids),
            None => references.push((kind, ids.collect())),
        }
    }
    references.retain(|(_, ids)| !ids.is_empty());
    let (discoveries, unfinished) = (list(&content.discoveries), list(&content.unfinished));
    let if_disoriented = list(&content.if_disoriented);
    Ok(Content { summary, discoveries, emotional, unfinished, references, if_disoriented })
}

/// Says what became of a crumb; `None` where it said so already.
///
/// Its text stays; its history tells the status it had.
///
/// # Errors
///
/// [`crate::trace::TraceError::NotLive`] if it is not there, [`ForwardError::Damaged`] if it cannot be read.
pub(crate) fn set_status(
    repo: &Repo,
    agent: &AgentName,
    signature: &Signature,
    encoding: Encoding,
    id: ItemId,
    status: CrumbStatus,
    reason: Option<&str>,
) -> Result<Option<Oid>, ForwardError> {
    let name = TraceName::of_agent(agent);
    let trace = Trace::new(repo, name, signature.clone()).with_encoding(encoding);
    let (commit, ()) = trace.change(|change| {
        let (slot, old) = change.live_item(id)?;
        if let (Err(damaged), _) = crumb::read(repo, &slot)? {
            return Err(ForwardError::Damaged { id, cause: damaged.cause });
        }
        let mut fields = old.fields.clone();
        crumb::put_status(&mut fields, status);
        let draft = Draft { fields, body: old.body.clone() };
        if change.revise(&slot, &old, draft)?.is_some() {
            change.commit_item(Op::Edit, id, &format!("{status}: {id}"), reason)?;
        }
        Ok(())
    })?;
    Ok(commit)
}
