//! URLs of external references.

use regex::Regex;

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
        // `2509.13313`, `2509.13313v2`, or the older `math/0211159`.
        let is_arxiv = matches(r"^([0-9]{4}\.[0-9]{4,5}|[A-Za-z.-]+/[0-9]{7})(v[0-9]+)?$", id);
        return is_arxiv.then(|| format!("https://arxiv.org/abs/{id}"));
    }
    let doi = strip_prefix(text, &lower, "doi:").unwrap_or(text);
    let doi = strip_prefix(doi, &doi.to_ascii_lowercase(), "doi.org/").unwrap_or(doi);
    // A DOI is `10.` with a registrant of at least four digits, a slash, and anything.
    matches(r"^10\.[0-9.]{4,}/\S+$", doi).then(|| format!("https://doi.org/{}", percent_encoded(doi)))
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

fn matches(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text))
}

fn percent_encoded(text: &str) -> String {
    let encode = |b: u8| match b {
        _ if b.is_ascii_alphanumeric() || b"-._~/:;()@!$&'*+,=".contains(&b) => char::from(b).to_string(),
        _ => format!("%{b:02X}"),
    };
    text.bytes().map(encode).collect()
}
