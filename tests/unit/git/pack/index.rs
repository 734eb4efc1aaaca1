//! Tests of the private parts of `src/git/pack/index.rs`.

use super::Index;
use crate::base::process::Process;

#[test]
fn git_finds_objects_past_two_gibibytes() {
    let offsets = [12, (1 << 31) - 1, 1 << 31, (1 << 32) + 5, 9 << 32];
    let mut index = Index::default();
    for (number, offset) in (1u8..).zip(offsets) {
        index.add(&[number * 50; 20], u32::from(number), offset);
    }
    assert!(index.holds(&[100; 20]) && !index.holds(&[101; 20]));
    // The same first eight bytes, and others after them.
    assert!(!index.holds(&[[50; 10], [51; 10]].concat()));

    let mut bytes = Vec::new();
    index.write(&mut bytes, &[0; 20]).unwrap();
    let output = Process::new("git").arg("show-index").input([bytes, vec![0; 20]].concat()).filter().unwrap();
    let said = String::from_utf8(output).unwrap();
    let expected = (1u8..).zip(offsets).map(|(number, offset)| {
        let oid = format!("{:02x}", number * 50).repeat(20);
        format!("{offset} {oid} ({number:08x})")
    });
    assert_eq!(said.lines().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}
