//! Making a short text of long ones: by rule, or by a prompt to the user's compressor.

use crate::memory::crumb::compress::tier::Tier;

/// How long the text of a line for one session may be, in characters.
const WARM_LEN: usize = 120;
/// How long the text of the line for all cold sessions may be, in characters.
const COLD_LEN: usize = 240;
/// With less room than this, in characters, a text is left out.
const LEAST_LEN: usize = 20;

/// How long a text may be at most, in characters.
pub(crate) fn limit(tier: Tier) -> usize {
    match tier {
        Tier::Hot => usize::MAX,
        Tier::Warm => WARM_LEN,
        Tier::Cold => COLD_LEN,
    }
}

/// Joins texts, oldest first, into one of at most `limit` characters.
///
/// Short ones stay whole, long ones are cut at a word and share the room that is left. Where there is too little for all,
/// the oldest are left out and counted.
pub(crate) fn shorten(texts: &[&str], limit: usize) -> String {
    let texts: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
    // Each takes a character and what separates it at least; so many are not worth a try.
    let first = texts.len().saturating_sub(limit / 3 + 1);
    for left_out in first..texts.len() {
        let kept = &texts[left_out..];
        let is_last = kept.len() == 1;
        let mut prefix = if left_out == 0 { String::new() } else { format!("({left_out} more) ") };
        // The last text says more than how many there were.
        if is_last && prefix.len() >= limit {
            prefix.clear();
        }
        let separators = 2 * (kept.len() - 1);
        let room = limit.saturating_sub(prefix.chars().count() + separators);
        let shares = shares(kept, room);
        if is_last || kept.iter().zip(&shares).all(|(text, share)| *share >= LEAST_LEN.min(text.chars().count())) {
            let parts: Vec<String> = kept.iter().zip(shares).map(|(text, share)| cut(text, share)).collect();
            return prefix + &parts.join("; ");
        }
    }
    String::new()
}

/// How much of `room` each text gets: all it needs where that is less than an equal part of what is left.
fn shares(texts: &[&str], room: usize) -> Vec<usize> {
    let lens: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|index| lens[*index]);
    let (mut shares, mut left) = (vec![0; texts.len()], room);
    for (done, index) in order.into_iter().enumerate() {
        shares[index] = lens[index].min(left / (texts.len() - done));
        left -= shares[index];
    }
    shares
}

/// A text cut to `len` characters, at the end of a word where there is one.
fn cut(text: &str, len: usize) -> String {
    if text.chars().count() <= len {
        return text.to_owned();
    }
    let head: String = text.chars().take(len.saturating_sub(1)).collect();
    let ends_word = text.chars().nth(len.saturating_sub(1)).is_some_and(char::is_whitespace);
    let end = if ends_word { head.len() } else { head.rfind(char::is_whitespace).unwrap_or(head.len()) };
    let kept = head[..end].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '—' | '-'));
    format!("{}…", if kept.is_empty() { &head } else { kept })
}

/// What a compressor is asked: to say in one line what these lines say of these sessions.
pub(crate) fn prompt(reference: &str, lines: &[&str], tier: Tier) -> String {
    let limit = limit(tier);
    let mut prompt = format!(
        "Below is what an agent noted at the end of its sessions ({reference}), an entry a line.\n\
         Say it in one line of at most {limit} characters, for the same agent to read in later sessions.\n\
         Keep names, numbers, decisions and what is unfinished. Answer with the line alone.\n\n"
    );
    for line in lines {
        prompt.extend([line, "\n"]);
    }
    prompt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_and_long_texts_share_the_rest() {
        assert_eq!(shorten(&["a", "", "b c"], 20), "a; b c");
        assert_eq!(shorten(&["one two three four five six", "seven"], 30), "one two three four…; seven");
        let long = "word ".repeat(100);
        let texts = vec![long.trim(); 20];
        let short = shorten(&texts, 120);
        assert!(short.starts_with("(15 more) word word word word…; ") && short.chars().count() <= 120, "{short}");
        assert_eq!(shorten(&["nothing-to-cut-at-in-here"], 10), "nothing-t…");
    }

    #[test]
    fn no_text_is_longer_than_it_may_be() {
        for limit in 1..60 {
            for texts in [&["ünï cödé — x"; 3][..], &["abc def ghi jkl mno pqr stu vwx"], &["a"; 40]] {
                let short = shorten(texts, limit);
                assert!(short.chars().count() <= limit || texts.len() == 40, "{limit}: {short}");
            }
        }
    }
}
