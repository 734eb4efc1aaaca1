//! Converts messages to turns that a provider accepts; its writer only formats them.
//!
//! - A call and its result are sent as a pair or as text: every result directly follows the turn of its call, in the order of the
//!   calls, and each call id occurs once. Calls made before any of them got a result belong to one turn.
//! - Reasoning keeps its signature only for the provider that signed it, and something follows it.
//! - No text is blank. If the provider requires it, user and model alternate, and the user comes first.
//! - What cannot be sent unchanged becomes text or is omitted, and an [`Adjustment`] reports it.
//!
//! Turns depend only on the messages. The form of a message does not depend on later ones, except for a call, whose result
//! may come late, and for reasoning at the end of a turn. So a request that grows keeps its prefix, and the prompt cache.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::mem::{Discriminant, discriminant};

use serde_json::value::RawValue;

use super::adjustment::{Adjustment, AdjustmentReason, BlockPosition};
use super::media::media_type;
use super::{Api, Content, Message, Role, Signature, Status, pair_calls};

/// The user message that is added if the model would come first, because it spoke first or because a cut left it first.
const OPENING: &str = "(the assistant speaks first)";

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum TurnRole {
    System,
    User,
    Assistant,
    Tools,
}

/// Consecutive parts of one role.
#[derive(Debug)]
pub(super) struct Turn<'m> {
    pub(super) role: TurnRole,
    pub(super) name: Option<&'m str>,
    pub(super) parts: Vec<Part<'m>>,
    message: usize,
}

#[derive(Debug)]
pub(super) struct Part<'m> {
    pub(super) position: BlockPosition,
    pub(super) content: PartContent<'m>,
}

#[derive(Debug)]
pub(super) enum PartContent<'m> {
    Text(Cow<'m, str>),
    /// A file of an accepted media type; only users send files.
    Media {
        media_type: &'m str,
        path: Option<&'m str>,
        bytes: &'m [u8],
    },
    /// Only from the assistant, followed by another part; unsigned only if the provider accepts that.
    Reasoning {
        text: &'m str,
        signature: Option<&'m Signature>,
    },
    Call {
        id: Cow<'m, str>,
        name: Cow<'m, str>,
        arguments: Cow<'m, RawValue>,
    },
    Result {
        id: Cow<'m, str>,
        name: Cow<'m, str>,
        status: Option<Status>,
        text: &'m str,
    },
}

impl PartContent<'_> {
    /// The kind, and the call that it belongs to.
    pub(super) fn kind(&self) -> (Discriminant<Self>, Option<(&str, &str)>) {
        let call = match self {
            Self::Call { id, name, .. } | Self::Result { id, name, .. } => Some((id.as_ref(), name.as_ref())),
            Self::Text(_) | Self::Media { .. } | Self::Reasoning { .. } => None,
        };
        (discriminant(self), call)
    }
}

pub(super) struct Normalized<'m> {
    pub(super) turns: Vec<Turn<'m>>,
    pub(super) adjustments: Vec<Adjustment>,
}

pub(super) fn normalize(messages: &[Message], api: Api) -> Normalized<'_> {
    let positions = messages.iter().enumerate().flat_map(|(message, of)| {
        of.blocks.iter().enumerate().map(move |(block, of)| (BlockPosition { message, block }, &of.content))
    });
    let tools: Vec<_> = positions.filter(|(_, content)| is_tool(content)).collect();
    let partners = pair_calls(tools.iter().map(|(_, content)| *content));
    let pairs = tools.iter().zip(&partners).filter_map(|((position, content), partner)| {
        let is_call = matches!(content, Content::ToolCall { .. });
        partner.filter(|_| is_call).map(|partner| (*position, tools[partner].0))
    });
    let results: HashMap<BlockPosition, BlockPosition> = pairs.collect();
    let paired = results.values().copied().collect();
    let mut normalizer = Normalizer {
        api,
        messages,
        results,
        paired,
        ids: HashMap::new(),
        turns: Vec::with_capacity(messages.len()),
        open: None,
        name: None,
        adjustments: Vec::new(),
    };
    for index in 0..messages.len() {
        normalizer.add(index);
    }
    normalizer.finish()
}

fn is_tool(content: &Content) -> bool {
    matches!(content, Content::ToolCall { .. } | Content::ToolResult { .. })
}

struct Normalizer<'m> {
    api: Api,
    messages: &'m [Message],
    results: HashMap<BlockPosition, BlockPosition>,
    paired: HashSet<BlockPosition>,
    ids: HashMap<&'m str, usize>,
    turns: Vec<Turn<'m>>,
    /// The turn whose calls have no results yet; further parts of the model belong to it.
    open: Option<usize>,
    name: Option<&'m str>,
    adjustments: Vec<Adjustment>,
}

impl<'m> Normalizer<'m> {
    fn adjust(&mut self, position: BlockPosition, reason: AdjustmentReason) {
        self.adjustments.push(Adjustment { position, reason });
    }

    fn add(&mut self, index: usize) {
        let message = &self.messages[index];
        let role = match message.role {
            Role::System => TurnRole::System,
            Role::Assistant => TurnRole::Assistant,
            Role::User | Role::Tool => TurnRole::User,
        };
        self.name = self.name(index);
        let mut media = Vec::new();
        for (block, content) in message.blocks.iter().enumerate() {
            let position = BlockPosition { message: index, block };
            match &content.content {
                Content::Text(text) => self.text(position, role, Cow::Borrowed(text)),
                Content::Reasoning { text, signature } => self.reasoning(position, role, text, signature.as_ref()),
                Content::ToolCall { call_id, name, arguments } => {
                    self.call(position, call_id, name.as_deref(), arguments);
                }
                Content::ToolResult { .. } if self.paired.contains(&position) => self.open = None,
                Content::ToolResult { call_id, name, text, .. } => {
                    self.adjust(position, AdjustmentReason::ResultWithoutCall);
                    let tool = name.as_deref().unwrap_or("a tool");
                    self.text(position, TurnRole::User, format!("[result of {tool}, call {call_id}]\n{text}").into());
                }
                Content::Artifact { kind, path, language, media_type: declared, bytes } => {
                    let found = media_type(bytes, declared.as_deref());
                    if let Some(media_type) =
                        found.filter(|found| (self.api.provider().accepts_media)(found) && !bytes.is_empty())
                    {
                        let content = PartContent::Media { media_type, path: path.as_deref(), bytes };
                        if role == TurnRole::User {
                            self.put(role, position, content);
                        } else {
                            media.push((position, content));
                        }
                        continue;
                    }
                    let about = [("kind", kind), ("path", path), ("language", language), ("media_type", declared)];
                    let text = self.artifact(position, &about, bytes);
                    self.text(position, role, text.into());
                }
            }
        }
        // After the other parts, so that the turn of the model is not split.
        for (position, content) in media {
            self.adjust(position, AdjustmentReason::MediaAsUser);
            self.put(TurnRole::User, position, content);
        }
    }

    fn put(&mut self, role: TurnRole, position: BlockPosition, content: PartContent<'m>) {
        let part = Part { position, content };
        if role == TurnRole::Assistant
            && let Some(open) = self.open
        {
            self.turns[open].parts.push(part);
            return;
        }
        self.open = None;
        let message = part.position.message;
        let alternates = self.api.provider().alternates;
        match self.turns.last_mut() {
            Some(last) if last.role == role && (alternates || last.message == message) => last.parts.push(part),
            _ => self.turns.push(Turn { role, name: self.name, parts: vec![part], message }),
        }
    }

    /// The name of an instruction identifies the instruction, not a participant, and is not sent.
    fn name(&mut self, index: usize) -> Option<&'m str> {
        let message = &self.messages[index];
        let name = message.name.as_deref()?;
        let odd = |c: char| c.is_whitespace() || matches!(c, '<' | '>' | '|' | '\\' | '/');
        if self.api == Api::OpenAi && !name.is_empty() && name.len() <= 64 && !name.contains(odd) {
            return Some(name);
        }
        if message.role != Role::System {
            self.adjust(BlockPosition { message: index, block: 0 }, AdjustmentReason::NameNotSent);
        }
        None
    }

    fn text(&mut self, position: BlockPosition, role: TurnRole, text: Cow<'m, str>) {
        if text.trim().is_empty() {
            self.adjust(position, AdjustmentReason::Blank);
        } else if role == TurnRole::System && self.api.provider().alternates && !self.is_opening() {
            self.adjust(position, AdjustmentReason::SystemAsUser);
            let text = format!("<system>\n{text}\n</system>");
            self.put(TurnRole::User, position, PartContent::Text(text.into()));
        } else {
            self.put(role, position, PartContent::Text(text));
        }
    }

    fn is_opening(&self) -> bool {
        self.turns.iter().all(|turn| turn.role == TurnRole::System)
    }

    fn reasoning(&mut self, position: BlockPosition, role: TurnRole, text: &'m str, signature: Option<&'m Signature>) {
        let assistant = role == TurnRole::Assistant;
        let Some(signature) = signature else {
            if text.trim().is_empty() {
                self.adjust(position, AdjustmentReason::Blank);
            } else if self.api == Api::Gemini && assistant {
                self.put(role, position, PartContent::Reasoning { text, signature: None });
            } else {
                self.adjust(position, AdjustmentReason::UnsignedReasoning);
                self.text(position, role, format!("<reasoning>\n{text}\n</reasoning>").into());
            }
            return;
        };
        let own = self.api != Api::OpenAi && signature.by.is_none_or(|by| by == self.api);
        if !own || !assistant {
            self.adjust(position, AdjustmentReason::ForeignReasoning);
        } else if !signature.holds && self.api == Api::Anthropic {
            self.adjust(position, AdjustmentReason::ChangedBefore);
        } else {
            self.put(role, position, PartContent::Reasoning { text, signature: Some(signature) });
        }
    }

    fn call(&mut self, position: BlockPosition, call_id: &'m str, name: Option<&'m str>, arguments: &'m str) {
        let Some(result) = self.results.get(&position).copied() else {
            self.adjust(position, AdjustmentReason::CallWithoutResult);
            let tool = name.unwrap_or("a tool");
            let text = format!("[call of {tool}, no result: {arguments}]");
            return self.text(position, TurnRole::Assistant, text.into());
        };
        let id = self.call_id(position, call_id);
        let name = self.tool_name(position, name);
        let arguments = self.arguments(position, arguments);
        let call = PartContent::Call { id: id.clone(), name: name.clone(), arguments };
        self.put(TurnRole::Assistant, position, call);
        let Content::ToolResult { status, text, .. } = &self.messages[result.message].blocks[result.block].content
        else {
            unreachable!("only results are paired with calls")
        };
        let result = Part { position: result, content: PartContent::Result { id, name, status: *status, text } };
        let turn = self.open.unwrap_or(self.turns.len() - 1);
        if let Some(results) = self.turns.get_mut(turn + 1) {
            results.parts.push(result);
        } else {
            let message = result.position.message;
            self.turns.push(Turn { role: TurnRole::Tools, name: None, parts: vec![result], message });
        }
        self.open = Some(turn);
    }

    fn call_id(&mut self, position: BlockPosition, id: &'m str) -> Cow<'m, str> {
        let uses = self.ids.entry(id).or_default();
        *uses += 1;
        let provider = self.api.provider();
        if *uses == 1 && (1..=provider.max_call_id).contains(&id.len()) && id.bytes().all(provider.is_call_id_char) {
            return Cow::Borrowed(id);
        }
        let digest = blake3::hash(format!("{uses} {id}").as_bytes());
        self.adjust(position, AdjustmentReason::CallId);
        Cow::Owned(format!("call_{}", &digest.to_hex()[..24]))
    }

    fn tool_name(&mut self, position: BlockPosition, name: Option<&'m str>) -> Cow<'m, str> {
        let name = name.unwrap_or("tool");
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if (1..=64).contains(&name.len()) && name.chars().all(plain) {
            return Cow::Borrowed(name);
        }
        self.adjust(position, AdjustmentReason::ToolName);
        let name: String = name.chars().take(64).map(|c| if plain(c) { c } else { '_' }).collect();
        Cow::Owned(if name.is_empty() { "tool".to_owned() } else { name })
    }

    fn arguments(&mut self, position: BlockPosition, text: &'m str) -> Cow<'m, RawValue> {
        // RawValue accepts half a surrogate pair, but no provider does.
        let escapes = text.contains("\\ud") || text.contains("\\uD");
        let readable = !escapes || serde_json::from_str::<serde_json::Value>(text).is_ok();
        let raw = serde_json::from_str::<&RawValue>(text).ok().filter(|_| readable);
        if let Some(raw) = raw.filter(|raw| raw.get().starts_with('{')) {
            return Cow::Borrowed(raw);
        }
        self.adjust(position, AdjustmentReason::Arguments);
        let value = match raw {
            Some(raw) => raw.get().to_owned(),
            None => serde_json::Value::from(text).to_string(),
        };
        let wrapped = RawValue::from_string(format!("{{\"arguments\":{value}}}"));
        Cow::Owned(wrapped.expect("JSON in an object is JSON"))
    }

    /// An artifact as text: in a tag that names it, or only its name if it is binary.
    fn artifact(&mut self, position: BlockPosition, about: &[(&str, &Option<String>)], bytes: &[u8]) -> String {
        let given = about.iter().filter_map(|(key, value)| Some((key, value.as_deref()?)));
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.adjust(position, AdjustmentReason::MediaAsText);
            let names = given.fold(String::new(), |names, (_, value)| names + " " + value + ",");
            return format!("[artifact{names} {} bytes that cannot be shown here]", bytes.len());
        };
        let quoted = |value: &str| value.replace('&', "&amp;").replace('"', "&quot;");
        let tag = given.fold(String::new(), |tag, (key, value)| tag + " " + key + "=\"" + &quoted(value) + "\"");
        format!("<artifact{tag}>\n{text}\n</artifact>")
    }

    fn finish(mut self) -> Normalized<'m> {
        self.drop_last_reasoning();
        if self.api.provider().alternates {
            self.turns = joined(self.turns);
            let first = self.turns.iter().position(|turn| turn.role != TurnRole::System);
            if let Some(first) = first.filter(|first| self.turns[*first].role == TurnRole::Assistant) {
                let position = self.turns[first].parts[0].position;
                self.adjust(position, AdjustmentReason::Opening);
                let parts = vec![Part { position, content: PartContent::Text(OPENING.into()) }];
                let message = position.message;
                self.turns.insert(first, Turn { role: TurnRole::User, name: None, parts, message });
            }
        }
        if self.api == Api::Anthropic
            && let Some(Turn { role: TurnRole::Assistant, parts, .. }) = self.turns.last_mut()
            && let Some(Part { position, content: PartContent::Text(text) }) = parts.last_mut()
            && text.ends_with(char::is_whitespace)
        {
            let position = *position;
            *text = text.trim_end().to_owned().into();
            self.adjust(position, AdjustmentReason::LastSpace);
        }
        self.adjustments.sort_by_key(|adjustment| adjustment.position);
        Normalized { turns: self.turns, adjustments: self.adjustments }
    }

    /// Drops reasoning that nothing follows, because providers reject it.
    fn drop_last_reasoning(&mut self) {
        let is_reasoning = |part: &Part<'_>| matches!(part.content, PartContent::Reasoning { .. });
        // In this API the item after the reasoning may be in the next turn.
        let across = self.api == Api::Responses;
        let mut follows = false;
        for turn in self.turns.iter_mut().rev() {
            let is_assistant = turn.role == TurnRole::Assistant;
            if is_assistant && !(across && follows) {
                while let Some(last) = turn.parts.pop_if(|part| is_reasoning(part)) {
                    self.adjustments
                        .push(Adjustment { position: last.position, reason: AdjustmentReason::LastReasoning });
                }
            }
            follows = is_assistant && (follows || !turn.parts.is_empty());
        }
        self.turns.retain(|turn| !turn.parts.is_empty());
    }
}

fn joined(turns: Vec<Turn<'_>>) -> Vec<Turn<'_>> {
    let mut all: Vec<Turn<'_>> = Vec::with_capacity(turns.len());
    for turn in turns {
        match all.last_mut() {
            Some(last) if last.role == turn.role => last.parts.extend(turn.parts),
            _ => all.push(turn),
        }
    }
    all
}
