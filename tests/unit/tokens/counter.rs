//! Tests of `src/tokens/counter.rs`, in that module.

use proptest::prelude::*;

use super::*;

/// One token per character, except that it fails on `!`.
struct Characters(CustomId);

impl TokenCounter for Characters {
    fn id(&self) -> CustomId {
        self.0
    }

    fn count(&self, text: &str) -> Result<u64, Box<dyn Error + Send + Sync>> {
        if text.contains('!') { Err("it contains `!`".into()) } else { Ok(text.chars().count() as u64) }
    }
}

#[test]
fn counters_are_made_once_and_found_by_their_ids() {
    let id = CustomId::of("characters", b"1");
    assert_eq!(Counter::find(CounterId::Custom(id)), None);
    let counter = Counter::custom(id, || Characters(id));
    assert_eq!(counter.count("é\u{1f600}".as_bytes()), 2);
    assert_eq!(counter.count(b"a\xff"), 2);
    assert_eq!(Counter::custom(id, || -> Characters { panic!("it is known") }), counter);
    assert_eq!(Counter::find(CounterId::Custom(id)), Some(counter));
    assert_ne!(counter, Counter::DEFAULT);
    assert_eq!(Counter::find(CounterId::BuiltIn(Encoding::default())), Some(Counter::DEFAULT));
}

#[test]
fn ids_are_names_and_digests() {
    assert_eq!(CustomId::of("llama3", b"").to_string(), "llama3@af1349b9f5f9a1a6");
    assert_eq!(CustomId::of("my tokenizer/é", b"").to_string(), "my-tokenizer--@af1349b9f5f9a1a6");
    for bad in ["", "gpt2", "@af1349b9f5f9a1a6", "a@af1349b9f5f9a1a", "a@AF1349B9F5F9A1A6", "a b@af1349b9f5f9a1a6"] {
        assert_eq!(bad.parse::<CounterId>(), Err(BadCounterId), "{bad}");
    }
}

proptest! {
    #[test]
    fn ids_read_back(name in ".{0,40}", content in prop::collection::vec(any::<u8>(), 0..9)) {
        let id = CounterId::Custom(CustomId::of(&name, &content));
        prop_assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn text_is_an_id_only_as_it_is_written(text in "[a-z_0-9@]{0,40}|[a-z]{1,30}@[0-9a-f]{15,17}") {
        if let Ok(id) = text.parse::<CounterId>() {
            prop_assert_eq!(id.to_string(), text);
        }
    }
}
