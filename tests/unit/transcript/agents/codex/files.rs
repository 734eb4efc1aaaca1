//! Tests of `src/transcript/agents/codex/files.rs`, in that module.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use super::*;

#[test]
fn the_newest_rollout_of_a_folder_is_found() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(rollouts_of(home.path(), Path::new("/a"), &|_, _| true).unwrap().next(), None);
    let write = |name: &str, cwd: &str, age: u64| {
        let path = home.path().join("sessions/2026/08/03").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"x\",\"cwd\":\"{cwd}\"}}}}\n"))
            .unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        path
    };
    let old = write("rollout-1.jsonl", "/a", 50);
    let newer = write("rollout-2.jsonl", "/a", 40);
    write("rollout-3.jsonl", "/b", 10);
    assert_eq!(rollouts_of(home.path(), Path::new("/a"), &|_, _| true).unwrap().next(), Some(newer));
    assert_ne!(old, home.path());
}
