//! The hooks of a materializer, each by the example that shows it.

use super::*;

#[path = "../../../examples/materializer.rs"]
#[expect(dead_code, reason = "its `main` is for people")]
mod example;

#[test]
fn each_hook_changes_only_its_purpose() {
    let sample = Sample::new();
    sample.put(0, Fields::new(ItemType::instruction()), "Be careful.");
    let question = sample.say(1, "Where is x?");
    sample.put(2, Fields::new(ItemType::reasoning()), "Hm.");
    sample.put(3, Fields::new(ItemType::output()), "In b.");
    sample.put(4, Fields::new(ItemType::artifact()), "x = 1");
    sample.edit(5, question, "Where is x defined?");
    let mut page = String::new();
    for which in ["roles", "joining", "ordering", "edits", "digest"] {
        let messages = example::run(which, &sample.repo, &sample.name).unwrap();
        writeln!(page, "--- {which}\n{}", String::from_utf8(messages).unwrap()).unwrap();
    }
    insta::assert_snapshot!(page);
}

#[test]
fn a_thought_after_a_moved_item_loses_its_signature() {
    let sample = Sample::new();
    sample.say(0, "Where is x?");
    let mut fields = Fields::new(ItemType::reasoning());
    fields.signature = Some("c2ln".to_owned());
    sample.put(1, fields, "Hm.");
    let mut fields = Fields::new(ItemType::dialogue());
    fields.role = Some(Role::Assistant);
    sample.put(2, fields, "In b.");
    let signed = |sample: &Sample| sample.written(Api::Anthropic).0.contains("c2ln");
    assert!(signed(&sample));
    sample.put(3, Fields::new(ItemType::artifact()), "x = 1");
    assert!(signed(&sample));
    let git = |words: &[&str]| {
        assert!(
            Command::new("git").current_dir(sample.repo.worktree().unwrap()).args(words).status().unwrap().success()
        );
    };
    git(&["config", "traceType.artifact.order", "-1"]);
    let again = Sample { repo: Repo::open(sample.repo.git_dir(), sample.repo.env().clone()).unwrap(), ..sample };
    assert!(!signed(&again));
}
