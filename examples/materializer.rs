//! Custom materializers: one per hook, and one that replaces everything.
//!
//! ```sh
//! cargo run --example materializer -- roles main      # or joining, ordering, edits, digest; for the trace `main`
//! ```
//!
//! A hook gets the answer of the built-in rules and returns its own. Hooks that are not implemented keep the built-in rules.

use std::error::Error;
use std::io::Write as _;

use git_trace::{
    Block, Content, Counter, Env, Item, ItemType, Join, MaterializeError, Materialized, Materializer, Message, Options,
    Repo, Role, TraceName, View, materialize, messages,
};

/// Changes roles: outputs appear as the user's messages, so that the model judges them.
struct Roles;

impl Materializer for Roles {
    fn role(&self, item: &Item, own: Role) -> Role {
        if item.fields.item_type.as_str() == "output" { Role::User } else { own }
    }
}

/// Changes joining: consecutive items of one role form one message, whatever their types. Their texts stay separate blocks.
struct Joining;

impl Materializer for Joining {
    fn join(&self, before: &Message, next: &Message, _: &ItemType, own: Join) -> Join {
        let same = before.role == next.role && next.role != Role::Tool;
        if own == Join::Apart && same { Join::Block } else { own }
    }
}

/// Changes the order: files follow the instructions and precede the dialogue about them.
struct Ordering;

impl Materializer for Ordering {
    fn order(&self, item: &Item, own: i32) -> i32 {
        if item.fields.item_type.as_str() == "artifact" { -1 } else { own }
    }
}

/// Marks edits: an edited item says how often it was edited.
struct Edits;

impl Materializer for Edits {
    fn edited(&self, mut item: Item) -> Item {
        if !item.fields.is_call() {
            item.body.extend_from_slice(format!("\n(edited {} times)", item.revision - 1).as_bytes());
        }
        item
    }
}

/// Replaces everything: one user message with one line per item.
fn digest(repo: &Repo, view: &View, counter: Counter) -> Result<Materialized, MaterializeError> {
    // The built-in materializer handles cut, skipped, and damaged items.
    let all = Options { one_message_an_item: true, ..Options::default() };
    let mut whole = materialize(repo, view, &all, counter)?;
    let mut text = String::new();
    for message in &whole.messages {
        for block in &message.blocks {
            let said = String::from_utf8_lossy(block.content.counted()).into_owned();
            let first = said.lines().next().unwrap_or_default();
            text.extend([message.role.as_str(), ": ", first, "\n"]);
        }
    }
    let blocks = vec![Block { content: Content::Text(text), known_tokens: None }];
    whole.items = vec![vec![whole.items.into_iter().flatten().flatten().collect()]];
    whole.messages = vec![Message { role: Role::User, name: None, blocks }];
    Ok(whole)
}

/// The messages of a trace from one of these materializers, as JSON.
pub(crate) fn run(which: &str, repo: &Repo, trace: &TraceName) -> Result<Vec<u8>, Box<dyn Error>> {
    let view = View::open(repo, trace, None)?;
    let counter = Counter::default();
    let answer = match which {
        "roles" => materialize(repo, &view, &Roles, counter)?,
        "joining" => materialize(repo, &view, &Joining, counter)?,
        "ordering" => materialize(repo, &view, &Ordering, counter)?,
        "edits" => materialize(repo, &view, &Edits, counter)?,
        "digest" => digest(repo, &view, counter)?,
        other => return Err(format!("unknown materializer `{other}`: see the example's first lines").into()),
    };
    let mut out = Vec::new();
    messages::write(&answer.messages, &mut out)?;
    Ok(out)
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [which, trace] = words.as_slice() else { return Err("usage: materializer WHICH TRACE".into()) };
    let repo = Repo::open_from_env(Env::capture(std::env::vars_os()))?;
    let mut out = std::io::stdout();
    out.write_all(&run(which, &repo, &trace.parse()?)?)?;
    writeln!(out)?;
    Ok(())
}
