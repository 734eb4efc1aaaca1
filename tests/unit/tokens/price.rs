//! Tests of the private parts of `src/tokens/price.rs`.

use super::*;

const MILLION: TokenUsage = TokenUsage {
    input_tokens: 1_000_000,
    cache_read_tokens: 10_000_000,
    cache_write_tokens: 100_000,
    output_tokens: 2_000_000,
};

fn table(lines: &[&str]) -> PriceTable {
    let mut table = PriceTable::default();
    for line in lines {
        table.add(line, CachePrices { read: 0.1, write: 1.25 }).unwrap();
    }
    table
}

#[test]
fn the_last_price_that_matches_counts() {
    let table = table(&["*=1,1,1,1", "big-*=5, 25", "vendor/*=0,3,0,0"]);
    let cost = |model| table.cost(model, &MILLION).map(|cost| format!("{cost:.3}"));
    assert_eq!(cost("small"), Some("13.100".to_owned()));
    assert_eq!(cost("big-1.5"), Some("60.625".to_owned()), "5 + 2 × 25 + 10 × 0.5 + 0.1 × 6.25");
    assert_eq!(cost("vendor/any"), Some("6.000".to_owned()));
    assert_eq!(cost("other/any"), None);
}

#[test]
fn lines_that_are_no_prices_are_refused() {
    for line in ["", "big", "big=", "=1,2", "big=1", "big=1,2,3", "big=1,-2", "big=1,x", "big=1,NaN", "big=1,2,3,4,5"] {
        assert!(PriceTable::default().add(line, CachePrices::default()).is_none(), "{line}");
    }
}
