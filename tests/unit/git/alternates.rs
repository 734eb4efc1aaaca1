//! Names of folders that lend objects.

use super::Alternates;

#[test]
fn names_are_read_as_by_git() {
    let names = |text: &str, separator| {
        let read = Alternates { rest: text.as_bytes(), separator };
        read.map(|(path, is_quoted)| format!("{} {is_quoted}", path.display())).collect::<Vec<_>>()
    };
    let text = "/a b\n# c\n\n\"/d\\\"\\157:\\n\"\n\"e\n/f\"g";
    assert_eq!(names(text, b'\n'), ["/a b false", "/d\"o:\n true", "e\n/f true"]);
    assert_eq!(names("/a:\"/b:c\":\"\":#d:\"/x\\q\"", b':'), ["/a false", "/b:c true", "\"/x\\q\" false"]);
}
