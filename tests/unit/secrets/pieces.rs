//! Tests of the private parts of `src/secrets/mod.rs`.

use super::*;

#[test]
fn a_secret_at_the_end_of_a_piece_is_found_once() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let key = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", "b3Bl".repeat(30));
    let named = "api_key = \"q8Zr2LpX0vTn5KdW7yBs\"";
    let (piece, filler) = (4096, "all work and no play\n");
    for secret in [token.as_str(), &key, named] {
        for before in (piece - 200..piece + 20).step_by(7) {
            for filler in [filler.repeat(before / filler.len() + 1), "-".repeat(before)] {
                let text = format!("{}\n{secret}\n{}", &filler[..before], "x y\n".repeat(20_000));
                let found = find_by_pieces(text.as_bytes(), piece);
                assert_eq!(found, find_by_pieces(text.as_bytes(), usize::MAX / 2), "{before}");
                assert_eq!(found.len(), 1, "{before}: {secret}");
            }
        }
    }
}
