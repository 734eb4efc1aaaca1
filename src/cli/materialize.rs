//! `git trace materialize`: a trace as messages for a model.

use std::collections::HashMap;

use anyhow::Result;
use clap::ValueEnum;
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

#[derive(Clone, Copy, Debug, ValueEnum)]
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

    let mut bytes = Vec::new();
    match args.format {
        Format::Messages => {
            messages::write(&materialized.messages, &mut bytes)?;
            bytes.push(b'\n');
        }
        Format::Text => text::write(&materialized.messages, &mut bytes)?,
    }
    if args.json {
        let mut envelope = json!({
            "trace": name.as_str(),
            "commit": view.tip.commit.oid.to_string(),
            "at": view.tip.time().to_string(),
            "tokens": {
                "total": view.total(repo, encoding)?.tokens,
                "request": materialized.request_tokens(encoding),
                "source": "counted",
                "encoding": encoding.to_string(),
            },
            "items": items(&materialized),
            "left_out": left_out(&materialized),
        });
        let (format, content) = match args.format {
            Format::Messages => ("messages", serde_json::from_slice(&bytes)?),
            Format::Text => ("text", Value::String(String::from_utf8_lossy(&bytes).into_owned())),
        };
        envelope["format"] = format.into();
        envelope["messages"] = content;
        session.ui.json_line(&envelope)?;
    } else if session.ui.is_terminal() {
        session.ui.page(&session.repo)?;
        session.ui.write_content(&bytes)?;
    } else {
        session.ui.out().write_all(&bytes)?;
    }
    Ok(ExitStatus::Success)
}

/// The ids behind each message, in the order of the messages.
fn items(materialized: &Materialized) -> Value {
    materialized.items.iter().map(|ids| ids.iter().map(ToString::to_string).collect::<Value>()).collect()
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
