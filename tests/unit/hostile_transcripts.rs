//! Hostile files of every format: items or one clear error, never a panic, and nothing lost that can be read.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::trace::model::schema;
use crate::transcript::TranscriptEntry;
use crate::transcript::format::Format;
use crate::transcript::read::reader::Transcript;
use crate::unit::repo::TestRepo;

/// What the texts of a sample get, in place of a character that JSON cannot hold.
const MARK: &str = "SURROGATE";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts")
}

/// The smallest sample of each format that is text.
fn samples() -> Vec<(Format, String)> {
    let sample = |format: Format| {
        let files = fs::read_dir(fixtures().join(format.as_str())).unwrap().map(|entry| entry.unwrap().path());
        let is_sample = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            path.is_file() && !matches!(name, "README.md" | "sdk-session.json" | "popularity.eval")
        };
        let texts = files.filter(is_sample).map(|path| fs::read_to_string(path).unwrap());
        texts.min_by_key(String::len).unwrap_or_else(|| panic!("{format} has no sample"))
    };
    Format::all().map(|format| (format, sample(format))).collect()
}

/// The records of a log, or the only value of a document; none of a format that is no JSON.
fn values(text: &str) -> Vec<Value> {
    let values = serde_json::Deserializer::from_str(text).into_iter();
    values.collect::<Result<_, _>>().unwrap_or_default()
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

#[expect(clippy::while_let_on_iterator, reason = "a trait object has no `by_ref`")]
fn read(format: Format, bytes: &[u8]) -> (Vec<TranscriptEntry>, Box<dyn Transcript + '_>) {
    let mut reader = (format.agent().open)(Box::new(bytes)).expect("a slice can be read");
    let mut entries = Vec::new();
    while let Some(entry) = reader.next() {
        let entry = entry.expect("nothing in a file is fatal");
        schema::validate(&entry.draft).unwrap_or_else(|error| panic!("{format}: {error}"));
        entries.push(entry);
    }
    (entries, reader)
}

fn texts(entries: &[TranscriptEntry]) -> Vec<String> {
    entries.iter().map(|entry| String::from_utf8_lossy(&entry.draft.body).into_owned()).collect()
}

/// The laws of the fuzz target, at some cuts.
fn check_laws(format: Format, bytes: &[u8]) {
    let pick = u8::try_from(Format::all().position(|other| other == format).unwrap()).unwrap();
    for part in 0..4 {
        let cut = u16::try_from(bytes.len().min(60_000) * part / 4).unwrap().to_le_bytes();
        crate::fuzz::run("transcript", &[&[pick, cut[0], cut[1]][..], bytes].concat());
    }
}

/// Changes each value, and those inside of it.
fn change(value: &mut Value, act: &mut dyn FnMut(Option<&str>, &mut Value)) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| {
            act(None, value);
            change(value, act);
        }),
        Value::Object(members) => members.iter_mut().for_each(|(name, value)| {
            act(Some(name), value);
            change(value, act);
        }),
        _ => {}
    }
}

fn changed(values: &[Value], mut act: impl FnMut(Option<&str>, &mut Value)) -> String {
    let mut values = values.to_vec();
    for value in &mut values {
        change(value, &mut act);
    }
    lines(&values)
}

/// The values with a mark at the end of each text of several words that is not JSON.
fn with_marks(values: &[Value]) -> String {
    changed(values, |_, value| {
        if let Value::String(text) = value
            && text.contains(' ')
            && !text.trim_start().starts_with(['{', '['])
        {
            text.push_str(MARK);
        }
    })
}

fn is_id(name: &str) -> bool {
    name.eq_ignore_ascii_case("id") || ["Id", "ID", "_id", "uuid", "Uuid"].iter().any(|end| name.ends_with(end))
}

fn names_parent(name: &str) -> bool {
    name.to_lowercase().contains("parent") || name == "cause"
}

#[test]
fn marks_and_line_ends_of_windows_change_nothing() {
    for (format, text) in samples() {
        let plain = texts(&read(format, text.as_bytes()).0);
        assert!(!plain.is_empty(), "{format}");
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let (entries, reader) = read(format, windows.as_bytes());
        let read: Vec<String> = texts(&entries).iter().map(|text| text.replace("\r\n", "\n")).collect();
        let plain: Vec<String> = plain.iter().map(|text| text.replace("\r\n", "\n")).collect();
        assert_eq!(read, plain, "{format}");
        assert_eq!(reader.output().tally.damaged, 0, "{format}");
        check_laws(format, windows.as_bytes());
    }
}

#[test]
fn halves_of_surrogate_pairs_become_replacement_characters() {
    for (format, text) in samples() {
        let plain = values(&text);
        let marked = with_marks(&plain);
        if plain.is_empty() {
            continue;
        }
        let halves = marked.replace(MARK, "\\ud83d");
        let (entries, reader) = read(format, halves.as_bytes());
        let whole = read(format, marked.as_bytes()).0.len();
        assert_eq!((entries.len(), reader.output().tally.damaged), (whole, 0), "{format}");
        let has_half = texts(&entries).iter().any(|text| text.contains('\u{fffd}') || text.contains("\\ud83d"));
        assert!(has_half, "{format}");
        check_laws(format, halves.as_bytes());
    }
}

fn read_count(format: Format, values: &[Value]) -> usize {
    read(format, lines(values).as_bytes()).0.len()
}

#[test]
fn bytes_that_are_no_text_are_items_or_damage() {
    for (format, text) in samples() {
        for at in [1, text.len() / 3, text.len() / 2, text.len() - 2] {
            let mut bytes = text.clone().into_bytes();
            bytes.splice(at..at, *b"\xff\xfe\x00");
            let (entries, reader) = read(format, &bytes);
            let tally = &reader.output().tally;
            let is_told = tally.damaged > 0 || tally.cut || tally.dropped > 0 || !tally.unknown.is_empty();
            let is_kept = entries.iter().any(|entry| String::from_utf8_lossy(&entry.draft.body).contains('\u{fffd}'));
            // The name of a member, or white space, may be damaged, too, which loses no text.
            assert!(is_told || is_kept || !entries.is_empty(), "{format} at {at}");
            check_laws(format, &bytes);
        }
    }
}

#[test]
fn files_that_end_anywhere_give_their_first_items() {
    for (format, text) in samples() {
        for part in 0..20 {
            check_laws(format, &text.as_bytes()[..text.len() * part / 20]);
        }
    }
}

#[test]
fn ids_that_repeat_and_parents_in_cycles_end() {
    for (format, text) in samples() {
        let plain = values(&text);
        let mut before = String::new();
        let same_ids = changed(&plain, |name, value| {
            if name.is_some_and(is_id) && value.is_string() {
                *value = "same".into();
            }
        });
        let own_parents = changed(&plain, |name, value| match name {
            Some(name) if names_parent(name) && !before.is_empty() => *value = before.clone().into(),
            Some(name) if is_id(name) => before = value.as_str().unwrap_or_default().to_owned(),
            _ => {}
        });
        let mut ids = Vec::new();
        changed(&plain, |name, value| {
            ids.extend(value.as_str().filter(|_| name.is_some_and(is_id)).map(str::to_owned));
        });
        let mut next = ids.iter().cycle().skip(1);
        let cycle = changed(&plain, |name, value| {
            if name.is_some_and(names_parent)
                && let Some(id) = next.next()
            {
                *value = id.clone().into();
            }
        });
        let twice = format!("{text}\n{text}");
        for hostile in [same_ids, own_parents, cycle, twice] {
            if hostile.is_empty() {
                continue;
            }
            let (entries, reader) = read(format, hostile.as_bytes());
            assert!(!entries.is_empty() || reader.output().tally.dropped > 0, "{format}: {hostile:.300}");
            check_laws(format, hostile.as_bytes());
        }
    }
}

#[test]
fn nested_values_use_up_no_stack() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(8_000), close.repeat(8_000));
    let nested = [deep("[", "]"), deep("{\"content\":", "}"), deep("{\"type\":\"text\",\"content\":[", "]}")];
    for (format, text) in samples() {
        let plain = values(&text);
        for (number, nested) in nested.iter().enumerate() {
            // Beside what is known, in place of each content, and without anything else.
            let mut beside = plain.clone();
            for members in beside.iter_mut().filter_map(Value::as_object_mut) {
                members.insert("nested".to_owned(), MARK.into());
            }
            let inside = changed(&plain, |name, value| {
                if matches!(name, Some("content" | "parts" | "message" | "text" | "payload" | "output" | "arguments")) {
                    *value = MARK.into();
                }
            });
            let quoted = format!("\"{MARK}\"");
            let hostile = [lines(&beside), inside, format!("{quoted}\n"), format!("{{\"messages\":[{quoted}]}}")];
            for (place, text) in hostile.iter().enumerate() {
                let bytes = text.replace(&quoted, nested);
                let (entries, _) = read(format, bytes.as_bytes());
                if place == 0 && !plain.is_empty() && plain[0].is_object() {
                    assert_eq!(entries.len(), read_count(format, &plain), "{format} {number}");
                }
            }
        }
    }
}

#[test]
fn long_texts_and_lines_are_read() {
    let long = "x".repeat(1_000_000);
    for (format, text) in samples() {
        let plain = values(&text);
        let marked = with_marks(&plain);
        // The first two are enough.
        let mut parts = marked.splitn(3, MARK);
        let long_texts =
            [parts.next(), parts.next()].map(|part| format!("{}{long}", part.unwrap_or_default())).concat();
        let long_texts = long_texts + &parts.next().unwrap_or_default().replace(MARK, "");
        if !plain.is_empty() {
            let (entries, reader) = read(format, long_texts.as_bytes());
            assert_eq!((entries.len(), reader.output().tally.damaged), (read_count(format, &plain), 0), "{format}");
        }
        // A line without an end is damage, or text of a format that is only text.
        for garbage in [format!("{text}\n{long}"), format!("{long}\n{text}"), format!("{text}\n{{\"type\":\"{long}")] {
            let (entries, reader) = read(format, garbage.as_bytes());
            let tally = &reader.output().tally;
            assert!(tally.damaged > 0 || tally.cut || !entries.is_empty(), "{format}");
        }
    }
}

#[test]
fn files_without_records_are_refused_or_empty() {
    let odd = [
        "",
        " \n\n",
        "\u{feff}",
        "{}",
        "[]",
        "null",
        "0",
        "\"x\"",
        "[[]]",
        "[null,1,\"x\"]",
        "{\"type\":null}",
        "{\"messages\":{}}",
        "{\"messages\":[[],{}]}",
        "\0\0\0",
        "{",
        "[{",
        "PK\u{3}\u{4}",
        "{\"a\":1}{\"b\":2}",
        "# aider chat",
    ];
    for (format, _) in samples() {
        for text in odd {
            let (entries, _) = read(format, text.as_bytes());
            let texts = texts(&entries);
            // Kept text is in the file.
            assert!(texts.iter().all(|kept| text.contains(kept.trim())), "{format} {text:?}: {texts:?}");
            check_laws(format, text.as_bytes());
        }
    }
}

/// Everything at once, from the command line.
#[test]
fn an_import_of_a_hostile_file_ends_with_items_or_one_error() {
    for (format, text) in samples() {
        let repo = TestRepo::new();
        let deep = format!("{{\"type\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
        let odd =
            json!({ "type": "\u{0}\u{1b}[31m", "id": "../../x\n", "role": "user", "message": { "content": "odd" } });
        let tail = format!("\n{deep}\n{odd}\n\u{feff}{{\"half\":\"\\ud800\"}}\n{{\"cut");
        let bytes = [b"\xef\xbb\xbf", text.replace('\n', "\r\n").as_bytes(), b"\n\xff\xfe\n", tail.as_bytes()].concat();
        fs::write(repo.folder().join("hostile"), &bytes).unwrap();
        let split: &[&str] = if format.agent().has_conversations { &["--split"] } else { &[] };
        let import = || repo.run(&[&["import", format.as_str(), "hostile"], split].concat(), b"");
        let output = import();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code <= 2), "{format}: {said}");
        let errors = said.lines().filter(|line| line.starts_with("error: ")).count();
        assert_eq!(errors, usize::from(output.status.code() == Some(2)), "{format}: {said}");
        assert!(!said.contains(['\u{1b}', '\0']) && !said.contains("panicked"), "{format}: {said}");
        repo.fsck();
        let again = import();
        // The damage was reported, and an import that continues after it does not see it again.
        assert!(again.status.code() <= output.status.code(), "{format}");
        assert!(
            !String::from_utf8_lossy(&again.stdout).lines().any(|line| !line.starts_with("0 imported")),
            "{format}"
        );
    }
}
