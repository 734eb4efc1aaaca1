//! Tests of the private parts of `src/memory/forward/dedupe.rs`.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn texts_that_are_alike_have_one_of_their_rarest_words_in_common(
        texts in prop::collection::vec(prop::collection::hash_set("[a-h]", 0..8), 2..8),
        threshold in prop_oneof![0.01..1.0, prop::sample::select(vec![0.1, 0.2, 0.25, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0])],
    ) {
        let texts = ranked(&texts);
        for (one, other) in texts.iter().zip(texts.iter().skip(1)) {
            if likeness(one, other) >= threshold {
                let [rarest, theirs] = [one, other].map(|words| &words[..rarest_of(words.len(), threshold)]);
                prop_assert!(rarest.iter().any(|word| theirs.contains(word)), "{one:?} {other:?} {threshold}");
            }
        }
    }
}
