//! What could not be sent to a provider unchanged, and why.

use crate::base::string_enum::string_enum;

/// The position of a block in a list of messages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct BlockPosition {
    pub message: usize,
    /// The index of the block in the message.
    pub block: usize,
}

/// A block that is not sent unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Adjustment {
    pub position: BlockPosition,
    /// The reason, which also determines what is sent instead.
    pub reason: AdjustmentReason,
}

string_enum! {
    /// Why a block is not sent unchanged.
    AdjustmentReason {
        /// A call without a result.
        CallWithoutResult = "call_without_result",
        /// A result without a call.
        ResultWithoutCall = "result_without_call",
        /// Reasoning without a signature.
        UnsignedReasoning = "unsigned_reasoning",
        /// Reasoning that another provider signed.
        ForeignReasoning = "foreign_reasoning",
        /// Reasoning whose signature is invalid because something before it changed.
        ChangedBefore = "changed_before_reasoning",
        /// Reasoning that nothing follows.
        LastReasoning = "nothing_after_reasoning",
        /// Only white space.
        Blank = "blank",
        /// A system message inside the conversation.
        SystemAsUser = "system_amid_conversation",
        /// A file of a media type that the provider does not accept.
        MediaAsText = "media_not_taken",
        /// A file that only a user may send.
        MediaAsUser = "media_from_user_only",
        /// A name that the provider does not accept.
        NameNotSent = "name_not_taken",
        /// A call id that the provider does not accept, or that two calls have.
        CallId = "call_id",
        /// A tool name that the provider does not accept.
        ToolName = "tool_name",
        /// Arguments that are not a JSON object.
        Arguments = "arguments_not_an_object",
        /// The first message is the model's.
        Opening = "model_speaks_first",
        /// White space at the end of the last message of the model.
        LastSpace = "space_at_the_end",
    }
}

string_enum! {
    /// What is sent instead of a block.
    Replacement {
        /// Text.
        AsText = "text",
        /// Nothing.
        LeftOut = "left_out",
        /// A slightly different block.
        Adjusted = "adjusted",
    }
}

impl AdjustmentReason {
    pub(crate) fn replacement(self) -> Replacement {
        match self {
            Self::CallWithoutResult
            | Self::ResultWithoutCall
            | Self::UnsignedReasoning
            | Self::SystemAsUser
            | Self::MediaAsText => Replacement::AsText,
            Self::ForeignReasoning | Self::ChangedBefore | Self::LastReasoning | Self::Blank => Replacement::LeftOut,
            _ => Replacement::Adjusted,
        }
    }

    /// What happened and why, as a message for the user that follows the item's id.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::CallWithoutResult => "sent as text: a call without a result",
            Self::ResultWithoutCall => "sent as text: a result without its call",
            Self::UnsignedReasoning => "sent as text: reasoning without a signature",
            Self::ForeignReasoning => "left out: reasoning that this provider did not sign",
            Self::ChangedBefore => "left out: reasoning signed over a context that has changed since",
            Self::LastReasoning => "left out: reasoning that nothing follows",
            Self::Blank => "left out: only white space",
            Self::SystemAsUser => "sent as a user message: a system message inside the conversation",
            Self::MediaAsText => "only named: the provider does not accept this media type",
            Self::MediaAsUser => "sent as a user message: only users send files",
            Self::NameNotSent => "sent without its name",
            Self::CallId => "sent with another call id: the provider does not accept this one, or another call has it",
            Self::ToolName => "sent with another tool name: the provider does not accept this one",
            Self::Arguments => "wrapped: the arguments are not a JSON object",
            Self::Opening => "sent after an added user message: the model cannot come first",
            Self::LastSpace => "sent without trailing white space",
        }
    }
}
