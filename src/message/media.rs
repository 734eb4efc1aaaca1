//! Media types, base64, and data URLs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// The media types that every provider accepts from users.
pub(super) const IMAGES_AND_PDF: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "application/pdf"];

/// The media type by the first bytes, else as declared: providers reject an image that is not what it claims to be.
pub(super) fn media_type<'a>(bytes: &[u8], declared: Option<&'a str>) -> Option<&'a str> {
    sniffed(bytes).or_else(|| declared.map(|declared| declared.split(';').next().unwrap_or(declared).trim()))
}

fn sniffed(bytes: &[u8]) -> Option<&'static str> {
    const STARTS: [(&[u8], &str); 5] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"%PDF-", "application/pdf"),
    ];
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some("image/webp");
    }
    STARTS.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, media_type)| *media_type)
}

/// `data:image/png;base64,…`
pub(super) fn data_url(media_type: &str, bytes: &[u8]) -> String {
    let mut url = format!("data:{media_type};base64,");
    BASE64.encode_string(bytes, &mut url);
    url
}

pub(super) fn from_data_url(url: &str) -> Option<(String, Vec<u8>)> {
    let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    Some((media_type.to_owned(), BASE64.decode(data).ok()?))
}

pub(super) fn base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text).ok()
}

pub(super) fn file_name<'a>(path: Option<&'a str>, media_type: &str) -> &'a str {
    let last = path.and_then(|path| path.rsplit(['/', '\\']).next()).filter(|name| !name.is_empty());
    last.unwrap_or(if media_type == "application/pdf" { "document.pdf" } else { "file" })
}
