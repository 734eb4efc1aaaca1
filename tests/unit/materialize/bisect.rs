//! Tests of `src/materialize/bisect.rs`, in that module.

use proptest::prelude::*;

use super::*;

fn found(len: usize, verdict: impl Fn(usize) -> Verdict) -> (Outcome, usize) {
    let mut tests = 0;
    let outcome = search(len, |present| {
        tests += 1;
        Ok::<_, ()>(verdict(present))
    });
    (outcome.unwrap(), tests)
}

proptest! {
    #[test]
    fn the_culprit_is_found_in_few_tests(len in 1_usize..200, culprit in 0_usize..200) {
        let culprit = culprit % len;
        let (outcome, tests) = found(len, |present| if present > culprit { Verdict::Bad } else { Verdict::Good });
        prop_assert_eq!(outcome, Outcome::First(culprit));
        prop_assert!(tests <= 2 + len.next_power_of_two().ilog2() as usize);
    }

    #[test]
    fn with_untestable_prefixes_the_culprit_is_in_the_reported_range(culprit in 0_usize..20, untold: u32) {
        let verdict = |present: usize| match present {
            1..20 if untold & (1 << present) != 0 => Verdict::Unknown,
            present if present > culprit => Verdict::Bad,
            _ => Verdict::Good,
        };
        match found(20, verdict).0 {
            Outcome::First(found) => prop_assert_eq!(found, culprit),
            Outcome::Among(first, last) => prop_assert!((first..=last).contains(&culprit)),
            outcome => prop_assert!(false, "{outcome:?}"),
        }
    }
}

#[test]
fn commands_that_never_or_always_fail_are_reported() {
    assert_eq!(found(5, |_| Verdict::Good).0, Outcome::NeverFails);
    assert_eq!(found(5, |_| Verdict::Bad).0, Outcome::AlwaysFails);
    assert_eq!(found(5, |_| Verdict::Unknown).0, Outcome::Untold);
    assert_eq!(found(0, |_| Verdict::Bad).0, Outcome::AlwaysFails);
}
