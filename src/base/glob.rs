//! Patterns of paths, as in git's pathspecs with `:(glob)`.

const MAX_STEPS: u32 = 100_000;

/// In bytes. Each sign takes a frame of the stack.
const MAX_PATTERN: usize = 4096;

/// Whether a pattern matches a complete path. `*` and `?` do not match a slash, and `**/` matches any number of folders.
///
/// Returns false for a pattern that is too long or takes too many steps.
pub(crate) fn matches(pattern: &[u8], path: &[u8]) -> bool {
    glob(pattern, path, &mut MAX_STEPS.clone())
}

/// As [`matches`], or for one of the folders that contain the path.
pub(crate) fn matches_below(pattern: &[u8], path: &[u8]) -> bool {
    let mut budget = MAX_STEPS;
    glob(pattern, path, &mut budget)
        || path.iter().enumerate().any(|(at, b)| *b == b'/' && glob(pattern, &path[..at], &mut budget))
}

fn glob(pattern: &[u8], text: &[u8], budget: &mut u32) -> bool {
    let Some(rest) = budget.checked_sub(1).filter(|_| pattern.len() <= MAX_PATTERN) else { return false };
    *budget = rest;
    match pattern {
        [] => text.is_empty(),
        [b'*', b'*', b'/', rest @ ..] => {
            glob(rest, text, budget)
                || text.iter().enumerate().any(|(at, b)| *b == b'/' && glob(rest, &text[at + 1..], budget))
        }
        [b'*', b'*'] => true,
        [b'*', rest @ ..] => {
            let len = text.iter().position(|b| *b == b'/').unwrap_or(text.len());
            (0..=len).any(|at| glob(rest, &text[at..], budget))
        }
        [b'?', rest @ ..] => text.first().is_some_and(|b| *b != b'/') && glob(rest, &text[1..], budget),
        [b'\\', sign, rest @ ..] | [sign, rest @ ..] => text.first() == Some(sign) && glob(rest, &text[1..], budget),
    }
}
