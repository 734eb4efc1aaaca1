//! The forms in which a text is found.

use ::base64::Engine as _;
use ::base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::*;

const MARKER: &str = "[purged: leaked]";

fn replaced(text: &str, bytes: &[u8]) -> String {
    let needle = Needle::new(Some(text.as_bytes()), None);
    String::from_utf8(needle.replace(bytes, MARKER).unwrap_or_else(|| bytes.to_vec())).unwrap()
}

#[test]
fn a_text_is_found_in_each_form() {
    let text = "pass \"wörd\"/'x'";
    for form in [
        text.to_owned(),
        "pass \\\"wörd\\\"/'x'".to_owned(),
        "pass \\\"w\\u00f6rd\\\"/'x'".to_owned(),
        "pass \\\\\\\"wörd\\\\\\\"/'x'".to_owned(),
        "pass \\\"wörd\\\"\\/'x'".to_owned(),
        "pass &quot;wörd&quot;/&#39;x&#39;".to_owned(),
        "pass%20%22w%C3%B6rd%22%2F%27x%27".to_owned(),
        "pass \"wörd\"/'\\''x'\\''".to_owned(),
        // Escaped by two programs, by .NET, by PHP, and in digits of another case.
        "pass \\\\\\\"w\\u00f6rd\\\\\\\"/'x'".to_owned(),
        "pass \\u0022w\\u00F6rd\\u0022/\\u0027x\\u0027".to_owned(),
        "pass \\\"w\\u00f6rd\\\"\\/'x'".to_owned(),
        "pass \\\"w\\u00F6rd\\\"/'x'".to_owned(),
        "pass &#34;wörd&#34;/&#39;x&#39;".to_owned(),
        "pass+%22w%c3%b6rd%22%2f%27x%27".to_owned(),
        "pass \"wörd\"/'\"'\"'x'\"'\"'".to_owned(),
        "pass \"wörd\"/\\'x\\'".to_owned(),
        // As Python's `quote`, JavaScript's `encodeURI`, and a program that escapes every character.
        "pass%20%22w%C3%B6rd%22/%27x%27".to_owned(),
        "pass%20%22w%C3%B6rd%22/'x'".to_owned(),
        "%70%61%73%73%20%22%77%c3%b6%72%64%22%2f%27%78%27".to_owned(),
        "&#112;&#97;&#115;&#115;&#32;&#34;&#x77;&#XF6;rd&#34;&#47;&apos;x&apos;".to_owned(),
        "pass \\\"w\\303\\266rd\\\"/\\x27x\\x27".to_owned(),
        // Escaped twice, also in two ways.
        "pass%2520%2522w%25C3%25B6rd%2522/%2527x%2527".to_owned(),
        "pass &amp;quot;w&amp;#246;rd&amp;quot;/&amp;#39;x&amp;#39;".to_owned(),
        "pass%20%26quot%3Bw%C3%B6rd%26quot%3B/%26%2339%3Bx%26%2339%3B".to_owned(),
        "pass \\\\u0022w\\\\u00f6rd\\\\u0022/'x'".to_owned(),
        // As Python's `ascii` and `repr` of bytes, JavaScript, Bash's `printf %q`, SQL, and CSV.
        "pass \"w\\xf6rd\"/\\'x\\'".to_owned(),
        "pass \"w\\xc3\\xb6rd\"/\\'x\\'".to_owned(),
        "pass \"w\\U000000f6rd\"/\\'x\\'".to_owned(),
        "pass \\\"w\\u{f6}rd\\\"/'x'".to_owned(),
        "pass\\ \\\"wörd\\\"/\\'x\\'".to_owned(),
        "pass \"wörd\"/''x''".to_owned(),
        "pass \"\"wörd\"\"/'x'".to_owned(),
    ] {
        assert_eq!(replaced(text, format!("a {form} b").as_bytes()), format!("a {MARKER} b"), "{form}");
    }
    assert_eq!(replaced("one\ntwo three", b"a one two three b"), format!("a {MARKER} b"));
    assert_eq!(replaced("one\ntwo three", b"a one\r\ntwo three b"), format!("a {MARKER} b"));
    // On one line, as in a message, and as in fields of a forward crumb.
    assert_eq!(replaced("one\u{1b}[0m\r\ntwo", b"a one [0m two b"), format!("a {MARKER} b"));
    assert_eq!(replaced("one\r\ntwo\nthree", b"- a one\n  two\n  three b"), format!("- a {MARKER} b"));
    assert_eq!(replaced("one\r\n\r\ntwo", b"a one\n\ntwo b"), format!("a {MARKER} b"));
    assert_eq!(replaced("one\nREFERENCES:", b"a one\n REFERENCES: b"), format!("a {MARKER} b"));
    assert_eq!(replaced("one\ntwo $x", b"a one\\ntwo $x b"), format!("a {MARKER} b"));
    assert_eq!(replaced("one\ntwo $x", b"a one\ntwo \\$x b"), format!("a {MARKER} b"));
    assert_eq!(replaced("one\ntwo", b"{\"a\":\"one\\r\\ntwo\"}"), format!("{{\"a\":\"{MARKER}\"}}"));
    assert_eq!(replaced("one\ntwo three", b"{\"a\":\"one\\ntwo three\"}"), format!("{{\"a\":\"{MARKER}\"}}"));
}

/// In quotes of a shell, of SQL, and in CSV.
#[test]
fn a_text_that_was_escaped_before_it_was_quoted_is_found() {
    let text = "it's \"a\" $ecret9";
    let escaped = ["it's \\\"a\\\" $ecret9", "it's%20%22a%22%20%24ecret9", "it's &quot;a&quot; &#36;ecret9"];
    let quotes = [("'", "'\\''"), ("'", "'\"'\"'"), ("'", "''"), ("\"", "\"\"")];
    for (form, (quote, quoted)) in escaped.iter().flat_map(|form| quotes.map(|quote| (form, quote))) {
        let form = format!("curl '{{\"p\":\"{}\"}}'", form.replace(quote, quoted));
        let json = serde_json::json!({ "command": form }).to_string();
        for written in [form, json] {
            let changed = replaced(text, written.as_bytes());
            assert!(changed.contains(MARKER) && !changed.contains("cret9"), "{written}");
        }
    }
}

#[test]
fn a_text_that_contains_escapes_is_found_where_others_are_added() {
    let text = "postgres://ada:p%40ss'wörd@host";
    for form in [
        "postgres://ada:p%40ss&#039;wörd@host",
        "postgres://ada:p%40ss\\'w\\xf6rd@host",
        "postgres://ada:p@ss'wörd@host",
    ] {
        assert_eq!(replaced(text, format!("a {form} b").as_bytes()), format!("a {MARKER} b"), "{form}");
    }
    // In quotes of a shell in JSON.
    let text = "export DB='postgres://ada:p%40ss@db'\nexport MODE=\"prod\"\n";
    for quote in ["'\\''", "'\"'\"'"] {
        let json = serde_json::json!({ "cmd": format!("printf '{}' > .env", text.replace('\'', quote)) }).to_string();
        let changed = replaced(text, json.as_bytes());
        assert!(changed.contains(MARKER) && !changed.contains("ada"), "{json}");
    }
}

#[test]
fn a_text_is_found_in_hex_and_utf16() {
    let text = "correct-horse";
    let hex = |text: &str| text.bytes().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"));
    assert_eq!(replaced(text, format!("x {} y", hex(text)).as_bytes()), format!("x {} y", hex(MARKER)));
    assert_eq!(
        replaced(text, format!("x {} y", hex(text).to_uppercase()).as_bytes()),
        format!("x {} y", hex(MARKER).to_uppercase())
    );
    let needle = Needle::new(Some(text.as_bytes()), None);
    for bytes_of in [u16::to_le_bytes, u16::to_be_bytes] {
        let utf16 = |text: &str| text.encode_utf16().flat_map(bytes_of).collect::<Vec<u8>>();
        for (before, after) in [("", ""), ("a ", " b"), ("\u{4e2d}", "\u{4e2d}")] {
            let changed = needle.replace(&utf16(&format!("{before}{text}{after}")), MARKER).unwrap();
            assert_eq!(changed, utf16(&format!("{before}{MARKER}{after}")));
        }
    }
}

#[test]
fn a_text_is_found_in_base64_of_other_forms() {
    let text = "pass \"wörd\"/'x'";
    let needle = Needle::new(Some(text.as_bytes()), None);
    let wide: Vec<u8> = format!("a {text} b").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let json = format!("{{\"a\":\"{}\"}}", text.replace('"', "\\\"").replace('ö', "\\u00f6"));
    let turned: Vec<u8> = wide.chunks(2).flat_map(|unit| [unit[1], unit[0]]).collect();
    for bytes in [wide, turned, json.into_bytes()] {
        let encoded = BASE64_STANDARD.encode(&bytes);
        let changed = needle.replace(encoded.as_bytes(), MARKER).unwrap();
        let decoded = BASE64_STANDARD.decode(&changed).unwrap();
        assert!(memchr::memmem::find(&decoded, MARKER.as_bytes()).is_some());
        assert!(!needle.is_in(&decoded));
    }
}

#[test]
fn base64_that_is_escaped_is_found_and_stays_valid() {
    let text = "pass??>>~~~word~~~?>";
    let needle = Needle::new(Some(text.as_bytes()), None);
    for before in ["", "a", "ab"] {
        let encoded = BASE64_STANDARD.encode(format!("{before}{text} and more"));
        assert!(encoded.contains('/'), "{encoded}");
        let lines = encoded.as_bytes().chunks(8).map(|line| std::str::from_utf8(line).unwrap()).collect::<Vec<_>>();
        for written in [encoded.replace('/', "\\/"), lines.join("\\n").replace('/', "\\/")] {
            let json = format!("{{\"data\":\"{written}\"}}");
            let changed = needle.replace(json.as_bytes(), MARKER).unwrap();
            assert!(!needle.is_in(&changed));
            let changed: serde_json::Value = serde_json::from_slice(&changed).unwrap();
            let decoded = BASE64_STANDARD.decode(changed["data"].as_str().unwrap().replace('\n', "")).unwrap();
            assert!(decoded.starts_with(format!("{before}{MARKER}").as_bytes()), "{changed}");
            assert!(decoded.ends_with(b" and more"), "{changed}");
        }
    }
}

#[test]
fn what_only_looks_escaped_stays() {
    let needle = Needle::new(Some(b"pass\"word"), None);
    for bytes in [
        "%",
        "%4",
        "&",
        "&#;",
        "&#x;",
        "&#99999999999;",
        "&#xD800;",
        "\\",
        "\\u",
        "\\ud800",
        "\\ud800\\u0041",
        "\\x",
        "\\40",
        "%zz%",
        "&quot",
        "é%C3",
    ] {
        assert!(!needle.is_in(bytes.as_bytes()), "{bytes}");
        let escaped = format!("{bytes} pass&quot;word {bytes}");
        assert_eq!(replaced("pass\"word", escaped.as_bytes()), format!("{bytes} {MARKER} {bytes}"));
    }
}

#[test]
fn scanning_takes_linear_time() {
    // A break after each character, and a form that begins at each group.
    let text = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let needle = Needle::new(Some(text.as_bytes()), None);
    let bytes = "Y\nW\r\nF\\nh".repeat(200_000).into_bytes();
    let start = std::time::Instant::now();
    assert!(needle.is_in(&bytes));
    assert!(!needle.is_in(&needle.replace(&bytes, MARKER).unwrap()));
    // An escape that decodes to the start of another one, again and again.
    let bytes = "%25&amp;\\\\".repeat(400_000).into_bytes();
    assert!(!needle.is_in(&bytes) && needle.replace(&bytes, MARKER).is_none());
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn a_pattern_is_replaced_and_matches_nothing_empty() {
    let needle = Needle::new(None, Some(Regex::new("key-[0-9]*|x*").unwrap()));
    assert_eq!(needle.replace(b"a key-12 key-3", MARKER).unwrap(), format!("a {MARKER} {MARKER}").into_bytes());
    assert!(!needle.is_in(b"abc"));
    assert!(needle.replace(b"abc", MARKER).is_none());
}

#[track_caller]
fn assert_cuts(needle: &Needle, cases: &[(&str, Option<&str>)]) {
    for (text, expected) in cases {
        assert_eq!(needle.replace_cuts_of(text, "[X]").as_deref(), *expected, "{text}");
        let again = expected.and_then(|text| needle.replace_cuts_of(text, "[X]"));
        assert_eq!(again, None, "{text}");
    }
}

#[test]
fn beginnings_and_ends_of_the_text_are_removed_where_it_was_cut_off() {
    let needle = Needle::new(Some(b"correct-horse \"battery\"/staple"), None);
    assert_cuts(
        &needle,
        &[
            ("dialogue user: it is correct-ho…", Some("dialogue user: it is [X]")),
            ("one correct-horse… two correct… three", Some("one [X] two [X] three")),
            ("it is cor…", None),
            ("it is correct-horse and…", None),
            ("{\"a\":\"correct-horse \\\"batt…\"}", Some("{\"a\":\"[X]\"}")),
            ("[git-trace cut Read …/staple, 4 tokens]", Some("[git-trace cut Read [X], 4 tokens]")),
            ("[git-trace cut Read … \"battery\"/staple.txt, 4 tokens]", Some("[git-trace cut Read [X].txt, 4 tokens]")),
            ("Read …\"battery\"/st…", Some("Read …[X]…")),
            ("a summary of correct-horse […]", Some("a summary of [X] […]")),
            ("[…] staple is", Some("[…] [X] is")),
            ("[…] sta is", None),
            ("correct-horse\n[git-trace cut cat, 4 tokens]\n\"/staple", None),
        ],
    );
}

#[test]
fn lines_of_the_text_around_a_stub_are_removed() {
    let needle = Needle::new(Some(b"first line\nsecond line\n\nthird line\nlast"), None);
    let stub = "[git-trace cut Bash, 3 of 9 lines of 99 tokens; git trace show 0123 --revision 1]";
    for end in ["\n", "\r\n"] {
        for (above, below, new_above, new_below) in [
            ("a\nfirst line", "last\nb", "a\n[X]", "[X]\nb"),
            ("a\nfirst line\nsecond line\n", "third line\nlast", "a\n[X]", "[X]"),
            ("key=first line\nsecond line", "\nthird line\nlast b", "key=[X]", "[X] b"),
            ("a\nfirst", "line\nlast", "a\nfirst", "line\nlast"),
            ("a\nsecond line", "second line\nb", "a\nsecond line", "second line\nb"),
        ] {
            let written = format!("{above}\n{stub}\n{below}").replace('\n', end);
            let expected = format!("{new_above}\n{stub}\n{new_below}").replace('\n', end);
            let changed = needle.replace_cuts_of(&written, "[X]").unwrap_or(written);
            assert_eq!(changed, expected);
            assert_eq!(needle.replace_cuts_of(&changed, "[X]"), None);
        }
    }
}

#[test]
fn what_a_pattern_matched_is_removed_where_it_was_cut_off() {
    let needle = Needle::new(None, Some(Regex::new("tok_[0-9a-f]{12}").unwrap()));
    let read = b"tok_0123456789ab and tok_ba9876543210 and tok_1";
    needle.learn(needle.matches(read).unwrap().map(<[u8]>::to_vec).collect());
    assert_cuts(
        &needle,
        &[
            ("tok_0123… tok_ba98…", Some("[X] [X]")),
            ("tok…", None),
            ("a token_5…", None),
            ("an …3210 ends", Some("an [X] ends")),
        ],
    );
}

#[test]
fn cuts_are_searched_in_linear_time() {
    let text = "a\n".repeat(2_000) + "b" + &"a\n".repeat(2_000);
    let needle = Needle::new(Some(text.as_bytes()), None);
    let start = std::time::Instant::now();
    let deep = "a\n".repeat(5_000) + "…";
    for part in ["a…", "a […] ", "a\n[git-trace cut a\na\n", "aaaa…a\na\na\na…", "…", &deep] {
        let bytes = part.repeat(200_000 / part.len());
        let changed = needle.replace_cuts(bytes.as_bytes(), MARKER).unwrap_or_default();
        assert!(needle.replace_cuts(&changed, MARKER).is_none(), "{part}");
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn a_text_in_quotes_within_quotes_is_found() {
    let text = "it's my <long> \"pass\" phrase";
    let shell = |text: &str| text.replace('\'', "'\"'\"'");
    let csv = |text: &str| text.replace('"', "\"\"");
    let double = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    for form in [
        shell(&shell(text)),
        csv(&csv(text)),
        csv(&shell(text)),
        double(&shell(text)),
        shell(&text.replace('\'', r"'\''")),
        text.replace('\'', "''''"),
        csv(text).replace(' ', "+"),
        shell(text).replace(' ', "+"),
        text.replace('<', "&lt;").replace('>', "&gt;").replace(' ', "+"),
        text.replace('<', "%3C").replace(' ', "+"),
    ] {
        assert_eq!(replaced(text, format!("a {form} b").as_bytes()), format!("a {MARKER} b"), "{form}");
    }
}

#[test]
fn an_escaped_line_break_in_base64_is_no_part_of_it() {
    let text = "gaa 0 aa0a";
    let needle = Needle::new(Some(text.as_bytes()), None);
    let encoded = BASE64_STANDARD.encode([&[0; 56], text.as_bytes()].concat());
    // The text begins with the last letter of the first line, which is an `n`.
    let written = format!("data: {}\\n{}.", &encoded[..76], &encoded[76..]);
    let changed = String::from_utf8(needle.replace(written.as_bytes(), MARKER).unwrap()).unwrap();
    let data = changed.trim_start_matches("data: ").trim_end_matches('.').replace("\\n", "");
    assert!(BASE64_STANDARD.decode(data).unwrap().ends_with(MARKER.as_bytes()), "{changed}");
}

proptest! {
    /// Whichever bytes of it are escaped, in whatever way, once or twice, and whatever is around it.
    #[test]
    fn an_escaped_text_is_replaced(
        before in "[ -~é\n]{0,12}", after in "[ -~é\n]{0,12}", text in "[ -~é\n]{6,20}",
        ways in prop::collection::vec(0..6_usize, 20), outer in 0..4_usize,
    ) {
        let escape = |c: char, way: usize| match way {
            0 => c.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat(),
            1 => format!("&#{};", c as u32),
            2 => format!("&#x{:x};", c as u32),
            3 => format!("\\u{:04x}", c as u32),
            // Only what cannot be taken for an escape, or complete one.
            _ if c.is_ascii_alphanumeric() || "%&\\;#".contains(c) => format!("%{:02x}", c as u32),
            _ => c.to_string(),
        };
        let all = |text: &str, way: usize| text.chars().map(|c| escape(c, way)).collect::<String>();
        let once: String = text.chars().zip(&ways).map(|(c, way)| escape(c, *way)).collect();
        // A backslash before an escape makes it none.
        let before = before.trim_end_matches('\\');
        for form in [once.clone(), all(&once, outer)] {
            let (before, after) = (all(before, outer), all(&after, outer));
            let needle = Needle::new(Some(text.as_bytes()), None);
            let written = format!("{before}{form}{after}");
            prop_assert!(needle.is_in(written.as_bytes()), "{written}");
            let changed = String::from_utf8(needle.replace(written.as_bytes(), MARKER).unwrap()).unwrap();
            prop_assert!(changed.contains(MARKER), "{changed}");
            prop_assert!(!needle.is_in(changed.as_bytes()), "{changed}");
        }
    }

    /// Around the text, the decoded data stays as it was.
    #[test]
    fn base64_stays_valid(before in prop::collection::vec(any::<u8>(), 0..20), after in prop::collection::vec(any::<u8>(), 0..20), text in "[a-zA-Z0-9 ]{10,30}") {
        let needle = Needle::new(Some(text.as_bytes()), None);
        let data = [&before, text.as_bytes(), &after].concat();
        for (encoded, decode) in [
            (BASE64_STANDARD.encode(&data), &BASE64_STANDARD),
            (BASE64_URL_SAFE_NO_PAD.encode(&data), &BASE64_URL_SAFE_NO_PAD),
        ] {
            prop_assert!(needle.is_in(encoded.as_bytes()));
            let changed = needle.replace(encoded.as_bytes(), MARKER).unwrap();
            prop_assert!(!needle.is_in(&changed));
            let decoded = decode.decode(&changed).unwrap();
            prop_assert!(decoded.starts_with(&before));
            prop_assert!(decoded.ends_with(&after));
            prop_assert!(memchr::memmem::find(&decoded, MARKER.as_bytes()).is_some());
            prop_assert!(memchr::memmem::find(&decoded, text.as_bytes()).is_none());
        }
    }

    /// Line breaks, also escaped and with an indent, divide it anywhere.
    #[test]
    fn base64_on_several_lines_is_found(
        before in prop::collection::vec(any::<u8>(), 0..80),
        after in prop::collection::vec(any::<u8>(), 0..80),
        text in "[a-zA-Z0-9 ]{10,30}",
        width in prop::sample::select(vec![4, 16, 60, 64, 76]),
        line_break in prop::sample::select(vec!["\n", "\r\n", "\\n", "\\r\\n", "\n  "]),
    ) {
        let needle = Needle::new(Some(text.as_bytes()), None);
        let encoded = BASE64_STANDARD.encode([&before, text.as_bytes(), &after].concat());
        let lines: Vec<&str> = encoded.as_bytes().chunks(width).map(|line| std::str::from_utf8(line).unwrap()).collect();
        let written = format!("data: {}.", lines.join(line_break));
        prop_assert!(needle.is_in(written.as_bytes()));
        let changed = needle.replace(written.as_bytes(), MARKER).unwrap();
        prop_assert!(!needle.is_in(&changed));
        let changed = String::from_utf8(changed).unwrap();
        let data = changed.strip_prefix("data: ").and_then(|data| data.strip_suffix('.')).unwrap();
        let decoded = BASE64_STANDARD.decode(data.replace(line_break, "")).unwrap();
        prop_assert!(decoded.starts_with(&before));
        prop_assert!(decoded.ends_with(&after));
        prop_assert!(memchr::memmem::find(&decoded, MARKER.as_bytes()).is_some());
        prop_assert!(memchr::memmem::find(&decoded, text.as_bytes()).is_none());
    }
}
