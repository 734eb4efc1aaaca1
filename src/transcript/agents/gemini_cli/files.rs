//! Where Gemini CLI stores its sessions.
//!
//! ```text
//! <home>/projects.json                            {"projects":{"/home/ada/engine":"engine"}}
//! <home>/tmp/engine/.project_root                 /home/ada/engine
//! <home>/tmp/engine/chats/session-….jsonl         a session
//! <home>/tmp/<SHA-256 of the path>/chats/…        the same, up to version 0.28
//! ```

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::transcript::agents::{has_extension, list_folder, newest_first};

/// The newest session of `folder`, by modification time. Files of sub-agents are in folders of their own.
pub(super) fn newest_session(home: &Path, folder: &Path) -> io::Result<Option<PathBuf>> {
    let mut paths = Vec::new();
    for project in projects(home, folder)? {
        paths.extend(list_folder(&project.join("chats"))?);
    }
    let is_session = |path: &Path, _: &fs::Metadata| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("session-") && has_extension(path, &["json", "jsonl"])
    };
    Ok(newest_first(paths, is_session)?.next())
}

/// The folders that may contain the sessions of `folder`.
fn projects(home: &Path, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let tmp = home.join("tmp");
    let mut hex = String::new();
    for byte in Sha256::digest(folder.as_os_str().as_encoded_bytes()) {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    let mut found = vec![tmp.join(hex)];
    let registry = fs::read(home.join("projects.json")).ok();
    let registry: Option<Value> = registry.and_then(|text| serde_json::from_slice(&text).ok());
    let slug = registry.as_ref().and_then(|registry| registry["projects"][folder.to_string_lossy().as_ref()].as_str());
    found.extend(slug.filter(|slug| !slug.contains(['/', '\\']) && *slug != "..").map(|slug| tmp.join(slug)));
    for project in list_folder(&tmp)? {
        let root = fs::read_to_string(project.join(".project_root")).unwrap_or_default();
        if Path::new(root.trim()) == folder && !found.contains(&project) {
            found.push(project);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn sessions_are_found_by_hash_by_name_and_by_marker() {
        let home = tempfile::tempdir().unwrap();
        let folder = Path::new("/home/ada/engine");
        assert_eq!(newest_session(home.path(), folder).unwrap(), None);
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
        assert_eq!(newest_session(home.path(), folder).unwrap(), Some(named));
        let marked = write("engine-2/chats/session-2.jsonl", 30);
        fs::write(home.path().join("tmp/engine-2/.project_root"), "/home/ada/engine\n").unwrap();
        assert_eq!(newest_session(home.path(), folder).unwrap(), Some(marked));
    }
}
