//! The output of commands that print a text or write samples.

use serde::Serialize;

/// A text such as a manual page.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    pub text: &'a str,
}

/// The files that manual pages were written to.
#[derive(Debug, Serialize)]
pub struct Pages {
    pub files: Vec<String>,
}

/// A sample history.
#[derive(Debug, Serialize)]
pub struct DemoWritten {
    pub directory: String,
    pub files: usize,
}
