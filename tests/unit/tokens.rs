//! Counting, held against tiktoken-rs.

use crate::tokens::Encoding;
use proptest::{prelude::*, sample::select};
use tiktoken_rs::CoreBPE;

/// Strings that patterns and merges are touchy about; few, so that they meet often.
const TOUCHY: &[&str] = &[
    "a",
    "e",
    "A",
    "E",
    "s",
    "S",
    "ſ",
    "l",
    "L",
    "'",
    "'s",
    "'ſ",
    "'S",
    "'ll",
    "'lL",
    "'re",
    "'VE",
    "'m",
    "'D",
    "'T",
    " ",
    "  ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "/",
    "//",
    "!",
    "?",
    ".",
    "_",
    "-",
    "=",
    "1",
    "12",
    "1234",
    "²",
    "Ⅷ",
    "٣",
    "\u{301}",
    "\u{fe0f}",
    "\u{20dd}",
    "中",
    "文",
    "日本語",
    "あ",
    "ー",
    "한국",
    "א",
    "ש",
    "ع",
    "ا",
    "\u{202e}",
    "Ж",
    "ж",
    "ß",
    "ǅ",
    "ʰ",
    "ª",
    "İ",
    "ﬁ",
    "👍",
    "👨\u{200d}👩\u{200d}👧",
    "🏽",
    "\u{200d}",
    "\u{a0}",
    "\u{3000}",
    "\u{2028}",
    "\u{85}",
    "\u{b}",
    "\0",
    "\u{1}",
    "\u{7f}",
    "\u{fffd}",
    "\u{feff}",
    "𝔸",
    "𠀀",
    "\u{e000}",
    "\u{10ffff}",
    "क",
    "\u{93f}",
    "\u{94d}",
    "ก",
    "\u{e33}",
    "€",
    " the",
    " hello",
    "World",
    "ing",
    "def ",
    "    ",
    "<|endoftext|>",
    "<|im_start|>",
];

fn bpe(encoding: Encoding) -> &'static CoreBPE {
    match encoding {
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
        Encoding::O200kHarmony => tiktoken_rs::o200k_harmony_singleton(),
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
        Encoding::P50kBase => tiktoken_rs::p50k_base_singleton(),
        Encoding::R50kBase => tiktoken_rs::r50k_base_singleton(),
    }
}

#[track_caller]
fn assert_exact(text: &str) {
    for encoding in Encoding::ALL {
        let expected = bpe(encoding).encode_ordinary(text).len() as u64;
        assert_eq!(
            encoding.count(text.as_bytes()),
            expected,
            "{encoding}: {:?}",
            text.chars().take(200).collect::<String>()
        );
    }
}

/// Text of the strings above, some of them many times over.
fn touchy_text() -> impl Strategy<Value = String> {
    let run =
        (select(TOUCHY), prop_oneof![9 => Just(1), 1 => 2..90_usize]).prop_map(|(text, times)| text.repeat(times));
    prop::collection::vec(run, 0..12).prop_map(|runs| runs.concat())
}

proptest! {
    #[test]
    fn any_text_counts_exactly(text in any::<String>()) {
        assert_exact(&text);
    }

    #[test]
    fn difficult_text_counts_exactly(text in touchy_text()) {
        assert_exact(&text);
    }

    #[test]
    fn text_of_few_characters_counts_exactly(text in "[a-cA-C'sS \n/!中é\u{301}0]{0,200}") {
        assert_exact(&text);
    }

    #[test]
    fn any_bytes_count_as_their_lossy_text(bytes in any::<Vec<u8>>()) {
        let text = String::from_utf8_lossy(&bytes);
        for encoding in Encoding::ALL {
            prop_assert_eq!(encoding.count(&bytes), encoding.count(text.as_bytes()));
        }
    }
}

#[test]
fn every_character_counts_exactly_among_others() {
    // Each character is placed before a letter, before a space, and after a letter, so that its class matters.
    let mut text = String::new();
    for character in (0..=char::MAX as u32).filter_map(char::from_u32) {
        // Han, Hangul and the upper planes are much of a muchness; some of each will do.
        let is_alike = matches!(character, '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{f8ff}' | '\u{20000}'..);
        if is_alike && !(character as u32).is_multiple_of(61) {
            continue;
        }
        text.extend([character, 'a', ' ', 'B', character, ' ', '1']);
    }
    assert_exact(&text);
}

#[test]
fn special_tokens_count_as_plain_text() {
    assert_exact("<|endoftext|><|endofprompt|> <|fim_prefix|><|start|>assistant<|channel|>final<|message|>");
    assert!(Encoding::O200kHarmony.count(b"<|start|>") > 1);
}

#[test]
fn prose_and_code_count_exactly() {
    for text in [
        include_str!("../../benches/prose/english.txt"),
        include_str!("../../benches/prose/cjk.txt"),
        include_str!("../../build.rs"),
        include_str!("tokens.rs"),
        include_str!("../../Cargo.lock"),
    ] {
        assert_exact(text);
    }
}

#[test]
fn long_runs_count_exactly() {
    for unit in ["a", "A", "é", "中", "=", "!?", "\n", "\r\n", "\n ", "1", "'", "\u{301}", "中A", "xq", "👍"] {
        assert_exact(&unit.repeat(3_000));
    }
    // tiktoken-rs's regex runs out of stack on longer ones.
    assert_exact(&" ".repeat(3_000));
    assert_exact(&format!("{}x", " ".repeat(3_000)));
}

/// Far longer than tiktoken-rs accepts: checks only that counting ends, and the number of tokens of a complete run.
#[test]
fn a_megabyte_without_a_break_is_counted_quickly() {
    let megabyte = 1 << 20;
    assert_eq!(Encoding::O200kBase.count(" ".repeat(megabyte).as_bytes()), 8_192);
    assert_eq!(Encoding::O200kBase.count("a".repeat(megabyte).as_bytes()), 131_072);
    assert_eq!(Encoding::O200kBase.count("\n".repeat(megabyte).as_bytes()), 65_536);
    assert_eq!(Encoding::R50kBase.count(" ".repeat(megabyte).as_bytes()), 1_048_576);
}
