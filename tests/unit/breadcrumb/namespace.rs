//! Namespaces.

use crate::memory::breadcrumb::Namespaces;

#[test]
fn a_project_adds_to_the_standard_namespaces() {
    let namespaces =
        Namespaces::parse(br#"{"version":1,"breadcrumb_namespaces":{"ml":"Models","a.b":"Nested"}}"#).unwrap();
    assert!(["auth.method", "ml.model", "ml", "a.b.c", "secret.x"].into_iter().all(|key| namespaces.contains(key)));
    assert!(["mlops.x", "a.c", "other"].into_iter().all(|key| !namespaces.contains(key)));
    assert_eq!(Namespaces::parse(b"{}").unwrap(), Namespaces::default());
    assert!(Namespaces::parse(b"{").is_err());
    assert!(Namespaces::parse(br#"{"breadcrumb_namespaces":["ml"]}"#).is_err());
}
