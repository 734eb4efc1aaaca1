//! The texts that `git trace install` writes and edits.

mod agent_hooks {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use crate::app::install::agent::settings::{commands, with, without};

    const COMMAND: &str = "git-trace hook claude-code";

    fn ours(command: &str) -> bool {
        command == COMMAND
    }

    /// How agents write an entry.
    const ENTRIES: [&str; 3] = [
        r#"{ "hooks": [{ "type": "command", "command": "git-trace hook claude-code", "timeout": 30 }] }"#,
        r#"{ "type": "command", "bash": "git-trace hook claude-code" }"#,
        r#"{ "command": "git-trace hook claude-code" }"#,
    ];

    fn added(text: &str, entry: &str) -> String {
        let text = with(text, "Stop", entry).unwrap();
        with(&text, "SessionEnd", entry).unwrap()
    }

    #[test]
    fn a_new_file_reads_well() {
        let expected = "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \
                        \"git-trace hook claude-code\", \"timeout\": 30 }] }\n    ]\n  }\n}\n";
        assert_eq!(with("", "Stop", ENTRIES[0]).unwrap(), expected);
    }

    #[test]
    fn other_settings_are_kept() {
        let texts = [
            "{}",
            "{ }\n",
            "{\"permissions\":{\"allow\":[\"Bash\"]}}",
            "{\n\t\"z\": 1.0,\n\t\"a\": \"\\u00e9\"\n}\n",
            "{\"hooks\":{}}",
            "{\"hooks\": {\"Stop\": []}}",
            "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"matcher\": \"\",\n        \"hooks\": []\n      }\n    ]\n  }\n}\n",
            "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say \\\"done\\\"\"}]}],\"PreToolUse\":[]},\"x\":2}",
        ];
        for (text, entry) in texts.iter().flat_map(|text| ENTRIES.map(|entry| (*text, entry))) {
            let new = added(text, entry);
            let (old, new_value): (Value, Value) =
                (serde_json::from_str(text).unwrap(), serde_json::from_str(&new).unwrap());
            assert_eq!(commands(&new, "Stop").unwrap().last().unwrap(), COMMAND);
            for (name, value) in old.as_object().unwrap().iter().filter(|(name, _)| *name != "hooks") {
                assert_eq!(new_value[name], *value);
            }
            // Every character of the old text is in the new one, in order.
            let mut rest = new.chars();
            assert!(
                text.trim_end().chars().filter(|c| !c.is_whitespace()).all(|c| rest.any(|other| other == c)),
                "{new}"
            );
            let taken = without(&new, None, &ours).unwrap();
            let back: Value = serde_json::from_str(&taken).unwrap();
            let groups = |value: &Value| value["hooks"]["Stop"].as_array().map_or(0, Vec::len);
            assert_eq!(groups(&back), groups(&old), "{taken}");
            assert!(!taken.contains(COMMAND));
        }
    }

    #[test]
    fn invalid_settings_are_refused() {
        for text in ["[]", "{", "{\"hooks\":[]}", "{\"hooks\":{\"Stop\":{}}}", "// no\n{}"] {
            assert!(with(text, "Stop", ENTRIES[0]).is_err(), "{text}");
        }
    }

    #[test]
    fn only_our_hook_is_removed_from_a_group() {
        let text = json!({"hooks": {"Stop": [{"hooks": [{"command": "a"}, {"command": COMMAND}, {"command": "b"}]}]}})
            .to_string();
        let taken = without(&text, None, &ours).unwrap();
        assert_eq!(commands(&taken, "Stop").unwrap(), ["a", "b"]);
        let alone = json!({"a": 1, "hooks": {"Stop": [{"hooks": [{"command": COMMAND}]}]}, "z": 2}).to_string();
        assert_eq!(without(&alone, None, &ours).unwrap(), "{\"a\":1,\"z\":2}");
    }

    proptest! {
        #[test]
        fn any_text_is_changed_or_refused(text in "[{}\\[\\]\",: a\n]{0,40}|\\{\"hooks\":\\{\"Stop\":\\[[{}\"hoks:,]{0,10}\\]\\}\\}") {
            if let Ok(new) = with(&text, "Stop", ENTRIES[1]) {
                prop_assert!(serde_json::from_str::<Value>(&new).is_ok(), "{}", new);
                prop_assert!(without(&new, None, &ours).is_ok());
            }
        }
    }
}

mod json_text {
    use proptest::prelude::*;

    use crate::app::install::json_text::plain;

    #[test]
    fn comments_and_trailing_commas_become_spaces() {
        let text = "{ // a\u{e9}\n \"b//c\": [1, /* d, */ 2 , ], \"e\\\"\": \"/*\", }";
        let plain = plain(text);
        assert_eq!(plain, "{       \n \"b//c\": [1,          2   ], \"e\\\"\": \"/*\"  }");
        assert_eq!(plain.len(), text.len());
    }

    proptest! {
        #[test]
        fn plain_json_stays_as_it_is(text in "[\\[\\]{}:\"a1 \n\\\\]{0,30}") {
            prop_assert_eq!(plain(&text), text);
        }

        #[test]
        fn every_text_keeps_its_length(text in "[\\[,\\]{}\"/*\u{e9}a\n\\\\]{0,40}") {
            prop_assert_eq!(plain(&text).len(), text.len());
        }
    }
}

mod attributes {
    use crate::app::install::attributes::{END, with_block, without_block};

    fn installed(text: Option<&str>) -> String {
        String::from_utf8(with_block(text.map(str::as_bytes)).unwrap()).unwrap()
    }

    #[test]
    fn a_block_is_removed_byte_for_byte() {
        for before in ["", "*.txt text\n", "*.txt text", "a\r\nb\r\n", "a\r\nb", "\n\n", "# git-trace: beginning\n"] {
            let after = installed(Some(before));
            assert_eq!(with_block(Some(after.as_bytes())), None, "{before:?}");
            assert_eq!(without_block(after.as_bytes()), Some(Some(before.into())), "{before:?}");
            assert_eq!(after.contains("\r\n"), before.contains("\r\n"));
        }
        assert_eq!(without_block(installed(None).as_bytes()), Some(None));
        assert_eq!(without_block(b"*.txt text\n"), None);
        insta::assert_snapshot!(installed(Some("*.txt text")), @"
        *.txt text
        # git-trace: begin (the line above had no end)
        **/.synapse/breadcrumbs.jsonl merge=trace
        *.crumb merge=trace diff=trace-crumb
        **/checkpoints/**/*.md merge=trace
        chk-*.md merge=trace
        # git-trace: end
        ");
    }

    #[test]
    fn lines_of_others_stay_wherever_they_wrote_them() {
        let text = installed(Some("*.txt text\n")).replace("*.crumb", "*.md merge=union\n*.crumb") + "*.png binary\n";
        let upgraded = installed(Some(&text));
        assert!(upgraded.ends_with("# git-trace: end\n*.md merge=union\n*.png binary\n"), "{upgraded}");
        let left = Some(Some(b"*.txt text\n*.md merge=union\n*.png binary\n".to_vec()));
        assert_eq!(without_block(text.as_bytes()), left);
        assert_eq!(without_block(upgraded.as_bytes()), left);
        let without_end = installed(None).replace(END, "mine merge=union");
        assert_eq!(without_block(without_end.as_bytes()), Some(Some(b"mine merge=union\n".to_vec())));
    }

    #[test]
    fn an_older_block_is_updated() {
        let old = installed(Some("a\n")).replace(" diff=trace-crumb\n", "\n");
        assert_eq!(installed(Some(&old)), installed(Some("a\n")));
    }
}

mod owned_files {
    use crate::app::install::owned::{is_ours, sealed};

    #[test]
    fn a_file_is_ours_until_somebody_changes_it() {
        let file = sealed(".TH X 1\ntext\n", ".\\\"");
        assert!(is_ours(file.as_bytes()));
        for changed in [file.replace("text", "texts"), file.clone() + "more\n", "text\n".to_owned(), String::new()] {
            assert!(!is_ours(changed.as_bytes()), "{changed}");
        }
    }
}

mod config {
    use crate::app::install::config::placeholder_word;

    #[test]
    fn a_path_survives_the_shell_and_the_placeholders() {
        assert_eq!(placeholder_word("git-trace"), "git-trace");
        assert_eq!(placeholder_word("/opt/it's 100%/git-trace"), r"'/opt/it'\''s 100%%/git-trace'");
    }
}
