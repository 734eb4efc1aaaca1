//! The sessions that were recorded, each a trace named `<agent>/<session id>`.

use super::format::Format;
use crate::git::{CodeCommit, Repo};
use crate::tokens::Encoding;
use crate::trace::model::item::{ItemType, Role};
use crate::trace::model::name::TRACES;
use crate::trace::model::trailers::{Total, one_line};
use crate::trace::model::tree::ItemEntry;
use crate::trace::store::total;
use crate::trace::store::view::View;
use crate::trace::{Time, Tip, TraceError, TraceName};

/// How many items are looked at in search of the first words of a person.
const MAX_OPENING: usize = 30;

/// How many characters of them are kept.
const MAX_WORDS: usize = 120;

/// One recorded session.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// Its trace.
    pub name: TraceName,
    /// Whose it is.
    pub agent: Format,
    /// When its first item was made.
    pub began: Time,
    /// When its trace last changed.
    pub ended: Time,
    /// Live items.
    pub items: usize,
    /// What it counts for.
    pub total: Total,
    /// What the person said first, as one line.
    pub first_words: String,
    /// The traces of its sub-agents.
    pub sub_agents: usize,
    /// The commits of the code that were made meanwhile, newest first.
    pub commits: Vec<CodeCommit>,
}

/// Lists the sessions, the one that changed last first.
///
/// Reads of each its tree and its first items, and of the code's history what is not older than the oldest session.
///
/// # Errors
///
/// Those of reading objects.
pub(crate) fn list(repo: &Repo, encoding: Encoding) -> Result<Vec<Recorded>, TraceError> {
    let mut found: Vec<Recorded> = Vec::new();
    for word in Format::VALUES {
        let Ok(agent) = word.parse::<Format>() else { continue };
        let refs = repo.list_refs(&format!("{TRACES}{agent}/"))?;
        let names: Vec<TraceName> = refs.iter().filter_map(|(refname, _)| TraceName::of_ref(refname)).collect();
        for name in names.iter().filter(|name| !name.as_str().contains(".agent-")) {
            let Some(tip) = Tip::find(repo, name)? else { continue };
            let prefix = format!("{name}.agent-");
            let sub_agents = names.iter().filter(|other| other.as_str().starts_with(&prefix)).count();
            found.push(read(repo, encoding, name.clone(), agent, tip, sub_agents)?);
        }
    }
    let oldest = found.iter().map(|session| session.began.as_second()).min();
    let commits = oldest.map_or_else(|| Ok(Vec::new()), |oldest| repo.code_since(oldest))?;
    for session in &mut found {
        let meanwhile = session.began.as_second()..=session.ended.as_second();
        session.commits = commits.iter().filter(|commit| meanwhile.contains(&commit.time)).cloned().collect();
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
    sub_agents: usize,
) -> Result<Recorded, TraceError> {
    let ended = tip.time();
    let view = View::at(repo, tip, None)?;
    let mut began = None;
    let mut first_words = None;
    let shown = |slot: &&ItemEntry| view.left_out(slot).is_none();
    for slot in view.slots.iter().filter(shown).take(MAX_OPENING) {
        let item = total::read_item(repo, slot)?;
        began = began.or(item.fields.created);
        let said = item.fields.item_type == ItemType::dialogue() && item.fields.role == Some(Role::User);
        let text = String::from_utf8_lossy(&item.body);
        // What agents put before the person's words stands in tags, or is marked.
        let typed = !text.trim_start().starts_with(['<', '#']) && !item.fields.meta.contains_key("is_meta");
        if said && (typed || first_words.is_none()) {
            first_words = Some(one_line(&text).chars().take(MAX_WORDS).collect::<String>());
            if typed {
                break;
            }
        }
    }
    Ok(Recorded {
        name,
        agent,
        began: began.unwrap_or(ended),
        ended,
        items: view.slots.len(),
        total: view.total(repo, encoding)?,
        first_words: first_words.unwrap_or_default(),
        sub_agents,
        commits: Vec::new(),
    })
}
