//! Sessions of Codex that have more than one file: what the user reverted, forks, and sub-agents.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::repo::TestRepo;

const SESSION: &str = "01a207f7-aa14-7fd0-bd5d-d59bd69ee1d8";
const FORK: &str = "01a207f7-b259-78e2-bba0-0a939bba8cbd";
const SECOND: &str = "01a207f7-ad7c-7ee3-9528-1fb393ffe45f";
const THIRD: &str = "01a207f7-afa0-7b50-9960-50c46c8777b7";

/// A file of Codex.
struct Rollout {
    path: PathBuf,
    session: &'static str,
    text: String,
    ordinal: u64,
}

impl Rollout {
    /// Starts a file of a session, whose records follow the first ones of another file.
    fn new(repo: &TestRepo, session: &'static str, segment: Option<&str>, base: Option<(&str, &Self)>) -> Self {
        let day = repo.home().join(".codex/sessions/2026/11/23");
        fs::create_dir_all(&day).unwrap();
        let name = segment.map_or_else(|| session.to_owned(), |segment| format!("{session}_{segment}"));
        let path = day.join(format!("rollout-2026-11-23T10-33-22-{name}.jsonl"));
        let cwd = repo.folder().canonicalize().unwrap();
        let mut head = json!({ "id": session, "session_id": session, "cwd": cwd, "cli_version": "0.169.0",
            "history_mode": "paginated", "base_instructions": { "text": "be careful" } });
        let ordinal = base.map_or(0, |(_, base)| base.ordinal);
        if let Some((id, base)) = base {
            let length = base.text.len();
            head["history_base"] =
                json!({ "thread_id": id, "end_ordinal_exclusive": ordinal, "end_byte_offset": length });
        }
        let mut new = Self { path, session, text: String::new(), ordinal };
        new.add("session_meta", &head);
        new
    }

    fn add(&mut self, kind: &str, payload: &Value) {
        let record =
            json!({ "timestamp": "2026-11-23T10:33:22Z", "ordinal": self.ordinal, "type": kind, "payload": payload });
        writeln!(self.text, "{record}").unwrap();
        self.ordinal += 1;
        fs::write(&self.path, &self.text).unwrap();
    }

    fn say(&mut self, words: &str) {
        for (role, kind, text) in
            [("user", "input_text", words), ("assistant", "output_text", &format!("about {words}"))]
        {
            self.add(
                "response_item",
                &json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] }),
            );
        }
    }

    /// Starts the file of a sub-agent of a session.
    fn of_sub_agent(repo: &TestRepo, id: &'static str, session: &str) -> Self {
        let mut new = Self::new(repo, id, None, None);
        (new.text, new.ordinal) = (String::new(), 0);
        let cwd = repo.folder().canonicalize().unwrap();
        new.add(
            "session_meta",
            &json!({ "id": id, "session_id": session, "parent_thread_id": session, "cwd": cwd,
                "base_instructions": { "text": "be careful" } }),
        );
        new
    }

    /// The file as it is now.
    fn now(&self) -> Self {
        Self { path: self.path.clone(), session: self.session, text: self.text.clone(), ordinal: self.ordinal }
    }

    fn hook(&self, repo: &TestRepo) {
        let call =
            json!({ "session_id": self.session, "transcript_path": self.path, "hook_event_name": "Stop", "cwd": "/" });
        let output = repo.run(&["hook", "codex", "--wait"], call.to_string().as_bytes());
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{}", repo.exact(&output));
        assert!(!repo.git_dir().join("trace/hook.log").exists());
    }
}

/// The items of a trace except the instructions.
fn said(repo: &TestRepo, session: &str) -> String {
    repo.bodies(&format!("codex/{session}"))[1..].join(", ")
}

fn traces(repo: &TestRepo) -> usize {
    repo.git(&["for-each-ref", "refs/traces"]).lines().count()
}

/// A session whose second turn was reverted twice, the second time together with what followed the first time.
fn reverted(repo: &TestRepo, mut after_turn: impl FnMut(&Rollout, &str)) -> Rollout {
    let mut first = Rollout::new(repo, SESSION, None, None);
    first.say("one");
    let base = first.now();
    first.say("two");
    after_turn(&first, "one, about one, two, about two");
    let mut second = Rollout::new(repo, SESSION, Some(SECOND), Some((SESSION, &base)));
    second.say("three");
    after_turn(&second, "one, about one, three, about three");
    let base = second.now();
    second.say("four");
    after_turn(&second, "one, about one, three, about three, four, about four");
    let mut third = Rollout::new(repo, SESSION, Some(THIRD), Some((SECOND, &base)));
    third.say("five");
    after_turn(&third, "one, about one, three, about three, five, about five");
    third
}

#[test]
fn a_turn_that_the_user_reverted_is_rewound() {
    let repo = TestRepo::new();
    reverted(&repo, |file, expected| {
        file.hook(&repo);
        assert_eq!(said(&repo, SESSION), expected);
    });
    assert_eq!(traces(&repo), 1);
    // The history has the reverted items.
    let log = repo.text(&["log", "--oneline", &format!("codex/{SESSION}")]);
    let deleted =
        |text: &str| log.lines().any(|line| line.contains(" delete ") && line.ends_with(&format!(": {text}")));
    assert_eq!(["one", "two", "about two", "four"].map(deleted), [false, true, true, true], "{log}");
    let newest = reverted_to_the_start(&repo);
    newest.hook(&repo);
    assert_eq!(said(&repo, SESSION), "six, about six");
    repo.fsck();
}

/// A file that begins the session again.
fn reverted_to_the_start(repo: &TestRepo) -> Rollout {
    let mut last = Rollout::new(repo, SESSION, Some("01a207f7-b06c-7590-958b-74a5729319fd"), None);
    last.say("six");
    last
}

#[test]
fn a_reverted_session_is_imported_as_one() {
    let hooked = TestRepo::new();
    let import = |repo: &TestRepo| {
        let done = repo.json(&["import", "--all", "codex", "--json"]);
        assert_eq!((&done["imported"], &done["failed"]), (&json!(1), &json!(0)), "{done}");
        let again = repo.json(&["import", "--all", "codex", "--json"]);
        assert_eq!((&again["imported"], &again["unchanged"]), (&json!(0), &json!(1)), "{again}");
    };
    reverted(&hooked, |_, _| ());
    import(&hooked);
    assert_eq!(said(&hooked, SESSION), "one, about one, three, about three, five, about five");
    assert_eq!(traces(&hooked), 1);
    reverted_to_the_start(&hooked);
    hooked.text(&["import", "codex"]);
    assert_eq!(said(&hooked, SESSION), "six, about six");
    hooked.fsck();
}

#[test]
fn a_fork_has_what_it_is_based_on() {
    let repo = TestRepo::new();
    let base = reverted(&repo, |file, _| file.hook(&repo)).now();
    let mut fork = Rollout::new(&repo, FORK, None, Some((THIRD, &base)));
    fork.say("in the fork");
    let before = fork.now();
    fork.hook(&repo);
    let based_on = "one, about one, three, about three, five, about five";
    assert_eq!(said(&repo, FORK), format!("{based_on}, in the fork, about in the fork"));
    fork.say("wrong");
    fork.hook(&repo);
    let mut again = Rollout::new(&repo, FORK, Some("01a207f7-c259-78e2-bba0-0a939bba8cbd"), Some((FORK, &before)));
    again.say("right");
    again.hook(&repo);
    assert_eq!(said(&repo, FORK), format!("{based_on}, in the fork, about in the fork, right, about right"));
    assert_eq!(said(&repo, SESSION), based_on);
    assert_eq!(traces(&repo), 2);
    // Without the other session, there is what the file has.
    let alone = TestRepo::new();
    let copy = alone.home().join(Path::new(fork.path.file_name().unwrap()));
    fs::write(&copy, &fork.text).unwrap();
    alone.text(&["import", "codex", copy.to_str().unwrap()]);
    assert_eq!(said(&alone, FORK), "in the fork, about in the fork, wrong, about wrong");
    repo.fsck();
}

#[test]
fn a_sub_agent_has_a_trace_beside_its_session_s() {
    let repo = TestRepo::new();
    let mut main = Rollout::new(&repo, SESSION, None, None);
    main.say("one");
    let mut agent = Rollout::of_sub_agent(&repo, SECOND, SESSION);
    agent.say("look around");
    main.say("two");
    main.hook(&repo);
    let name = format!("{SESSION}.agent-{SECOND}");
    assert_eq!(
        repo.git(&["for-each-ref", "--format=%(refname:lstrip=3)", "refs/traces"]),
        format!("{SESSION}\n{name}\n")
    );
    assert_eq!(said(&repo, &name), "look around, about look around");
    assert_eq!(said(&repo, SESSION), "one, about one, two, about two");
    let listed = repo.lines(&["sessions", "--json"]);
    assert_eq!((listed.len(), &listed[0]["sub_agents"]), (1, &json!(1)), "{listed:?}");
    // The newest session is not a sub-agent, and an import of all knows both.
    agent.say("more");
    let note = repo.run(&["import", "codex"], b"").stderr;
    assert!(String::from_utf8_lossy(&note).contains(main.path.to_str().unwrap()), "{}", String::from_utf8_lossy(&note));
    assert_eq!(repo.json(&["import", "--all", "codex", "--json"])["imported"], 0);
    assert_eq!(said(&repo, &name), "look around, about look around, more, about more");
    assert_eq!(traces(&repo), 2);
    repo.fsck();
}

/// The user moved the sessions to another disk, or named one by a link.
#[cfg(unix)]
#[test]
fn a_reverted_session_behind_links_is_imported_as_one() {
    use std::os::unix::fs::symlink;
    let repo = TestRepo::new();
    let last = reverted(&repo, |_, _| ()).path;
    let everything = "one, about one, three, about three, five, about five";
    symlink(&last, repo.folder().join("last.jsonl")).unwrap();
    repo.text(&["import", "codex", "last.jsonl"]);
    assert_eq!(said(&repo, SESSION), everything);
    repo.git(&["update-ref", "-d", &format!("refs/traces/codex/{SESSION}")]);
    let disk = repo.home().join("disk");
    fs::create_dir(&disk).unwrap();
    for file in fs::read_dir(last.parent().unwrap()).unwrap() {
        let path = file.unwrap().path();
        let moved = disk.join(path.file_name().unwrap());
        fs::rename(&path, &moved).unwrap();
        symlink(&moved, &path).unwrap();
    }
    repo.text(&["import", "codex"]);
    assert_eq!(said(&repo, SESSION), everything);
    repo.fsck();
}

/// The user names a file of a clone, which has links to folders with other sessions.
#[cfg(unix)]
#[test]
fn links_in_a_folder_of_sessions_that_a_clone_brings_are_not_followed() {
    use std::os::unix::fs::symlink;
    let repo = TestRepo::new();
    let mut private = Rollout::new(&repo, SESSION, None, None);
    private.say("private");
    let mut agent = Rollout::of_sub_agent(&repo, THIRD, FORK);
    agent.say("private agent");
    let mut own = Rollout::new(&repo, FORK, None, Some((SESSION, &private)));
    own.say("own");
    let name = own.path.file_name().unwrap();
    for (case, folder, link) in
        [("a", "sessions/2026/02", "sessions/2027"), ("b", "sessions/2026/02", "archived_sessions")]
    {
        let clone = repo.folder().join(case);
        fs::create_dir_all(clone.join(folder)).unwrap();
        fs::write(clone.join(folder).join(name), &own.text).unwrap();
        let target = if case == "a" { "2026/11" } else { "2026/11/23" };
        symlink(repo.home().join(".codex/sessions").join(target), clone.join(link)).unwrap();
        let file = clone.join(folder).join(name);
        repo.run(&["import", "--trace", case, "codex", file.to_str().unwrap()], b"");
    }
    fs::rename(&own.path, repo.home().join(name)).unwrap();
    // A folder with this name above a clone is not the agent's.
    let clone = repo.folder().join("sessions/clone");
    fs::create_dir_all(&clone).unwrap();
    fs::create_dir_all(repo.folder().join("sessions/other")).unwrap();
    fs::copy(&private.path, repo.folder().join("sessions/other").join(private.path.file_name().unwrap())).unwrap();
    fs::write(clone.join(name), &own.text).unwrap();
    repo.run(&["import", "--trace", "c", "codex", clone.join(name).to_str().unwrap()], b"");
    let bodies = repo.git(&["for-each-ref", "--format=%(refname:lstrip=2)", "refs/traces"]);
    for trace in bodies.lines() {
        assert!(repo.bodies(trace).iter().all(|body| !body.contains("private")), "{trace}");
    }
}
