//! Lists the recorded sessions, each a trace named `<agent>/<session id>`.

use crate::git::{CodeCommit, Repo};
use crate::tokens::Encoding;
use crate::trace::model::item::{ItemType, Role};
use crate::trace::model::name::TRACES;
use crate::trace::model::trailers::{Total, one_line};
use crate::trace::model::tree::ItemEntry;
use crate::trace::store::total;
use crate::trace::store::view::View;
use crate::trace::{Time, Tip, TraceError, TraceName};
use crate::transcript::format::Format;

const MAX_SEARCHED: usize = 30;

const MAX_PROMPT: usize = 120;

#[derive(Clone, Debug)]
pub(crate) struct RecordedSession {
    pub name: TraceName,
    pub agent: Format,
    pub began: Time,
    pub ended: Time,
    pub items: usize,
    pub total: Total,
    pub first_prompt: String,
    pub sub_agents: usize,
    /// The commits of the code during the session, newest first.
    pub commits: Vec<CodeCommit>,
}

/// Lists the sessions, the most recently changed first.
///
/// Reads the tree and first items of each, and the code's history back to the start of the oldest session.
pub(crate) fn list(repo: &Repo, encoding: Encoding) -> Result<Vec<RecordedSession>, TraceError> {
    let mut found: Vec<RecordedSession> = Vec::new();
    for agent in Format::all() {
        let refs = repo.list_refs(&format!("{TRACES}{agent}/"))?;
        let names: Vec<TraceName> = refs.iter().filter_map(|(refname, _)| TraceName::of_ref(refname)).collect();
        for name in names.iter().filter(|name| !name.as_str().contains(".agent-")) {
            let Some(tip) = Tip::find(repo, name)? else { continue };
            let prefix = format!("{name}.agent-");
            let sub_agents = names.iter().filter(|other| other.as_str().starts_with(&prefix)).count();
            let session = read(repo, encoding, name.clone(), agent, tip)?;
            found.push(RecordedSession { sub_agents, ..session });
        }
    }
    let oldest = found.iter().map(|session| session.began.as_second()).min();
    let commits = oldest.map_or_else(|| Ok(Vec::new()), |oldest| repo.code_since(oldest))?;
    for session in &mut found {
        let period = session.began.as_second()..=session.ended.as_second();
        session.commits = commits.iter().filter(|commit| period.contains(&commit.time)).cloned().collect();
    }
    found.sort_by_key(|session| std::cmp::Reverse(session.ended));
    Ok(found)
}

fn read(
    repo: &Repo,
    encoding: Encoding,
    name: TraceName,
    agent: Format,
    tip: Tip,
) -> Result<RecordedSession, TraceError> {
    let ended = tip.time();
    let view = View::at(repo, tip, None)?;
    let mut began = None;
    let mut first_prompt = None;
    let is_shown = |slot: &&ItemEntry| view.left_out(slot).is_none();
    for slot in view.slots.iter().filter(is_shown).take(MAX_SEARCHED) {
        let item = total::read_item(repo, slot)?;
        began = began.or(item.fields.created);
        let by_user = item.fields.item_type == ItemType::dialogue() && item.fields.role == Some(Role::User);
        let text = String::from_utf8_lossy(&item.body);
        // Text that agents add on the user's behalf starts with a tag or a heading, or is marked.
        let is_typed = !text.trim_start().starts_with(['<', '#']) && !item.fields.meta.contains_key("is_meta");
        if by_user && (is_typed || first_prompt.is_none()) {
            first_prompt = Some(one_line(&text).chars().take(MAX_PROMPT).collect::<String>());
            if is_typed {
                break;
            }
        }
    }
    Ok(RecordedSession {
        name,
        agent,
        began: began.unwrap_or(ended),
        ended,
        items: view.slots.len(),
        total: view.total(repo, encoding)?,
        first_prompt: first_prompt.unwrap_or_default(),
        sub_agents: 0,
        commits: Vec::new(),
    })
}
