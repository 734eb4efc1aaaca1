//! Objects with several copies, and objects whose only copy is elsewhere.

use std::fs;

use super::breakage::{found, item, loose, sound};
use crate::repo::{TestRepo, run};

const MAIN: &str = "refs/traces/main";

#[test]
fn a_damaged_loose_object_does_not_hide_a_packed_copy() {
    let repo = sound();
    repo.git(&["repack", "-q", "-a"]);
    let before = (repo.text(&["materialize"]), repo.lines(&["log", "--json"]));
    let revs = [MAIN.to_owned(), format!("{MAIN}^{{tree}}"), format!("{MAIN}:{}", item(&repo, 1).0)];
    for rev in &revs {
        let path = loose(&repo, rev);
        let bytes = fs::read(&path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    }
    assert_eq!((repo.text(&["materialize"]), repo.lines(&["log", "--json"])), before);
    let (code, rules, report) = found(&repo, &[]);
    assert_eq!((code, rules), (Some(0), vec!["warning object-copy".to_owned(); 3]), "{report}");
    for pack in fs::read_dir(repo.git_dir().join("objects/pack")).unwrap() {
        fs::remove_file(pack.unwrap().path()).unwrap();
    }
    assert_eq!(found(&repo, &[]).1[0], "error object-corrupt", "there is no other copy");
}

/// A partial clone of a repository with traces and a tag, and that repository.
fn partial(filter: &str) -> (TestRepo, TestRepo) {
    let lender = sound();
    lender.git(&["config", "uploadpack.allowFilter", "true"]);
    let clone = TestRepo::without_git();
    let url = format!("file://{}", lender.folder().display());
    clone.git(&["clone", "-q", "--no-checkout", &format!("--filter={filter}"), &url, "."]);
    let refs = ["+refs/traces/*:refs/traces/*", "+refs/trace-priority:refs/trace-priority"];
    clone.git(&[&["fetch", "-q", "origin", "+refs/trace-tags/*:refs/trace-tags/*"], refs.as_slice()].concat());
    (clone, lender)
}

fn missing(clone: &TestRepo) -> usize {
    let listed = clone.git(&["rev-list", "--objects", "--missing=print", MAIN]);
    listed.lines().filter(|line| line.starts_with('?')).count()
}

#[test]
fn promised_objects_are_neither_fetched_nor_reported() {
    for filter in ["blob:none", "tree:0"] {
        let (clone, _lender) = partial(filter);
        let before = missing(&clone);
        assert!(before > 0);
        let (code, rules, report) = found(&clone, &[]);
        assert_eq!((code, rules), (Some(0), Vec::new()), "{filter}: {report}");
        assert!(report["promised"].as_u64().unwrap() > 0, "{filter}: {report}");
        assert_eq!(missing(&clone), before, "{filter}: nothing was fetched");
        let said = run(clone.command("git-trace").arg("fsck"), b"");
        assert!(clone.exact(&said).contains("not here but promised by a remote: "), "{}", clone.exact(&said));

        // Objects created here are not promised.
        let id = clone.say("made here");
        let path = clone.git(&["ls-tree", "-r", "--name-only", MAIN]);
        let path = path.lines().find(|path| path.ends_with(&id)).unwrap();
        fs::remove_file(loose(&clone, &format!("{MAIN}:{path}"))).unwrap();
        let (code, rules, report) = found(&clone, &[]);
        assert_eq!((code, rules), (Some(1), vec!["error object-missing".to_owned()]), "{filter}: {report}");
        assert_eq!(report["findings"][0]["item"], id, "{filter}");
    }
}

#[test]
fn the_remedy_brings_back_what_the_remote_has() {
    let remote = TestRepo::classic(&["--bare"]);
    let repo = TestRepo::classic(&[]);
    repo.git(&["remote", "add", "origin", remote.folder().to_str().unwrap()]);
    for text in ["one", "two", "three"] {
        repo.say(text);
    }
    repo.git(&["trace", "push"]);
    let before = (repo.text(&["materialize"]), repo.refs());
    let path = item(&repo, 1).0;
    for rev in [MAIN.to_owned(), format!("{MAIN}~1"), format!("{MAIN}^{{tree}}"), format!("{MAIN}:{path}")] {
        for is_removed in [true, false] {
            let file = loose(&repo, &rev);
            let bytes = fs::read(&file).unwrap();
            if is_removed {
                fs::remove_file(&file).unwrap();
            } else {
                fs::write(&file, "").unwrap();
            }
            let (code, _, report) = found(&repo, &[]);
            let remedy = report["findings"][0]["remedy"].as_str().unwrap();
            assert_eq!(code, Some(1), "{rev}: {report}");
            let command = remedy.split('`').find(|text| text.starts_with("git trace fetch")).expect(remedy);
            repo.git(&command.split(' ').skip(1).collect::<Vec<_>>());
            let (code, rules, report) = found(&repo, &["--repair"]);
            assert!(code == Some(0) && rules.iter().all(|rule| rule == "warning object-copy"), "{rev}: {report}");
            assert_eq!(found(&repo, &[]).1, Vec::<String>::new(), "{rev}");
            assert_eq!((repo.text(&["materialize"]), repo.refs()), before, "{rev}");
            for entry in fs::read_dir(repo.git_dir().join("objects/pack")).unwrap() {
                fs::remove_file(entry.unwrap().path()).unwrap();
            }
            let _ = fs::remove_file(&file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, bytes).unwrap();
        }
    }
}
