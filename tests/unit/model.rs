//! Random operations on a real repository do what a naive model of lists and maps says.

use std::cell::Cell;
use std::collections::HashMap;

use crate::git::{Env, Repo};
use crate::materialize::{Options, materialize};
use crate::message::text;
use crate::tokens::Counter;
use crate::tokens::framing::{PER_MESSAGE, PER_NAME, PER_REPLY};
use crate::trace::change::edit::Patch;
use crate::trace::store::priority::{self, Level, Request};
use crate::trace::store::signature::Signature;
use crate::trace::store::trace::Trace;
use crate::trace::store::view::View;
use crate::trace::{Draft, Fields, ItemId, ItemType, Time, Tip, TraceName};
use proptest::prelude::*;

use crate::unit::repo::TestRepo;

#[derive(Clone, Debug)]
enum Op {
    Say {
        role: usize,
        text: usize,
    },
    Instruct {
        name: usize,
        text: usize,
    },
    /// The item is the one of this number, modulo how many there ever were.
    Edit {
        item: usize,
        text: usize,
    },
    Delete {
        item: usize,
    },
    Restore {
        item: usize,
        revision: Option<u32>,
    },
    Level {
        item: usize,
        level: usize,
    },
}

const TEXTS: [&str; 6] = ["", "a", "b", "a longer text of several words", "two\nlines\n", "ä👍"];
const ROLES: [&str; 3] = ["user", "assistant", "system"];
const NAMES: [&str; 2] = ["rules", "style"];
const LEVELS: [Level; 3] = [Level::Skip, Level::Normal, Level::Pinned];

fn op() -> impl Strategy<Value = Op> {
    let item = 0..6_usize;
    let text = 0..TEXTS.len();
    prop_oneof![
        4 => (0..ROLES.len(), text.clone()).prop_map(|(role, text)| Op::Say { role, text }),
        2 => (0..=NAMES.len(), text.clone()).prop_map(|(name, text)| Op::Instruct { name, text }),
        3 => (item.clone(), text).prop_map(|(item, text)| Op::Edit { item, text }),
        2 => item.clone().prop_map(|item| Op::Delete { item }),
        2 => (item.clone(), proptest::option::of(1..4_u32)).prop_map(|(item, revision)| Op::Restore { item, revision }),
        3 => (item, 0..LEVELS.len()).prop_map(|(item, level)| Op::Level { item, level }),
    ]
}

/// An item of the model.
#[derive(Clone, Debug)]
struct Entry {
    id: ItemId,
    /// `None`: an instruction.
    role: Option<&'static str>,
    name: Option<&'static str>,
    /// Texts by revision, from 1.
    texts: Vec<&'static str>,
    live: bool,
    level: Option<Level>,
}

impl Entry {
    fn text(&self) -> &'static str {
        self.texts.last().unwrap()
    }

    fn level(&self) -> Level {
        self.level.unwrap_or(if self.role.is_none() { Level::Pinned } else { Level::Normal })
    }
}

/// The model: every item ever added, in order. Items never move.
#[derive(Clone, Debug, Default)]
struct Model(Vec<Entry>);

/// A state as seen from outside.
#[derive(PartialEq, Debug)]
struct Seen {
    live: Vec<(ItemId, Level)>,
    total: u64,
    page: String,
}

impl Model {
    fn pick(&mut self, item: usize) -> Option<&mut Entry> {
        let count = self.0.len();
        self.0.get_mut(item.checked_rem(count)?)
    }

    fn seen(&self) -> Seen {
        let live: Vec<&Entry> = self.0.iter().filter(|entry| entry.live).collect();
        let mut speaks: HashMap<&str, ItemId> = HashMap::new();
        let heard: Vec<&Entry> = live.iter().copied().filter(|entry| entry.level() != Level::Skip).collect();
        for entry in heard.iter().filter(|entry| entry.role.is_none()) {
            speaks.extend(entry.name.map(|name| (name, entry.id)));
        }
        let superseded =
            |entry: &Entry| entry.role.is_none() && entry.name.is_some_and(|name| speaks[name] != entry.id);
        let heard: Vec<&Entry> = heard.into_iter().filter(|entry| !superseded(entry)).collect();
        let cost = |entry: &&Entry| {
            let name = if entry.name.is_some() { PER_NAME } else { 0 };
            Counter::default().count(entry.text().as_bytes()) + PER_MESSAGE + name
        };
        let total = PER_REPLY + heard.iter().map(cost).sum::<u64>();
        Seen { live: live.iter().map(|entry| (entry.id, entry.level())).collect(), total, page: page(&heard) }
    }
}

/// The page to read: instructions first, neighbours of one kind joined.
fn page(heard: &[&Entry]) -> String {
    // Speaker, name, text; whether it is an instruction.
    let mut messages: Vec<(bool, &str, Option<&str>, String)> = Vec::new();
    let (instructions, rest): (Vec<&Entry>, Vec<&Entry>) = heard.iter().partition(|entry| entry.role.is_none());
    for entry in instructions.into_iter().chain(rest) {
        let (instruction, role) = (entry.role.is_none(), entry.role.unwrap_or("system"));
        match messages.last_mut() {
            Some((last_instruction, last_role, name, text))
                if (*last_instruction, *last_role) == (instruction, role) =>
            {
                text.extend(["\n\n", entry.text()]);
                if *name != entry.name {
                    *name = None;
                }
            }
            _ => messages.push((instruction, role, entry.name, entry.text().to_owned())),
        }
    }
    let message = |(_, role, name, text): (bool, &str, Option<&str>, String)| {
        let name = name.map(|name| format!(" {name}")).unwrap_or_default();
        format!("[{role}{name}]\n{}\n", text.trim_end_matches('\n'))
    };
    messages.into_iter().map(message).collect::<Vec<_>>().join("\n")
}

/// The system under test: the library on a real repository.
struct Real {
    repo: Repo,
    name: TraceName,
    seconds: Cell<i64>,
}

impl Real {
    fn open(test: &TestRepo) -> Self {
        let variables = [
            ("GIT_AUTHOR_NAME", "A"),
            ("GIT_AUTHOR_EMAIL", "a@example.com"),
            ("GIT_COMMITTER_NAME", "A"),
            ("GIT_COMMITTER_EMAIL", "a@example.com"),
        ];
        let env = Env::capture(variables.map(|(name, value)| (name.into(), value.into())));
        let repo = Repo::open(test.folder(), env).unwrap();
        Self { repo, name: TraceName::default_name(), seconds: Cell::new(1_770_714_000) }
    }

    fn now(&self) -> Time {
        Time::from_second(self.seconds.get())
    }

    fn signature(&self) -> Signature {
        self.seconds.set(self.seconds.get() + 1);
        Signature::take(&self.repo, self.now()).unwrap()
    }

    fn tip(&self) -> Tip {
        Tip::of_trace(&self.repo, &self.name).unwrap()
    }

    fn seen(&self, as_of: Option<&str>) -> Seen {
        let view = View::open(&self.repo, &self.name, as_of).unwrap();
        let materialized = materialize(&self.repo, &view, &Options::default(), Counter::default()).unwrap();
        let mut page = Vec::new();
        text::write(&materialized.messages, &mut page).unwrap();
        let apart = Options { one_message_an_item: true, ..Options::default() };
        let apart = materialize(&self.repo, &view, &apart, Counter::default()).unwrap();
        let total = view.total(&self.repo, Counter::default()).unwrap().tokens;
        assert_eq!(
            apart.request_tokens(Counter::default()),
            total,
            "one message for each item is what the total counts"
        );
        Seen {
            live: view.slots.iter().map(|slot| (slot.id, view.level(slot).level())).collect(),
            total,
            page: String::from_utf8(page).unwrap(),
        }
    }

    fn trace(&self) -> Trace<'_> {
        Trace::new(&self.repo, self.name.clone(), self.signature())
    }

    fn append(&self, fields: Fields, text: &str) -> ItemId {
        let draft = Draft { fields, body: text.as_bytes().to_owned() };
        self.trace().append(draft).unwrap().item.id
    }
}

/// Does one thing to both; whether it was a commit of the trace.
fn act(real: &Real, model: &mut Model, op: &Op) {
    match *op {
        Op::Say { role, text } => {
            let mut fields = Fields::new(ItemType::dialogue());
            fields.role = ROLES[role].parse().ok();
            let id = real.append(fields, TEXTS[text]);
            let texts = vec![TEXTS[text]];
            model.0.push(Entry { id, role: Some(ROLES[role]), name: None, texts, live: true, level: None });
        }
        Op::Instruct { name, text } => {
            let name = NAMES.get(name).copied();
            let mut fields = Fields::new(ItemType::instruction());
            fields.name = name.map(str::to_owned);
            let id = real.append(fields, TEXTS[text]);
            let speaks = |entry: &&mut Entry| entry.live && entry.role.is_none() && entry.level() != Level::Skip;
            let of_name = |entry: &&mut Entry| speaks(entry) && name.is_some() && entry.name == name;
            match model.0.iter_mut().rfind(of_name) {
                Some(entry) => {
                    assert_eq!(entry.id, id, "an instruction of a name that speaks is an edit");
                    revise(entry, TEXTS[text]);
                }
                None => model.0.push(Entry { id, role: None, name, texts: vec![TEXTS[text]], live: true, level: None }),
            }
        }
        Op::Edit { item, text } => {
            let Some(entry) = model.pick(item) else { return };
            let patch = Patch { body: Some(TEXTS[text].as_bytes().to_owned()), ..Patch::default() };
            let edited = real.trace().edit(entry.id, patch);
            assert_eq!(edited.is_ok(), entry.live, "what is live can be edited: {edited:?}");
            if entry.live {
                revise(entry, TEXTS[text]);
                assert_eq!(edited.unwrap().item.revision as usize, entry.texts.len());
            }
        }
        Op::Delete { item } => {
            let Some(entry) = model.pick(item) else { return };
            let deleted = real.trace().delete(entry.id, None);
            assert_eq!(deleted.is_ok(), entry.live, "what is live can be taken out: {deleted:?}");
            entry.live = false;
        }
        Op::Restore { item, revision } => {
            let Some(entry) = model.pick(item) else { return };
            let found = revision.map_or(Some(entry.text()), |number| entry.texts.get(number as usize - 1).copied());
            let possible = found.is_some() && !(entry.live && revision.is_none());
            let restored = real.trace().restore(entry.id, revision, None);
            assert_eq!(restored.is_ok(), possible, "{restored:?}");
            let Some(text) = found.filter(|_| possible) else { return };
            let newest = revision.is_none_or(|number| number as usize == entry.texts.len());
            if entry.live {
                revise(entry, text);
            } else if !newest {
                entry.texts.push(text);
            }
            entry.live = true;
        }
        Op::Level { item, level } => {
            let Some(entry) = model.pick(item) else { return };
            let tip = real.tip();
            let introduced = priority::tags::introduction(&real.repo, &tip, entry.id).unwrap().unwrap();
            let signature = real.signature();
            let (level, at) = (LEVELS[level], signature.at);
            let request = Request::now(entry.id, level, at, introduced);
            priority::set(&real.repo, &signature, &[request]).unwrap();
            entry.level = Some(level);
        }
    }
}

fn revise(entry: &mut Entry, text: &'static str) {
    if entry.text() != text {
        entry.texts.push(text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn a_trace_behaves_like_its_model(ops in proptest::collection::vec(op(), 1..18)) {
        let test = TestRepo::new();
        let real = Real::open(&test);
        let mut model = Model::default();
        let mut earlier: Vec<(String, Seen)> = Vec::new();
        for op in &ops {
            act(&real, &mut model, op);
            if model.0.is_empty() {
                continue;
            }
            prop_assert_eq!(real.seen(None), model.seen(), "after {:?}", op);
            let now = real.now().to_string();
            earlier.push((now, model.seen()));
            if !matches!(op, Op::Level { .. }) {
                let tip = real.tip();
                // A commit shows the priorities of its time, so an operation without a commit is not compared.
                if tip.time() == real.now() {
                    earlier.push((tip.commit.oid.to_string(), model.seen()));
                }
            }
        }
        for (moment, then) in &earlier {
            prop_assert_eq!(&real.seen(Some(moment)), then, "as of {}", moment);
        }
    }
}
