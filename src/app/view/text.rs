//! Texts as Markdown, and long texts with most lines folded.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

use super::html::number;

/// Bytes of a text that are shown; nobody reads more on a page.
const MAX_TEXT: usize = 1 << 18;
/// About how many characters of a line fit on the screen.
const WIDTH: usize = 100;
/// How deep quotes and lists may be nested. Browsers stop at some hundred elements.
const MAX_DEPTH: usize = 24;

/// The part of a text that is shown, and the number of bytes after it.
pub(crate) fn cut(text: &str) -> (&str, usize) {
    let end = (0..=MAX_TEXT.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    (&text[..end], text.len() - end)
}

/// A text as Markdown. HTML in it is text, images are links, and links lead only to the web and to mail.
pub(crate) fn markdown(text: &str) -> Markup {
    let (text, rest) = cut(text);
    html! {
        @if text.contains('\0') {
            pre { "\n" (text) }
        } @else {
            div.md dir="auto" { (PreEscaped(render(text))) }
        }
        (more(rest))
    }
}

/// Says how many bytes are not shown.
pub(crate) fn more(bytes: usize) -> Markup {
    html! { @if bytes > 0 { p.note { (number(bytes)) " more bytes are not shown" } } }
}

/// Lines as they are, after the first `shown` folded. A long line counts as the lines that it takes on the screen.
pub(crate) fn lines(text: &str, class: &'static str, shown: usize) -> Markup {
    let (text, rest) = cut(text.trim_end_matches(['\n', '\r']));
    html! {
        @match split(text, shown) {
            Some(at) => {
                @let (first, more) = text.split_at(at);
                // HTML ignores the first line break in `pre`.
                pre class=(class) dir="auto" { "\n" (first.strip_suffix('\n').unwrap_or(first)) }
                details.fold {
                    summary {
                        @match more.lines().count() {
                            1 => { (number(more.len())) " more characters" },
                            count => { (number(count)) " more lines" },
                        }
                    }
                    pre class=(class) dir="auto" { "\n" (more) }
                }
            }
            None => pre class=(class) dir="auto" { "\n" (text) },
        }
        (more(rest))
    }
}

/// Where the fold of a text begins, if it has one.
fn split(text: &str, shown: usize) -> Option<usize> {
    let (mut at, mut start, mut count) = (None, 0, 0_usize);
    for line in text.split_inclusive('\n') {
        let rows = line.len().div_ceil(WIDTH).max(1);
        if at.is_none() && count + rows > shown {
            let inside = || (start + shown * WIDTH..text.len()).find(|end| text.is_char_boundary(*end));
            at = if count == 0 && shown > 0 { inside() } else { Some(start) };
        }
        (start, count) = (start + line.len(), count + rows);
        // A fold for a few lines is more effort than the lines.
        if count > shown.saturating_add(4) {
            return at;
        }
    }
    None
}

fn render(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut html = String::with_capacity(text.len() + text.len() / 4);
    let mut safe = Safe::default();
    let events = Parser::new_ext(text, options).filter_map(|event| safe.event(event));
    pulldown_cmark::html::push_html(&mut html, events);
    html
}

/// Leaves only what may be on the page.
#[derive(Default)]
struct Safe {
    /// The nested quotes and lists: whether each is shown as one.
    containers: Vec<bool>,
    /// Where the open links and images lead, if they are not links on the page.
    links: Vec<Option<String>>,
}

impl Safe {
    fn event<'t>(&mut self, event: Event<'t>) -> Option<Event<'t>> {
        Some(match event {
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            Event::Start(tag) => Event::Start(match tag {
                Tag::HtmlBlock => Tag::Paragraph,
                Tag::Heading { level, .. } => {
                    Tag::Heading { level: below(level), id: None, classes: Vec::new(), attrs: Vec::new() }
                }
                Tag::CodeBlock(kind) => Tag::CodeBlock(language(kind)),
                // Alignments would be inline styles, which the policy of the page does not allow.
                Tag::Table(columns) => Tag::Table(vec![pulldown_cmark::Alignment::None; columns.len()]),
                Tag::BlockQuote(_) | Tag::List(_) | Tag::Item => {
                    self.containers.push(self.containers.len() < MAX_DEPTH);
                    return self.containers.last().is_some_and(|shown| *shown).then_some(Event::Start(match tag {
                        Tag::BlockQuote(_) => Tag::BlockQuote(None),
                        tag => tag,
                    }));
                }
                Tag::Link { link_type, dest_url, id, .. } => {
                    let leads = link_type == LinkType::Email || is_web(&dest_url);
                    self.links.push((!leads).then(|| dest_url.to_string()));
                    return leads.then_some(Event::Start(Tag::Link {
                        link_type,
                        dest_url,
                        title: CowStr::from(""),
                        id,
                    }));
                }
                Tag::Image { dest_url, .. } => {
                    self.links.push(Some(dest_url.to_string()));
                    return Some(Event::Text(CowStr::from("image: ")));
                }
                tag => tag,
            }),
            Event::End(end) => Event::End(match end {
                TagEnd::HtmlBlock => TagEnd::Paragraph,
                TagEnd::Heading(level) => TagEnd::Heading(below(level)),
                TagEnd::BlockQuote(_) => return self.containers.pop()?.then_some(Event::End(TagEnd::BlockQuote(None))),
                TagEnd::List(_) | TagEnd::Item => return self.containers.pop()?.then_some(Event::End(end)),
                TagEnd::Link | TagEnd::Image => {
                    return match self.links.pop()? {
                        Some(dest) if dest.is_empty() => None,
                        Some(dest) => Some(Event::Text(CowStr::from(format!(" ({dest})")))),
                        None => Some(Event::End(TagEnd::Link)),
                    };
                }
                end => end,
            }),
            event => event,
        })
    }
}

fn is_web(dest: &str) -> bool {
    ["https://", "http://", "mailto:"]
        .iter()
        .any(|scheme| dest.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// A heading in a message is below those of the page.
fn below(level: HeadingLevel) -> HeadingLevel {
    HeadingLevel::try_from((level as usize + 2).min(6)).unwrap_or(HeadingLevel::H6)
}

/// The language of a code block, if it is a word. It becomes a class.
fn language(kind: CodeBlockKind<'_>) -> CodeBlockKind<'_> {
    match kind {
        CodeBlockKind::Fenced(info) => {
            let word = info.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '#' | '-')).next();
            CodeBlockKind::Fenced(CowStr::from(word.unwrap_or_default().to_owned()))
        }
        CodeBlockKind::Indented => CodeBlockKind::Indented,
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/app/view/text.rs"]
mod tests;
