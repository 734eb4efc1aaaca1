//! Tests of `src/transcript/agents/gemini_cli/files.rs`, in that module.

use std::time::{Duration, SystemTime};

use super::*;

#[test]
fn the_sub_agents_of_a_session_are_in_a_folder_of_its_id() {
    let chats = tempfile::tempdir().unwrap();
    let session = chats.path().join("session-2026-11-23T10-40-e1b30c63.jsonl");
    let found = |id: &str| {
        fs::write(&session, format!("{{\"sessionId\":\"{id}\",\"projectHash\":\"x\"}}\n")).unwrap();
        sub_agents(&session).unwrap().into_iter().map(|agent| agent.id).collect::<Vec<_>>()
    };
    fs::create_dir(chats.path().join("e1b30c63-0bb0")).unwrap();
    for name in ["e1b30c63-0bb0/b.jsonl", "e1b30c63-0bb0/a.jsonl", "e1b30c63-0bb0/notes.txt"] {
        fs::write(chats.path().join(name), "{}\n").unwrap();
    }
    assert_eq!(found("e1b30c63-0bb0"), ["a", "b"]);
    for none in ["", "..", "../chats", "other"] {
        assert_eq!(found(none), [""; 0], "{none}");
    }
}

#[test]
fn sessions_are_found_by_hash_by_name_and_by_marker() {
    let home = tempfile::tempdir().unwrap();
    let folder = Path::new("/home/ada/engine");
    assert_eq!(sessions(home.path(), folder, &|_, _| true).unwrap().next(), None);
    let write = |name: &str, age: u64| {
        let path = home.path().join("tmp").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "{}").unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        path
    };
    // printf %s /home/ada/engine | sha256sum
    let hash = "af3dd4fd7f2b9df66ac54ca725a9566b7165b46de6b301f31fb2e121d1e26d88";
    write(&format!("{hash}/chats/session-0.json"), 90);
    let named = write("engine/chats/session-1.jsonl", 60);
    write("engine/chats/logs.json", 1);
    fs::write(home.path().join("projects.json"), r#"{"projects":{"/home/ada/engine":"engine"}}"#).unwrap();
    assert_eq!(sessions(home.path(), folder, &|_, _| true).unwrap().next(), Some(named));
    let marked = write("engine-2/chats/session-2.jsonl", 30);
    fs::write(home.path().join("tmp/engine-2/.project_root"), "/home/ada/engine\n").unwrap();
    assert_eq!(sessions(home.path(), folder, &|_, _| true).unwrap().next(), Some(marked));
}
