//! The program that makes the Nth writing call of a command fail, see `tests/faults/fault.c`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// How a call fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mode(pub(super) &'static str);

impl Mode {
    pub(super) const COUNT: Mode = Mode("count");

    /// Whether processes are killed instead of receiving an error.
    pub(super) fn kills(self) -> bool {
        matches!(self.0, "kill" | "kill-one" | "torn")
    }
}

/// The tracer, compiled at the first call; or why it cannot be used here.
pub(super) fn tracer() -> Result<&'static Path, &'static str> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/fault.c");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fault-{}", std::process::id()));
        let compiled = Command::new("cc").args(["-O1", "-Wall", "-Werror", "-o"]).arg(&program).arg(&source).output();
        match compiled {
            Ok(output) if output.status.success() => tried(&program).map(|()| program),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => Err(error.to_string()),
        }
    });
    built.as_deref().map_err(String::as_str)
}

/// Tries whether this system lets processes be traced.
fn tried(program: &Path) -> Result<(), String> {
    let output = Command::new(program).args(["/tmp", "count", "0", "/dev/null", "true"]).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(error.to_string()),
    }
}
