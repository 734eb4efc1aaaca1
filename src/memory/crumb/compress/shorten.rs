//! Shortening texts: by rule, or by a prompt to the user's compressor command.

use crate::memory::crumb::compress::tier::Tier;

/// The limit of the text for one session, in characters.
const WARM_LEN: usize = 120;
/// The limit of the text for all cold sessions, in characters.
const COLD_LEN: usize = 240;
/// A text that would get fewer characters than this is omitted.
const LEAST_LEN: usize = 20;

pub(crate) fn limit(tier: Tier) -> usize {
    match tier {
        Tier::Hot => usize::MAX,
        Tier::Warm => WARM_LEN,
        Tier::Cold => COLD_LEN,
    }
}

/// Joins texts, oldest first, into one of at most `limit` characters.
///
/// Short texts stay complete. Long texts are cut at a word, and share the remaining characters. If there are too few
/// characters for all texts, the oldest are omitted and counted.
pub(crate) fn shorten(texts: &[&str], limit: usize) -> String {
    let texts: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
    // Each text takes at least one character and its separator, so more than this many cannot fit.
    let first = texts.len().saturating_sub(limit / 3 + 1);
    for omitted in first..texts.len() {
        let kept = &texts[omitted..];
        let is_last = kept.len() == 1;
        let mut prefix = if omitted == 0 { String::new() } else { format!("({omitted} more) ") };
        // The last text is worth more than the count of omitted ones.
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

/// The share of `room` that each text gets: its length, up to an equal part of what remains.
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

/// A text cut to `len` characters, at the end of a word if possible.
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

/// The prompt for a compressor: to summarize the lines of these sessions in one line.
pub(crate) fn prompt(reference: &str, lines: &[&str], tier: Tier) -> String {
    let limit = limit(tier);
    let mut prompt = format!(
        "Below are the notes that an agent wrote at the end of its sessions ({reference}), one entry per line.\n\
         Summarize them in one line of at most {limit} characters, for the same agent to read in later sessions.\n\
         Keep names, numbers, decisions, and unfinished work. Answer with the line only.\n\n"
    );
    for line in lines {
        prompt.extend([line, "\n"]);
    }
    prompt
}
