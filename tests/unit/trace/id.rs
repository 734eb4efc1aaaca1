//! Item ids.

use crate::trace::ItemId;

#[test]
fn an_id_is_sixteen_lower_case_digits() {
    let id: ItemId = "0be7719d3a2f61c8".parse().unwrap();
    assert_eq!(id.to_string(), "0be7719d3a2f61c8");
    assert_eq!(id.short(), "0be7719d");
    assert_eq!(id.fan_out(), ("0b".to_owned(), "e7719d3a2f61c8".to_owned()));
    for bad in ["", "0be7719d3a2f61c", "0BE7719D3A2F61C8", "+be7719d3a2f61c8", "0be7719d3a2f61c89"] {
        assert!(bad.parse::<ItemId>().is_err(), "{bad}");
    }
}
