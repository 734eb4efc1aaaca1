//! Reads requests and responses: the parts that the readers of all providers share.
//!
//! Readers are lenient: they ignore members that they do not need, and read a block of an unknown kind as an artifact that
//! contains its JSON. Anything invalid becomes a [`Fault`] with its JSON path, and the rest is read.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use thiserror::Error;

use super::{Api, Block, Content, Message, Role};

#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("{path}: {cause}")]
pub(crate) struct Fault {
    /// The JSON path from the document's root `$`.
    pub path: String,
    pub cause: String,
}

#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub messages: Vec<Message>,
    pub paths: Vec<String>,
    pub faults: Vec<Fault>,
}

pub(crate) fn read(api: Api, document: &RawValue) -> Reading {
    let mut reading = Reading::default();
    let root = Node { raw: document, path: "$".to_owned() };
    let read = (api.provider().read)(&root, &mut reading);
    reading.note(read);
    // Drop messages without blocks: they were empty, or contained only results, which are separate messages.
    let Reading { messages, paths, faults } = reading;
    let kept = messages.into_iter().zip(paths).filter(|(message, _)| !message.blocks.is_empty());
    let (messages, paths) = kept.unzip();
    Reading { messages, paths, faults }
}

impl Reading {
    pub(super) fn note<T>(&mut self, result: Result<T, Fault>) -> Option<T> {
        result.map_err(|fault| self.faults.push(fault)).ok()
    }

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

    /// Reads content that is one text, whose path is `path`, or a list of parts.
    pub(super) fn content<'a>(
        &mut self,
        node: &Node<'a>,
        path: &str,
        role: Role,
        read_part: impl Fn(&Node<'a>, Role, &mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if node.is_list() {
            return self.each(node, |part, reading| read_part(part, role, reading));
        }
        self.put(path, role, Content::Text(node.text()?));
        Ok(())
    }

    pub(super) fn begin(&mut self, path: &str, role: Role, name: Option<String>) {
        self.messages.push(Message { role, name, blocks: Vec::new() });
        self.paths.push(path.to_owned());
    }

    /// Adds a block to the last message if that has this role, else to a new one. Each result is a separate message.
    pub(super) fn put(&mut self, path: &str, role: Role, content: Content) {
        if role == Role::Tool || self.messages.last().is_none_or(|last| last.role != role) {
            self.begin(path, role, None);
        }
        if let Some(last) = self.messages.last_mut() {
            last.blocks.push(Block { content, known_tokens: None });
        }
    }

    /// Adds a file with its bytes; a reference to a file is kept as JSON.
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

    pub(super) fn put_unknown(&mut self, node: &Node<'_>, role: Role, kind: Option<String>) {
        let bytes = node.raw.get().as_bytes().to_vec();
        let media_type = Some("application/json".to_owned());
        self.put(&node.path, role, Content::Artifact { kind, path: None, language: None, media_type, bytes });
    }
}

pub(super) struct File {
    pub(super) name: Option<String>,
    pub(super) media_type: String,
    pub(super) bytes: Vec<u8>,
}

/// An undecoded value of the document, and its path.
pub(super) struct Node<'a> {
    pub(super) raw: &'a RawValue,
    pub(super) path: String,
}

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
        serde_json::from_str(self.raw.get()).map_err(|_| self.fault("expected a string"))
    }

    pub(super) fn list(&self) -> Result<Vec<Node<'a>>, Fault> {
        let values: Vec<&'a RawValue> =
            serde_json::from_str(self.raw.get()).map_err(|_| self.fault("expected an array"))?;
        let node = |(index, raw)| Node { raw, path: format!("{}[{index}]", self.path) };
        Ok(values.into_iter().enumerate().map(node).collect())
    }

    pub(super) fn object(&self) -> Result<Object<'a>, Fault> {
        let members = serde_json::from_str(self.raw.get()).map_err(|_| self.fault("expected an object"))?;
        Ok(Object { members, path: self.path.clone() })
    }

    pub(super) fn text_or_json(&self) -> String {
        self.text().unwrap_or_else(|_| self.raw.get().to_owned())
    }
}

impl<'a> Object<'a> {
    /// A member unless it is absent or `null`.
    pub(super) fn find(&self, name: &str) -> Option<Node<'a>> {
        let raw = *self.members.get(name)?;
        (raw.get() != "null").then(|| Node { raw, path: format!("{}.{name}", self.path) })
    }

    /// Whether there is a member, which may be `null`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

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

    pub(super) fn role(&self, known: &[(&str, Role)]) -> Result<Role, Fault> {
        let said = self.member("role")?;
        let word = said.text()?;
        let role = known.iter().find(|(known, _)| *known == word);
        role.map(|(_, role)| *role).ok_or_else(|| said.fault(format!("`{}` is an unknown role", word.escape_debug())))
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.find(name).is_some_and(|node| node.raw.get() == "true")
    }
}

/// The roles in both APIs of `OpenAI`; `developer` is another name for `system`.
pub(super) const OPENAI_ROLES: [(&str, Role); 4] =
    [("system", Role::System), ("developer", Role::System), ("user", Role::User), ("assistant", Role::Assistant)];

pub(super) fn push_text(all: &mut String, text: &str, between: &str) {
    if !all.is_empty() {
        all.push_str(between);
    }
    all.push_str(text);
}
