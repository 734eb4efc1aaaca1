//! Secrets that are encrypted with age, so that they may be committed.
//!
//! An encrypted value is the armored text that `age --armor` writes and `age --decrypt` reads. Its record is in the shared file, and
//! merges, lists, and exports treat it as any other: nothing but a lookup decrypts, and nothing but setting the value encrypts. Builds
//! without the feature `age` keep encrypted values, and refuse to read and to write them.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::base::error::Diagnostic;

/// The header of an armored file, and the part of its first line that names the format.
const BEGIN: &str = "-----BEGIN AGE ENCRYPTED FILE-----\nYWdlLWVuY3J5cHRpb24ub3JnL3YxC";
const END: &str = "\n-----END AGE ENCRYPTED FILE-----";

#[derive(Debug, Error)]
#[allow(dead_code, reason = "with or without the feature, some variants are not used")]
pub(crate) enum EncryptionError {
    #[error("cannot encrypt `{key}`: `trace.ageRecipient` is `{recipient}`, which is not a recipient of age: {reason}")]
    Recipient { key: String, recipient: String, reason: String },
    #[error("cannot encrypt `{key}` with age")]
    Encrypt { key: String, source: io::Error },
    #[error("cannot decrypt `{key}`: `trace.ageIdentity` is not set")]
    NoIdentity { key: String },
    #[error("cannot decrypt `{key}`: cannot read the identities of age in `{}`", path.display())]
    Identities { key: String, path: PathBuf, source: io::Error },
    #[error("cannot decrypt `{key}` with `{}`: {reason}", path.display())]
    Decrypt { key: String, path: PathBuf, reason: String },
    #[error("cannot encrypt or decrypt `{key}`: this git-trace was built without the feature `age`")]
    NoFeature { key: String },
}

impl Diagnostic for EncryptionError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Recipient { .. } => "`age-keygen -y KEYFILE` prints the recipient of an identity, `age1...`",
            Self::NoIdentity { .. } => {
                "set the file with your identity, which `age-keygen` makes: git config --global trace.ageIdentity '~/.age/key.txt'"
            }
            Self::Decrypt { .. } => "somebody who can read it adds you to `trace.ageRecipient` and sets it again",
            Self::NoFeature { .. } => "run `cargo install git-trace --features age`, or install a released binary",
            Self::Identities { .. } => "set `trace.ageIdentity` to a file that `age-keygen -o FILE` wrote",
            Self::Encrypt { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

pub(crate) fn is_encrypted(value: &str) -> bool {
    let body = value.strip_prefix(BEGIN).and_then(|rest| rest.trim_end().strip_suffix(END));
    body.is_some_and(|body| body.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=\n".contains(&b)))
}

#[cfg(feature = "age")]
pub(crate) fn encrypt(key: &str, value: &str, recipients: &[String]) -> Result<String, EncryptionError> {
    use age::armor::{ArmoredWriter, Format};
    use std::io::Write as _;

    let parse = |recipient: &String| {
        let bad = |reason: &str| EncryptionError::Recipient {
            key: key.to_owned(),
            recipient: recipient.clone(),
            reason: reason.to_owned(),
        };
        recipient.trim().parse::<age::x25519::Recipient>().map_err(bad)
    };
    let recipients: Vec<_> = recipients.iter().map(parse).collect::<Result<_, _>>()?;
    let failed = |source| EncryptionError::Encrypt { key: key.to_owned(), source };
    let encryptor = age::Encryptor::with_recipients(recipients.iter().map(|one| one as &dyn age::Recipient))
        .map_err(|error| failed(io::Error::other(error)))?;
    let write = || -> io::Result<Vec<u8>> {
        let armored = ArmoredWriter::wrap_output(Vec::new(), Format::AsciiArmor)?;
        let mut writer = encryptor.wrap_output(armored)?;
        writer.write_all(value.as_bytes())?;
        writer.finish()?.finish()
    };
    String::from_utf8(write().map_err(failed)?).map_err(|error| failed(io::Error::other(error)))
}

/// Decrypts with the identities in a file, as `age-keygen` writes them.
#[cfg(feature = "age")]
pub(crate) fn decrypt(key: &str, value: &str, path: PathBuf) -> Result<String, EncryptionError> {
    use age::armor::ArmoredReader;
    use std::io::Read as _;

    let file = crate::base::bounded::read_file(&path).and_then(|bytes| {
        // The error would quote a line of the file, which may be a key.
        let invalid = || io::Error::new(io::ErrorKind::InvalidData, "it has no identities without a passphrase");
        age::IdentityFile::from_buffer(&*bytes).map_err(|_| invalid())
    });
    let file = match file {
        Ok(file) => file,
        Err(source) => return Err(EncryptionError::Identities { key: key.to_owned(), path, source }),
    };
    let read = || -> Result<String, String> {
        let identities = file.into_identities().map_err(|error| error.to_string())?;
        let decryptor =
            age::Decryptor::new_buffered(ArmoredReader::new(value.as_bytes())).map_err(|error| error.to_string())?;
        let identities = identities.iter().map(|identity| &**identity as &dyn age::Identity);
        let mut reader = decryptor.decrypt(identities).map_err(|error| error.to_string())?;
        let mut text = String::new();
        reader.read_to_string(&mut text).map_err(|error| error.to_string())?;
        Ok(text)
    };
    read().map_err(|reason| EncryptionError::Decrypt { key: key.to_owned(), path, reason })
}

#[cfg(not(feature = "age"))]
pub(crate) fn encrypt(key: &str, _: &str, _: &[String]) -> Result<String, EncryptionError> {
    Err(EncryptionError::NoFeature { key: key.to_owned() })
}

#[cfg(not(feature = "age"))]
pub(crate) fn decrypt(key: &str, _: &str, _: PathBuf) -> Result<String, EncryptionError> {
    Err(EncryptionError::NoFeature { key: key.to_owned() })
}
