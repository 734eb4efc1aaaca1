//! `git trace install --mcp`: entries in the settings of programs that start servers.

use serde_json::Value;

use crate::playground::Playground;

/// Each client, its file, and where in it the entry stands.
const CLIENTS: [(&str, &str, &str); 5] = [
    ("claude-code", ".mcp.json", "mcpServers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("vscode", ".vscode/mcp.json", "servers"),
    ("codex", ".codex/config.toml", ""),
    ("gemini", ".gemini/settings.json", "mcpServers"),
];
const TABLE: &str = "[mcp_servers.git-trace]\ncommand = \"git-trace\"\nargs = [\"mcp\"]\n";
const SETTINGS: &str = "{\n\t// Which model.\n\t\"model\": \"x//y\",\n\t\"KEY\": {\n\t\t\"other\": {\"command\": \"o\"}, /* ours */\n\t},\n}\n";

#[test]
fn an_entry_is_installed_once_and_uninstalled() {
    for (client, file, key) in CLIENTS {
        let place = Playground::new();
        let path = place.at.join(file);
        place.ok(&["install", "--dry-run", "--mcp", client]);
        assert!(!path.exists());
        assert_eq!(place.trace(&["install", "--mcp", client]), format!("added [ROOT]/repo/{file}\n"));
        let text = place.read(file);
        if key.is_empty() {
            assert_eq!(text, TABLE);
        } else {
            let whole: Value = serde_json::from_str(&text).unwrap();
            let entry = serde_json::json!({ "command": "git-trace", "args": ["mcp"] });
            assert_eq!(whole, serde_json::json!({ key: { "git-trace": entry } }));
        }
        assert_eq!(place.trace(&["install", "--mcp", client]), format!("kept [ROOT]/repo/{file}\n"));
        assert_eq!(place.read(file), text);
        assert_eq!(place.trace(&["uninstall", "--mcp", client]), format!("removed [ROOT]/repo/{file}\n"));
        assert!(!path.exists());
    }
}

#[test]
fn uninstall_restores_foreign_settings_with_their_comments() {
    let words = |text: &str| text.split_whitespace().collect::<String>();
    for (client, file, key) in CLIENTS {
        let olds = if key.is_empty() {
            ["model = \"x\" # why\n", "[mcp_servers.other]\ncommand = \"o\"\n", "a = 1\n\n[b]\nc = \"é\""]
                .map(str::to_owned)
        } else {
            [SETTINGS, "{\"a\":1,\"KEY\":{}}\n", "{\n  // none yet\n  \"KEY\": { // é\n } }"]
                .map(|old| old.replace("KEY", key))
        };
        for old in olds {
            let place = Playground::new();
            place.write(file, &old);
            assert_eq!(place.trace(&["install", "--mcp", client]), format!("added [ROOT]/repo/{file}\n"));
            assert_eq!(place.trace(&["install", "--mcp", client]), format!("kept [ROOT]/repo/{file}\n"));
            place.ok(&["uninstall", "--mcp", client]);
            assert_eq!(words(&place.read(file)), words(&old), "{client}");
        }
    }
}

#[test]
fn an_entry_of_a_clone_that_starts_another_program_of_our_name_is_left_alone() {
    for (client, file, key) in CLIENTS {
        for program in ["./tools/git-trace", "/home/other/bin/git-trace", "git-trace.exe"] {
            let place = Playground::new();
            let text = match key {
                "" => TABLE.replace("\"git-trace\"", &format!("\"{program}\"")),
                key => {
                    format!("{{\"{key}\": {{\"git-trace\": {{\"command\": \"{program}\", \"args\": [\"mcp\"]}}}}}}\n")
                }
            };
            place.write(file, &text);
            let expected = format!(
                "left alone [ROOT]/repo/{file}\n--- stderr\nhint: git-trace did not write what was left alone; unset it and install \
                 again to replace it\n[exit 1]\n"
            );
            assert_eq!(place.trace(&["install", "--mcp", client]), expected);
            assert_eq!(place.read(file), text);
        }
    }
}

#[test]
fn settings_with_comments_stay_readable() {
    let place = Playground::new();
    place.write(".vscode/mcp.json", SETTINGS.replace("KEY", "servers"));
    place.ok(&["install", "--mcp", "vscode"]);
    let entry = "{\n    \"git-trace\": {\"args\":[\"mcp\"],\"command\":\"git-trace\"},\n\t\t\"other\"";
    let expected = SETTINGS.replace("KEY", "servers").replace("{\n\t\t\"other\"", entry);
    assert_eq!(place.read(".vscode/mcp.json"), expected);
}

#[test]
fn uninstall_removes_all_of_our_entries_and_no_others() {
    let place = Playground::new();
    place.write(".mcp.json", "{ not JSON at all");
    for (client, ..) in &CLIENTS[1..] {
        place.ok(&["install", "--mcp", client]);
    }
    // Of these one was changed by hand and one was added to.
    let changed = place.read(".cursor/mcp.json").replace("[\"mcp\"]", "[\"mcp\",\"--tools\",\"all\"]");
    place.write(".cursor/mcp.json", &changed);
    let extended = place.read(".codex/config.toml") + "env = { A = \"b\" }\n";
    place.write(".codex/config.toml", &extended);
    place.ok(&["install"]);
    let told = place.trace(&["uninstall"]);
    let files: Vec<_> = told.lines().filter(|line| CLIENTS.iter().any(|(_, file, _)| line.ends_with(file))).collect();
    assert_eq!(files, ["removed [ROOT]/repo/.vscode/mcp.json", "removed [ROOT]/repo/.gemini/settings.json"]);
    assert_eq!(place.read(".mcp.json"), "{ not JSON at all");
    assert_eq!((place.read(".cursor/mcp.json"), place.read(".codex/config.toml")), (changed, extended));
}

#[test]
fn a_table_of_codex_with_more_keys_is_not_ours() {
    let place = Playground::new();
    place.ok(&["install", "--mcp", "codex"]);
    let ours = place.read(".codex/config.toml");
    for text in [
        format!("{ours}# note\nenv = {{ A = \"b\" }}\n"),
        format!("{ours}\n[mcp_servers.git-trace.env]\nA = \"b\"\n"),
        format!("{ours}\n[other]\n\n[ mcp_servers.\"git-trace\".env ]\nA = \"b\"\n"),
        "[mcp_servers.git-trace.env]\nA = \"b\"\n".to_owned(),
    ] {
        place.write(".codex/config.toml", &text);
        assert!(place.trace(&["install", "--mcp", "codex"]).starts_with("left alone"), "{text}");
        assert!(place.trace(&["uninstall", "--mcp", "codex"]).contains("nothing to uninstall"), "{text}");
        assert_eq!(place.read(".codex/config.toml"), text);
    }
    let rest = "# note\n[mcp_servers.git-trace-2.env]\nA = \"b\"\n";
    place.write(".codex/config.toml", format!("{ours}{rest}"));
    place.ok(&["uninstall", "--mcp", "codex"]);
    assert_eq!(place.read(".codex/config.toml"), rest);
}

#[test]
fn unreadable_settings_are_refused_and_left_unchanged() {
    let place = Playground::new();
    for text in ["{ not JSON", "[]", "{\"mcpServers\": []}", "{} // twice\n{}"] {
        place.write(".mcp.json", text);
        let told = place.trace(&["install", "--mcp", "claude-code"]);
        assert!(told.contains("[ROOT]/repo/.mcp.json") && told.ends_with("[exit 2]\n"), "{told}");
        assert_eq!(place.read(".mcp.json"), text);
    }
    place.write(".mcp.json", "{\"mcpServers\": {\"git-trace\": {\"command\": \"mine\"}}}");
    insta::assert_snapshot!(place.trace(&["install", "--mcp", "claude-code"]), @"
    left alone [ROOT]/repo/.mcp.json
    --- stderr
    hint: git-trace did not write what was left alone; unset it and install again to replace it
    [exit 1]
    ");
    place.write(".codex/config.toml", "mcp_servers.git-trace.command = \"x\"\n");
    insta::assert_snapshot!(place.trace(&["install", "--mcp", "codex"]), @r#"
    --- stderr
    error: cannot change `[ROOT]/repo/.codex/config.toml`: `mcp_servers.git-trace.command = "x"` leaves no room for a table [mcp_servers.git-trace]: add it by hand
    [exit 2]
    "#);
    for text in [
        "[mcp_servers]\ngit-trace = { command = \"x\" }\n",
        "[mcp_servers]\n\"git-trace\".command = \"x\"\n",
        "'mcp_servers' = { git-trace = { command = \"x\" } }\n",
    ] {
        place.write(".codex/config.toml", text);
        let told = place.trace(&["install", "--mcp", "codex"]);
        assert!(told.contains("leaves no room for a table"), "{told}");
        assert_eq!(place.read(".codex/config.toml"), text);
    }
    place.write(".codex/config.toml", "['mcp_servers' . 'git-trace']\ncommand = \"x\"\n");
    assert!(place.trace(&["install", "--mcp", "codex"]).starts_with("left alone"));
    let text = "model = \"o3\"\n\n";
    place.write(".codex/config.toml", text);
    place.ok(&["install", "--mcp", "codex"]);
    place.ok(&["uninstall", "--mcp", "codex"]);
    assert_eq!(place.read(".codex/config.toml"), text);
    insta::assert_snapshot!(place.trace(&["install", "--mcp", "emacs"]), @"
    --- stderr
    error: `--mcp <CLIENT>`: `emacs` is not one of claude-code, cursor, vscode, codex, gemini
    hint: for example `git trace install`; `git trace install -h` explains it
    [exit 2]
    ");
}
