//! The layout of `src/`: imports point down, and each mechanism that must exist once exists once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// The rooms and their level. A file may import from its own room and from rooms of a lower level.
const ROOMS: [(&str, u8); 12] = [
    ("base", 0),
    ("git", 1),
    ("tokens", 2),
    ("secrets", 2),
    ("message", 3),
    ("trace", 4),
    ("materialize", 5),
    ("transcript", 5),
    ("clean", 5),
    ("memory", 6),
    ("check", 7),
    ("app", 8),
];

/// The same within `trace`, from the values to the network.
const TRACE: [(&str, u8); 6] = [("error", 0), ("model", 0), ("store", 1), ("change", 2), ("query", 2), ("sync", 3)];

/// The longest that a file may be, in lines.
const MAX_LINES: usize = 450;

/// Each source file without its tests and comments, by its path under `src/`.
fn sources() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
                sources.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    sources
}

fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\n").next().unwrap();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| [line, "\n"]).collect()
}

fn level(rooms: &[(&str, u8)], name: &str) -> Option<u8> {
    rooms.iter().find(|(room, _)| *room == name).map(|(_, level)| *level)
}

#[test]
fn imports_point_down() {
    let import = Regex::new(r"\bcrate::(\w+)(?:::(\w+))?").unwrap();
    let mut wrong = Vec::new();
    for (name, text) in sources() {
        let mut parts = name.trim_end_matches(".rs").split('/');
        let (room, inner) = (parts.next().unwrap(), parts.next().unwrap_or_default());
        let Some(own) = level(&ROOMS, room) else { continue };
        for found in import.captures_iter(&code(&text)) {
            let Some(imported) = level(&ROOMS, &found[1]) else { continue };
            let is_up = if &found[1] == room {
                let inner_level = |inner| level(&TRACE, inner);
                let other = found.get(2).map_or("", |inner| inner.as_str());
                room == "trace"
                    && inner != other
                    && inner_level(inner).zip(inner_level(other)).is_some_and(|(own, other)| other >= own && own > 0)
            } else {
                imported >= own
            };
            if is_up {
                wrong.push(format!("src/{name} imports {}", &found[0]));
            }
        }
    }
    assert!(wrong.is_empty(), "imports that point up or sideways:\n{}", wrong.join("\n"));
}

#[test]
fn each_mechanism_exists_once() {
    // What may be named where: everything else calls the one place.
    let rules = [
        ("git2 is named only in git/", r"\bgit2::", "git/"),
        ("refs move only through git/", r"\.move_ref\(", "git/"),
        ("commits are built in one place", r"\bNewCommit \{", "git/commit.rs trace/store/commit.rs"),
        ("children run through one wrapper", r"\bCommand::new\(", "base/process.rs"),
        ("anyhow is named only in one place", r"\banyhow::", "base/error.rs"),
        ("clap is named only in app/", r"\bclap::", "app/"),
    ];
    let sources = sources();
    for (rule, pattern, places) in rules {
        let pattern = Regex::new(pattern).unwrap();
        let wrong: Vec<&String> = sources
            .iter()
            .filter(|(name, text)| {
                !places.split(' ').any(|place| name.starts_with(place)) && pattern.is_match(&code(text))
            })
            .map(|(name, _)| name)
            .collect();
        assert!(wrong.is_empty(), "{rule}, but see {wrong:?}");
    }
}

#[test]
fn no_file_is_too_long_to_read() {
    let long: Vec<String> = sources()
        .into_iter()
        .map(|(name, text)| (name, text.lines().count()))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(name, lines)| format!("src/{name}: {lines} lines"))
        .collect();
    assert!(long.is_empty(), "files of more than {MAX_LINES} lines: {long:?}");
}
