//! What was not sent as it is, and why.

use crate::base::string_enum::string_enum;

/// A block of a message, by its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// Which message, from 0.
    pub message: usize,
    /// Which of its blocks, from 0.
    pub block: usize,
}

/// A block that a provider cannot be sent as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Change {
    /// The block.
    pub place: Place,
    /// Why, which says what became of it as well.
    pub why: Why,
}

string_enum! {
    /// Why a block was not sent as it is.
    Why {
        /// A call that nothing answers.
        CallWithoutResult = "call_without_result",
        /// A result that answers no call.
        ResultWithoutCall = "result_without_call",
        /// A thought without the signature that would prove it the model's.
        UnsignedThought = "unsigned_reasoning",
        /// A thought that another provider signed.
        ForeignThought = "foreign_reasoning",
        /// A thought whose signature does not hold, since something before it changed.
        ChangedBefore = "changed_before_reasoning",
        /// A thought that led to nothing that is here.
        LastThought = "nothing_after_reasoning",
        /// Nothing but white space.
        Blank = "blank",
        /// A word of the system amid the conversation.
        SystemAsUser = "system_amid_conversation",
        /// Bytes of a type that is not taken.
        MediaAsText = "media_not_taken",
        /// Bytes that only a user may send.
        MediaAsUser = "media_from_user_only",
        /// A speaker's name, where there are none or none such.
        NameNotSent = "name_not_taken",
        /// A call's id that is not taken, or that two calls have.
        CallId = "call_id",
        /// A tool's name that is not taken.
        ToolName = "tool_name",
        /// Arguments that are not a JSON object.
        Arguments = "arguments_not_an_object",
        /// The model speaks first.
        Opening = "model_speaks_first",
        /// White space at the end of what the model says last.
        LastSpace = "space_at_the_end",
    }
}

string_enum! {
    /// What became of a block.
    Fate {
        /// It is sent as text.
        AsText = "text",
        /// It is not sent.
        LeftOut = "left_out",
        /// It is sent in another form.
        Adjusted = "adjusted",
    }
}

impl Why {
    /// What became of the block.
    #[must_use]
    pub(crate) fn fate(self) -> Fate {
        match self {
            Self::CallWithoutResult
            | Self::ResultWithoutCall
            | Self::UnsignedThought
            | Self::SystemAsUser
            | Self::MediaAsText => Fate::AsText,
            Self::ForeignThought | Self::ChangedBefore | Self::LastThought | Self::Blank => Fate::LeftOut,
            _ => Fate::Adjusted,
        }
    }

    /// The whole story in a few words, for people; they follow the item's name.
    #[must_use]
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::CallWithoutResult => "sent as text: a call without a result",
            Self::ResultWithoutCall => "sent as text: a result without its call",
            Self::UnsignedThought => "sent as text: reasoning without a signature",
            Self::ForeignThought => "left out: reasoning that this provider did not sign",
            Self::ChangedBefore => "left out: reasoning signed over a context that has changed since",
            Self::LastThought => "left out: reasoning that nothing follows",
            Self::Blank => "left out: nothing but white space",
            Self::SystemAsUser => "sent as the user's: a system message amid the conversation",
            Self::MediaAsText => "named only: bytes of a type that this provider does not take",
            Self::MediaAsUser => "sent as the user's: only users send files",
            Self::NameNotSent => "sent without the speaker's name",
            Self::CallId => "sent under another call id: the provider does not take this one, or another call has it",
            Self::ToolName => "sent under another tool name: the provider does not take this one",
            Self::Arguments => "wrapped: the arguments are not a JSON object",
            Self::Opening => "put after a line of the user's: the model cannot speak first",
            Self::LastSpace => "sent without the white space at its end",
        }
    }
}
