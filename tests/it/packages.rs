//! The files of packages and plugins agree with the program.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::repo::TestRepo;

const PLUGINS: [&str; 3] = ["claude-code", "codex", "gemini-cli"];

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_manifest_has_the_version_of_the_program() {
    for (path, pointer) in [
        ("plugins/claude-code/.claude-plugin/plugin.json", "/version"),
        ("plugins/codex/.codex-plugin/plugin.json", "/version"),
        ("plugins/gemini-cli/gemini-extension.json", "/version"),
        ("server.json", "/version"),
        ("server.json", "/packages/0/version"),
    ] {
        assert_eq!(json(&read(path)).pointer(pointer).unwrap(), env!("CARGO_PKG_VERSION"), "{path}");
    }
}

/// Event, timeout, and command without the program, of each hook.
fn hooks(settings: &Value) -> BTreeMap<String, (Value, String)> {
    let events = settings["hooks"].as_object().unwrap();
    let entry = |(event, groups): (&String, &Value)| {
        let hook = &groups[0]["hooks"][0];
        let (_, command) = hook["command"].as_str().unwrap().split_once(" hook ").unwrap();
        (event.clone(), (hook["timeout"].clone(), command.to_owned()))
    };
    events.iter().map(entry).collect()
}

#[test]
fn plugins_have_the_hooks_that_install_writes() {
    let repo = TestRepo::new();
    for (plugin, settings) in
        PLUGINS.into_iter().zip([".claude/settings.json", ".codex/hooks.json", ".gemini/settings.json"])
    {
        repo.trace(&["install", "--agent", plugin]);
        let installed = json(&fs::read_to_string(repo.folder().join(settings)).unwrap());
        assert_eq!(hooks(&json(&read(&format!("plugins/{plugin}/hooks/hooks.json")))), hooks(&installed), "{plugin}");
    }
}

#[test]
fn the_skill_is_short_and_the_same_for_each_agent() {
    let [first, ..] = PLUGINS.map(|plugin| read(&format!("plugins/{plugin}/skills/git-trace/SKILL.md")));
    for plugin in PLUGINS {
        assert_eq!(read(&format!("plugins/{plugin}/skills/git-trace/SKILL.md")), first, "{plugin}");
    }
    let repo = TestRepo::new();
    let count = repo.trace_with(&["count"], first.as_bytes());
    let tokens: u32 = count.split_whitespace().next().unwrap().parse().unwrap();
    assert!(tokens < 500, "{tokens} tokens");
}

/// The names in a table of dependencies of `Cargo.toml`.
fn dependencies(manifest: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let tables = manifest.split("\n[").filter(|table| is_wanted(table.split(']').next().unwrap_or_default()));
    let lines = tables.flat_map(|table| table.lines().skip(1));
    let names =
        lines.filter(|line| !line.starts_with('#')).filter_map(|line| Some(line.split_once(" = ")?.0.to_owned()));
    names.filter(|name| name != "git-trace").collect()
}

#[test]
fn every_direct_dependency_has_a_complete_row() {
    let (manifest, page) = (read("Cargo.toml"), read("docs/dependencies.md"));
    let sections: Vec<&str> = page.split("\n## ").collect();
    for (section, columns, tables) in [
        ("In the binary", 8, &["dependencies", "target.'cfg(unix)'.dependencies"][..]),
        ("Build script", 8, &["build-dependencies"]),
        ("Tests and benchmarks", 4, &["dev-dependencies"]),
    ] {
        let section = sections.iter().find(|text| text.starts_with(section)).unwrap();
        let mut rows: Vec<String> = Vec::new();
        for row in section.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            assert_eq!(cells.len(), columns, "{row}");
            // The size of most crates was not measured.
            let is_needed = |column: usize| columns == 4 || column != 5;
            assert!(cells.iter().enumerate().all(|(column, cell)| !cell.is_empty() || !is_needed(column)), "{row}");
            rows.push(cells[0].trim_matches('`').to_owned());
        }
        rows.sort();
        let mut wanted = dependencies(&manifest, |table| tables.contains(&table));
        wanted.sort();
        assert_eq!(rows, wanted);
    }
}
