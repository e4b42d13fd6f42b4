"""A stand-in for the Messages API on loopback. It answers, and it keeps what it was sent.

A prompt that holds the label `ask-7` is answered with the text `say-7`, unless `Api.answers["ask-7"]` says otherwise:
a list of answers, one for each time the client comes back with the results of tools. An answer is a list of blocks
made with `text` and `tool`.
"""
import http.server
import itertools
import json
import re
import threading

import labels


def text(words):
    return {"type": "text", "text": words}


def tool(name, **given):
    return {"type": "tool_use", "name": name, "input": given}


class Api:
    """The server, which runs until `stop`; `requests` holds the bodies of all requests that asked for an answer."""

    def __init__(self):
        self.answers, self.requests = {}, []
        self._numbers, self._lock = itertools.count(1), threading.Lock()
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
        blocks = [dict(block) for block in self._answer(request)]
        for place, block in enumerate(blocks):
            if block["type"] == "tool_use":
                block["id"] = f"toolu_{number:06}{place:02}"
        stop = "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"
        return {
            "id": f"msg_{number:08}", "type": "message", "role": "assistant", "model": request.get("model", ""),
            "content": blocks, "stop_reason": stop, "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }

    def _answer(self, request):
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
        message = self.api.take(request)
        if not request.get("stream"):
            return self._send(json.dumps(message).encode())
        try:
            self._stream(message)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def _send(self, body, status=200):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _stream(self, message):
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
                empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                given = json.dumps(block["input"])
                empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": given}
            self._event("content_block_start", index=index, content_block=empty)
            self._event("content_block_delta", index=index, delta=delta)
            self._event("content_block_stop", index=index)
        end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        self._event("message_delta", delta=end, usage={"output_tokens": 5})
        self._event("message_stop")

    def _event(self, kind, **fields):
        data = json.dumps({"type": kind, **fields})
        self.wfile.write(f"event: {kind}\ndata: {data}\n\n".encode())
        self.wfile.flush()
