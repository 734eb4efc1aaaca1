//! Tests of `src/trace/change/compress/rule.rs`, in that module.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::trace::change::compress::material::Line;
use crate::trace::change::compress::tools::{Names, Tools};
use crate::trace::model::json::draft_from;
use crate::trace::{Draft, Item};

fn item(json: &serde_json::Value) -> Item {
    let draft: Draft = draft_from(json.as_object().unwrap(), &[]).unwrap();
    Item::new("0123456789abcdef".parse().unwrap(), draft)
}

fn tools(items: &[serde_json::Value]) -> Tools {
    let (mut tools, mut names) = (Tools::default(), Names::new());
    for json in items {
        tools.add(&item(json), &mut names);
    }
    tools
}

#[test]
fn calls_failures_and_distinct_paths_are_counted() {
    let call = |name: &str, id: &str, path: &str| json!({ "type": "tool_io", "direction": "call", "name": name, "call_id": id, "text": json!({ "path": path }).to_string() });
    let result = |id: &str, status: &str| json!({ "type": "tool_io", "direction": "result", "call_id": id, "status": status, "text": "" });
    let earlier = json!({ "text": "", "meta": { "stands_for": [], "called": { "grep": { "times": 97, "failures": 49 }, "make": { "times": 2 } } } });
    let counted = tools(&[
        earlier,
        call("grep", "1", "b.rs"),
        result("1", "error"),
        call("grep", "2", "a.rs"),
        result("2", "ok"),
        call("grep", "3", "a.rs"),
        result("unknown", "error"),
    ]);
    let expected = [
        "called grep 100 times, 50 failures; paths: a.rs, b.rs",
        "called make 2 times, 0 failures",
        "called a tool without a name 1 time, 1 failure",
    ];
    assert_eq!(counted.lines(), expected);
    let mut meta = serde_json::Map::new();
    counted.write_meta(&mut meta);
    assert_eq!(meta["called"]["grep"], json!({ "times": 100, "failures": 50 }));
}

#[test]
fn the_lines_of_an_earlier_summary_are_kept() {
    let earlier = "Summary by rule: 3 items, 1 lines omitted\ncalled grep 1 time, 0 failures\n#2 dialogue user: Where?";
    assert_eq!(lines_of(earlier).unwrap().collect::<Vec<_>>(), ["#2 dialogue user: Where?"]);
    assert!(lines_of("called grep once").is_none());
}

proptest! {
    #[test]
    fn a_summary_by_rule_fits(
        lines in prop::collection::vec(("[a-zé …#(.]{0,60}", any::<bool>()), 0..40),
        calls in 0..5_usize,
        max in MIN_SUMMARY..400,
        counter in prop::sample::select(crate::tokens::Encoding::ALL.map(Counter::from).to_vec()),
    ) {
        let called: Vec<_> = (0..calls).map(|n| json!({ "type": "tool_io", "direction": "call", "name": format!("tool{n}"), "text": "{}" })).collect();
        let lines = lines.into_iter().map(|(text, is_of_user)| Line { text, is_of_user }).collect();
        let material = Material { count: 12_345, tokens: 99, tools: tools(&called), lines, ..Material::default() };
        let text = by_rule(&material, Allowance { max, asked: max * 4 / 5 }, counter);
        prop_assert!(message_cost(counter.count(&text), false) <= max);
        prop_assert!(text.starts_with(b"Summary by rule: 12345 items"));
    }
}
