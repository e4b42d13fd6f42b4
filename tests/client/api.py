"""A stand-in for the Messages API on loopback. It answers requests and records them.

A prompt that holds the label `ask-7` is answered with the text `say-7`, unless `Api.answers["ask-7"]` says otherwise:
a list of answers, one for each time the client comes back with the results of tools. An answer is a list of blocks
made with `text`, `slow`, `thought` and `tool`; beside them may stand `wait`, `used`, `stopped` and `broken`, or `error`
instead of them.
A request for a summary is answered with `sum-1`, the next one with `sum-2`.
"""
import http.server
import itertools
import json
import re
import threading
import time

import labels

SUMMARIZE = re.compile(r"create a detailed summary|summary of the conversation so far|continuation summary", re.I)


def text(words):
    return {"type": "text", "text": words}


def slow(words, seconds):
    """A text of which the second half comes later."""
    return {"type": "text", "text": words, "slow": seconds}


def broken(kind=None, times=None):
    """Ends the stream in the middle of the last block, with an error of this kind or without a word."""
    return {"type": "broken", "kind": kind, "times": times}


def tool(name, **given):
    return {"type": "tool_use", "name": name, "input": given}


def thought(words):
    return {"type": "thinking", "thinking": words, "signature": "c2lnbmVk"}


def wait(seconds):
    """Lets the client wait for the answer."""
    return {"type": "wait", "seconds": seconds}


def used(tokens):
    """Says how many tokens the request had."""
    return {"type": "used", "tokens": tokens}


def stopped(reason):
    """Says why the answer ends."""
    return {"type": "stopped", "reason": reason}


def error(status, kind, words, times=None):
    """An error, always or a number of times; then what stands behind it is the answer."""
    return {"type": "error", "status": status, "kind": kind, "words": words, "times": times}


class Refused(Exception):
    """An error takes the place of an answer."""

    def __init__(self, block):
        super().__init__(block["words"])
        self.status = block["status"]
        self.body = {"type": "error", "error": {"type": block["kind"], "message": block["words"]}}


class Api:
    """The server, which runs until `stop`; `requests` holds the bodies of all requests that asked for an answer."""

    def __init__(self):
        self.answers, self.requests = {}, []
        self._summaries, self._numbers, self._lock = itertools.count(1), itertools.count(1), threading.Lock()
        handler = type("Handler", (_Handler,), {"api": self})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.address = "http://127.0.0.1:%d" % self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()

    def take(self, request):
        """Keeps a request and makes the message that answers it."""
        with self._lock:
            self.requests.append(request)
            number = next(self._numbers)
        blocks, tokens, reason, broken = [], 10, None, None
        for block in self._answer(request):
            if block["type"] == "wait":
                time.sleep(block["seconds"])
            elif block["type"] == "used":
                tokens = block["tokens"]
            elif block["type"] == "stopped":
                reason = block["reason"]
            elif block["type"] in ("error", "broken") and block["times"] == 0:
                continue
            elif block["type"] in ("error", "broken"):
                if block["times"] is not None:
                    block["times"] -= 1
                if block["type"] == "error":
                    raise Refused(block)
                broken = block
            else:
                blocks.append(dict(block))
        for place, block in enumerate(blocks):
            if block["type"] == "tool_use":
                block["id"] = f"toolu_{number:06}{place:02}"
        calls = blocks and blocks[-1]["type"] == "tool_use"
        stop = reason or ("tool_use" if calls else "end_turn")
        return {
            "id": f"msg_{number:08}", "type": "message", "role": "assistant", "model": request.get("model", ""),
            "content": blocks, "stop_reason": stop, "stop_sequence": None,
            "usage": {"input_tokens": tokens, "output_tokens": 5},
        }, broken

    def _answer(self, request):
        if SUMMARIZE.search(_last_words(request)):
            return [text(f"<summary>sum-{next(self._summaries)}</summary>")]
        said, turns = None, 0
        for message in request.get("messages", []):
            asked = [label for label in labels.of_message(message) if label.startswith("ask-")]
            if asked and message["role"] == "user":
                said, turns = asked[-1], 0
            elif message["role"] == "assistant":
                turns += 1
        if said is None or not request.get("tools"):
            return [text("ok")]
        answers = self.answers.get(said, [[text(re.sub("^ask", "say", said))]])
        return answers[turns] if turns < len(answers) else [text("ok")]


def _last_words(request):
    content = (request.get("messages") or [{}])[-1].get("content") or []
    if isinstance(content, str):
        return content
    return " ".join(block.get("text", "") for block in content if block.get("type") == "text")


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api = None

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self._send(b"")

    def do_GET(self):
        self._send(b"{}", 404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "/v1/messages" not in self.path:
            return self._send(b"{}")
        if "count_tokens" in self.path:
            return self._send(b'{"input_tokens":10}')
        request = json.loads(body)
        try:
            message, broken = self.api.take(request)
        except Refused as refused:
            return self._send(json.dumps(refused.body).encode(), refused.status)
        if not request.get("stream"):
            for block in message["content"]:
                block.pop("slow", None)
            return self._send(json.dumps(message).encode())
        try:
            self._stream(message, broken)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def _send(self, body, status=200):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _stream(self, message, broken):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("request-id", message["id"].replace("msg", "req"))
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        usage = {**message["usage"], "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        self._event("message_start", message={**message, "content": [], "stop_reason": None, "usage": usage})
        for index, block in enumerate(message["content"]):
            if block["type"] == "text":
                empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
            elif block["type"] == "thinking":
                empty = {**block, "thinking": "", "signature": ""}
                delta = {"type": "thinking_delta", "thinking": block["thinking"]}
            else:
                given = json.dumps(block["input"])
                empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": given}
            self._event("content_block_start", index=index, content_block=empty)
            if "slow" in block:
                half = len(block["text"]) // 2
                self._event("content_block_delta", index=index, delta={**delta, "text": block["text"][:half]})
                time.sleep(block["slow"])
                delta["text"] = block["text"][half:]
            self._event("content_block_delta", index=index, delta=delta)
            if broken and index == len(message["content"]) - 1:
                if broken["kind"]:
                    self._event("error", error={"type": broken["kind"], "message": "broken off"})
                return
            if block["type"] == "thinking":
                signature = {"type": "signature_delta", "signature": block["signature"]}
                self._event("content_block_delta", index=index, delta=signature)
            self._event("content_block_stop", index=index)
        end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        self._event("message_delta", delta=end, usage={"output_tokens": 5})
        self._event("message_stop")

    def _event(self, kind, **fields):
        data = json.dumps({"type": kind, **fields})
        self.wfile.write(f"event: {kind}\ndata: {data}\n\n".encode())
        self.wfile.flush()
