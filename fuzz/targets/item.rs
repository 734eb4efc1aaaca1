//! Any bytes as an item file and as item JSON: accepted input is written as it was read.

use crate::trace::model::trailers::{SUBJECT_LEN, preview};
use crate::trace::model::{item_file, json, schema};
use crate::trace::{Draft, Item};
use serde_json::Value;

pub(super) fn run(bytes: &[u8]) {
    if let Ok(item) = item_file::parse(bytes) {
        let rendered = item_file::render(&item);
        let again = item_file::parse(&rendered).expect("what was written is read");
        assert_eq!(again, item);
        assert_eq!(item_file::render(&again), rendered);
        let subject = preview(&item);
        assert!(subject.chars().count() <= SUBJECT_LEN && !subject.contains(char::is_control));
        let draft = Draft { fields: item.fields.clone(), body: item.body.clone() };
        if schema::validate(&draft).is_ok() {
            let back = json::draft_from(&json::to_json(&item), &[]).expect("an item's JSON is an item");
            assert_eq!(back, draft);
        }
    }
    let Ok(Value::Object(object)) = serde_json::from_slice(bytes) else { return };
    let Ok(mut draft) = json::draft_from(&object, &[]) else { return };
    schema::complete(&mut draft.fields);
    if schema::validate(&draft).is_ok() {
        let id = "0be7719d3a2f61c8".parse().expect("sixteen digits are an id");
        let item = Item { id, fields: draft.fields, revision: 1, tokens: None, body: draft.body };
        assert_eq!(
            item_file::parse(&item_file::render(&item)).as_ref(),
            Ok(&item),
            "what a schema accepts can be stored"
        );
    }
}
