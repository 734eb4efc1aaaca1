//! Tests of `src/transcript/agents/codex/segments.rs`, in that module.

use std::fs;

use super::*;
use crate::transcript::agents::codex::files::rollouts;

const SESSION: &str = "01a207f7-aa14-7fd0-bd5d-d59bd69ee1d8";
const FORK: &str = "01a207f7-b259-78e2-bba0-0a939bba8cbd";

fn segment(number: u64) -> String {
    format!("01a207f7-c06c-7590-958b-{number:012}")
}

fn file(folder: &Path, id: &str, segment: Option<&str>, base: Option<(&str, u64)>) -> PathBuf {
    let name = segment.map_or_else(|| id.to_owned(), |segment| format!("{id}_{segment}"));
    let path = folder.join(format!("rollout-2026-11-23T10-33-22-{name}.jsonl"));
    let base = base.map(|(id, length)| format!("{{\"thread_id\":\"{id}\",\"end_byte_offset\":{length}}}"));
    let base = base.as_deref().unwrap_or("null");
    let head = format!("{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\",\"history_base\":{base}}}}}\n");
    fs::write(&path, head).unwrap();
    path
}

#[test]
fn a_session_s_segments_and_the_base_of_a_fork_are_read() {
    let home = tempfile::tempdir().unwrap();
    let days = ["sessions/2026/11/23", "sessions/2026/12/01", "archived_sessions"].map(|day| home.path().join(day));
    for day in &days {
        fs::create_dir_all(day).unwrap();
    }
    let [one, two, three] = [1, 2, 3].map(segment);
    let first = file(&days[0], SESSION, None, None);
    let second = file(&days[1], SESSION, Some(&two), Some((SESSION, 40)));
    let third = file(&days[0], SESSION, Some(&three), Some((&two, 30)));
    let fork = file(&days[2], FORK, None, Some((&two, 20)));
    let again = file(&days[1], FORK, Some(&one), Some((FORK, 10)));
    let read = |path: &Path| parts(path).unwrap().into_iter().map(|part| (part.path, part.length)).collect::<Vec<_>>();
    assert_eq!(read(&first), [(first.clone(), None)]);
    assert_eq!(read(&second), [(first.clone(), None), (second.clone(), None)]);
    assert_eq!(read(&third), [(first.clone(), None), (second.clone(), None), (third.clone(), None)]);
    let head = fs::metadata(&fork).unwrap().len();
    let base = [(fork.clone(), Some(head)), (first, Some(40)), (second, Some(20))];
    assert_eq!(read(&fork), [&base[..], &[(fork.clone(), None)]].concat());
    assert_eq!(read(&again), [&base[..], &[(fork, None), (again.clone(), None)]].concat());
    let mut last = last_segments(rollouts(home.path()).unwrap());
    last.sort();
    assert_eq!(last, [third, again]);
}

#[test]
fn a_base_that_is_missing_or_based_on_itself_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let missing = file(folder.path(), FORK, None, Some((SESSION, 40)));
    assert_eq!(parts(&missing).unwrap(), [FilePart::from(&*missing)]);
    let circle = file(folder.path(), SESSION, None, Some((FORK, 40)));
    let both = file(folder.path(), FORK, None, Some((SESSION, 40)));
    assert_eq!(parts(&both).unwrap().len(), 4);
    assert_eq!(parts(&circle).unwrap().len(), 4);
    for name in ["rollout-1.jsonl", "session.jsonl", "rollout-2026-é1a207f7-b259-78e2-bba0-0a939bba8cbd.jsonl"] {
        let path = folder.path().join(name);
        assert_eq!(parts(&path).unwrap(), [FilePart::from(&*path)]);
    }
    #[cfg(unix)]
    {
        fs::remove_file(&circle).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &circle).unwrap();
        assert_eq!(parts(&both).unwrap().len(), 1);
    }
}
