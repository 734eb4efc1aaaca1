//! Messages in an output format, and the JSON envelope that describes them.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Materialized, Omission};
use crate::base::error::{Context as _, Result};
use crate::git::Repo;
use crate::message::adjustment::Adjustment;
use crate::message::{self, Api, messages, text};
use crate::tokens::Counter;
use crate::trace::model::trailers::{Basis, Total};
use crate::trace::store::view::View;
use crate::trace::{ItemId, TraceName};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MessageFormat {
    Messages,
    OpenAi,
    Responses,
    Anthropic,
    Gemini,
    Text,
}

impl MessageFormat {
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

#[derive(Debug)]
pub(crate) struct Rendered {
    pub format: MessageFormat,
    /// Ends with a line break, except in [`MessageFormat::Text`].
    pub content: Vec<u8>,
    pub adjustments: Vec<Adjustment>,
}

pub(crate) fn render(format: MessageFormat, materialized: &Materialized, cache_marks: Option<u8>) -> Result<Rendered> {
    let mut content = Vec::new();
    let adjustments = match format.api() {
        Some(api) => {
            let marks = materialized.cache_marks(cache_marks.unwrap_or_default().into());
            message::write(api, &materialized.messages, marks, &mut content)?
        }
        None => {
            let is_text = format == MessageFormat::Text;
            let write = if is_text { text::write } else { messages::write };
            write(&materialized.messages, &mut content)?;
            Vec::new()
        }
    };
    if format != MessageFormat::Text {
        content.push(b'\n');
    }
    Ok(Rendered { format, content, adjustments })
}

pub(crate) fn envelope<'a>(
    repo: &Repo,
    name: &'a TraceName,
    view: Option<&View>,
    materialized: &'a Materialized,
    rendered: Rendered,
    counter: Counter,
) -> Result<Envelope<'a>> {
    let nothing = Total { tokens: 0, basis: Basis::Counted(counter.id()) };
    let total = view.map(|view| view.total(repo, counter)).transpose()?.unwrap_or(nothing);
    let tokens = Tokens {
        total: total.tokens,
        source: total.basis.source(),
        request: materialized.request_tokens(counter),
        encoding: counter.id().to_string(),
    };
    let items: Vec<Vec<ItemId>> = materialized.items.iter().map(|blocks| blocks.concat()).collect();
    let mut counts = HashMap::new();
    if let Some(view) = view {
        view.for_each_item(repo, |slot, reading| {
            counts.insert(slot.id, reading.item.token_count(counter));
            Ok(())
        })?;
    }
    let count = |id: &ItemId| counts.get(id).copied().unwrap_or_default();
    let content = String::from_utf8(rendered.content).context("the messages are not UTF-8")?;
    Ok(Envelope {
        trace: name.as_str(),
        commit: view.map(|view| view.tip.commit.oid.to_string()),
        at: view.map(|view| view.tip.time().to_string()),
        format: rendered.format,
        messages: match rendered.format {
            MessageFormat::Text => serde_json::value::to_raw_value(&content)?,
            _ => RawValue::from_string(content.replace('\n', ""))?,
        },
        item_tokens: items.iter().map(|items| items.iter().map(count).collect()).collect(),
        items,
        tokens,
        left_out: &materialized.left_out,
        changed: changed(materialized, &rendered.adjustments),
    })
}

#[derive(Serialize, Debug)]
pub(crate) struct Envelope<'a> {
    trace: &'a str,
    /// Absent if the trace has no commit yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    format: MessageFormat,
    /// The same as without `--json`, on one line.
    messages: Box<RawValue>,
    /// Those of each neutral message. A provider's format may join, split, or move messages.
    items: Vec<Vec<ItemId>>,
    /// The tokens of the text of each of `items`.
    item_tokens: Vec<Vec<u64>>,
    tokens: Tokens,
    left_out: &'a [Omission],
    changed: Vec<Changed>,
}

#[derive(Serialize, Debug)]
struct Changed {
    id: ItemId,
    /// `text`, `left_out`, `adjusted`, or `shortened`.
    fate: &'static str,
    why: &'static str,
}

#[derive(Serialize, Debug)]
struct Tokens {
    total: u64,
    /// `counted` or `reported`.
    source: &'static str,
    request: u64,
    /// The id of the counter.
    encoding: String,
}

fn changed(materialized: &Materialized, adjustments: &[Adjustment]) -> Vec<Changed> {
    let shortened = materialized.shortened.iter();
    let shortened = shortened.map(|id| Changed { id: *id, fate: "shortened", why: "recent" });
    let adjusted = adjustments.iter().flat_map(|Adjustment { position, reason }| {
        let (fate, why) = (reason.replacement().as_str(), reason.as_str());
        materialized.items_at(*position).iter().map(move |id| Changed { id: *id, fate, why })
    });
    shortened.chain(adjusted).collect()
}
