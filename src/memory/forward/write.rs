//! Adding a forward crumb, and changing its status later.

use super::crumb::{self, CrumbStatus, CrumbType, ForwardCrumb, Metadata, Priority};
use super::error::ForwardError;
use super::query::{newest_time, refuse_other_case};
use super::text::{self, CrumbContent, TextHeader, with_unix_lines};
use crate::base::string_enum::string_enum;
use crate::git::Oid;
use crate::trace::model::schema;
use crate::trace::model::trailers::{Op, one_line};
use crate::trace::store::trace::Trace;
use crate::trace::{AgentName, Draft, Fields, ItemId, ItemType, TraceError};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NewCrumb {
    pub content: CrumbContent,
    pub priority: Priority,
    pub crumb_type: CrumbType,
    /// The forward crumb that this one continues; it may have been deleted.
    pub parent: Option<ItemId>,
}

string_enum! {
    /// A common kind of forward crumb; each requires what its kind is for.
    Template {
        Orientation = "orientation",
        /// HIGH, task. The summary has a default.
        Task = "task",
        /// HIGH, orientation. Requires unfinished business and advice for a disoriented reader.
        Handover = "handover",
    }
}

impl NewCrumb {
    pub(crate) fn new(content: CrumbContent) -> Self {
        Self { content, priority: Priority::Medium, crumb_type: CrumbType::Orientation, parent: None }
    }

    /// A forward crumb with the priority and type of a template; only [`Template::Task`] takes a deadline.
    pub(crate) fn from_template(
        template: Template,
        mut content: CrumbContent,
        deadline: Option<&str>,
    ) -> Result<Self, ForwardError> {
        let bad = |field, cause: String| Err(ForwardError::BadField { field, cause });
        if deadline.is_some() && template != Template::Task {
            return bad("deadline", "only the template `task` has a deadline".to_owned());
        }
        if template != Template::Orientation && content.unfinished.is_empty() {
            return bad("unfinished", format!("the template `{template}` requires at least one"));
        }
        if template == Template::Handover && content.if_disoriented.is_empty() {
            return bad("if-disoriented", format!("the template `{template}` requires at least one"));
        }
        if template == Template::Task && content.summary.trim().is_empty() {
            let by = deadline.map(|deadline| format!(" by {deadline}")).unwrap_or_default();
            content.summary = format!("Tasks to complete{by}");
        }
        let crumb_type = if template == Template::Task { CrumbType::Task } else { CrumbType::Orientation };
        Ok(Self { priority: Priority::High, crumb_type, ..Self::new(content) })
    }
}

/// Adds a forward crumb for the next session of `agent`, at a cost that does not depend on how many there are.
///
/// Secrets are handled as the setting `trace.secrets` says; without it they only cause a warning.
/// Two forward crumbs of the same second stay distinct, in the order of their positions.
pub(crate) fn add(trace: &Trace<'_>, agent: &AgentName, new: &NewCrumb) -> Result<ForwardCrumb, ForwardError> {
    refuse_other_case(trace.repo(), agent)?;
    let content = clean(&new.content)?;
    let at = trace.signature()?.at;
    let (priority, crumb_type) = (new.priority, new.crumb_type);
    let header =
        TextHeader { priority, crumb_type, session_id: text::session_id(agent, at), agent: agent.to_string(), at };
    let metadata = Metadata { parent: new.parent, ..Metadata::of_text(&header, None) };
    let mut body = text::render(&header, &content).into_bytes();
    let mut subject = commit_subject(&metadata, &content.summary);
    trace.scan_for_secrets(&mut Fields::new(ItemType::freeform()), &mut body, [&mut subject])?;
    let text = String::from_utf8_lossy(&body).into_owned();
    let (_, (id, seq)) = trace.change(|change| {
        let newest = change.tip().map(|tip| newest_time(trace.repo(), tip)).transpose()?.flatten();
        let draft = metadata.draft(&text, change.free_seq()?, newest.max(Some(at)).unwrap_or(at));
        schema::validate(&draft).map_err(TraceError::from)?;
        let (item, seq) = change.append(draft, Some(&subject))?;
        Ok((item.id, seq))
    })?;
    Ok(ForwardCrumb { id, seq, metadata, text })
}

pub(crate) fn commit_subject(metadata: &Metadata, summary: &str) -> String {
    let line = one_line(&format!("{} {}: {summary}", metadata.priority, metadata.crumb_type));
    if line.chars().count() <= 72 { line } else { line.chars().take(71).chain(['…']).collect() }
}

/// Trims the content, removes empty entries, and refuses what the text cannot represent.
fn clean(content: &CrumbContent) -> Result<CrumbContent, ForwardError> {
    let bad = |field, cause: &str| ForwardError::BadField { field, cause: cause.to_owned() };
    let trim = |text: &String| with_unix_lines(text).trim().to_owned();
    let trim_all = |entries: &[String]| entries.iter().map(trim).filter(|entry| !entry.is_empty()).collect();
    let is_word =
        |text: &str| !text.trim().is_empty() && !text.contains(',') && !text.trim().chars().any(char::is_control);
    let is_name = |text: &str| is_word(text) && !text.contains(':');
    let summary = trim(&content.summary);
    if summary.is_empty() {
        return Err(bad("summary", "the text is empty; describe what happened: `--summary TEXT`"));
    }
    let emotional = &content.emotional;
    if !emotional.iter().all(|(name, _)| is_name(name)) {
        return Err(bad("emotional state", "a name is one line without `:` and `,`"));
    }
    let mut references: Vec<(String, Vec<String>)> = Vec::new();
    for (kind, ids) in &content.references {
        if !is_name(kind) {
            return Err(bad("references", "a kind is one line without `:` and `,`"));
        }
        if !ids.iter().all(|id| is_word(id) && !id.chars().any(char::is_control)) {
            return Err(bad("references", "an id is one line without `,`"));
        }
        let ids = ids.iter().map(|id| id.trim().to_owned());
        match references.iter_mut().find(|(known, _)| known == kind.trim()) {
            Some((_, known)) => known.extend(ids),
            None => references.push((kind.trim().to_owned(), ids.collect())),
        }
    }
    references.retain(|(_, ids)| !ids.is_empty());
    Ok(CrumbContent {
        summary,
        discoveries: trim_all(&content.discoveries),
        emotional: emotional.iter().map(|(name, value)| (name.trim().to_owned(), trim(value))).collect(),
        unfinished: trim_all(&content.unfinished),
        references,
        if_disoriented: trim_all(&content.if_disoriented),
    })
}

/// Sets the status of a forward crumb and returns the commit; `None` if it has that status already.
pub(crate) fn set_status(
    trace: &Trace<'_>,
    id: ItemId,
    status: CrumbStatus,
    reason: Option<&str>,
) -> Result<Option<Oid>, ForwardError> {
    let (commit, is_readable) = trace.change(|change| {
        let (entry, old) = change.live_item(id)?;
        if let (Err(damaged), _) = crumb::read(trace.repo(), &entry)? {
            return Ok(Err(ForwardError::Damaged { id, cause: damaged.cause }));
        }
        let mut draft = Draft { fields: old.fields.clone(), body: old.body.clone() };
        crumb::put_status(&mut draft.fields, status);
        if change.revise(&entry, &old, draft)?.is_some() {
            change.commit_item(Op::Edit, id, &format!("{status}: {id}"), reason)?;
        }
        Ok(Ok(()))
    })?;
    is_readable.and(Ok(commit))
}
