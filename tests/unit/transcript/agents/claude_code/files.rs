//! Tests of `src/transcript/agents/claude_code/files.rs`, in that module.

use std::time::{Duration, SystemTime};

use super::*;

fn write(path: &Path, text: &str, age: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
}

#[test]
fn a_folder_name_matches_that_of_the_agent() {
    let dir = |folder| project_dir(Path::new("/c"), Path::new(folder)).to_str().unwrap().to_owned();
    assert_eq!(dir("/home/ada/my_engine.v2"), "/c/projects/-home-ada-my-engine-v2");
    assert_eq!(dir("/é/😀"), "/c/projects/-----");
}

#[test]
fn the_newest_session_is_found() {
    let config = tempfile::tempdir().unwrap();
    let folder = Path::new("/home/ada/engine");
    assert_eq!(transcripts_of(config.path(), folder, &|_, _| true).unwrap().next(), None);
    let project = project_dir(config.path(), folder);
    fs::create_dir_all(&project).unwrap();
    assert_eq!(transcripts_of(config.path(), folder, &|_, _| true).unwrap().next(), None);
    write(&project.join("old.jsonl"), "{}", 100);
    write(&project.join("new.jsonl"), "{}", 50);
    write(&project.join("agent-a1.jsonl"), "{}", 10);
    write(&project.join("empty.jsonl"), "", 5);
    write(&project.join("notes.txt"), "{}", 5);
    write(&project.join("new").join("x.jsonl"), "{}", 1);
    assert_eq!(transcripts_of(config.path(), folder, &|_, _| true).unwrap().next(), Some(project.join("new.jsonl")));
}

#[test]
fn a_long_folder_name_is_found_by_the_recorded_working_folder() {
    let config = tempfile::tempdir().unwrap();
    let folder = format!("/{}/b", "a".repeat(250));
    let cut = format!("projects/-{}", "a".repeat(199));
    let record = |cwd: &str| format!("{{\"type\":\"summary\"}}\n{{\"cwd\":\"{cwd}\"}}\n");
    write(&config.path().join(format!("{cut}-zzz/s.jsonl")), &record("/elsewhere"), 1);
    write(&config.path().join(format!("{cut}-1x2y/s.jsonl")), &record(&folder), 2);
    let found = transcripts_of(config.path(), Path::new(&folder), &|_, _| true).unwrap().next();
    assert_eq!(found, Some(config.path().join(format!("{cut}-1x2y/s.jsonl"))));
}

#[test]
fn sub_agents_of_both_layouts_are_listed() {
    let project = tempfile::tempdir().unwrap();
    let session = project.path().join("s1.jsonl");
    write(&session, "{}", 1);
    write(&project.path().join("s1/subagents/agent-b2.jsonl"), "{}", 1);
    write(&project.path().join("agent-a1.jsonl"), "{\"type\":\"x\"}\n{\"sessionId\":\"s1\"}\n", 1);
    write(&project.path().join("agent-b2.jsonl"), "{\"sessionId\":\"s1\"}\n", 1);
    write(&project.path().join("agent-c3.jsonl"), "{\"sessionId\":\"s2\"}\n", 1);
    let found = sub_agents(&session).unwrap();
    let expected = [
        SubAgent { id: "a1".to_owned(), path: project.path().join("agent-a1.jsonl") },
        SubAgent { id: "b2".to_owned(), path: project.path().join("s1/subagents/agent-b2.jsonl") },
    ];
    assert_eq!(found, expected);
    assert_eq!(sub_agents(Path::new("/nowhere/s.jsonl")).unwrap(), []);
}
