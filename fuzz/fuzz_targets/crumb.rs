//! Any bytes as a crumb file: reading and printing is the identity, findings lie within, and nothing panics.

#![no_main]

use git_trace::crumb::{Crumb, check, format, plan, textconv, to_json, triage};
use git_trace::tokens::Encoding;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for finding in check(bytes, Encoding::default()) {
        assert!(finding.span.start <= finding.span.end && finding.span.end <= bytes.len());
    }
    let _ = textconv(bytes);
    let Ok(mut crumb) = Crumb::parse(bytes) else { return };
    assert_eq!(crumb.print(), bytes);
    let formatted = format(&crumb);
    let again = Crumb::parse(&formatted).expect("what was text stays text");
    assert_eq!(format(&again), formatted);
    let _ = (to_json(&crumb), triage(&crumb));
    plan(&crumb).apply(&mut crumb);
    assert!(plan(&crumb).is_empty(), "compressing again changes nothing");
});
