//! Tests of the private parts of `src/secrets/rules.rs`.

use proptest::prelude::*;

use super::*;
use crate::secrets::find;

proptest! {
    #[test]
    fn short_texts_are_searched_alike(parts in proptest::collection::vec(
        prop_oneof![(0..STARTS.len()).prop_map(|rule| STARTS[rule].word.clone()), "[a-zA-Z :=_-]{0,6}"],
        0..12,
    )) {
        let text = parts.concat().into_bytes();
        let (mut separate, mut together) = (Vec::new(), Vec::new());
        starts_one_by_one(&text, &mut |rule, at| separate.push((rule, at)));
        starts_at_once(&text, &mut |rule, at| together.push((rule, at)));
        separate.sort_unstable();
        together.sort_unstable();
        prop_assert_eq!(separate, together);
    }
}

fn told(text: &str) -> Vec<(&'static str, &str)> {
    find(text.as_bytes()).into_iter().map(|secret| (secret.what, &text[secret.span])).collect()
}

#[test]
fn secrets_are_told_by_their_form() {
    let key =
        format!("-----BEGIN OPENSSH PRIVATE KEY-----\\n{}\\n-----END OPENSSH PRIVATE KEY-----", "b3Bl".repeat(20));
    assert_eq!(told(&format!("a {key} b")), [("a private key", &*key)]);
    let cut = format!("-----BEGIN RSA PRIVATE KEY-----\n{}", "b3Bl".repeat(20));
    assert_eq!(told(&format!("{cut}\"")), [("a private key", &*cut)]);
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27uhbUJU1p1r";
    assert_eq!(told(&format!("token={token};")), [("a JSON web token", token)]);
}

#[test]
fn what_only_looks_alike_is_none() {
    for harmless in [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_short",
        "task-sk-ant-nothing",
        "-----BEGIN CERTIFICATE-----",
        "-----BEGIN PRIVATE KEY-----",
        "grep -r '-----BEGIN RSA PRIVATE KEY-----' . | wc -l",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "xAKIAQ7ZKQ7ZKQ7ZKQ7ZK",
        "",
    ] {
        assert_eq!(told(harmless), [], "{harmless}");
    }
}

/// What this thread has used, where the system tells: other programs delay only what takes long.
fn cpu_time() -> Option<std::time::Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split(' ').next()?.parse().ok().filter(|used| *used > 0)?;
    Some(std::time::Duration::from_nanos(nanoseconds))
}

/// Texts that make a rule start everywhere. Run with `--nocapture` to see the slopes.
#[test]
fn the_time_of_a_scan_grows_with_the_length_of_the_text() {
    let starts = [
        "a",
        "SG.",
        "SG.a1B2",
        "-----BEGIN PRIVATE KEY-----",
        "eyJ.eyJ.",
        "token=",
        "pwd=a1B2c3",
        "://a:b@",
        "bearer ",
        "basic ",
        "password: ",
        "curl -u a:b1 ",
        "Z2hw=",
        "12345678:AA",
        "\x1b[1m",
        "a\x1b[1m",
        "\\\"%3D",
    ];
    for start in starts {
        // Both times are of 80 kB, because the clock of a thread may move in steps of some milliseconds.
        let time = |len: usize| {
            let text = start.repeat(len / start.len());
            let tries = (0..7).map(|_| {
                let began = (cpu_time(), std::time::Instant::now());
                (0..80_000 / len).for_each(|_| drop(std::hint::black_box(find(text.as_bytes()))));
                cpu_time().zip(began.0).map_or_else(|| began.1.elapsed(), |(end, start)| end.saturating_sub(start))
            });
            tries.min().unwrap_or_default()
        };
        let (short, long) = (time(10_000), time(80_000));
        println!("{start:?}: {short:?} for eight times 10 kB, {long:?} for 80 kB");
        // Equal if the time grows with the length, eight times as long if with its square.
        assert!(long < short * 3 + std::time::Duration::from_millis(20), "{start}: {short:?}, {long:?}");
    }
}

#[test]
fn a_color_may_change_within_a_token_and_between_words() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let (start, end) = key.split_at(9);
    for text in [
        format!("ok\x1b[32m{key}\x1b[0mok"),
        format!("\x1b[32m{start}\x1b[1m{end}\x1b[0m ok"),
        format!(r#"{{"text":"ok\u001b[32m{key}\u001b[0mok"}}"#),
    ] {
        let found = find(text.as_bytes());
        assert_eq!(found.len(), 1, "{text}");
        let plain = text[found[0].span.clone()].replace("\x1b[1m", "");
        assert_eq!((found[0].what, plain), ("a GitHub token", key.clone()), "{text}");
    }
}

#[test]
fn a_dotted_key_is_found_after_another_one() {
    let key = format!("SG.{}", "a1B2".repeat(20));
    let both = format!("{key} SG.x {key}");
    assert_eq!(told(&both), [("a SendGrid key", &*key), ("a SendGrid key", &*key)]);
    let keys = format!("-----BEGIN PRIVATE KEY-----\n{0}\n-----BEGIN PRIVATE KEY-----\n{0}\n", "b3Bl".repeat(20));
    assert_eq!(told(&keys).len(), 2, "{keys}");
}
