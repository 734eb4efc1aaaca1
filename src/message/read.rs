//! Reading requests and responses: what every provider's reader is made of.
//!
//! Readers are lenient: a member they do not need is passed over, a block of a kind they do not know comes in as an artifact
//! that holds its JSON. What is not what it must be is a [`Fault`] with its place, and the rest is read on.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use thiserror::Error;

use super::{Api, Block, Content, Message, Role, anthropic, gemini, openai, responses};

/// Something in the input that is not what it must be; it was passed over.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("{path}: {cause}")]
pub(crate) struct Fault {
    /// Where, as a JSON path from the document's root `$`.
    pub path: String,
    /// What is wrong with it.
    pub cause: String,
}

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// Where each began, as a JSON path.
    pub paths: Vec<String>,
    /// What could not be read.
    pub faults: Vec<Fault>,
}

/// Reads one document: a request, a response, or messages alone.
#[must_use]
pub(crate) fn read(api: Api, document: &RawValue) -> Reading {
    let mut reading = Reading::default();
    let root = Node { raw: document, path: "$".to_owned() };
    let read = match api {
        Api::OpenAi => openai::read(&root, &mut reading),
        Api::Responses => responses::read(&root, &mut reading),
        Api::Anthropic => anthropic::read(&root, &mut reading),
        Api::Gemini => gemini::read(&root, &mut reading),
    };
    reading.note(read);
    // What began and then said nothing, or only results, which are messages of their own.
    let spoken: Vec<bool> = reading.messages.iter().map(|message| !message.blocks.is_empty()).collect();
    let mut kept = spoken.iter();
    reading.messages.retain(|_| *kept.next().unwrap_or(&true));
    let mut kept = spoken.iter();
    reading.paths.retain(|_| *kept.next().unwrap_or(&true));
    reading
}

impl Reading {
    /// Keeps what went wrong, and goes on.
    pub(super) fn note<T>(&mut self, result: Result<T, Fault>) -> Option<T> {
        result.map_err(|fault| self.faults.push(fault)).ok()
    }

    /// Reads each of a list.
    pub(super) fn each<'a>(
        &mut self,
        list: &Node<'a>,
        read: impl Fn(&Node<'a>, &mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        for node in list.list()? {
            let done = read(&node, self);
            self.note(done);
        }
        Ok(())
    }

    /// Begins a message; what it says is put in by [`Reading::put`].
    pub(super) fn begin(&mut self, path: &str, role: Role, name: Option<String>) {
        self.messages.push(Message { role, name, blocks: Vec::new() });
        self.paths.push(path.to_owned());
    }

    /// Puts a block into the last message where its role is this, else into a new one. A result is a message of its own.
    pub(super) fn put(&mut self, path: &str, role: Role, content: Content) {
        if role == Role::Tool || self.messages.last().is_none_or(|last| last.role != role) {
            self.begin(path, role, None);
        }
        if let Some(last) = self.messages.last_mut() {
            last.blocks.push(Block { content, known_tokens: None });
        }
    }

    /// Puts in a file, where its bytes came along; what only points at one stays as it stands.
    pub(super) fn put_file(&mut self, node: &Node<'_>, role: Role, kind: String, file: Option<File>) {
        match file {
            Some(File { name, media_type, bytes }) => {
                let (path, media_type) = (name, Some(media_type));
                let content = Content::Artifact { kind: None, path, language: None, media_type, bytes };
                self.put(&node.path, role, content);
            }
            None => self.put_unknown(node, role, Some(kind)),
        }
    }

    /// Puts in what is not known, as it stands.
    pub(super) fn put_unknown(&mut self, node: &Node<'_>, role: Role, kind: Option<String>) {
        let bytes = node.raw.get().as_bytes().to_vec();
        let media_type = Some("application/json".to_owned());
        self.put(&node.path, role, Content::Artifact { kind, path: None, language: None, media_type, bytes });
    }
}

/// A file that a message brings along.
pub(super) struct File {
    pub(super) name: Option<String>,
    pub(super) media_type: String,
    pub(super) bytes: Vec<u8>,
}

/// A value of the document, not yet decoded, and where it stands.
pub(super) struct Node<'a> {
    pub(super) raw: &'a RawValue,
    pub(super) path: String,
}

/// The members of an object.
pub(super) struct Object<'a> {
    members: BTreeMap<String, &'a RawValue>,
    path: String,
}

impl<'a> Node<'a> {
    pub(super) fn fault(&self, cause: impl Into<String>) -> Fault {
        Fault { path: self.path.clone(), cause: cause.into() }
    }

    pub(super) fn is_list(&self) -> bool {
        self.raw.get().starts_with('[')
    }

    pub(super) fn is_text(&self) -> bool {
        self.raw.get().starts_with('"')
    }

    pub(super) fn text(&self) -> Result<String, Fault> {
        serde_json::from_str(self.raw.get()).map_err(|_| self.fault("a text is expected"))
    }

    pub(super) fn list(&self) -> Result<Vec<Node<'a>>, Fault> {
        let values: Vec<&'a RawValue> =
            serde_json::from_str(self.raw.get()).map_err(|_| self.fault("a list is expected"))?;
        let node = |(index, raw)| Node { raw, path: format!("{}[{index}]", self.path) };
        Ok(values.into_iter().enumerate().map(node).collect())
    }

    pub(super) fn object(&self) -> Result<Object<'a>, Fault> {
        let members = serde_json::from_str(self.raw.get()).map_err(|_| self.fault("an object is expected"))?;
        Ok(Object { members, path: self.path.clone() })
    }

    /// The text itself, or the JSON that stands in its place.
    pub(super) fn text_or_json(&self) -> String {
        self.text().unwrap_or_else(|_| self.raw.get().to_owned())
    }
}

impl<'a> Object<'a> {
    /// A member; `null` is absence.
    pub(super) fn find(&self, name: &str) -> Option<Node<'a>> {
        let raw = *self.members.get(name)?;
        (raw.get() != "null").then(|| Node { raw, path: format!("{}.{name}", self.path) })
    }

    /// The first of some members that is there.
    pub(super) fn find_any(&self, names: &[&str]) -> Option<Node<'a>> {
        names.iter().find_map(|name| self.find(name))
    }

    pub(super) fn member(&self, name: &str) -> Result<Node<'a>, Fault> {
        let missing = || Fault { path: self.path.clone(), cause: format!("`{name}` is missing") };
        self.find(name).ok_or_else(missing)
    }

    pub(super) fn find_text(&self, name: &str) -> Result<Option<String>, Fault> {
        self.find(name).map(|node| node.text()).transpose()
    }

    pub(super) fn text(&self, name: &str) -> Result<String, Fault> {
        self.member(name)?.text()
    }

    /// Who speaks, by the words that are known here.
    pub(super) fn role(&self, known: &[(&str, Role)]) -> Result<Role, Fault> {
        let said = self.member("role")?;
        let word = said.text()?;
        let role = known.iter().find(|(known, _)| *known == word);
        role.map(|(_, role)| *role)
            .ok_or_else(|| said.fault(format!("`{}` is not a role that is known", word.escape_debug())))
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.find(name).is_some_and(|node| node.raw.get() == "true")
    }
}

/// The roles of both of `OpenAI`'s interfaces; a developer is what the system was called before.
pub(super) const OPENAI_ROLES: [(&str, Role); 4] =
    [("system", Role::System), ("developer", Role::System), ("user", Role::User), ("assistant", Role::Assistant)];

/// Joins what several pieces of text say of one thing.
pub(super) fn push_text(all: &mut String, text: &str, between: &str) {
    if !all.is_empty() {
        all.push_str(between);
    }
    all.push_str(text);
}
