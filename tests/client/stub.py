#!/usr/bin/env python3
"""A stand-in for the model's server on loopback:  stub.py PORT SCRIPT.json LOG

SCRIPT.json is a list of replies, given out in turn to requests that carry tools:
  {"text": "…"}  or  {"tool": NAME, "input": {…}},  each with an optional "usage": {…} and "model": NAME.
Requests without tools (titles and the like) and those past the end get a short text. LOG gets a line per request.
"""
import http.server
import itertools
import json
import sys
import threading

PORT, SCRIPT, LOG = int(sys.argv[1]), json.load(open(sys.argv[2])), sys.argv[3]
USAGE = {"input_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 5}
numbers, replies, lock = itertools.count(1), iter(SCRIPT), threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, code=200):
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self):
        self.answer(b"")

    def do_GET(self):
        self.answer(b"{}", 404)

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            request = json.loads(raw)
        except ValueError:
            request = {}
        if "/v1/messages" not in self.path:
            return self.answer(b"{}")
        if "count_tokens" in self.path:
            return self.answer(b'{"input_tokens":10}')
        with lock:
            n = next(numbers)
            reply = next(replies, {"text": "done"}) if request.get("tools") else {"text": "short"}
            with open(LOG, "a") as log:
                log.write(json.dumps({"n": n, "request": request, "reply": reply}) + "\n")
        model = reply.get("model") or request.get("model", "")
        usage = {**USAGE, **reply.get("usage", {})}
        if "tool" in reply:
            block = {"type": "tool_use", "id": f"toolu_{n:04}", "name": reply["tool"], "input": reply["input"]}
            stop = "tool_use"
        else:
            block, stop = {"type": "text", "text": reply["text"]}, "end_turn"
        message = {"id": f"msg_{n:04}", "type": "message", "role": "assistant", "model": model, "content": [block],
                   "stop_reason": stop, "stop_sequence": None, "usage": usage}
        if not request.get("stream"):
            return self.answer(json.dumps(message).encode())
        self.stream(message, block, stop, usage, n)

    def stream(self, message, block, stop, usage, n):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("request-id", f"req_{n:04}")
        self.send_header("Connection", "close")
        self.end_headers()

        def event(kind, **fields):
            self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode())
            self.wfile.flush()

        event("message_start", message={**message, "content": [], "stop_reason": None,
                                        "usage": {**usage, "output_tokens": 1}})
        if block["type"] == "text":
            event("content_block_start", index=0, content_block={"type": "text", "text": ""})
            event("content_block_delta", index=0, delta={"type": "text_delta", "text": block["text"]})
        else:
            event("content_block_start", index=0, content_block={**block, "input": {}})
            event("content_block_delta", index=0,
                  delta={"type": "input_json_delta", "partial_json": json.dumps(block["input"])})
        event("content_block_stop", index=0)
        event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=usage)
        event("message_stop")
        self.close_connection = True


http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
