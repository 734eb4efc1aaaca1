//! Images and other data that is not text: counted by dimensions, never by bytes.
//!
//! Each provider documents how it counts an image. The rule depends only on the item, so every clone counts the same.

/// The tokens of data without dimensions, such as a PDF document; fewer if it has fewer bytes. About as many as Anthropic
/// documents for the largest image or for a page of a document.
const DATA_TOKENS: u64 = 1600;

/// How a provider counts an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ImageRule {
    /// A token for each 28 × 28 pixels of the image, which is first reduced to 1,568 pixels on its longer side and to 1,600 tokens.
    ///
    /// Source: Anthropic, "Vision". Some models accept larger images; the item does not tell the model.
    Anthropic,
    /// 70 tokens, and 140 for each tile of 512 × 512 pixels of the image, which is first reduced to 2,048 pixels on its longer side
    /// and to 768 on its shorter one.
    ///
    /// Source: `OpenAI`, "Images and vision", the row of GPT-5 at high detail.
    OpenAi,
    /// 258 tokens for an image of at most 384 × 384 pixels, else for each tile. A tile has two thirds of the shorter side, but 256
    /// to 768 pixels.
    ///
    /// Source: Google, "Understand and count tokens" and "Image understanding", Gemini 2.
    Gemini,
}

impl ImageRule {
    /// The rule of the provider behind a transcript format. Anthropic's, if it is unknown.
    pub(crate) fn of_format(format: Option<&str>) -> Self {
        match format {
            Some("codex") => Self::OpenAi,
            Some("gemini-cli") => Self::Gemini,
            _ => Self::Anthropic,
        }
    }

    fn count(self, size: Size) -> u64 {
        match self {
            Self::Anthropic => {
                const PATCH: u64 = 28;
                let size = size.reduced(size.longer(), 1568);
                let patches = size.tiles(PATCH);
                if patches <= DATA_TOKENS {
                    return patches;
                }
                // The area shrinks with the square of the sides.
                let (root, target) = ((patches * 10_000).isqrt(), (DATA_TOKENS * 10_000).isqrt());
                size.reduced(root, target).tiles(PATCH).min(DATA_TOKENS)
            }
            Self::OpenAi => {
                let size = size.reduced(size.longer(), 2048);
                70 + 140 * size.reduced(size.shorter(), 768).tiles(512)
            }
            Self::Gemini if size.longer() <= 384 => 258,
            Self::Gemini => 258 * size.tiles((size.shorter() * 2 / 3).clamp(256, 768)),
        }
    }
}

#[derive(Clone, Copy)]
struct Size {
    width: u64,
    height: u64,
}

impl Size {
    fn longer(self) -> u64 {
        self.width.max(self.height)
    }

    fn shorter(self) -> u64 {
        self.width.min(self.height)
    }

    /// Multiplied by `limit / measure`, unless that enlarges it.
    fn reduced(self, measure: u64, limit: u64) -> Self {
        if measure <= limit {
            return self;
        }
        let side = |pixels: u64| (pixels * limit / measure).max(1);
        Self { width: side(self.width), height: side(self.height) }
    }

    fn tiles(self, side: u64) -> u64 {
        self.width.div_ceil(side) * self.height.div_ceil(side)
    }
}

/// The tokens of an image, if the bytes begin with the header of one and it has readable dimensions.
pub(crate) fn image_tokens(bytes: &[u8], rule: ImageRule) -> Option<u64> {
    // A header states up to 32 bits for a side; no real image has more than 24.
    let side = |pixels: usize| u64::try_from(pixels).ok().filter(|pixels| (1..1 << 24).contains(pixels));
    let size = imagesize::blob_size(bytes).ok()?;
    Some(rule.count(Size { width: side(size.width)?, height: side(size.height)? }))
}

/// The tokens of data that is not text.
pub(crate) fn data_tokens(bytes: &[u8], rule: ImageRule) -> u64 {
    image_tokens(bytes, rule).unwrap_or_else(|| DATA_TOKENS.min(bytes.len() as u64))
}

#[cfg(test)]
#[path = "../../tests/unit/tokens/image.rs"]
mod tests;
