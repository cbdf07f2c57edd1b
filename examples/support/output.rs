//! Printing by programs that are part of a pipeline, or write to a disk that may be full.

use std::io::{self, Write};

/// Like `print!`, but what cannot be printed is an error, and not a panic. A reader that has gone (`| head`) is none.
pub(crate) fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write the output: {error}"))
        }
        _ => Ok(()),
    }
}
