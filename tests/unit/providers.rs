//! Messages in the shapes of the providers' requests.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::git::{Env, Repo};
use crate::materialize::{Cut, MaterializeError, Materialized, Options, OverBudget, command, materialize};
use crate::message::adjustment::{Adjustment, AdjustmentReason, BlockPosition, Replacement};
use crate::message::anthropic::CacheMarks;
use crate::message::{self, Api, Block, Content, Message, Role, Signature, Status};
use crate::tokens::Counter;
use crate::trace::change::edit::Patch;
use crate::trace::store::priority::{self, Level, Request};
use crate::trace::store::signature;
use crate::trace::store::trace::Trace;
use crate::trace::store::view::View;
use crate::trace::{Draft, Fields, ItemId, ItemType, Time, TraceName};
use crate::transcript::format::Format;
use crate::transcript::import::input::Input;
use crate::transcript::import::{Destination, ImportContext, transcript};
use proptest::prelude::*;
use regex::Regex;
use serde_json::Value;

mod command_line;
mod hooks;
mod reading;

const APIS: [Api; 4] = [Api::OpenAi, Api::Responses, Api::Anthropic, Api::Gemini];
const SMALL: &[u8] = include_bytes!("../fixtures/transcripts/claude-code/small-thinking-tools.jsonl");

fn say(role: Role, text: &str) -> Message {
    Message { role, name: None, blocks: vec![block(Content::Text(text.to_owned()))] }
}

fn block(content: Content) -> Block {
    Block { content, known_tokens: None }
}

fn thought(text: &str, signature: Option<Signature>) -> Block {
    block(Content::Reasoning { text: text.to_owned(), signature })
}

fn call(id: &str, arguments: &str) -> Block {
    let (call_id, arguments) = (id.to_owned(), arguments.to_owned());
    block(Content::ToolCall { call_id, name: Some("grep".to_owned()), arguments })
}

fn result(id: &str, text: &str) -> Message {
    let (call_id, text) = (id.to_owned(), text.to_owned());
    let content = Content::ToolResult { call_id, name: None, status: Some(Status::Ok), text };
    Message { role: Role::Tool, name: None, blocks: vec![block(content)] }
}

fn model(blocks: Vec<Block>) -> Message {
    Message { role: Role::Assistant, name: None, blocks }
}

fn write(api: Api, messages: &[Message]) -> (String, Vec<Adjustment>) {
    let mut out = Vec::new();
    let changes = message::write(api, messages, CacheMarks::default(), &mut out).unwrap();
    (String::from_utf8(out).unwrap(), changes)
}

fn whys(changes: &[Adjustment]) -> Vec<AdjustmentReason> {
    changes.iter().map(|change| change.reason).collect()
}

/// The request for each of the four providers, with the changes it needed.
fn written(messages: &[Message]) -> String {
    let mut page = String::new();
    for api in APIS {
        let (text, changes) = write(api, messages);
        writeln!(page, "--- {api}\n{text}").unwrap();
        for Adjustment { position: BlockPosition { message, block }, reason: why } in changes {
            writeln!(page, "{message}.{block} {}", why.describe()).unwrap();
        }
    }
    page
}

/// A repository with one trace, and the values needed to change it.
struct Sample {
    _folder: tempfile::TempDir,
    repo: Repo,
    name: TraceName,
}

impl Sample {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let init = Command::new("git").args(["init", "-q"]).arg(folder.path()).status().unwrap();
        assert!(init.success());
        let vars = [
            ("GIT_AUTHOR_NAME", "A"),
            ("GIT_AUTHOR_EMAIL", "a@example.com"),
            ("GIT_COMMITTER_NAME", "A"),
            ("GIT_COMMITTER_EMAIL", "a@example.com"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ];
        let path = std::env::var_os("PATH").map(|path| ("PATH".into(), path));
        let env = Env::capture(vars.map(|(key, value)| (key.into(), value.into())).into_iter().chain(path));
        let repo = Repo::open(Path::new(folder.path()), env).unwrap();
        Self { _folder: folder, repo, name: TraceName::default_name() }
    }

    fn of_transcript(bytes: &[u8]) -> Self {
        let sample = Self::new();
        let destination = Destination::Trace(sample.name.clone());
        let signature = sample.signature(0);
        let writing = ImportContext::new(&sample.repo, &signature, crate::unit::incremental::FULL).unwrap();
        let input = Input::Stream(Box::new(bytes));
        transcript(writing, Format::ClaudeCode, destination, input).unwrap();
        sample
    }

    fn trace(&self, second: i64) -> Trace<'_> {
        Trace::new(&self.repo, self.name.clone(), self.signature(second))
    }

    fn signature(&self, second: i64) -> signature::Signature {
        signature::Signature::take(&self.repo, Time::from_second(1_775_000_000 + second)).unwrap()
    }

    fn put(&self, second: i64, fields: Fields, body: &str) -> ItemId {
        let draft = Draft { fields, body: body.as_bytes().to_vec() };
        self.trace(second).append(draft).unwrap().item.id
    }

    fn say(&self, second: i64, body: &str) -> ItemId {
        self.put(second, Fields::new(ItemType::dialogue()), body)
    }

    fn edit(&self, second: i64, item: ItemId, body: &str) {
        let patch = Patch { body: Some(body.as_bytes().to_vec()), ..Patch::default() };
        self.trace(second).edit(item, patch).unwrap();
    }

    fn set(&self, second: i64, item: ItemId, level: Level) {
        let view = View::open(&self.repo, &self.name, None).unwrap();
        let introduced = view.tip.commit.oid;
        let signature = self.signature(second);
        let request = Request::now(item, level, signature.at, introduced);
        priority::set(&self.repo, &signature, &[request]).unwrap();
    }

    fn materialized(&self, cut: Cut) -> Result<Materialized, MaterializeError> {
        let view = View::open(&self.repo, &self.name, None).unwrap();
        materialize(&self.repo, &view, &Options { cut, ..Options::default() }, Counter::default())
    }

    fn written(&self, api: Api) -> (String, Vec<Adjustment>) {
        write(api, &self.materialized(Cut::default()).unwrap().messages)
    }
}

/// Signatures left out, long texts cut.
fn redacted(text: &str) -> String {
    let signature = Regex::new(r#""signature":"[^"]*""#).unwrap();
    let long = Regex::new(r#""((?:[^"\\]|\\.){40})(?:[^"\\]|\\.){12,}""#).unwrap();
    let text = signature.replace_all(text, r#""signature":"[SIGNATURE]""#);
    long.replace_all(&text, "\"$1…\"").into_owned()
}

#[test]
fn a_session_is_written_for_every_provider() {
    let sample = Sample::of_transcript(SMALL);
    for api in APIS {
        let (text, changes) = sample.written(api);
        serde_json::from_str::<Value>(&text).unwrap();
        let page = changes.iter().fold(redacted(&text) + "\n", |page, change| {
            page + "\n" + change.reason.replacement().as_str() + " " + change.reason.as_str()
        });
        insta::assert_snapshot!(api.as_str(), page);
    }
}

#[test]
fn calls_and_results_are_adjacent() {
    let messages = [
        say(Role::System, "Be careful."),
        say(Role::User, "Where is x?"),
        model(vec![block(Content::Text("Let me look.".to_owned())), call("c1", r#"{"b":1.0,"a":"x"}"#)]),
        model(vec![call("c2", "[1]")]),
        say(Role::User, "Take your time."),
        result("c2", "none"),
        result("c1", "two"),
        model(vec![call("c1", "{}")]),
        result("c1", ""),
        result("c9", "lost"),
        model(vec![call("c3", "{}")]),
    ];
    insta::assert_snapshot!(written(&messages));
}

#[test]
fn binary_data_is_sent_to_providers_that_accept_it() {
    let artifact = |media_type: &str, bytes: &[u8]| {
        let (path, media_type) = (Some("shots/a \"b\".png".to_owned()), Some(media_type.to_owned()));
        block(Content::Artifact { kind: None, path, language: None, media_type, bytes: bytes.to_vec() })
    };
    let user = |blocks| Message { role: Role::User, name: Some("ann".to_owned()), blocks };
    let messages = [
        // What the bytes tell outranks what they are called.
        user(vec![block(Content::Text("See".to_owned())), artifact("image/jpeg", b"\x89PNG\r\n\x1a\n")]),
        user(vec![artifact("application/pdf", b"%PDF-1.7")]),
        user(vec![artifact("audio/wav", b"\xff")]),
        model(vec![artifact("image/png", b"\xff"), block(Content::Text("Made one.".to_owned()))]),
        user(vec![artifact("text/plain", b"words")]),
    ];
    insta::assert_snapshot!(written(&messages));
}

#[test]
fn signed_thoughts_are_sent_only_to_their_signer() {
    let signed = |by: Option<Api>| Some(Signature { by, ..Signature::new("c2ln".to_owned()) });
    let text = || block(Content::Text("Done.".to_owned()));
    for api in APIS {
        for by in [None, Some(Api::Anthropic), Some(Api::Responses), Some(Api::Gemini)] {
            let messages = [say(Role::User, "a"), model(vec![thought("hm", signed(by)), text()])];
            let (page, changes) = write(api, &messages);
            let carried = api != Api::OpenAi && by.is_none_or(|by| by == api);
            assert_eq!(page.contains("c2ln"), carried, "{api} {by:?}");
            assert_eq!(whys(&changes), if carried { vec![] } else { vec![AdjustmentReason::ForeignReasoning] });
        }
        let messages = [say(Role::User, "a"), model(vec![text(), thought("hm", signed(None))])];
        let expected =
            if api == Api::OpenAi { AdjustmentReason::ForeignReasoning } else { AdjustmentReason::LastReasoning };
        assert_eq!(whys(&write(api, &messages).1), [expected]);
    }
    let redacted = Signature { redacted: true, ..Signature::new("ZGF0YQ==".to_owned()) };
    let messages = [say(Role::User, "a"), model(vec![thought("", Some(redacted)), text()])];
    assert!(write(Api::Anthropic, &messages).0.contains(r#"{"type":"redacted_thinking","data":"ZGF0YQ=="}"#));
    // Gemini's stands on what follows the thought.
    let (page, _) = write(
        Api::Gemini,
        &[say(Role::User, "a"), model(vec![thought("hm", signed(None)), call("c", "{}")]), result("c", "r")],
    );
    assert!(page.contains(
        r#"{"text":"hm","thought":true},{"functionCall":{"id":"c","name":"grep","args":{}},"thoughtSignature":"c2ln"}"#
    ));
}

#[test]
fn a_thought_is_sent_while_its_prefix_is_unchanged() {
    let dropped = |sample: &Sample| {
        let (_, changes) = sample.written(Api::Anthropic);
        changes.iter().filter(|change| change.reason == AdjustmentReason::ChangedBefore).count()
    };
    let ids = |sample: &Sample| -> Vec<ItemId> {
        View::open(&sample.repo, &sample.name, None).unwrap().slots.iter().map(|slot| slot.id).collect()
    };
    let sample = Sample::of_transcript(SMALL);
    let all = ids(&sample);
    assert_eq!(dropped(&sample), 0, "what the import itself removes was never said");
    sample.set(10, *all.last().unwrap(), Level::Skip);
    sample.set(11, all[0], Level::Pinned);
    assert_eq!(dropped(&sample), 0, "a level that hides nothing, and a skip after the last thought");
    sample.set(12, all[0], Level::Skip);
    assert_eq!(dropped(&sample), 6);
    sample.set(13, all[0], Level::Normal);
    assert_eq!(dropped(&sample), 6, "what was taken back in may not have been there");

    let sample = Sample::of_transcript(SMALL);
    let item = ids(&sample)[0];
    sample.edit(20, item, "other");
    assert_eq!(dropped(&sample), 6);
}

#[test]
fn a_cut_keeps_pinned_items_and_pairs() {
    let sample = Sample::new();
    let instruction = sample.put(0, Fields::new(ItemType::instruction()), "Be careful.");
    let old = sample.say(1, "an old word");
    let mut fields = Fields::new(ItemType::tool_io());
    fields.call_id = Some("c1".to_owned());
    fields.name = Some("grep".to_owned());
    fields.role = Some(Role::Assistant);
    let the_call = sample.put(2, fields.clone(), "{}");
    let between = sample.say(3, "a word between");
    fields.role = Some(Role::Tool);
    let the_result = sample.put(4, fields, "r");
    let new = sample.say(5, "a new word");
    let kept = |cut| {
        let materialized = sample.materialized(cut).unwrap();
        materialized.items.into_iter().flatten().flatten().collect::<Vec<ItemId>>()
    };
    let all = [instruction, old, the_call, between, the_result, new];
    assert_eq!(kept(Cut::default()), all);
    assert_eq!(kept(Cut { since: Some(4), ..Cut::default() }), [instruction, the_call, the_result, new]);
    let whole = sample.materialized(Cut { budget: Some(1000), ..Cut::default() }).unwrap();
    assert_eq!(whole.left_out.len(), 0);
    // 3 for the reply, 6 for the instruction, 6 for what is new: nothing is left for the pair.
    assert_eq!(kept(Cut { budget: Some(16), ..Cut::default() }), [instruction, new]);
    assert_eq!(kept(Cut { budget: Some(27), ..Cut::default() }), [instruction, the_call, the_result, new]);
    sample.set(6, the_result, Level::Pinned);
    assert_eq!(kept(Cut { budget: Some(24), ..Cut::default() }), [instruction, the_call, the_result]);
    let error = sample.materialized(Cut { budget: Some(10), ..Cut::default() }).unwrap_err();
    let MaterializeError::OverBudget(OverBudget { pinned, budget }) = error else { panic!("{error}") };
    assert_eq!((pinned, budget), (19, 10));
    let recent = sample.materialized(Cut { recent: Some(1), ..Cut::default() }).unwrap();
    assert_eq!(recent.shortened, [old, between]);
    insta::assert_snapshot!(write(Api::Anthropic, &recent.messages).0);
}

#[test]
fn a_user_command_receives_the_items() {
    let sample = Sample::new();
    sample.put(0, Fields::new(ItemType::instruction()), "Be careful.");
    let skipped = sample.say(1, "never mind");
    let last = sample.say(2, "Go.");
    sample.set(3, skipped, Level::Skip);
    let view = View::open(&sample.repo, &sample.name, None).unwrap();
    let run = |command: &str, cut| {
        command::run(&sample.repo, Some(&view), command, &cut, Counter::default()).map(|printed| printed.bytes)
    };
    let printed = run("cat; printf end", Cut::default()).unwrap();
    let printed = String::from_utf8(printed).unwrap();
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!((lines.len(), lines[2]), (3, "end"));
    let item: Value = serde_json::from_str(lines[1]).unwrap();
    assert_eq!(
        (&item["id"], &item["text"], &item["priority"], &item["seq"]),
        (&last.to_string().into(), &"Go.".into(), &"normal".into(), &2.into())
    );
    assert_eq!(run("exec true", Cut::default()).unwrap(), b"", "it need not read");
    let error = run("echo half; exit 3", Cut::default()).unwrap_err();
    assert_eq!(error.to_string(), "`echo half; exit 3` ended with exit status: 3");
}

#[test]
fn cache_marks_are_at_the_ends_of_stable_prefixes() {
    let messages = [
        say(Role::System, "Be careful."),
        say(Role::User, "Pinned."),
        model(vec![block(Content::Text("Yes.".to_owned()))]),
        say(Role::User, "And?"),
        model(vec![call("c", "{}")]),
        result("c", "r"),
    ];
    let mut out = Vec::new();
    for count in 0..=9 {
        out.clear();
        message::write(Api::Anthropic, &messages, CacheMarks { count, pinned_messages: 2 }, &mut out).unwrap();
        assert_eq!(String::from_utf8_lossy(&out).matches("cache_control").count(), count.min(4));
    }
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn editing_the_last_item_keeps_earlier_messages() {
    let sample = Sample::of_transcript(SMALL);
    let last = sample.say(30, "the first words");
    let before = APIS.map(|api| sample.written(api).0);
    assert_eq!(before, APIS.map(|api| sample.written(api).0));
    sample.edit(31, last, "quite other words");
    let after = APIS.map(|api| sample.written(api).0);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(&before.replace("the first words", "quite other words"), after);
    }
}

#[test]
fn every_reason_describes_what_happened_to_the_block() {
    for word in AdjustmentReason::VALUES {
        let why: AdjustmentReason = word.parse().unwrap();
        let left_out = why.describe().starts_with("left out");
        assert_eq!(left_out, why.replacement() == Replacement::LeftOut, "{word}");
    }
}

/// Any block, from a small alphabet, so that ids collide and much is blank.
fn any_block() -> impl Strategy<Value = Content> {
    let text = || prop::sample::select(vec!["a", "b\n", " ", "", "ä \"q\" \\ /"]).prop_map(str::to_owned);
    let id = || prop::sample::select(vec!["c1", "c2", "c 3"]).prop_map(str::to_owned);
    let arguments = prop::sample::select(vec!["{}", r#"{"b":1.0,"a":[]}"#, "[1]", "no"]).prop_map(str::to_owned);
    let status = || prop::option::of(prop::sample::select(vec![Status::Ok, Status::Error]));
    let by = prop::option::of(prop::sample::select(vec![Api::Anthropic, Api::Gemini, Api::Responses]));
    let signature =
        (by, any::<bool>()).prop_map(|(by, holds)| Signature { by, holds, ..Signature::new("c2ln".to_owned()) });
    let bytes = prop::sample::select(vec![&b"\x89PNG\r\n\x1a\n"[..], b"\xff", b"text", b""]).prop_map(<[u8]>::to_vec);
    let name = Some("grep".to_owned());
    prop_oneof![
        text().prop_map(Content::Text),
        (text(), prop::option::of(signature)).prop_map(|(text, signature)| Content::Reasoning { text, signature }),
        (id(), arguments).prop_map(move |(call_id, arguments)| Content::ToolCall {
            call_id,
            name: name.clone(),
            arguments
        }),
        (id(), status(), text()).prop_map(|(call_id, status, text)| Content::ToolResult {
            call_id,
            name: None,
            status,
            text
        }),
        bytes.prop_map(|bytes| Content::Artifact { kind: None, path: None, language: None, media_type: None, bytes }),
    ]
}

fn any_messages() -> impl Strategy<Value = Vec<Message>> {
    let role = prop::sample::select(vec![Role::System, Role::User, Role::Assistant, Role::Assistant, Role::Tool]);
    let message = (role, prop::collection::vec(any_block().prop_map(block), 1..4)).prop_map(|(role, blocks)| Message {
        role,
        name: None,
        blocks,
    });
    prop::collection::vec(message, 0..9)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// What the user says last is all that differs where only that does.
    #[test]
    fn appending_changes_no_earlier_message(mut messages in any_messages()) {
        for api in APIS {
            messages.push(say(Role::User, "LAST"));
            let (one, _) = write(api, &messages);
            messages.pop();
            messages.push(say(Role::User, "OTHER"));
            let (other, _) = write(api, &messages);
            messages.pop();
            prop_assert_eq!(one.replace("LAST", "OTHER"), other);
        }
    }

    /// What more is said changes the last line at most: the one that it may still join.
    #[test]
    fn appending_changes_only_the_end(mut messages in any_messages()) {
        for api in APIS {
            let (before, _) = write(api, &messages);
            messages.push(say(Role::User, "NEXT"));
            let (after, _) = write(api, &messages);
            messages.pop();
            let mut lines: Vec<&str> = before.lines().map(|line| line.trim_end_matches(',')).collect();
            lines.truncate(lines.len().saturating_sub(2));
            for (before, after) in lines.iter().zip(after.lines()) {
                prop_assert_eq!(*before, after.trim_end_matches(','));
            }
        }
    }
}
