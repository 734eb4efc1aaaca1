//! `git trace materialize`: a trace as messages for a model.

use std::collections::HashMap;

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{ExitStatus, Session};
use crate::materialize::{Materialized, Options, materialize};
use crate::message::{messages, text};
use crate::trace::TraceName;
use crate::trace::item::{ItemType, Role};
use crate::trace::view::View;
use crate::trace::write::encoding;

/// Turn a trace into messages for a model
///
/// Skipped items are left out, instructions become one system message, neighbours of one type and role are joined. The same
/// trace gives the same bytes.
#[derive(clap::Args, Debug)]
pub(super) struct MaterializeArgs {
    /// Trace to turn into messages [default: the current one]
    name: Option<TraceName>,

    /// State to use: a commit, an item (the commit that last touched it), or an RFC 3339 time
    #[arg(long, value_name = "WHEN")]
    as_of: Option<String>,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Messages)]
    format: Format,

    /// `none`: one message an item, nothing joined
    #[arg(long, value_enum, default_value_t = Aggregate::Join)]
    aggregate: Aggregate,

    /// Say before the text of edited items that they were
    #[arg(long)]
    edit_markers: bool,

    /// Role for a type, in place of its own, such as output=user
    #[arg(long = "role", value_name = "TYPE=ROLE", value_parser = type_role)]
    roles: Vec<(ItemType, Role)>,

    /// The messages in an envelope: items behind each, token counts, commit, what was left out and why
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Format {
    /// An array of messages with a role and content
    Messages,
    /// A page to read
    Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Aggregate {
    /// Join what belongs together
    Join,
    /// One message an item
    None,
}

fn type_role(text: &str) -> Result<(ItemType, Role), String> {
    let (item_type, role) = text.split_once('=').ok_or("TYPE=ROLE is expected")?;
    if item_type == "tool_io" {
        return Err("the roles of tool_io are fixed: a call is the assistant's, a result the tool's".to_owned());
    }
    let role = role.parse().map_err(|error| format!("{error}"))?;
    if role == Role::Tool {
        return Err("only tool_io has the role tool".to_owned());
    }
    Ok((item_type.parse().map_err(|error| format!("{error}"))?, role))
}

pub(super) fn run(session: &mut Session, args: &MaterializeArgs) -> Result<ExitStatus> {
    let repo = &session.repo;
    let name = session.trace(args.name.as_ref())?;
    let encoding = encoding(repo)?;
    let view = View::open(repo, &name, args.as_of.as_deref())?;
    let options = Options {
        one_message_an_item: args.aggregate == Aggregate::None,
        edit_markers: args.edit_markers,
        roles: args.roles.iter().cloned().collect::<HashMap<_, _>>(),
    };
    let materialized = materialize(repo, &view, &options, encoding)?;

    for (path, damage) in &materialized.damaged {
        session.ui.note(&format!("warning: item file `{path}` is damaged and taken as it stands: {damage}"));
    }
    let mut content = Vec::new();
    match args.format {
        Format::Messages => {
            messages::write(&materialized.messages, &mut content)?;
            content.push(b'\n');
        }
        Format::Text => text::write(&materialized.messages, &mut content)?,
    }
    if args.json {
        let total = view.total(repo, encoding)?;
        let tokens = Tokens {
            total: total.tokens,
            source: total.basis.source(),
            request: materialized.request_tokens(encoding),
            encoding: encoding.to_string(),
        };
        let content = String::from_utf8(content).context("the messages are not UTF-8")?;
        let envelope = Envelope {
            trace: name.as_str(),
            commit: view.tip.commit.oid.to_string(),
            at: view.tip.time().to_string(),
            format: args.format,
            messages: match args.format {
                Format::Messages => RawValue::from_string(content.replace('\n', ""))?,
                Format::Text => serde_json::value::to_raw_value(&content)?,
            },
            items: materialized.items.iter().map(|ids| ids.iter().map(ToString::to_string).collect()).collect(),
            tokens,
            left_out: left_out(&materialized),
        };
        content_line(session, &envelope)?;
    } else if session.ui.is_terminal() {
        session.ui.page(&session.repo)?;
        session.ui.write_content(&content)?;
    } else {
        session.ui.out().write_all(&content)?;
    }
    Ok(ExitStatus::Success)
}

fn content_line(session: &mut Session, envelope: &Envelope<'_>) -> Result<()> {
    let mut line = serde_json::to_vec(envelope)?;
    line.push(b'\n');
    Ok(session.ui.write_content(&line)?)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Envelope<'a> {
    trace: &'a str,
    commit: String,
    at: String,
    format: Format,
    /// Exactly what is printed without `--json`, on one line.
    messages: Box<RawValue>,
    /// The ids behind each message, in the order of the messages.
    items: Vec<Vec<String>>,
    tokens: Tokens,
    left_out: Value,
}

#[derive(Serialize)]
struct Tokens {
    total: u64,
    /// Where the total comes from: `counted` or `reported`.
    source: &'static str,
    /// Of the messages; always counted.
    request: u64,
    encoding: String,
}

fn left_out(materialized: &Materialized) -> Value {
    let omissions = materialized.left_out.iter().map(|omission| {
        let mut object = json!({
            "id": omission.item.to_string(),
            "seq": omission.seq,
            "type": omission.item_type.as_str(),
            "tokens": omission.tokens,
            "why": omission.why,
        });
        if let Some(reason) = &omission.reason {
            object["reason"] = reason.as_str().into();
        }
        object
    });
    omissions.collect()
}
