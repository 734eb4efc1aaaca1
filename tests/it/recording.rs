//! Hooks in the user's settings record the sessions of every repository, unless a setting says otherwise.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::repo::TestRepo;
use crate::samples::SAMPLES;

const CODEX: &[u8] = include_bytes!("../fixtures/transcripts/codex/rollout-small.jsonl");
const GEMINI: &[u8] = include_bytes!("../fixtures/transcripts/gemini-cli/session-chat.json");

/// Calls the hook of an agent at the end of a turn of a session that is stored in the user's home, with other variables.
fn hook(repo: &TestRepo, agent: &str, event: &str, variables: &[(&str, &str)]) -> String {
    let file = repo.home().join("session");
    fs::write(&file, if agent == "codex" { CODEX } else { GEMINI }).unwrap();
    let call = json!({ "session_id": "s1", "transcript_path": file, "hook_event_name": event, "cwd": "/" });
    let mut command = repo.command("git-trace");
    for (name, value) in variables {
        command.env(name, value);
    }
    printed(repo, &crate::repo::run(command.args(["hook", agent, "--wait"]), call.to_string().as_bytes()))
}

/// What the agent shows to its user.
fn printed(repo: &TestRepo, output: &Output) -> String {
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{}", repo.exact(output));
    if output.stdout.is_empty() {
        return String::new();
    }
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed.as_object().unwrap().len(), 1, "{printed}");
    let git_dir = repo.git_dir().canonicalize().unwrap();
    printed["systemMessage"].as_str().unwrap().replace(git_dir.to_str().unwrap(), "[GIT DIR]")
}

fn traces(repo: &TestRepo) -> String {
    repo.git(&["for-each-ref", "--format=%(refname)", "refs/traces"])
}

#[test]
fn the_user_s_settings_are_extended_and_restored() {
    let repo = TestRepo::without_git();
    let home = repo.home().to_owned();
    let own = "{\n  \"model\": \"opus\"\n}\n";
    let cases = [
        ("claude-code", home.join(".claude/settings.json"), ("UNUSED", home.clone())),
        ("claude-code", home.join("work/settings.json"), ("CLAUDE_CONFIG_DIR", home.join("work"))),
        ("codex", home.join(".codex/hooks.json"), ("UNUSED", home.clone())),
        ("codex", home.join("other/hooks.json"), ("CODEX_HOME", home.join("other"))),
        ("gemini-cli", home.join(".gemini/settings.json"), ("UNUSED", home.clone())),
        ("qwen-code", home.join("other/settings.json"), ("QWEN_HOME", home.join("other"))),
        ("copilot-cli", home.join(".copilot/hooks/git-trace.json"), ("UNUSED", home.clone())),
        ("droid", home.join(".factory/settings.json"), ("UNUSED", home.clone())),
        ("cursor", home.join(".cursor/hooks.json"), ("UNUSED", home.clone())),
    ];
    for (agent, path, (variable, value)) in cases {
        for before in [None, Some(own)] {
            if let Some(before) = before {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, before).unwrap();
            }
            let run = |args: &[&str]| {
                let mut command = repo.command("git-trace");
                let output = crate::repo::run(command.env(variable, &value).args(args), b"");
                repo.exact(&output).replace(path.to_str().unwrap(), "[FILE]").replace("[HOME]", "")
            };
            assert!(run(&["install", "--agent", agent, "--global"]).contains("added"));
            let once = fs::read_to_string(&path).unwrap();
            assert!(once.contains(&format!(" hook {agent} ")), "{once}");
            assert!(!run(&["install", "--agent", agent, "--global"]).contains("added"));
            assert_eq!(fs::read_to_string(&path).unwrap(), once);
            assert!(run(&["uninstall", "--agent", agent, "--global"]).starts_with("removed "));
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), before, "{agent}");
            assert_eq!(run(&["uninstall", "--agent", agent, "--global"]), "--- stderr\nnothing to uninstall\n[exit 0]");
        }
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
    // With the setup of git, the hooks go too.
    repo.text(&["install", "--agent", "codex", "--global"]);
    let mut command = repo.command("git-trace");
    command.args(["uninstall", "--global"]).env("GIT_CONFIG_GLOBAL", home.join("config"));
    crate::repo::run(&mut command, b"");
    assert!(!home.join(".codex").exists());
}

#[test]
fn codex_must_trust_the_hooks() {
    let repo = TestRepo::without_git();
    insta::assert_snapshot!(repo.trace(&["install", "--agent", "codex", "--global"]), @r"
    added [HOME]/.codex/hooks.json: Stop
    added [HOME]/.codex/hooks.json: PreCompact
    --- stderr
    hint: Codex skips hooks without a message until you trust them: start `codex`, enter `/hooks`, and trust those of git-trace; `codex exec` cannot ask
    [exit 0]
    ");
}

#[test]
fn the_first_use_in_a_repository_is_told() {
    for (agent, event) in [("codex", "Stop"), ("gemini-cli", "AfterAgent")] {
        let repo = TestRepo::new();
        assert_eq!(hook(&repo, agent, "SessionEnd", &[]), "", "nobody would read it");
        repo.text(&["branch", "-D", &format!("{agent}/s1")]);
        insta::allow_duplicates! {
            insta::assert_snapshot!(hook(&repo, agent, event, &[]), @"git-trace: sessions in this repository are recorded with prompts, answers, and outputs of tools, in `[GIT DIR]` under refs/traces/. They stay on this machine until you push them. `git trace sessions` lists them, and `git trace disable` stops recording.");
        }
        repo.text(&["branch", "-D", &format!("{agent}/s1")]);
        assert_eq!(hook(&repo, agent, event, &[]), "", "it was told");
        repo.fsck();
    }
}

#[test]
fn a_setting_decides_whether_sessions_are_recorded() {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.record", "false"]);
    assert_eq!(hook(&repo, "codex", "Stop", &[]), "");
    repo.git(&["config", "trace.record", "ask"]);
    assert_eq!(hook(&repo, "codex", "SessionEnd", &[]), "");
    insta::assert_snapshot!(hook(&repo, "codex", "Stop", &[]), @"git-trace: sessions in this repository are not recorded. `git trace enable` records them with prompts, answers, and outputs of tools, in `[GIT DIR]` under refs/traces/.");
    assert_eq!(hook(&repo, "codex", "Stop", &[]), "", "it was told");
    assert_eq!(traces(&repo), "");
    repo.git(&["config", "trace.record", "true"]);
    assert_eq!(hook(&repo, "codex", "Stop", &[]), "", "the user knows");
    assert_eq!(traces(&repo), "refs/traces/codex/s1\n");
    assert!(!repo.git_dir().join("trace/hook.log").exists());

    repo.git(&["config", "trace.record", "perhaps"]);
    insta::assert_snapshot!(hook(&repo, "gemini-cli", "AfterAgent", &[]), @"git-trace: a hook that records sessions failed: git config `trace.record` is `perhaps`, which is not true, false, or ask. `git trace doctor` shows the last failure.");
    assert_eq!(hook(&repo, "gemini-cli", "SessionEnd", &[]), "", "nobody would read it");
    assert_eq!(traces(&repo), "refs/traces/codex/s1\n");
    let log = fs::read_to_string(repo.git_dir().join("trace/hook.log")).unwrap();
    assert!(log.contains("`trace.record` is `perhaps`, which is not true, false, or ask"), "{log}");
}

#[test]
fn recording_is_disabled_and_enabled_in_one_repository() {
    let repo = TestRepo::new();
    insta::assert_snapshot!(repo.trace(&["disable"]), @"
    Sessions in this repository are not recorded; `git trace enable` records them
    [exit 0]
    ");
    hook(&repo, "codex", "SessionEnd", &[]);
    assert_eq!(traces(&repo), "");
    insta::assert_snapshot!(repo.trace(&["enable"]), @"
    Sessions in this repository are recorded
    --- stderr
    hint: no agent has hooks: `git trace install --agent claude-code --global` adds them; `git trace help install` lists other agents
    [exit 0]
    ");
    repo.text(&["install", "--agent", "codex"]);
    assert_eq!(repo.text(&["enable"]), "Sessions in this repository are recorded, by the hooks of codex\n");
    hook(&repo, "codex", "SessionEnd", &[]);
    assert_eq!(traces(&repo), "refs/traces/codex/s1\n");
    assert_eq!(repo.git(&["config", "--get-all", "trace.record"]), "true\n");

    repo.git(&["config", "extensions.worktreeConfig", "true"]);
    repo.git(&["config", "--worktree", "trace.record", "true"]);
    insta::assert_snapshot!(repo.trace(&["disable"]), @"
    --- stderr
    error: another value of `trace.record` overrides that of the repository
    hint: `git config --show-origin --get-all trace.record` lists the values
    [exit 2]
    ");
}

#[test]
fn a_session_is_recorded_without_an_identity() {
    let repo = TestRepo::new();
    repo.git(&["config", "user.useConfigOnly", "true"]);
    let names = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
    hook(&repo, "codex", "Stop", &names.map(|name| (name, "")));
    let who = repo.git(&["log", "-1", "--format=%an <%ae> %cn <%ce>", "refs/traces/codex/s1"]);
    assert_eq!(who, "git-trace <git-trace@localhost> git-trace <git-trace@localhost>\n");
    repo.fsck();
}

#[test]
fn a_session_belongs_to_the_repository_in_which_it_started() {
    let mut repo = TestRepo::new();
    repo.git(&["commit", "--quiet", "--allow-empty", "-m", "first"]);
    repo.git(&["worktree", "add", "--quiet", "../other"]);
    repo.git(&["init", "--quiet", "nested"]);
    let (root, nested) = (repo.folder().to_owned(), repo.folder().join("nested"));
    let below = root.join("a/b");
    fs::create_dir_all(&below).unwrap();
    for folder in [below, repo.home().join("other")] {
        repo.within(&folder, |repo| hook(repo, "codex", "SessionEnd", &[]));
        assert_eq!(traces(&repo), "refs/traces/codex/s1\n");
        repo.text(&["branch", "-D", "codex/s1"]);
    }
    // The agent has changed the folder.
    let project = root.to_str().unwrap().to_owned();
    repo.within(&nested, |repo| hook(repo, "gemini-cli", "SessionEnd", &[("GEMINI_PROJECT_DIR", &project)]));
    assert_eq!(traces(&repo), "refs/traces/gemini-cli/s1\n");
    repo.within(&nested, |repo| assert_eq!(traces(repo), ""));
}

/// Where Claude Code stores the sessions of this folder.
pub(crate) fn claude_folder(repo: &TestRepo) -> std::path::PathBuf {
    let name: String = repo.folder().canonicalize().unwrap().to_str().unwrap().to_owned();
    let name = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect::<String>();
    let project = repo.home().join(".claude/projects").join(name);
    fs::create_dir_all(&project).unwrap();
    project
}

/// A session that names one folder, as if it ran in another one.
pub(crate) fn ran_in(folder: &std::path::Path, session: &[u8]) -> String {
    const CWD: &str = "\"cwd\":\"";
    let session = std::str::from_utf8(session).unwrap();
    let named = session.split_once(CWD).unwrap().1.split_once('"').unwrap().0;
    session.replace(&format!("{CWD}{named}\""), &format!("{CWD}{}\"", folder.to_str().unwrap()))
}

/// Two sessions of Claude Code in this folder, and a file that is none.
fn two_sessions(repo: &TestRepo) -> std::path::PathBuf {
    let project = claude_folder(repo);
    for session in ["s1", "s2"] {
        fs::write(project.join(format!("{session}.jsonl")), said(session, &["one", "two"])).unwrap();
    }
    fs::write(project.join("s3.jsonl"), "nonsense\n").unwrap();
    project
}

pub(crate) fn said(session: &str, texts: &[&str]) -> String {
    let mut parent = None;
    let mut record = |text: &&str| {
        let (message, uuid) = (json!({ "role": "user", "content": text }), format!("{session}-{text}"));
        let before = parent.replace(uuid.clone());
        json!({ "type": "user", "uuid": uuid, "parentUuid": before, "sessionId": session, "message": message })
    };
    texts.iter().map(|text| format!("{}\n", record(text))).collect()
}

#[test]
fn all_sessions_of_a_folder_are_imported() {
    let repo = TestRepo::new();
    let project = two_sessions(&repo);
    let import = |args: &[&str]| {
        let output = repo.run(&[&["import", "--all"], args].concat(), b"");
        let printed = String::from_utf8(output.stdout).unwrap();
        let mut lines: Vec<&str> = printed.lines().collect();
        lines.sort_unstable();
        (lines.join("\n"), output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (printed, status, errors) = import(&[]);
    insta::assert_snapshot!(printed, @r"
    2 imported into trace `claude-code/s1`
    2 imported into trace `claude-code/s2`
    3 sessions: 2 imported with 4 items, 0 unchanged, 1 failed
    ");
    assert_eq!(status, Some(1));
    assert!(errors.contains("s3.jsonl` contains no claude-code record"), "{errors}");
    fs::remove_file(project.join("s3.jsonl")).unwrap();
    fs::write(project.join("s2.jsonl"), said("s2", &["one", "two", "three"])).unwrap();
    let (printed, status, _) = import(&["claude-code"]);
    insta::assert_snapshot!(printed, @r"
    1 imported into trace `claude-code/s2`
    2 sessions: 1 imported with 1 items, 1 unchanged, 0 failed
    ");
    assert_eq!(status, Some(0));
    let again = repo.json(&["import", "--all", "--json"]);
    assert_eq!((&again["imported"], &again["unchanged"], &again["failed"]), (&json!(0), &json!(2), &json!(0)));
    assert_eq!(import(&["codex"]).0, "0 sessions: 0 imported with 0 items, 0 unchanged, 0 failed");
    assert_eq!(import(&["jsonl"]).1, Some(2));
    repo.fsck();
}

#[test]
fn a_setting_names_the_remote_of_traces() {
    let repo = TestRepo::new();
    repo.say("hello");
    for name in ["origin", "private"] {
        repo.git(&["init", "--quiet", "--bare", &format!("../{name}.git")]);
        repo.git(&["remote", "add", name, &format!("../{name}.git")]);
    }
    let push = |args: &[&str]| String::from_utf8(repo.run(&[&["push"], args].concat(), b"").stderr).unwrap();
    insta::assert_snapshot!(push(&[]), @"the default remote is `origin`; `git config trace.contextRemote NAME` sets another default for traces");
    assert_eq!(push(&["origin"]), "");
    repo.git(&["config", "trace.contextRemote", "private"]);
    assert_eq!(push(&[]), "");
    let there = |name: &str| repo.git(&["-C", &format!("../{name}.git"), "for-each-ref", "--format=%(refname)"]);
    assert_eq!(there("private"), "refs/traces/main\n");
    // Otherwise traces go where git pushes.
    repo.git(&["config", "--unset", "trace.contextRemote"]);
    repo.git(&["init", "--quiet", "--bare", "../fork.git"]);
    repo.git(&["remote", "add", "fork", "../fork.git"]);
    repo.git(&["config", "remote.pushDefault", "fork"]);
    push(&[]);
    assert_eq!(there("fork"), "refs/traces/main\n");
    let branch = repo.git(&["symbolic-ref", "--short", "HEAD"]);
    repo.git(&["config", &format!("branch.{}.pushRemote", branch.trim()), "no_push"]);
    assert!(repo.refused(&["push"]).contains("there is no remote `no_push`"));
    assert_eq!(repo.trace(&["fetch"]).lines().next_back(), Some("[exit 0]"));
}

#[test]
fn an_unusable_shared_setting_does_not_stop_recording_silently() {
    for config in ["[traceType \"x\"]\n\torder = first\n", "[trace\n"] {
        let repo = TestRepo::new();
        fs::write(repo.folder().join(".traceconfig"), config).unwrap();
        let said = hook(&repo, "codex", "Stop", &[]);
        assert!(said.starts_with("git-trace: a hook that records sessions failed: "), "{said}");
        assert!(said.contains(".traceconfig"), "{said}");
        let diagnosis = repo.exact(&repo.run(&["doctor"], b""));
        assert!(diagnosis.contains("error    settings: ") && diagnosis.contains(".traceconfig"), "{diagnosis}");
        assert_eq!(traces(&repo), "");
    }
}

#[test]
fn sessions_of_all_folders_go_to_their_repositories() {
    let repo = TestRepo::new();
    let folder = |name: &str| {
        let folder = repo.home().canonicalize().unwrap().join(name);
        fs::create_dir_all(&folder).unwrap();
        folder
    };
    for name in ["other", "unwanted"] {
        repo.git(&["init", "--quiet", folder(name).to_str().unwrap()]);
    }
    repo.git(&["-C", folder("unwanted").to_str().unwrap(), "config", "trace.record", "false"]);
    let put = |path: &str, text: &[u8]| {
        let file = repo.home().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    for (id, name) in [("a", "other"), ("b", "other/src"), ("c", "unwanted"), ("d", "nothing/here")] {
        let ran_in = format!("\"cwd\":{},\"type\":\"user\"", json!(folder(name)));
        let text = said(id, &["one"]).replace("\"type\":\"user\"", &ran_in);
        put(&format!(".claude/projects/{id}/{id}.jsonl"), text.as_bytes());
    }
    let head =
        json!({ "type": "session_meta", "payload": { "id": "e", "cwd": repo.folder().canonicalize().unwrap() } });
    let text =
        "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":\"hello\"}}";
    put(".codex/sessions/2026/01/01/rollout-e.jsonl", format!("{head}\n{text}\n").as_bytes());
    put(".gemini/tmp/x/.project_root", folder("other").to_str().unwrap().as_bytes());
    put(".gemini/tmp/x/chats/session-f.json", GEMINI);
    let import = || {
        let answer = repo.json(&["import", "--all-folders", "--json"]);
        let sessions: Vec<String> = answer["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|session| {
                let folder = session["repository"].as_str().unwrap().trim_end_matches('/').rsplit('/').next().unwrap();
                let folder = if folder == "other" { folder } else { "this" };
                let trace = session["traces"][0]["trace"].as_str().unwrap();
                format!("{folder} {} {}", trace.split('/').next().unwrap(), session["traces"][0]["recorded"])
            })
            .collect();
        (sessions, answer)
    };
    let (mut sessions, answer) = import();
    sessions.sort();
    assert_eq!(sessions, ["other claude-code 1", "other claude-code 1", "other gemini-cli 45", "this codex 1"]);
    assert_eq!(
        (&answer["imported"], &answer["without_repository"], &answer["unwanted"]),
        (&json!(4), &json!(1), &json!(1))
    );
    assert_eq!(repo.git(&["-C", folder("unwanted").to_str().unwrap(), "for-each-ref", "refs/traces"]), "");
    assert_eq!(traces(&repo), "refs/traces/codex/e\n");
    let answer = import().1;
    assert_eq!((&answer["imported"], &answer["unchanged"]), (&json!(0), &json!(4)));
}

/// Commits of the trace of `session`, after each of eight parts of a sample was recorded by a hook. `before` runs before each hook.
fn recorded_in_parts(sample: &[u8], session: &str, before: impl Fn(&TestRepo)) -> String {
    let repo = TestRepo::new();
    let file = claude_folder(&repo).join(format!("{session}.jsonl"));
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', sample).map(|end| end + 1).collect();
    for part in 1..=8 {
        fs::write(&file, &sample[..ends[(ends.len() - 1) * part / 8]]).unwrap();
        before(&repo);
        let call = json!({ "session_id": session, "transcript_path": file, "hook_event_name": "Stop", "cwd": "/" });
        let output = repo.run(&["hook", "claude-code", "--wait"], call.to_string().as_bytes());
        assert_eq!(repo.exact(&output).matches("failed").count(), 0, "{}", repo.exact(&output));
    }
    repo.fsck();
    // The trees, the totals, and what each commit did.
    repo.git(&["log", "--format=%T%n%B", &format!("refs/traces/claude-code/{session}")])
}

#[test]
fn what_a_hook_remembers_changes_no_recording() {
    for (name, sample) in SAMPLES.into_iter().filter(|(name, _)| *name != "large-compacted") {
        let session = serde_json::Deserializer::from_slice(sample).into_iter::<Value>();
        let session = session.flatten().find_map(|record| record["sessionId"].as_str().map(str::to_owned)).unwrap();
        let forget = |repo: &TestRepo| {
            let files = fs::read_dir(repo.git_dir().join("trace/transcripts")).into_iter().flatten().flatten();
            let states = files.map(|file| file.path()).filter(|path| path.extension().is_none());
            states.for_each(|path| fs::remove_file(path).unwrap());
        };
        let recorded = recorded_in_parts(sample, &session, |_| ());
        assert_eq!(recorded, recorded_in_parts(sample, &session, forget), "{name}");
    }
}
