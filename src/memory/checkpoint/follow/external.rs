//! URLs of external references.

use std::fmt::Write as _;

/// The address for a URL, a DOI, or an arXiv id. Nothing is fetched.
///
/// Source: the resolvers that DOI (doi.org) and arXiv (arxiv.org/abs) specify for their identifiers.
pub(crate) fn address(reference: &str) -> Option<String> {
    let text = link_target(reference.trim());
    let lower = text.to_ascii_lowercase();
    if ["https://", "http://"].iter().any(|scheme| lower.starts_with(scheme) && lower.len() > scheme.len()) {
        let is_plain = !text.contains(|c: char| c.is_whitespace() || c.is_control());
        return is_plain.then(|| text.to_owned());
    }
    if let Some(id) = strip_prefix(text, &lower, "arxiv:") {
        return is_arxiv(id).then(|| format!("https://arxiv.org/abs/{id}"));
    }
    let doi = strip_prefix(text, &lower, "doi:").unwrap_or(text);
    let doi = strip_prefix(doi, &doi.to_ascii_lowercase(), "doi.org/").unwrap_or(doi);
    is_doi(doi).then(|| format!("https://doi.org/{}", percent_encoded(doi)))
}

fn strip_prefix<'t>(text: &'t str, lower: &str, prefix: &str) -> Option<&'t str> {
    lower.starts_with(prefix).then(|| text[prefix.len()..].trim())
}

/// The target of a Markdown link, or the text itself.
fn link_target(text: &str) -> &str {
    let inner = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).unwrap_or(text);
    let target = inner.strip_prefix('[').and_then(|rest| rest.strip_suffix(')')).and_then(|rest| rest.split_once("]("));
    target.map_or(inner, |(_, target)| target)
}

/// `2509.13313`, `2509.13313v2`, or the older `math/0211159`.
fn is_arxiv(id: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let unversioned = id.rsplit_once('v').filter(|(_, version)| digits(version)).map_or(id, |(id, _)| id);
    if let Some((month, number)) = unversioned.split_once('.')
        && digits(month)
        && month.len() == 4
        && digits(number)
    {
        return matches!(number.len(), 4 | 5);
    }
    unversioned.split_once('/').is_some_and(|(archive, number)| {
        let is_archive = archive.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'.'));
        !archive.is_empty() && is_archive && digits(number) && number.len() == 7
    })
}

/// `10.` with a registrant of at least four digits, a slash, and anything.
fn is_doi(text: &str) -> bool {
    let Some((registrant, suffix)) = text.strip_prefix("10.").and_then(|rest| rest.split_once('/')) else {
        return false;
    };
    let is_registrant = registrant.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    is_registrant && registrant.len() >= 4 && !suffix.is_empty() && !suffix.contains(char::is_whitespace)
}

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for b in text.bytes() {
        if b.is_ascii_alphanumeric() || b"-._~/:;()@!$&'*+,=".contains(&b) {
            encoded.push(char::from(b));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(encoded, "%{b:02X}");
        }
    }
    encoded
}

#[cfg(test)]
#[path = "../../../../tests/unit/checkpoint/external.rs"]
mod tests;
