//! The conversation: one card per message, and one per call with its results.

mod call;
mod change;
mod details;
mod own;
mod result;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use maud::{Markup, html};
use regex::Regex;

use self::call::{Call, Shape};
use super::data::{Data, SUMMARIZED, Text};
use super::folder::Folder;
use super::html::{color, number};
use super::text::{lines, markdown};
use crate::trace::model::calls::Calls;
use crate::trace::model::item::{Item, Role, Status};
use crate::trace::model::trailers::one_line;
use crate::trace::model::types::own_role;
use crate::trace::store::turns::{is_interruption, is_prompt, words};
use crate::trace::{ItemEntry, ItemId};

pub(crate) use self::details::setting_line;

/// The state of an item that nothing was done to.
const NORMAL: &str = "normal";
const PREVIEW: usize = 100;
/// Tags that a preview leaves out; an agent writes fewer before the first words.
const MAX_TAGS: usize = 16;
/// Lines of a result that are shown before the fold.
const SHOWN: usize = 12;
/// Bytes of an image that is shown, and of all images on a page.
const MAX_IMAGE: usize = 4 << 20;
const MAX_IMAGES: usize = 32 << 20;

/// A card: the item that has it, and the results of the call that it is. Neighbors that were removed together, and whose texts are
/// not on the page, are one card.
pub(crate) struct Card<'d> {
    pub(crate) entry: &'d ItemEntry,
    results: Vec<&'d ItemEntry>,
    /// Items before it that have nothing to show. Links to them lead to it.
    unseen: Vec<&'d ItemEntry>,
}

/// The cards of all items on the page, in reading order.
pub(crate) fn cards<'d>(data: &'d Data<'_>) -> Vec<Card<'d>> {
    let mut calls = Calls::default();
    let mut card_of_call: HashMap<usize, usize> = HashMap::new();
    let mut card_of_result: HashMap<ItemId, usize> = HashMap::new();
    let mut cards: Vec<Card<'d>> = Vec::new();
    let mut unseen = Vec::new();
    for entry in data.entries() {
        if is_unseen(data, entry) {
            unseen.push(entry);
            continue;
        }
        let item = data.item(entry);
        let number = item.and_then(|item| calls.number_of(item).map(|number| (number, item)));
        let result = item.and_then(|item| card_of_result.get(&item.fields.reply_to?)).filter(|_| number.is_none());
        if let Some(card) = result {
            cards[*card].results.push(entry);
            continue;
        }
        match number {
            Some((number, item)) if item.fields.is_result() && card_of_call.contains_key(&number) => {
                let card = card_of_call[&number];
                cards[card].results.push(entry);
                card_of_result.insert(entry.id, card);
                continue;
            }
            Some((number, item)) if item.fields.is_call() => _ = card_of_call.insert(number, cards.len()),
            None if cards.last().is_some_and(|card| data.are_gone_together(card.entry, entry)) => {
                cards.last_mut().into_iter().for_each(|card| card.results.push(entry));
                continue;
            }
            _ => {}
        }
        cards.push(Card { entry, results: Vec::new(), unseen: std::mem::take(&mut unseen) });
    }
    match cards.last_mut() {
        Some(card) => card.unseen.append(&mut unseen),
        None => cards.extend(unseen.into_iter().map(|entry| Card { entry, results: Vec::new(), unseen: Vec::new() })),
    }
    cards
}

/// Whether an item has nothing to show: a blank text, or a title, which the page has at its top.
fn is_unseen(data: &Data<'_>, entry: &ItemEntry) -> bool {
    match data.item(entry) {
        Some(item) => {
            item.body.trim_ascii().is_empty()
                && item.revision == 1
                && !item.fields.is_call()
                && !item.fields.is_result()
                && data.state(entry) == NORMAL
        }
        None => data.removal(entry.id).is_some_and(|step| step.tip.trailers.reason.as_deref() == Some("title")),
    }
}

/// Renders the cards, each with its anchor.
pub(crate) fn render(data: &Data<'_>, cards: &[Card<'_>], folder: &Folder) -> Vec<(String, Markup)> {
    let mut images = MAX_IMAGES;
    cards.iter().map(|card| (data.anchor(card.entry), card.render(data, folder, &mut images))).collect()
}

impl Card<'_> {
    pub(crate) fn entries(&self) -> impl Iterator<Item = &ItemEntry> {
        std::iter::once(self.entry).chain(self.results.iter().copied())
    }

    pub(crate) fn tokens(&self, data: &Data<'_>) -> u64 {
        self.entries().map(|entry| data.cost(entry.blob)).sum()
    }

    pub(crate) fn tool(&self, data: &Data<'_>) -> Option<String> {
        let item = data.item(self.entry).filter(|_| self.entry.item_type.as_str() == "tool_io")?;
        Some(data.redactor.text(item.fields.name.as_deref()?).into_owned())
    }

    fn render(&self, data: &Data<'_>, folder: &Folder, images: &mut usize) -> Markup {
        let entry = self.entry;
        let item = data.item(entry);
        let call = item.filter(|item| item.fields.is_call());
        let call = call.map(|item| Call::of(item, &self.answer(data), folder, &data.redactor));
        let state = data.state(entry);
        // Without the attribute, the state is normal: most cards are.
        let mut states = vec![state];
        states.extend(self.results.iter().map(|result| data.state(result)).filter(|other| *other != state));
        let states = Some(states).filter(|states| states[..] != [NORMAL]).map(|states| states.join(" "));
        let cost = self.tokens(data);
        let is_interruption = item.is_some_and(is_interruption);
        let replaced = data.replaced(entry.id);
        let is_prompt = item.is_some_and(is_prompt);
        html! {
            article.card.prompt[is_prompt].thin[is_interruption].summary[item.is_some_and(is_summary)]
                .(color(entry.item_type.as_str())).(state)[state != NORMAL]
                id=(data.anchor(entry)) data-type=(entry.item_type) data-state=[states] data-tool=[self.tool(data)]
                data-plain[call.as_ref().is_some_and(|call| call.is_plain)] {
                @for unseen in &self.unseen { span id=(data.anchor(unseen)) {} }
                @if is_prompt { @if let Some(replaced) = replaced {
                    p.note { "Context cleared for the plan · " (number(replaced.ids.len())) " items" }
                } }
                header {
                    b { bdi { (self.label(data)) } }
                    @if let Some(call) = &call {
                        @if let Some(badge) = &call.badge { span.badge { (badge) } }
                        @if !call.title.is_empty() { span.arg { bdi { (call.title) } } }
                    }
                    @if let Some(replaced) = replaced.filter(|_| !is_prompt) {
                        span.reason {
                            (number(replaced.ids.len())) " items, " (number(replaced.tokens)) " → " (number(cost)) " tokens"
                        }
                    }
                    (badges(data, entry, item))
                    @if item.is_none() { span.reason { (details::removal(data, entry)) } }
                    span.tokens { (number(cost)) }
                    @if let Some(time) = details::when(data, entry) { time { (time) } }
                    a.seq href={ "#" (data.anchor(entry)) } {
                        "#" (entry.seq)
                        @if let Some(last) = self.results.last().filter(|_| item.is_none()) { "–#" (last.seq) }
                    }
                }
                (details::notes(data, entry))
                @if let Some(item) = item.filter(|_| !is_interruption) {
                    @match &call {
                        Some(call) => (call.body),
                        None => (body(data, item, images)),
                    }
                    (details::edits(data, entry))
                }
                @for result in &self.results { (self.result(data, call.as_ref(), result, images)) }
                (details::fields(data, entry, &self.results, |result| self.is_folded(data, call.as_ref(), result)))
            }
        }
    }

    /// The first word of the header: who speaks, or what the item is.
    fn label(&self, data: &Data<'_>) -> String {
        let item = data.item(self.entry);
        match self.results.len() {
            more @ 1.. if item.is_none() => format!("{} items", number(more + 1)),
            _ => label(data, self.entry, item),
        }
    }

    /// The texts of the results.
    fn answer(&self, data: &Data<'_>) -> String {
        let texts = self.results.iter().filter_map(|result| std::str::from_utf8(&data.item(result)?.body).ok());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Whether a result only confirms its call. Its text is among the details.
    fn is_folded(&self, data: &Data<'_>, call: Option<&Call>, result: &ItemEntry) -> bool {
        let confirms = call.is_some_and(|call| matches!(call.shape, Shape::Change | Shape::Answer));
        let is_ok = |item: &Item| item.fields.status.is_none_or(|status| status == Status::Ok);
        confirms
            && data.state(result) == data.state(self.entry)
            && data.item(result).is_some_and(|item| item.revision == 1 && item.fields.is_result() && is_ok(item))
    }

    fn result(&self, data: &Data<'_>, call: Option<&Call>, entry: &ItemEntry, images: &mut usize) -> Markup {
        let item = data.item(entry);
        let is_plain = data.state(entry) == data.state(self.entry);
        if data.item(self.entry).is_none() || self.is_folded(data, call, entry) {
            return html! { span.result id=(data.anchor(entry)) {} };
        }
        html! {
            div.result.(data.state(entry))[data.state(entry) != NORMAL] id=(data.anchor(entry)) {
                @let (state, facts) = (state_badge(data, entry), fact_badges(item));
                @if !is_plain || !facts.0.is_empty() {
                    p.note { @if !is_plain { (state) } (facts) @if item.is_none() { (details::removal(data, entry)) } }
                }
                @if !is_plain { (details::notes(data, entry)) }
                @if let Some(item) = item {
                    @if std::str::from_utf8(&item.body).is_err() {
                        (image(data, item, images))
                    } @else {
                        (result::body(item, call.map_or(Shape::Other, |call| call.shape), &data.redactor))
                    }
                    (details::edits(data, entry))
                }
            }
        }
    }
}

fn is_summary(item: &Item) -> bool {
    ["compact_summary", "stands_for"].iter().any(|key| item.fields.meta.contains_key(*key)) && !is_prompt(item)
}

/// Who speaks, or what the item is.
fn label(data: &Data<'_>, entry: &ItemEntry, item: Option<&Item>) -> String {
    let Some(item) = item else { return entry.item_type.to_string() };
    let fields = &item.fields;
    let named = |what: &str, name: &Option<String>| match name {
        Some(name) if what.is_empty() => data.redactor.text(name).into_owned(),
        Some(name) => format!("{what} {}", data.redactor.text(name)),
        None => what.to_owned(),
    };
    match (entry.item_type.as_str(), own_role(fields)) {
        ("dialogue" | "freeform", _) if is_summary(item) => {
            match (fields.meta.contains_key("compact_summary"), data.replaced(entry.id)) {
                (_, None) => "Summary",
                (true, _) => "Compacted",
                (false, _) => "Compressed",
            }
            .to_owned()
        }
        ("dialogue", _) if is_interruption(item) => "Interrupted by the user".to_owned(),
        ("dialogue", Some(Role::User)) => named("User", &fields.name),
        ("dialogue", Some(Role::Assistant)) => named("Assistant", &fields.name),
        ("dialogue", _) => named("System", &fields.name),
        ("instruction", _) => named("Instruction", &fields.name),
        ("reasoning", _) => "Thinking".to_owned(),
        ("tool_io", _) if fields.is_call() => named("", &fields.name),
        ("tool_io", _) => named("Result of", &fields.name),
        ("artifact", _) if image_type(item).is_some() => named("Image", &fields.path),
        (other, _) => named(other, &fields.path.clone().or_else(|| fields.name.clone())),
    }
}

fn badges(data: &Data<'_>, entry: &ItemEntry, item: Option<&Item>) -> Markup {
    html! { (state_badge(data, entry)) (fact_badges(item)) }
}

fn state_badge(data: &Data<'_>, entry: &ItemEntry) -> Markup {
    let state = data.state(entry);
    html! {
        @match data.summary(entry.id).filter(|_| state == SUMMARIZED) {
            Some(summary) => { a.badge.(state) href={ "#" (summary) } { (state) } " " },
            None if state != NORMAL => { span.badge.(state) { (state) } " " },
            None => {},
        }
    }
}

fn fact_badges(item: Option<&Item>) -> Markup {
    html! {
        @if let Some(item) = item {
            @if item.revision > 1 { span.badge { "revision " (number(item.revision)) } " " }
            @if let Some(status) = item.fields.status.filter(|status| status.as_str() != "ok") {
                span.badge.failed {
                    @if result::rejection(item).is_some() { "rejected" } @else { (status.as_str()) }
                } " "
            }
        }
    }
}

fn body(data: &Data<'_>, item: &Item, images: &mut usize) -> Markup {
    let Ok(text) = std::str::from_utf8(&item.body) else { return image(data, item, images) };
    let fields = &item.fields;
    let role = own_role(fields);
    let is_folded = match fields.item_type.as_str() {
        "reasoning" | "instruction" => true,
        "dialogue" => {
            !matches!(role, Some(Role::User | Role::Assistant))
                || role == Some(Role::User) && !is_prompt(item)
                || is_summary(item)
        }
        _ => is_summary(item),
    };
    html! {
        @if is_folded {
            details.fold { summary { bdi { (preview(item)) } } (markdown(text)) }
        } @else if fields.is_result() {
            (result::body(item, Shape::Other, &data.redactor))
        } @else if fields.item_type.as_str() == "artifact" {
            (lines(text, "file", SHOWN))
        } @else if let Some(json) = result::json(text) {
            (json)
        } @else if is_prompt(item) {
            (markdown(&words(item)))
        } @else if text.trim().is_empty() {
            p.note { "white space only" }
        } @else {
            (markdown(text))
        }
    }
}

fn image_type(item: &Item) -> Option<&'static str> {
    use imagesize::ImageType;
    match imagesize::image_type(&item.body) {
        Ok(ImageType::Png) => Some("image/png"),
        Ok(ImageType::Jpeg) => Some("image/jpeg"),
        Ok(ImageType::Gif) => Some("image/gif"),
        Ok(ImageType::Webp) => Some("image/webp"),
        _ => None,
    }
}

/// An image within the page, if it is one that browsers show, and is not too large.
fn image(data: &Data<'_>, item: &Item, images: &mut usize) -> Markup {
    let fits = item.body.len() <= MAX_IMAGE.min(*images);
    let name = data.redactor.text(&preview(item)).into_owned();
    html! {
        @if let Some(media_type) = image_type(item).filter(|_| fits) {
            @let () = *images -= item.body.len();
            img src={ "data:" (media_type) ";base64," (BASE64.encode(&item.body)) } alt=(name) loading="lazy";
        }
        p.note { (name) }
    }
}

pub(crate) fn preview(item: &Item) -> String {
    match std::str::from_utf8(&item.body) {
        Ok(text) => {
            let text = if is_prompt(item) { words(item) } else { untagged(text.trim_start()) };
            let end = text.char_indices().nth(PREVIEW * 2).map_or(text.len(), |(end, _)| end);
            let line = one_line(&text[..end]);
            let is_cut = end < text.len() || line.chars().count() > PREVIEW;
            line.chars().take(PREVIEW).chain(is_cut.then_some('…')).collect()
        }
        Err(_) => format!("{}, {}", item.fields.media_type.as_deref().unwrap_or("binary"), size(item.body.len())),
    }
}

fn size(bytes: usize) -> String {
    if bytes < 10_000 { format!("{} bytes", number(bytes)) } else { format!("{} kB", number(bytes / 1_000)) }
}

/// A text that an agent wrote between tags, such as `<command-name>/init</command-name>`, without the tags at its start.
fn untagged(text: &str) -> Cow<'_, str> {
    static TAG: LazyLock<Regex> = LazyLock::new(|| Regex::new("</?[a-z][a-z-]*>").expect("it is valid"));
    if text.starts_with('<') { TAG.replacen(text, MAX_TAGS, " ") } else { Cow::Borrowed(text) }
}

/// The text of an item in one line, for a list.
pub(crate) fn preview_of(data: &Data<'_>, entry: &ItemEntry) -> Option<String> {
    let Some(Text { item: Some(item), .. }) = data.text(entry.blob).filter(|_| data.shows_text(entry)) else {
        return None;
    };
    Some(preview(item))
}
