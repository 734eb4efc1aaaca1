//! Files with independent conversations: data sets for fine-tuning, and the exports of chat services.

pub(crate) mod chatgpt;
pub(crate) mod claude_ai;
pub(crate) mod message;
pub(crate) mod sharegpt;
mod tree;

use super::AgentFormat;
