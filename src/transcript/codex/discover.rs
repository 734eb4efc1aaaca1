//! Where Codex keeps its rollouts: a folder a day, and in each file's head the folder that the session ran in.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::record::{Head, Record};
use crate::transcript::raw;

/// How much of a file is looked at to learn where it ran.
const MAX_HEAD: u64 = 1024 * 1024;

/// The newest rollout of `folder`, by modification time.
///
/// Files of before September 2025 do not say where they ran and are passed over.
///
/// # Errors
///
/// Whatever listing folders meets, but for their absence.
pub(crate) fn newest_rollout(home: &Path, folder: &Path) -> io::Result<Option<PathBuf>> {
    let mut found = Vec::new();
    for sessions in ["sessions", "archived_sessions"] {
        collect(&home.join(sessions), 3, &mut found)?;
    }
    found.sort_by(|a, b| b.cmp(a));
    Ok(found.into_iter().map(|(_, path)| path).find(|path| ran_in(path).is_some_and(|ran| Path::new(&ran) == folder)))
}

/// The files of a folder and, so many levels deep, of those in it.
fn collect(folder: &Path, depth: usize, found: &mut Vec<(SystemTime, PathBuf)>) -> io::Result<()> {
    let listing = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(()),
        listing => listing?,
    };
    for entry in listing {
        let path = entry?.path();
        // Gone meanwhile, or a link to nothing: not the newest.
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if metadata.is_dir() && depth > 0 {
            collect(&path, depth - 1, found)?;
        } else if metadata.is_file() && path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push((metadata.modified()?, path));
        }
    }
    Ok(())
}

/// The folder that a rollout's head says it ran in.
fn ran_in(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(MAX_HEAD).read_to_end(&mut head).ok()?;
    let line = head.split(|b| *b == b'\n').next()?;
    let record: Record<'_> = serde_json::from_slice(line).ok()?;
    let told: Head<'_> = record.payload.and_then(|payload| serde_json::from_str(payload.get()).ok())?;
    told.cwd.or(record.cwd).and_then(raw::text).map(Into::into)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_newest_rollout_of_a_folder_is_found() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(newest_rollout(home.path(), Path::new("/a")).unwrap(), None);
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
        assert_eq!(newest_rollout(home.path(), Path::new("/a")).unwrap(), Some(newer));
        assert_ne!(old, home.path());
    }
}
