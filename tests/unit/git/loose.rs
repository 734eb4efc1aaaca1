//! Tests of the private parts of `src/git/loose.rs`.

use super::*;

#[test]
fn what_was_cut_off_or_changed_is_told_and_never_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let repo = git2::Repository::init_bare(folder.path()).unwrap();
    let text = b"what the object holds, and some more of it".repeat(9);
    let oid = Oid(repo.blob(&text).unwrap());
    let digits = oid.to_string();
    let objects = folder.path().join("objects");
    let path = objects.join(&digits[..2]).join(&digits[2..]);
    let whole = fs::read(&path).unwrap();
    assert_eq!(Loose::new(folder.path(), &objects, None).read(oid).unwrap(), Some((ObjectType::Blob, text)));
    fs::remove_file(&path).unwrap();
    for len in 0..whole.len() {
        fs::write(&path, &whole[..len]).unwrap();
        // All but the checksum of the end is needed; that is checked where it is there.
        let read = Loose::new(folder.path(), &objects, None).read(oid);
        assert!(matches!(read, Err(GitError::DamagedObject { .. })) || len + 4 >= whole.len(), "{len}: {read:?}");
    }
    for at in 2..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x55;
        fs::write(&path, &changed).unwrap();
        assert!(
            matches!(Loose::new(folder.path(), &objects, None).read(oid), Err(GitError::DamagedObject { .. })),
            "byte {at}"
        );
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(Loose::new(folder.path(), &objects, None).read(oid).unwrap(), None);
}
