//! Messages in the form that is asked for, and the envelope that tells what is behind them.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Materialized;
use crate::base::error::{Context as _, Result};
use crate::git::Repo;
use crate::message::change::{Change, Fate, Why};
use crate::message::{self, Api, messages, text};
use crate::tokens::Encoding;
use crate::trace::store::view::View;
use crate::trace::{ItemId, TraceName};

/// The form that messages are printed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// An array of messages with a role and content.
    Messages,
    /// Messages of `OpenAI` Chat Completions.
    OpenAi,
    /// Input items of `OpenAI` Responses.
    Responses,
    /// System and messages of Anthropic.
    Anthropic,
    /// System instruction and contents of Gemini.
    Gemini,
    /// A page to read.
    Text,
}

impl Format {
    /// The provider's interface that asks for it.
    fn api(self) -> Option<Api> {
        match self {
            Self::Messages | Self::Text => None,
            Self::OpenAi => Some(Api::OpenAi),
            Self::Responses => Some(Api::Responses),
            Self::Anthropic => Some(Api::Anthropic),
            Self::Gemini => Some(Api::Gemini),
        }
    }
}

/// Messages in a form.
#[derive(Debug)]
pub(crate) struct Rendered {
    /// The form.
    pub format: Format,
    /// The text, which ends with a line break but for [`Format::Text`].
    pub content: Vec<u8>,
    /// What had to be changed for it.
    pub changes: Vec<Change>,
}

/// Messages in a form, and what had to be changed for it.
///
/// # Errors
///
/// If a message cannot be written as JSON.
pub(crate) fn render(format: Format, materialized: &Materialized, cache_marks: Option<u8>) -> Result<Rendered> {
    let mut content = Vec::new();
    let changes = match format.api() {
        Some(api) => {
            let marks = materialized.cache_marks(cache_marks.unwrap_or_default().into());
            message::write(api, &materialized.messages, marks, &mut content)?
        }
        None if matches!(format, Format::Messages) => {
            messages::write(&materialized.messages, &mut content)?;
            Vec::new()
        }
        None => {
            text::write(&materialized.messages, &mut content)?;
            Vec::new()
        }
    };
    if !matches!(format, Format::Text) {
        content.push(b'\n');
    }
    Ok(Rendered { format, content, changes })
}

/// The messages with the items behind each, the counts, and what was left out or changed and why.
///
/// # Errors
///
/// Those of reading objects.
pub(crate) fn envelope<'a>(
    repo: &Repo,
    name: &'a TraceName,
    view: &View,
    materialized: &Materialized,
    rendered: Rendered,
    encoding: Encoding,
) -> Result<Envelope<'a>> {
    let total = view.total(repo, encoding)?;
    let tokens = Tokens {
        total: total.tokens,
        source: total.basis.source(),
        request: materialized.request_tokens(encoding),
        encoding: encoding.to_string(),
    };
    let content = String::from_utf8(rendered.content).context("the messages are not UTF-8")?;
    let ids = |blocks: &Vec<Vec<ItemId>>| blocks.iter().flatten().map(ToString::to_string).collect();
    Ok(Envelope {
        trace: name.as_str(),
        commit: view.tip.commit.oid.to_string(),
        at: view.tip.time().to_string(),
        format: rendered.format,
        messages: match rendered.format {
            Format::Text => serde_json::value::to_raw_value(&content)?,
            _ => RawValue::from_string(content.replace('\n', ""))?,
        },
        items: materialized.items.iter().map(ids).collect(),
        tokens,
        left_out: left_out(materialized),
        changed: changed(materialized, &rendered.changes),
    })
}

/// What `--json` prints.
#[derive(Serialize, Debug)]
pub(crate) struct Envelope<'a> {
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
    changed: Vec<Changed>,
}

/// An item that is not sent as it is.
#[derive(Serialize, Debug)]
struct Changed {
    id: String,
    /// `text`, `left_out`, `adjusted` or `shortened`.
    fate: &'static str,
    why: &'static str,
}

#[derive(Serialize, Debug)]
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

fn changed(materialized: &Materialized, changes: &[Change]) -> Vec<Changed> {
    let shortened = materialized.shortened.iter();
    let shortened = shortened.map(|id| Changed { id: id.to_string(), fate: "shortened", why: "recent" });
    let changes = changes.iter().flat_map(|change| {
        let (fate, why): (Fate, Why) = (change.why.fate(), change.why);
        let ids = materialized.items_at(change.place).iter();
        ids.map(move |id| Changed { id: id.to_string(), fate: fate.as_str(), why: why.as_str() })
    });
    shortened.chain(changes).collect()
}
