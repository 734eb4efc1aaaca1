//! Shape: messages as turns that every provider takes; a writer only spells them.
//!
//! - A call and its result come as a pair or not at all: every result directly after the turn of its call, in the calls'
//!   order, each call id once. Calls that were made before any of them was answered are of one turn.
//! - A thought keeps its signature where its own provider is asked, and stands before something.
//! - Nothing is blank. Where user and model must alternate they do, and the user begins.
//! - What cannot be sent as it is becomes text or is left out, and a [`Change`] says so.
//!
//! Turns depend on the messages alone. What a message becomes does not depend on those after it, but for a call, whose
//! result may come late, and for a thought at the end of a turn.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use super::change::{Change, Place, Why};
use super::media::{media_type, takes};
use super::{Api, Content, Message, Role, Signature, Status, pair_calls};

/// What the user is made to say where the model would begin.
const OPENING: &str = "(earlier messages are left out)";

/// Who speaks in a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Speaker {
    System,
    User,
    Assistant,
    /// The tools, all at once: always directly behind the turn that calls them.
    Tools,
}

/// What one speaker says before another does.
#[derive(Debug)]
pub(super) struct Turn<'m> {
    pub(super) speaker: Speaker,
    pub(super) name: Option<&'m str>,
    /// Never empty.
    pub(super) parts: Vec<Part<'m>>,
    /// The message it began with.
    message: usize,
}

/// One part of a turn, and the block it stands for.
#[derive(Debug)]
pub(super) struct Part<'m> {
    pub(super) place: Place,
    pub(super) what: What<'m>,
}

#[derive(Debug)]
pub(super) enum What<'m> {
    /// Never blank.
    Text(Cow<'m, str>),
    /// Bytes of a type that the provider takes; only users send them.
    Media {
        media_type: &'m str,
        path: Option<&'m str>,
        bytes: &'m [u8],
    },
    /// Only the assistant's, and something follows it; unsigned only where the provider takes it so.
    Thought {
        text: &'m str,
        signature: Option<&'m Signature>,
    },
    /// The arguments are an object.
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

/// Messages in shape.
pub(super) struct Shaped<'m> {
    pub(super) turns: Vec<Turn<'m>>,
    /// In the order of the messages.
    pub(super) changes: Vec<Change>,
}

impl Api {
    /// Whether user and model must speak in turn, the system only before them.
    fn alternates(self) -> bool {
        matches!(self, Self::Anthropic | Self::Gemini)
    }

    /// The longest id of a call that is taken.
    fn longest_call_id(self) -> usize {
        match self {
            Self::OpenAi => 40,
            Self::Responses => 64,
            Self::Anthropic | Self::Gemini => 128,
        }
    }
}

/// Brings messages into shape.
pub(super) fn shape(messages: &[Message], api: Api) -> Shaped<'_> {
    let places = messages.iter().enumerate().flat_map(|(message, of)| {
        of.blocks.iter().enumerate().map(move |(block, of)| (Place { message, block }, &of.content))
    });
    let tools: Vec<_> = places.filter(|(_, content)| is_tool(content)).collect();
    let partners = pair_calls(tools.iter().map(|(_, content)| *content));
    let pairs = tools.iter().zip(&partners).filter_map(|((place, content), partner)| {
        let is_call = matches!(content, Content::ToolCall { .. });
        partner.filter(|_| is_call).map(|partner| (*place, tools[partner].0))
    });
    let answers: HashMap<Place, Place> = pairs.collect();
    let paired = answers.values().copied().collect();
    let mut shaper = Shaper {
        api,
        messages,
        answers,
        paired,
        ids: HashMap::new(),
        turns: Vec::with_capacity(messages.len()),
        open: None,
        name: None,
        changes: Vec::new(),
    };
    for index in 0..messages.len() {
        shaper.add(index);
    }
    shaper.finish()
}

fn is_tool(content: &Content) -> bool {
    matches!(content, Content::ToolCall { .. } | Content::ToolResult { .. })
}

struct Shaper<'m> {
    api: Api,
    messages: &'m [Message],
    /// Where a call's result is.
    answers: HashMap<Place, Place>,
    /// The results that answer a call.
    paired: HashSet<Place>,
    /// How often an id of a call has been used.
    ids: HashMap<&'m str, usize>,
    turns: Vec<Turn<'m>>,
    /// The turn whose calls have not been answered yet as the messages have it; what the model says now belongs there.
    open: Option<usize>,
    /// The name of whoever speaks in the message at hand.
    name: Option<&'m str>,
    changes: Vec<Change>,
}

impl<'m> Shaper<'m> {
    fn change(&mut self, place: Place, why: Why) {
        self.changes.push(Change { place, why });
    }

    fn add(&mut self, index: usize) {
        let message = &self.messages[index];
        let speaker = match message.role {
            Role::System => Speaker::System,
            Role::Assistant => Speaker::Assistant,
            Role::User | Role::Tool => Speaker::User,
        };
        self.name = self.name(index);
        let mut media = Vec::new();
        for (block, content) in message.blocks.iter().enumerate() {
            let place = Place { message: index, block };
            match &content.content {
                Content::Text(text) => self.say(place, speaker, Cow::Borrowed(text)),
                Content::Reasoning { text, signature } => self.think(place, speaker, text, signature.as_ref()),
                Content::ToolCall { call_id, name, arguments } => {
                    self.call(place, call_id, name.as_deref(), arguments);
                }
                Content::ToolResult { .. } if self.paired.contains(&place) => self.open = None,
                Content::ToolResult { call_id, name, text, .. } => {
                    self.change(place, Why::ResultWithoutCall);
                    let tool = name.as_deref().unwrap_or("a tool");
                    self.say(place, Speaker::User, format!("[result of {tool}, call {call_id}]\n{text}").into());
                }
                Content::Artifact { kind, path, language, media_type: declared, bytes } => {
                    let found = media_type(bytes, declared.as_deref());
                    if let Some(media_type) = found.filter(|found| takes(self.api, found) && !bytes.is_empty()) {
                        let what = What::Media { media_type, path: path.as_deref(), bytes };
                        if speaker == Speaker::User {
                            self.put(speaker, Part { place, what });
                        } else {
                            media.push(Part { place, what });
                        }
                        continue;
                    }
                    let about = [("kind", kind), ("path", path), ("language", language), ("media_type", declared)];
                    let text = self.artifact(place, &about, bytes);
                    self.say(place, speaker, text.into());
                }
            }
        }
        // After what else the model says: its turn must not be torn apart.
        for part in media {
            self.change(part.place, Why::MediaAsUser);
            self.put(Speaker::User, part);
        }
    }

    /// Puts a part where it belongs: into the open turn, the last one, or a new one.
    fn put(&mut self, speaker: Speaker, part: Part<'m>) {
        if speaker == Speaker::Assistant
            && let Some(open) = self.open
        {
            self.turns[open].parts.push(part);
            return;
        }
        self.open = None;
        let message = part.place.message;
        let alternates = self.api.alternates();
        match self.turns.last_mut() {
            Some(last) if last.speaker == speaker && (alternates || last.message == message) => last.parts.push(part),
            _ => {
                self.turns.push(Turn { speaker, name: self.name, parts: vec![part], message });
            }
        }
    }

    /// The name a message is sent under. An instruction's name is its address, not a speaker's.
    fn name(&mut self, index: usize) -> Option<&'m str> {
        let message = &self.messages[index];
        let name = message.name.as_deref()?;
        let odd = |c: char| c.is_whitespace() || matches!(c, '<' | '>' | '|' | '\\' | '/');
        if self.api == Api::OpenAi && !name.is_empty() && name.len() <= 64 && !name.contains(odd) {
            return Some(name);
        }
        if message.role != Role::System {
            self.change(Place { message: index, block: 0 }, Why::NameNotSent);
        }
        None
    }

    fn say(&mut self, place: Place, speaker: Speaker, text: Cow<'m, str>) {
        if text.trim().is_empty() {
            self.change(place, Why::Blank);
        } else if speaker == Speaker::System && self.api.alternates() && !self.is_opening() {
            self.change(place, Why::SystemAsUser);
            let text = format!("<system>\n{text}\n</system>");
            self.put(Speaker::User, Part { place, what: What::Text(text.into()) });
        } else {
            self.put(speaker, Part { place, what: What::Text(text) });
        }
    }

    /// Whether nobody but the system has spoken.
    fn is_opening(&self) -> bool {
        self.turns.iter().all(|turn| turn.speaker == Speaker::System)
    }

    fn think(&mut self, place: Place, speaker: Speaker, text: &'m str, signature: Option<&'m Signature>) {
        let assistant = speaker == Speaker::Assistant;
        let Some(signature) = signature else {
            if text.trim().is_empty() {
                self.change(place, Why::Blank);
            } else if self.api == Api::Gemini && assistant {
                self.put(speaker, Part { place, what: What::Thought { text, signature: None } });
            } else {
                self.change(place, Why::UnsignedThought);
                self.say(place, speaker, format!("<reasoning>\n{text}\n</reasoning>").into());
            }
            return;
        };
        let own = self.api != Api::OpenAi && signature.by.is_none_or(|by| by == self.api);
        if !own || !assistant {
            self.change(place, Why::ForeignThought);
        } else if !signature.holds && self.api == Api::Anthropic {
            self.change(place, Why::ChangedBefore);
        } else {
            self.put(speaker, Part { place, what: What::Thought { text, signature: Some(signature) } });
        }
    }

    fn call(&mut self, place: Place, call_id: &'m str, name: Option<&'m str>, arguments: &'m str) {
        let Some(answer) = self.answers.get(&place).copied() else {
            self.change(place, Why::CallWithoutResult);
            let tool = name.unwrap_or("a tool");
            let text = format!("[call of {tool}, no result: {arguments}]");
            self.say(place, Speaker::Assistant, text.into());
            return;
        };
        let id = self.call_id(place, call_id);
        let name = self.tool_name(place, name);
        let arguments = self.arguments(place, arguments);
        let call = What::Call { id: id.clone(), name: name.clone(), arguments };
        self.put(Speaker::Assistant, Part { place, what: call });
        let Content::ToolResult { status, text, .. } = &self.messages[answer.message].blocks[answer.block].content
        else {
            unreachable!("only a result answers a call")
        };
        let result = Part { place: answer, what: What::Result { id, name, status: *status, text } };
        let turn = self.open.unwrap_or(self.turns.len() - 1);
        if let Some(results) = self.turns.get_mut(turn + 1) {
            results.parts.push(result);
        } else {
            let message = answer.message;
            self.turns.push(Turn { speaker: Speaker::Tools, name: None, parts: vec![result], message });
        }
        self.open = Some(turn);
    }

    /// An id that the provider takes and no other call has.
    fn call_id(&mut self, place: Place, id: &'m str) -> Cow<'m, str> {
        let uses = self.ids.entry(id).or_default();
        *uses += 1;
        let plain = |b: u8| match self.api {
            Api::Anthropic => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'),
            _ => b.is_ascii_graphic(),
        };
        if *uses == 1 && (1..=self.api.longest_call_id()).contains(&id.len()) && id.bytes().all(plain) {
            return Cow::Borrowed(id);
        }
        let digest = blake3::hash(format!("{uses} {id}").as_bytes());
        self.change(place, Why::CallId);
        Cow::Owned(format!("call_{}", &digest.to_hex()[..24]))
    }

    fn tool_name(&mut self, place: Place, name: Option<&'m str>) -> Cow<'m, str> {
        let name = name.unwrap_or("tool");
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if (1..=64).contains(&name.len()) && name.chars().all(plain) {
            return Cow::Borrowed(name);
        }
        self.change(place, Why::ToolName);
        let name: String = name.chars().take(64).map(|c| if plain(c) { c } else { '_' }).collect();
        Cow::Owned(if name.is_empty() { "tool".to_owned() } else { name })
    }

    /// Arguments as the object that they must be.
    fn arguments(&mut self, place: Place, text: &'m str) -> Cow<'m, RawValue> {
        // Half a surrogate pair passes here as JSON, but no provider reads it.
        let escapes = text.contains("\\ud") || text.contains("\\uD");
        let readable = !escapes || serde_json::from_str::<serde_json::Value>(text).is_ok();
        let raw = serde_json::from_str::<&RawValue>(text).ok().filter(|_| readable);
        if let Some(raw) = raw.filter(|raw| raw.get().starts_with('{')) {
            return Cow::Borrowed(raw);
        }
        self.change(place, Why::Arguments);
        let value = match raw {
            Some(raw) => raw.get().to_owned(),
            None => serde_json::Value::from(text).to_string(),
        };
        let wrapped = RawValue::from_string(format!("{{\"arguments\":{value}}}"));
        Cow::Owned(wrapped.expect("JSON in an object is JSON"))
    }

    /// An artifact as text: in a tag that names it, or named only where it is no text.
    fn artifact(&mut self, place: Place, about: &[(&str, &Option<String>)], bytes: &[u8]) -> String {
        let given = about.iter().filter_map(|(key, value)| Some((key, value.as_deref()?)));
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.change(place, Why::MediaAsText);
            let names = given.fold(String::new(), |names, (_, value)| names + " " + value + ",");
            return format!("[artifact{names} {} bytes that cannot be shown here]", bytes.len());
        };
        let quoted = |value: &str| value.replace('&', "&amp;").replace('"', "&quot;");
        let tag = given.fold(String::new(), |tag, (key, value)| tag + " " + key + "=\"" + &quoted(value) + "\"");
        format!("<artifact{tag}>\n{text}\n</artifact>")
    }

    fn finish(mut self) -> Shaped<'m> {
        self.drop_last_thoughts();
        if self.api.alternates() {
            self.turns = joined(self.turns);
            let first = self.turns.iter().position(|turn| turn.speaker != Speaker::System);
            if let Some(first) = first.filter(|first| self.turns[*first].speaker == Speaker::Assistant) {
                let place = self.turns[first].parts[0].place;
                self.change(place, Why::Opening);
                let parts = vec![Part { place, what: What::Text(OPENING.into()) }];
                let message = place.message;
                self.turns.insert(first, Turn { speaker: Speaker::User, name: None, parts, message });
            }
        }
        if self.api == Api::Anthropic
            && let Some(Turn { speaker: Speaker::Assistant, parts, .. }) = self.turns.last_mut()
            && let Some(Part { place, what: What::Text(text) }) = parts.last_mut()
            && text.ends_with(char::is_whitespace)
        {
            let place = *place;
            *text = text.trim_end().to_owned().into();
            self.change(place, Why::LastSpace);
        }
        self.changes.sort_by_key(|change| change.place);
        Shaped { turns: self.turns, changes: self.changes }
    }

    /// Takes out the thoughts that nothing follows: providers ask for what they led to.
    fn drop_last_thoughts(&mut self) {
        let thought = |part: &Part<'_>| matches!(part.what, What::Thought { .. });
        // Where messages are not turns, the next one may be what the thought led to.
        let across = self.api == Api::Responses;
        let mut follows = false;
        for turn in self.turns.iter_mut().rev() {
            let is_assistant = turn.speaker == Speaker::Assistant;
            if is_assistant && !(across && follows) {
                while let Some(last) = turn.parts.pop_if(|part| thought(part)) {
                    self.changes.push(Change { place: last.place, why: Why::LastThought });
                }
            }
            follows = is_assistant && (follows || !turn.parts.is_empty());
        }
        self.turns.retain(|turn| !turn.parts.is_empty());
    }
}

/// Turns of one speaker side by side become one.
fn joined(turns: Vec<Turn<'_>>) -> Vec<Turn<'_>> {
    let mut all: Vec<Turn<'_>> = Vec::with_capacity(turns.len());
    for turn in turns {
        match all.last_mut() {
            Some(last) if last.speaker == turn.speaker => last.parts.extend(turn.parts),
            _ => all.push(turn),
        }
    }
    all
}
