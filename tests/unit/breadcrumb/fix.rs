//! Fixing a store's text.

use crate::memory::breadcrumb::fix;

fn line(key: &str, value: &str, hour: u32) -> String {
    format!("{{\"key\":\"{key}\",\"value\":\"{value}\",\"updated_at\":\"2025-01-01T{hour:02}:00:00Z\"}}")
}

#[test]
fn lines_are_sorted_deduplicated_and_ended() {
    let (a, b, newer) = (line("a", "1", 0), line("b", "1", 0), line("b", "2", 1));
    for (text, expected) in [
        (format!("{b}\n{a}"), Some(format!("{a}\n{b}\n"))),
        (format!("{newer}\n{b}\n{a}\n"), Some(format!("{a}\n{newer}\n"))),
        (format!("{b}\r\n{a}"), Some(format!("{a}\r\n{b}\r\n"))),
        (format!("{a}\n\n{b}\n"), Some(format!("{a}\n\n{b}\n"))),
        (format!("{a}\nrubbish\n"), None),
        (format!("{a}\r\n{b}\n{newer}\r\n"), Some(format!("{a}\r\n{newer}\r\n"))),
        (format!("{a}\n{b}\r\n"), Some(format!("{a}\n{b}\n"))),
        (String::new(), Some(String::new())),
    ] {
        let fixed = fix(text.as_bytes()).map(|fixed| String::from_utf8(fixed).unwrap());
        assert_eq!(fixed, expected, "{text}");
    }
}
