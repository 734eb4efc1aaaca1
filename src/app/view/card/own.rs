//! Calls by which an agent talks to the user, or to another agent: questions, plans, and tasks.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::super::text::markdown;
use super::call::{Call, Shape, rest};
use crate::trace::model::arguments::Arguments;
use crate::trace::model::trailers::first_words;

/// `answer` is the text of the results.
pub(super) fn call(arguments: &Map<String, Value>, answer: &str) -> Option<Call> {
    let read = Arguments(arguments);
    if let Some(questions) = arguments.get("questions").and_then(Value::as_array) {
        let questions: Option<Vec<Question<'_>>> = questions.iter().map(|each| Question::of(each, answer)).collect();
        let body = html! { @for question in questions? { (question.render()) } };
        return Some(Call::new("", body, Shape::Answer));
    }
    if let Some(plan) = read.text(&["plan"]) {
        let body = html! { (markdown(plan)) (rest(arguments, &["plan"])) };
        return Some(Call::new("", body, Shape::Answer));
    }
    let (prompt, kind) = (read.text(&["prompt"])?, read.text(&["subagent_type", "agent_type"])?);
    let body = html! {
        details.fold { summary { bdi { (first_words(prompt.as_bytes())) } } (markdown(prompt)) }
        (rest(arguments, &["description", "prompt", "subagent_type", "agent_type"]))
    };
    let call = Call::new(read.text(&["description"]).unwrap_or_default(), body, Shape::Prose);
    Some(Call { badge: Some(kind.to_owned()), ..call })
}

struct Question<'q> {
    text: &'q str,
    header: Option<&'q str>,
    /// The name and the description of each.
    options: Vec<(&'q str, &'q str)>,
    answer: Option<&'q str>,
}

impl<'q> Question<'q> {
    fn of(question: &'q Value, answers: &'q str) -> Option<Self> {
        let text = |value: &'q Value, name: &str| value.get(name)?.as_str();
        let option =
            |option: &'q Value| Some((text(option, "label")?, text(option, "description").unwrap_or_default()));
        let (asked, options) = (text(question, "question")?, question.get("options")?.as_array()?);
        // The result is a sentence with each question and answer: `"Which one?"="The first"`.
        let answer = answers.split_once(&format!("\"{asked}\"=\"")).and_then(|(_, rest)| Some(rest.split_once('"')?.0));
        Some(Self {
            text: asked,
            header: text(question, "header"),
            options: options.iter().map(option).collect::<Option<_>>()?,
            answer,
        })
    }

    fn render(&self) -> Markup {
        let is_chosen = |label: &str| self.answer.is_some_and(|answer| answer.split(", ").any(|each| each == label));
        let is_own = !self.options.iter().any(|(label, _)| is_chosen(label));
        html! {
            @if let Some(header) = self.header { p.question { span.badge { (header) } } }
            (markdown(self.text))
            ul.tasks {
                @for (label, description) in &self.options {
                    li { (if is_chosen(label) { "☑" } else { "☐" }) " " b { (label) } " " span.dim { (description) } }
                }
                @if let Some(answer) = self.answer.filter(|_| is_own) { li { "☑ " (answer) } }
            }
        }
    }
}
