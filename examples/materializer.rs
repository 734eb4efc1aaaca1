//! Materializers of one's own: each hook, and the whole.
//!
//! ```sh
//! cargo run --example materializer -- roles main      # or joining, ordering, edits, digest; of the trace `main`
//! ```
//!
//! A hook is told what the built-in rules say and answers for itself; what is not implemented stays as it is.

use std::error::Error;
use std::io::Write as _;

use git_trace::git::{Env, Repo};
use git_trace::materialize::{Cut, Join, Joined, MaterializeError, Materialized, Materializer, Options, Piece};
use git_trace::message::{Block, Content, Message, messages};
use git_trace::tokens::Encoding;
use git_trace::trace::item::Role;
use git_trace::trace::view::View;
use git_trace::trace::{Item, TraceName};

/// Who speaks: what the work produced is shown to the model as the user's, since it is to be judged.
struct Roles;

impl Materializer for Roles {
    fn role(&self, item: &Item, own: Role) -> Role {
        if item.fields.item_type.as_str() == "output" { Role::User } else { own }
    }
}

/// What goes together: all that one role says in a row is one message, whatever its type; texts stay blocks of their own.
struct Joining;

impl Materializer for Joining {
    fn join(&self, before: &Joined, piece: &Piece, own: Join) -> Join {
        let same = before.message.role == piece.role && piece.role != Role::Tool;
        if own == Join::Apart && same { Join::Block } else { own }
    }
}

/// What comes first: files stand behind the instructions and ahead of the talk about them.
struct Ordering;

impl Materializer for Ordering {
    fn order(&self, piece: &Piece) -> i32 {
        if piece.item_type.as_str() == "artifact" { -1 } else { piece.order }
    }
}

/// How edits are told: what was edited says so, and how often.
struct Edits;

impl Materializer for Edits {
    fn edited(&self, mut item: Item) -> Item {
        if !item.fields.is_call() {
            item.body.extend_from_slice(format!("\n(edited {} times)", item.revision - 1).as_bytes());
        }
        item
    }
}

/// The whole: one message of the user's with a line for each item.
struct Digest;

impl Materializer for Digest {
    fn materialize(
        &self,
        repo: &Repo,
        view: &View,
        cut: &Cut,
        encoding: Encoding,
    ) -> Result<Materialized, MaterializeError> {
        // What is cut, skipped or damaged is best left to the built-in one.
        let all = Options { one_message_an_item: true, ..Options::default() };
        let mut whole = all.materialize(repo, view, cut, encoding)?;
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
}

/// The messages that one of them makes of a trace, as JSON.
pub(crate) fn run(which: &str, repo: &Repo, trace: &TraceName) -> Result<Vec<u8>, Box<dyn Error>> {
    let materializer: &dyn Materializer = match which {
        "roles" => &Roles,
        "joining" => &Joining,
        "ordering" => &Ordering,
        "edits" => &Edits,
        "digest" => &Digest,
        other => return Err(format!("`{other}` is not one of roles, joining, ordering, edits, digest").into()),
    };
    let view = View::open(repo, trace, None)?;
    let answer = materializer.materialize(repo, &view, &Cut::default(), Encoding::default())?;
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
