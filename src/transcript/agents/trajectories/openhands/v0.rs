//! Events of V0.

use std::borrow::Cow;

use super::add_image;
use crate::tokens::TokenUsage;
use crate::trace::change::bulk::Removal;
use crate::trace::model::item::Role;
use crate::transcript::read::builder::{EntryBuilder, call_arguments, freeform};
use crate::transcript::read::dialect::{Session, add_usage, role};
use crate::transcript::read::header::is_listed;
use crate::transcript::read::json;
use crate::transcript::read::object::Object;

pub(super) fn read<'a>(
    session: &mut Session,
    builder: &mut EntryBuilder,
    kind: &str,
    event: &Object<'a>,
) -> Option<Cow<'a, str>> {
    let (metadata, args) = (event.object("tool_call_metadata"), event.object("args"));
    let response = metadata.object("model_response");
    let source = event.text("source").unwrap_or_default();
    let speaker = role(&source).unwrap_or(Role::System);
    let number = |name| event.get(name).map(|number| Cow::Borrowed(number.get()));
    if event.has("observation") {
        let failed = event.get("success").map(|_| !event.is_true("success"));
        let failed = if is_listed(kind, "error user_rejected") { Some(true) } else { failed };
        let id = metadata.text("tool_call_id").or_else(|| number("cause"));
        let is_answer = id.as_deref().is_some_and(|id| session.knows_call(id)) || metadata.has("tool_call_id");
        if is_answer {
            session.result(builder, id, failed, event.get("content"));
        } else if kind == "recall" {
            let added = event.get("extras").map_or_else(Vec::new, |extras| extras.get().into());
            builder.push(freeform(kind, Some(Role::User)), added);
        } else {
            builder.removal = Some(Removal::Interface);
            builder.push(freeform(kind, None), event.text("content").unwrap_or_default().into_owned());
        }
        return None;
    }
    if speaker == Role::Assistant {
        session.set_model(response.text("model"));
        builder.add_meta("model", session.model.clone().filter(|_| kind != "system"));
    }
    let text = args.any_text(&["content", "thought"]).unwrap_or_default();
    match kind {
        "system" => session.text(builder, Role::System, &text),
        "message" => {
            session.text(builder, speaker, &text);
            for url in args.list("image_urls").into_iter().filter_map(json::text) {
                add_image(builder, &url, speaker);
            }
        }
        _ if speaker == Role::Assistant => {
            let thought = args.text("thought").unwrap_or_default();
            session.text(builder, Role::Assistant, &thought);
            let id = metadata.text("tool_call_id");
            let exact = id.as_deref().and_then(|id| arguments(&response, id));
            let arguments = exact.unwrap_or_else(|| call_arguments(event.get("args")));
            let name = metadata.text("function_name").unwrap_or_else(|| kind.to_owned().into());
            session.call(builder, id.or_else(|| number("id")), Some(name), arguments);
        }
        _ => {
            let args = event.get("args").map_or_else(Vec::new, |args| args.get().into());
            builder.push(freeform(kind, Some(speaker)), args);
        }
    }
    // Each call of a response repeats the response.
    let of = response.text("id");
    if of.is_none() || session.notes.first().map(String::as_str) != of.as_deref() {
        let usage = response.object("usage");
        let cached = usage.object("prompt_tokens_details").count("cached_tokens");
        let [prompt, answer] = ["prompt_tokens", "completion_tokens"].map(|name| usage.count(name));
        add_usage(&mut builder.entries, TokenUsage::of_prompt(prompt, cached, answer));
    }
    session.notes = of.iter().map(std::string::ToString::to_string).collect();
    of
}

/// The arguments of a call as the model wrote them.
fn arguments(response: &Object<'_>, id: &str) -> Option<Vec<u8>> {
    let choice = Object::of(response.list("choices").first()?);
    let calls = choice.object("message").list("tool_calls");
    let call = calls.into_iter().map(Object::of).find(|call| call.text("id").is_some_and(|own| own == id))?;
    call.object("function").get("arguments").map(|arguments| call_arguments(Some(arguments)))
}
