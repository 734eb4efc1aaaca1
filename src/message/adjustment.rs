//! What could not be sent to a provider unchanged, and why.

use crate::base::string_enum::string_enum;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct BlockPosition {
    pub message: usize,
    pub block: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Adjustment {
    pub position: BlockPosition,
    pub reason: AdjustmentReason,
}

string_enum! {
    /// Why a block is not sent unchanged; see [`AdjustmentReason::describe`].
    AdjustmentReason {
        CallWithoutResult = "call_without_result",
        ResultWithoutCall = "result_without_call",
        UnsignedReasoning = "unsigned_reasoning",
        ForeignReasoning = "foreign_reasoning",
        ChangedBefore = "changed_before_reasoning",
        LastReasoning = "nothing_after_reasoning",
        Blank = "blank",
        SystemAsUser = "system_amid_conversation",
        MediaAsText = "media_not_taken",
        MediaAsUser = "media_from_user_only",
        NameNotSent = "name_not_taken",
        CallId = "call_id",
        ToolName = "tool_name",
        Arguments = "arguments_not_an_object",
        Opening = "model_speaks_first",
        LastSpace = "space_at_the_end",
    }
}

string_enum! {
    Replacement { AsText = "text", LeftOut = "left_out", Adjusted = "adjusted" }
}

impl AdjustmentReason {
    pub(crate) fn replacement(self) -> Replacement {
        self.about().0
    }

    /// What happened and why, as a message for the user that follows the item's id.
    pub(crate) fn describe(self) -> &'static str {
        self.about().1
    }

    fn about(self) -> (Replacement, &'static str) {
        use Replacement::{Adjusted, AsText, LeftOut};
        match self {
            Self::CallWithoutResult => (AsText, "sent as text: a call without a result"),
            Self::ResultWithoutCall => (AsText, "sent as text: a result without its call"),
            Self::UnsignedReasoning => (AsText, "sent as text: reasoning without a signature"),
            Self::ForeignReasoning => (LeftOut, "left out: reasoning that this provider did not sign"),
            Self::ChangedBefore => (LeftOut, "left out: reasoning signed over a context that has changed since"),
            Self::LastReasoning => (LeftOut, "left out: reasoning that nothing follows"),
            Self::Blank => (LeftOut, "left out: only white space"),
            Self::SystemAsUser => (AsText, "sent as a user message: a system message inside the conversation"),
            Self::MediaAsText => (AsText, "only named: the provider does not accept this media type"),
            Self::MediaAsUser => (Adjusted, "sent as a user message: only users send files"),
            Self::NameNotSent => (Adjusted, "sent without its name"),
            Self::CallId => {
                (Adjusted, "sent with another call id: the provider does not accept this one, or another call has it")
            }
            Self::ToolName => (Adjusted, "sent with another tool name: the provider does not accept this one"),
            Self::Arguments => (Adjusted, "wrapped: the arguments are not a JSON object"),
            Self::Opening => (Adjusted, "sent after an added user message: the model cannot come first"),
            Self::LastSpace => (Adjusted, "sent without trailing white space"),
        }
    }
}
