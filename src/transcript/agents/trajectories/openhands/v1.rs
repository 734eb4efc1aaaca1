//! Events of V1.

use super::add_image;
use crate::tokens::TokenUsage;
use crate::trace::change::bulk::Removal;
use crate::trace::model::item::Role;
use crate::transcript::read::builder::{EntryBuilder, call_arguments, freeform};
use crate::transcript::read::dialect::{Session, add_usage, key, role};
use crate::transcript::read::json;
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::Output;

pub(super) fn read(
    session: &mut Session,
    builder: &mut EntryBuilder,
    (kind, event): (&str, &Object<'_>),
    output: &Output,
) {
    let id = event.text("tool_call_id");
    match kind {
        "SystemPromptEvent" => {
            for text in ["system_prompt", "dynamic_context"].iter().filter_map(|name| event.get(name)) {
                session.content(builder, Role::System, text);
            }
        }
        "MessageEvent" => {
            let message = event.object("llm_message");
            let role = message.text("role").and_then(|word| role(&word)).unwrap_or(Role::User);
            if role == Role::Assistant {
                builder.add_meta("model", session.model.clone());
                session.thoughts(builder, &message);
            }
            for raw in [message.get("content"), event.get("extended_content")].into_iter().flatten() {
                session.content(builder, role, raw);
            }
            for url in message.list("content").into_iter().flat_map(|part| Object::of(part).list("image_urls")) {
                if let Some(url) = json::text(url) {
                    add_image(builder, &url, role);
                }
            }
            use_usage(session, builder, role);
        }
        "ActionEvent" => {
            builder.add_meta("model", session.model.clone());
            session.thoughts(builder, event);
            let thought = event.text("reasoning_content").unwrap_or_default();
            for text in event.list("thought").into_iter().filter_map(|part| Object::of(part).text("text")) {
                session.text(builder, Role::Assistant, without_thought(&text, &thought));
            }
            let call = event.object("tool_call");
            let function = call.object("function");
            let arguments = call.get("arguments").or_else(|| function.get("arguments")).or_else(|| event.get("action"));
            session.call(builder, id, event.text("tool_name"), call_arguments(arguments));
            use_usage(session, builder, Role::Assistant);
        }
        "ObservationEvent" => {
            let raw = event.get("observation");
            let seen = raw.map(Object::of).unwrap_or_default();
            let failed = seen.has("is_error").then(|| seen.is_true("is_error"));
            session.result(builder, id, failed, seen.get("content").or(raw));
            event.get("extended_content").iter().for_each(|raw| session.content(builder, Role::User, raw));
        }
        "AgentErrorEvent" | "UserRejectObservation" => {
            session.result(builder, id, Some(true), event.any(&["error", "rejection_reason"]));
        }
        "Condensation" | "CondensationSummaryEvent" => {
            let forgotten: Vec<u64> =
                event.list("forgotten_event_ids").into_iter().filter_map(|id| Some(key(&json::text(id)?))).collect();
            let summary = event.text("summary").unwrap_or_default();
            session.summary_of(builder, &summary, output, |key, _| !forgotten.contains(&key));
        }
        _ => {
            builder.removal = Some(Removal::Interface);
            let text = event.any_text(&["detail", "code"]).unwrap_or_default();
            builder.push(freeform(kind, None), text.into_owned());
        }
    }
}

/// The text without the thoughts in tags at its start that repeat the reasoning.
fn without_thought<'t>(text: &'t str, thought: &str) -> &'t str {
    let inner = text.trim_start().strip_prefix("<think>").and_then(|rest| rest.split_once("</think>"));
    match inner {
        Some((inner, rest)) if inner.trim() == thought.trim() => rest.trim_start(),
        _ => text,
    }
}

/// Notes what the next action used: the difference to the totals that were reported before.
pub(super) fn note_usage(session: &mut Session, event: &Object<'_>) {
    let models = event.object("value").object("usage_to_metrics");
    let mut total = TokenUsage::default();
    for metrics in models.names().filter(|name| *name != "condenser").map(|name| models.object(name)) {
        session.set_model(metrics.text("model_name"));
        let usage = metrics.object("accumulated_token_usage");
        let [prompt, cached, written, answer] =
            ["prompt_tokens", "cache_read_tokens", "cache_write_tokens", "completion_tokens"]
                .map(|name| usage.count(name));
        total.add(&TokenUsage {
            cache_write_tokens: written,
            ..TokenUsage::of_prompt(prompt.saturating_sub(written), cached, answer)
        });
    }
    let before = session.total_usage.replace(total).unwrap_or_default();
    session.pending_usage = Some(TokenUsage {
        input_tokens: total.input_tokens.saturating_sub(before.input_tokens),
        cache_read_tokens: total.cache_read_tokens.saturating_sub(before.cache_read_tokens),
        cache_write_tokens: total.cache_write_tokens.saturating_sub(before.cache_write_tokens),
        output_tokens: total.output_tokens.saturating_sub(before.output_tokens),
    });
}

fn use_usage(session: &mut Session, builder: &mut EntryBuilder, role: Role) {
    if role == Role::Assistant
        && let Some(usage) = session.pending_usage.take()
    {
        add_usage(&mut builder.entries, usage);
    }
}
