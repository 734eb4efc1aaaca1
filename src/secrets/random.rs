//! Whether a value looks random, or is a placeholder or a variable.

/// The shortest value that is judged by its randomness, and the minimum of its longest piece without a dash or dot.
const MIN_VALUE: usize = 16;
/// Bits per character. Values below are words or sequences.
const MIN_ENTROPY: f64 = 3.3;
/// The part of a long token that is judged.
const HEAD: usize = 64;

/// Whether the variable part of a token has a digit or both cases, unlike words that follow a prefix.
pub(super) fn is_token(tail: &[u8]) -> bool {
    let tail = &tail[..tail.len().min(HEAD)];
    let has = |test: fn(&u8) -> bool| tail.iter().any(test);
    (has(u8::is_ascii_digit) || has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)) && !is_placeholder(tail)
}

/// Whether a value has a long piece that mixes letters and digits, unlike words, paths, versions, and UUIDs.
pub(super) fn is_random(value: &[u8]) -> bool {
    let pieces = value.split(|b| matches!(b, b'.' | b'-' | b'_' | b'/' | b'~' | b'='));
    let longest = pieces.max_by_key(|piece| piece.len()).unwrap_or_default();
    let mixes = |text: &[u8]| {
        let digits = text.iter().filter(|b| b.is_ascii_digit()).count();
        let letters = text.iter().filter(|b| b.is_ascii_alphabetic()).count();
        let is_mixed = digits >= 2 && letters >= 2 && changes(text, false) * 5 >= text.len();
        (is_mixed || changes_often(text)) && entropy(text) >= MIN_ENTROPY
    };
    (longest.len() >= MIN_VALUE && mixes(longest))
        || (value.len() >= 2 * MIN_VALUE && mixes(value) && changes_often(value))
}

/// Whether the kind of character changes at two of five places and letters of both cases and digits occur, as in base64 with its
/// slashes, unlike in paths and names.
fn changes_often(value: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| value.iter().any(test);
    let has_all = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    changes(value, true) * 5 >= value.len() * 2 && has_all
}

/// The number of places where the kind of character changes, with or without those after the capital of a word.
fn changes(value: &[u8], with_capitals: bool) -> usize {
    let kind = |b: &u8| match b {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let is_change = |pair: &&[u8]| match (kind(&pair[0]), kind(&pair[1])) {
        (1, 0) => with_capitals,
        (last, next) => last != next,
    };
    value.windows(2).filter(is_change).count()
}

/// Whether a text in quotes of many kinds of characters is random, such as the key of a web framework.
pub(super) fn is_punctuated(value: &[u8]) -> bool {
    let is_graphic = value.iter().all(|b| b.is_ascii_graphic() && *b != b'"');
    value.len() >= 24 && is_graphic && changes_often(value) && entropy(value) >= 4.0
}

/// Whether a value is a password by its characters: letters with a digit or a sign. Without quotes it must not look like code.
pub(super) fn is_password(value: &[u8], is_quoted: bool) -> bool {
    let has = |test: fn(&u8) -> bool| value.iter().any(test);
    let is_sign =
        |b: &u8| matches!(b, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+' | b'=' | b'?' | b'~');
    let is_name = value.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'));
    let is_path = !is_quoted && is_name && has(|b| matches!(b, b'.' | b'_'));
    (6..=64).contains(&value.len())
        && value.iter().all(|b| b.is_ascii_graphic() || !b.is_ascii())
        && has(u8::is_ascii_alphabetic)
        && (has(u8::is_ascii_digit) || has(is_sign))
        && !is_path
        && !stands_for_a_value(value)
        && !has(|b| matches!(b, b'(' | b'[' | b'{' | b'<' | b'"'))
        && !matches!(value[0], b'$' | b'/' | b'.' | b'~' | b'-' | b':')
        && (is_quoted || !matches!(value[0], b'*' | b'&'))
        && !contains_any(value, &WORDS_OF_CODE)
        && !is_placeholder(value)
}

/// Parts of values that name a password, a place, or an algorithm.
const WORDS_OF_CODE: [&[u8]; 22] = [
    b"pass", b"pwd", b"secret", b"token", b"user", b"login", b"test", b"string", b"sha1", b"sha2", b"sha5", b"base64",
    b"utf8", b"oauth", b"argon2", b"bcrypt", b"pbkdf", b"uint", b"int32", b"int64", b"://", b"==",
];

/// Whether the value is a variable: `$NAME`, `${NAME}`, `%NAME%`, `<name>`, `[name]`, `***`.
pub(super) fn stands_for_a_value(value: &[u8]) -> bool {
    let is_variable = match value {
        [b'%', middle @ .., b'%'] | [b'@', middle @ .., b'@'] => {
            middle.iter().all(|b| b.is_ascii_uppercase() || *b == b'_')
        }
        [b'$', b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'{' | b'(', ..]
        | [b'<', .., b'>']
        | [b'[', .., b']']
        | [b'{', .., b'}'] => true,
        _ => false,
    };
    is_variable || contains_any(value, &[b"**", b"...", b"${", b"{{", b"$("])
}

/// Whether a value is a placeholder: from documentation, masked, or a repeated character.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let mut seen = [false; 256];
    for b in value {
        seen[usize::from(*b)] = true;
    }
    if seen.iter().filter(|seen| **seen).count() < 4 {
        return true;
    }
    let words = [
        &b"example"[..],
        b"placeholder",
        b"redacted",
        b"your-",
        b"your_",
        b"xxxx",
        b"changeme",
        b"dummy",
        b"1234567890",
        b"123e4567-e89b",
    ];
    contains_any(value, &words)
}

fn contains_any(value: &[u8], words: &[&[u8]]) -> bool {
    let lower = value.to_ascii_lowercase();
    words.iter().any(|word| memchr::memmem::find(&lower, word).is_some())
}

pub(super) fn is_uuid(value: &[u8]) -> bool {
    let is_right =
        |(at, b): (usize, &u8)| if matches!(at, 8 | 13 | 18 | 23) { *b == b'-' } else { b.is_ascii_hexdigit() };
    value.len() == 36 && value.iter().enumerate().all(is_right)
}

/// Bits per byte. Source: Shannon, "A Mathematical Theory of Communication".
fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for b in value {
        counts[usize::from(*b)] += 1;
    }
    let total = counts.iter().sum();
    let repeated = counts.iter().filter(|count| **count > 1).map(|count| f64::from(*count) * log2(*count));
    log2(total) - repeated.sum::<f64>() / f64::from(total)
}

/// The binary logarithm, bit by bit; 0 of 0. `f64::log2` is the C library's: its result depends on the system, and to load `libm`
/// would take a twentieth of a small command.
fn log2(number: u32) -> f64 {
    let Some(whole) = number.checked_ilog2() else { return 0.0 };
    let mut rest = f64::from(number) / f64::from(1_u32 << whole);
    let mut log = f64::from(whole);
    let mut bit = 0.5;
    while rest > 1.0 && bit > f64::EPSILON {
        rest *= rest;
        if rest >= 2.0 {
            rest /= 2.0;
            log += bit;
        }
        bit /= 2.0;
    }
    log
}
