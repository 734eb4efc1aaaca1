//! Addresses of references.

use crate::memory::checkpoint::follow::address;

#[test]
fn identifiers_become_addresses() {
    for (reference, expected) in [
        ("https://a.b/c?d=e", Some("https://a.b/c?d=e")),
        ("[the guide](https://a.b/c)", Some("https://a.b/c")),
        ("arxiv:2509.13313", Some("https://arxiv.org/abs/2509.13313")),
        ("arXiv: 2509.13313v2", Some("https://arxiv.org/abs/2509.13313v2")),
        ("arxiv:math/0211159", Some("https://arxiv.org/abs/math/0211159")),
        ("doi:10.1000/182", Some("https://doi.org/10.1000/182")),
        ("10.1002/(SICI)1<2::AID>3.0#x", Some("https://doi.org/10.1002/(SICI)1%3C2::AID%3E3.0%23x")),
        ("doi.org/10.1000/182", Some("https://doi.org/10.1000/182")),
        ("arxiv:../../x", None),
        ("file:///etc/passwd", None),
        ("javascript:alert(1)", None),
        ("https://a b", None),
        ("https://", None),
        ("the book", None),
        ("", None),
    ] {
        assert_eq!(address(reference).as_deref(), expected, "{reference}");
    }
}
