//! A tokenizer of Hugging Face: git config `trace.tokenizer` names its `tokenizer.json`.
//!
//! A command that counts reads the file once, because stored counts are valid for one digest only. The tokenizer is loaded
//! at the first count. That needs the cargo feature `tokenizers`; without it, the setting is an error.

use std::path::Path;

use super::counter::{CountError, Counter};

pub(crate) const SETTING: &str = "trace.tokenizer";

/// The counter that is this file.
pub(crate) fn handle(path: &Path) -> Result<Counter, CountError> {
    read(path).map_err(|cause| CountError::new(path.display(), cause, Some(hint())))
}

#[cfg(not(feature = "tokenizers"))]
fn read(_: &Path) -> Result<Counter, String> {
    Err("this git-trace was built without the feature `tokenizers`".to_owned())
}

#[cfg(not(feature = "tokenizers"))]
fn hint() -> String {
    format!("run `cargo install git-trace --features tokenizers`, or set `trace.tokenCounter` in place of `{SETTING}`")
}

#[cfg(feature = "tokenizers")]
use loaded::{hint, read};

#[cfg(feature = "tokenizers")]
mod loaded {
    use std::error::Error;
    use std::path::Path;
    use std::sync::LazyLock;

    use tokenizers::Tokenizer;

    use super::SETTING;
    use crate::base::bounded::read_file;
    use crate::base::worktree_path::check_regular;
    use crate::tokens::counter::{Counter, CustomId, TokenCounter};

    type Loading = Result<Tokenizer, String>;

    struct FileCounter {
        id: CustomId,
        tokenizer: LazyLock<Loading, Box<dyn FnOnce() -> Loading + Send>>,
    }

    pub(super) fn read(path: &Path) -> Result<Counter, String> {
        let bytes = check_regular(path).and_then(|()| read_file(path)).map_err(|error| error.to_string())?;
        let id = CustomId::of(&name(path), &bytes);
        Ok(Counter::custom(id, || FileCounter { id, tokenizer: LazyLock::new(Box::new(move || load(&bytes))) }))
    }

    /// Most files have the same name, so that of the folder says more.
    fn name(path: &Path) -> String {
        let name = if path.file_name().is_some_and(|name| name == "tokenizer.json") {
            path.parent().and_then(Path::file_name)
        } else {
            path.file_stem()
        };
        name.map_or_else(|| "tokenizer".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// Without the limits of the model: a text that is cut or padded to a length has another count.
    fn load(bytes: &[u8]) -> Loading {
        let failed = |error: tokenizers::Error| format!("the file is not a tokenizer: {error}");
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(failed)?;
        tokenizer.with_truncation(None).map_err(failed)?.with_padding(None);
        Ok(tokenizer)
    }

    impl TokenCounter for FileCounter {
        fn id(&self) -> CustomId {
            self.id
        }

        fn count(&self, text: &str) -> Result<u64, Box<dyn Error + Send + Sync>> {
            let tokenizer = self.tokenizer.as_ref().map_err(String::clone)?;
            // The same tokens as `encode`, without their offsets.
            Ok(tokenizer.encode_fast(text, false)?.len() as u64)
        }

        fn hint(&self) -> Option<String> {
            Some(hint())
        }
    }

    pub(super) fn hint() -> String {
        format!("to count with `trace.encoding` this once: git -c {SETTING}= trace …")
    }
}
