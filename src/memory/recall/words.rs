//! The words of a text, as the index and a query have them: in lower case, without English endings.
//!
//! `payTimeout_ms` gives `paytimeout_ms`, `pai`, `timeout`, and `ms`. Scripts without spaces, such as Chinese, give pairs of
//! neighboring characters.

use std::ops::Range;

/// Longer runs of letters, such as base64, are cut, or the index would consist of them.
const MAX_WORD_LEN: usize = 64;

/// Calls `visit` with the place and the stem of each word and of each part of an identifier.
pub(super) fn words(text: &str, visit: &mut dyn FnMut(Range<usize>, &str)) {
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match start {
            None if c.is_alphanumeric() => start = Some(at),
            Some(from) if !c.is_alphanumeric() && c != '_' => {
                parts(text, from..at, visit);
                start = None;
            }
            _ => {}
        }
    }
}

/// A word, and its parts if it has several.
fn parts(text: &str, word: Range<usize>, visit: &mut dyn FnMut(Range<usize>, &str)) {
    let mut found: Vec<Range<usize>> = Vec::new();
    let (mut last, mut has_pairs) = (Class::Other, false);
    let mut chars = text[word.clone()].char_indices().map(|(at, c)| (word.start + at, c)).peekable();
    while let Some((at, c)) = chars.next() {
        let class = Class::of(c);
        let end = at + c.len_utf8();
        match class {
            Class::Other => {}
            Class::Unspaced => {
                has_pairs = true;
                let next = chars.peek().filter(|(_, next)| Class::of(*next) == Class::Unspaced);
                if next.is_some() || last != Class::Unspaced {
                    found.push(at..next.map_or(end, |(at, next)| at + next.len_utf8()));
                }
            }
            // `HTTPServer` is `HTTP` and `Server`, `payTimeout` is `pay` and `Timeout`.
            Class::Upper if last == Class::Lower => found.push(at..end),
            Class::Upper if last == Class::Upper && chars.peek().is_some_and(|(_, next)| next.is_lowercase()) => {
                found.push(at..end);
            }
            Class::Upper | Class::Lower => match found.last_mut() {
                Some(part) if part.end == at && last != Class::Unspaced => part.end = end,
                _ => found.push(at..end),
            },
        }
        last = class;
    }
    let is_one = matches!(&found[..], [part] if *part == word);
    if !has_pairs && !is_one {
        stem(text, word, visit);
    }
    for part in found {
        stem(text, part, visit);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    /// Also digits, and letters without case.
    Lower,
    /// Part of a script that writes no spaces.
    Unspaced,
    Other,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            '\u{e00}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7af}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}' => Self::Unspaced,
            c if c.is_uppercase() => Self::Upper,
            c if c.is_alphanumeric() => Self::Lower,
            _ => Self::Other,
        }
    }
}

fn stem(text: &str, place: Range<usize>, visit: &mut dyn FnMut(Range<usize>, &str)) {
    let word = &text[place.clone()];
    let mut end = word.len().min(MAX_WORD_LEN);
    while !word.is_char_boundary(end) {
        end -= 1;
    }
    let mut lower = word[..end].to_lowercase();
    if lower.len() > 2 && lower.bytes().all(|b| b.is_ascii_lowercase()) {
        Stem(&mut lower).strip();
    }
    visit(place, &lower);
}

/// Endings with their replacements, where a vowel and a consonant are before them. Longer endings come first.
const DERIVED: [&str; 2] = [
    "ational ate tional tion enci ence anci ance izer ize abli able alli al entli ent eli e ousli ous ization ize ation ate \
     ator ate alism al iveness ive fulness ful ousness ous aliti al iviti ive biliti ble",
    "icate ic ative - alize al iciti ic ical ic ful - ness -",
];

/// Endings that are removed from longer words.
const REMOVED: &str = "ement ment ance ence able ible sion tion ant ent ism ate iti ous ive ize al er ic ou";

/// A word in ASCII letters, whose endings are removed by the rules of Porter (1980).
struct Stem<'w>(&'w mut String);

impl Stem<'_> {
    fn strip(&mut self) {
        if self.0.ends_with("sses") || self.0.ends_with("ies") {
            self.cut(2);
        } else if self.0.ends_with('s') && !self.0.ends_with("ss") {
            self.cut(1);
        }
        if self.0.ends_with("eed") {
            if self.measure(3) > 0 {
                self.cut(1);
            }
        } else if let Some(len) = ["ed", "ing"].into_iter().find(|end| self.0.ends_with(end)).map(str::len)
            && self.has_vowel(len)
        {
            self.cut(len);
            self.restore();
        }
        if self.0.ends_with('y') && self.has_vowel(1) {
            self.cut(1);
            self.0.push('i');
        }
        for table in DERIVED {
            let words: Vec<&str> = table.split(' ').collect();
            let rule = words.chunks(2).find(|rule| self.0.ends_with(rule[0]));
            if let Some([end, by]) = rule
                && self.measure(end.len()) > 0
            {
                self.cut(end.len());
                self.0.push_str(by.trim_start_matches('-'));
            }
        }
        if let Some(end) = REMOVED.split(' ').find(|end| self.0.ends_with(end)) {
            // Of `sion` and `tion`, the first letter belongs to the word.
            let len = end.len() - usize::from(end.ends_with("ion"));
            if self.measure(len) > 1 {
                self.cut(len);
            }
        }
        if self.0.ends_with('e') && (self.measure(1) > 1 || (self.measure(1) == 1 && !self.is_short(1))) {
            self.cut(1);
        }
        if self.0.ends_with("ll") && self.measure(1) > 1 {
            self.cut(1);
        }
    }

    /// Gives a word that has lost `ed` or `ing` the letter that it had before, or takes the one that was doubled.
    fn restore(&mut self) {
        let bytes = self.0.as_bytes();
        let is_doubled = matches!(bytes, [.., one, other] if one == other && !is_vowel(bytes, bytes.len() - 1));
        if ["at", "bl", "iz"].iter().any(|end| self.0.ends_with(end)) || (self.measure(0) == 1 && self.is_short(0)) {
            self.0.push('e');
        } else if is_doubled && !self.0.ends_with(['l', 's', 'z']) {
            self.cut(1);
        }
    }

    fn cut(&mut self, len: usize) {
        self.0.truncate(self.0.len() - len);
    }

    fn before(&self, end: usize) -> &[u8] {
        &self.0.as_bytes()[..self.0.len() - end]
    }

    fn has_vowel(&self, end: usize) -> bool {
        let word = self.before(end);
        (0..word.len()).any(|at| is_vowel(word, at))
    }

    /// How often a consonant follows a vowel, without the last `end` letters.
    fn measure(&self, end: usize) -> usize {
        let word = self.before(end);
        (1..word.len()).filter(|at| is_vowel(word, at - 1) && !is_vowel(word, *at)).count()
    }

    /// Whether the word ends like `hop`, without the last `end` letters.
    fn is_short(&self, end: usize) -> bool {
        let (word, len) = (self.before(end), self.before(end).len());
        len > 2
            && !is_vowel(word, len - 3)
            && is_vowel(word, len - 2)
            && !is_vowel(word, len - 1)
            && !matches!(word[len - 1], b'w' | b'x' | b'y')
    }
}

fn is_vowel(word: &[u8], at: usize) -> bool {
    match word[at] {
        b'a' | b'e' | b'i' | b'o' | b'u' => true,
        b'y' => at > 0 && !is_vowel(word, at - 1),
        _ => false,
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/recall/words.rs"]
mod tests;
