//! Two texts as an item before and after an edit, in a real repository: its Markdown diff shows item text only inside code,
//! and its messages are valid JSON in every format.

use std::cell::RefCell;

use super::{World, versions};
use crate::materialize::envelope::{MessageFormat, envelope, render};
use crate::materialize::{Options, materialize};
use crate::tokens::Counter;
use crate::trace::change::append::AppendOptions;
use crate::trace::change::edit::Patch;
use crate::trace::query::diff::between;
use crate::trace::query::diff::markdown::markdown;
use crate::trace::store::resolve::State;
use crate::trace::store::trace::Trace;
use crate::trace::store::view::View;
use crate::trace::{Draft, Fields, ItemType, TraceName};
use pulldown_cmark::{Event, Options as Markdown, Parser, Tag, TagEnd};

thread_local!(static WORLD: RefCell<World> = RefCell::new(World::new()));

/// Checks that only our own words are outside code.
fn check_page(page: &str) {
    let mut in_code = false;
    for event in Parser::new_ext(page, Markdown::all()) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Text(text) if !in_code => {
                assert!(!text.contains(['@', '#', '<', '`', '[', '\\']), "{text:?} outside of code in {page}");
            }
            Event::Text(_)
            | Event::Code(_)
            | Event::SoftBreak
            | Event::Start(Tag::Paragraph | Tag::Strong)
            | Event::End(TagEnd::Paragraph | TagEnd::Strong) => {}
            other => panic!("{other:?} in {page}"),
        }
    }
    assert!(!in_code);
}

pub(super) fn run(data: &[u8]) {
    let [name, before, after] = versions(data);
    let name = String::from_utf8_lossy(&name[..name.len().min(40)]).into_owned();
    WORLD.with_borrow_mut(|world| {
        let trace: TraceName = world.fresh_name().parse().expect("a plain word names a trace");
        let repo = &world.repo;
        let handle = || Trace::new(repo, trace.clone(), world.signature());
        let mut fields = Fields::new(ItemType::artifact());
        fields.path = Some(name.clone());
        let draft = Draft { fields, body: before };
        let options = AppendOptions { subject: Some(&name), ..AppendOptions::default() };
        let Ok(added) = handle().append_with(&draft, options) else { return };
        let old = State::of_trace(repo, &trace).expect("it was just made");
        let patch = Patch { body: Some(after), subject: Some(name.clone()), reason: Some(name), ..Patch::default() };
        handle().edit(added.item.id, patch).expect("it is live");
        let new = State::of_trace(repo, &trace).expect("it was just changed");

        for before in [Some(old), None] {
            let diff = between(repo, before, new.clone(), Counter::default()).expect("both are there");
            check_page(&markdown(repo, &diff, 3).expect("both are there"));
        }
        let view = View::open(repo, &trace, None).expect("it is there");
        let materialized = materialize(repo, &view, &Options::default(), Counter::default()).expect("it is there");
        for format in [
            MessageFormat::Messages,
            MessageFormat::OpenAi,
            MessageFormat::Responses,
            MessageFormat::Anthropic,
            MessageFormat::Gemini,
            MessageFormat::Text,
        ] {
            let rendered = render(format, &materialized, None).expect("messages can be written");
            if !matches!(format, MessageFormat::Text) {
                serde_json::from_slice::<serde_json::Value>(&rendered.content).expect("valid JSON");
            }
            let envelope = envelope(repo, &trace, Some(&view), &materialized, rendered, Counter::default());
            serde_json::to_string(&envelope.expect("it is there")).expect("valid JSON");
        }
    });
}
