//! stdin and stdout of the MCP server; answers invalid JSON with an error.
//!
//! The SDK ignores lines that it cannot parse, and a client that sent one would wait for ever. So lines
//! are checked before the SDK gets them.

use std::io;

use serde::de::IgnoredAny;
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream,
    duplex, stdin, stdout,
};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

/// How long a line may be.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// How much waits between us and the SDK.
const PIPE_BYTES: usize = 64 * 1024;

/// What the SDK reads from and writes to, and the task that ends when all is written.
pub(super) struct StdioTransport {
    pub(super) input: DuplexStream,
    pub(super) output: DuplexStream,
    pub(super) written: JoinHandle<io::Result<()>>,
}

impl StdioTransport {
    /// Begins to pass lines on; a runtime must be running.
    pub(super) fn open_stdio() -> Self {
        let (to_sdk, input) = duplex(PIPE_BYTES);
        let (output, from_sdk) = duplex(PIPE_BYTES);
        let (replies, to_reply) = channel(16);
        tokio::spawn(pass_in(stdin(), to_sdk, replies));
        let written = tokio::spawn(pass_out(from_sdk, to_reply, stdout()));
        Self { input, output, written }
    }
}

/// Passes JSON lines on; any other line is answered with an error.
async fn pass_in(
    from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    replies: Sender<&'static [u8]>,
) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        let most = MAX_LINE_BYTES as u64 + 1;
        if (&mut from).take(most).read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        let is_long = line.len() > MAX_LINE_BYTES;
        while is_long && line.last() != Some(&b'\n') {
            line.clear();
            if (&mut from).take(most).read_until(b'\n', &mut line).await? == 0 {
                break;
            }
        }
        let text = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line).trim_ascii();
        if !is_long && (text.is_empty() || serde_json::from_slice::<IgnoredAny>(text).is_ok()) {
            to.write_all(&line).await?;
        } else if replies.send(PARSE_ERROR).await.is_err() {
            return Ok(());
        }
    }
}

/// What JSON-RPC answers to a message that cannot be parsed, and so has no id.
const PARSE_ERROR: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error: the line is not valid JSON\"}}\n";

/// Writes whole lines of the SDK and our own replies, never one into the other.
async fn pass_out(
    from: impl AsyncRead + Unpin,
    mut replies: Receiver<&'static [u8]>,
    mut to: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        tokio::select! {
            // Reading continues where it stopped: the partial line stays in `line`.
            read = from.read_until(b'\n', &mut line) => {
                if read? == 0 {
                    return Ok(());
                }
                to.write_all(&line).await?;
                line.clear();
            }
            Some(reply) = replies.recv() => to.write_all(reply).await?,
        }
        to.flush().await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn what_is_no_json_is_answered_and_the_rest_passed_on() {
        let (mut to, passed) = duplex(1024);
        let (replies, mut heard) = channel(16);
        let input: &[u8] = b"{\"id\":1}\nnonsense\n\n{\"id\":2\n{\"id\":3}\n";
        let (done, ()) = tokio::join!(pass_in(input, &mut to, replies), async {});
        done.unwrap();
        drop(to);
        let mut text = String::new();
        BufReader::new(passed).read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "{\"id\":1}\n\n{\"id\":3}\n");
        let mut count = 0;
        while let Some(reply) = heard.recv().await {
            let reply: serde_json::Value = serde_json::from_slice(reply).unwrap();
            assert_eq!((&reply["error"]["code"], &reply["id"]), (&(-32700).into(), &().into()));
            count += 1;
        }
        assert_eq!(count, 2);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_line_without_end_takes_no_memory_without_end() {
        let long = [vec![b'x'; 2 * MAX_LINE_BYTES + 7], b"\n{}\n".to_vec()].concat();
        let (mut to, mut passed) = duplex(1024);
        let (replies, mut heard) = channel(16);
        pass_in(&*long, &mut to, replies).await.unwrap();
        drop(to);
        let mut text = String::new();
        passed.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "{}\n");
        assert!(heard.recv().await.is_some() && heard.recv().await.is_none());
    }

    #[tokio::test(flavor = "current_thread")]
    async fn replies_do_not_stand_within_a_line() {
        let (mut sdk, from) = duplex(1024);
        let (replies, heard) = channel(16);
        let (to, mut out) = duplex(4096);
        let writing = tokio::spawn(pass_out(from, heard, to));
        sdk.write_all(b"{\"half\":").await.unwrap();
        replies.send(PARSE_ERROR).await.unwrap();
        tokio::task::yield_now().await;
        sdk.write_all(b"1}\n").await.unwrap();
        let mut lines = BufReader::new(&mut out).lines();
        for _ in 0..2 {
            let line = lines.next_line().await.unwrap().unwrap();
            serde_json::from_str::<serde_json::Value>(&line).unwrap();
        }
        drop(sdk);
        writing.await.unwrap().unwrap();
    }
}
