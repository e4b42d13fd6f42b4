"""Builds sessions record by record, as a client of a given version would write them."""
import datetime
import json
import uuid

import labels


class Session:
    """A session in memory. Messages are added at the end of the line unless a parent is named by its label.

    `mark` stands before the first line, `end` after each; `torn` takes the place of the last end.
    """

    def __init__(self, version, cwd, name=None, **fields):
        self.name = name or str(uuid.uuid4())
        self.records = []
        self.mark, self.end, self.torn = b"", b"\n", None
        self._tip = None
        self._time = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=5)
        self._fields = {"isSidechain": False, "userType": "external", "cwd": str(cwd), "sessionId": self.name,
                        "version": version, "gitBranch": "", **fields}

    def __getitem__(self, label):
        """The uuid of the message that holds a label."""
        return labels.find(self.records, label)["uuid"]

    def path(self, label):
        return labels.of_path(self.records, self[label])

    def add(self, kind, parent=None, root=False, **fields):
        self._time += datetime.timedelta(seconds=1)
        above = None if root else self[parent] if parent else self._tip
        time = self._time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        record = {"parentUuid": above, **self._fields, "type": kind, "uuid": str(uuid.uuid4()), "timestamp": time}
        self.records.append({**record, **fields})
        self._tip = record["uuid"]
        return self.records[-1]

    def note(self, **fields):
        """A record that is no part of the tree."""
        self.records.append(fields)

    def ask(self, number, parent=None, **fields):
        return self.add("user", parent, message={"role": "user", "content": f"ask-{number}"}, **fields)

    def say(self, number, parent=None, **fields):
        return self.answer([{"type": "text", "text": f"say-{number}"}], parent, **fields)

    def turns(self, *numbers, parent=None):
        for number in numbers:
            self.ask(number, parent)
            self.say(number)
            parent = None

    def call(self, number, message, parent=None):
        call = {"type": "tool_use", "id": f"toolu_{self.name[:8]}{number}", "name": "Bash",
                "input": {"command": f"echo call-{number}", "description": "d"}}
        return self.answer([call], parent, message)

    def result(self, number, parent=None, kept="", **fields):
        result = {"type": "tool_result", "tool_use_id": f"toolu_{self.name[:8]}{number}", "is_error": False,
                  "content": f"out-{number}"}
        shown = {"stdout": kept or f"out-{number}", "stderr": "", "interrupted": False, "isImage": False}
        return self.add("user", parent, message={"role": "user", "content": [result]}, toolUseResult=shown, **fields)

    def answer(self, content, parent=None, message=None, **fields):
        stop = "tool_use" if content[-1]["type"] == "tool_use" else "end_turn"
        body = {"id": message or f"msg_{uuid.uuid4().hex[:12]}", "type": "message", "role": "assistant",
                "model": "claude-sonnet-4-5-20250929", "content": content, "stop_reason": stop, "stop_sequence": None,
                "usage": {"input_tokens": 10, "output_tokens": 5}}
        return self.add("assistant", parent, requestId=f"req_{uuid.uuid4().hex[:12]}", message=body, **fields)

    def compact(self, keep=None):
        """A compaction; `keep` is the label of the one message that stays beside the summary."""
        summary = str(uuid.uuid4())
        told = {"trigger": "manual", "preTokens": 100}
        if keep:
            kept = self[keep]
            told["preservedSegment"] = {"headUuid": kept, "anchorUuid": summary, "tailUuid": kept}
            told["preservedMessages"] = {"anchorUuid": summary, "uuids": [kept], "allUuids": [kept]}
        self.add("system", root=True, subtype="compact_boundary", content="Conversation compacted", isMeta=False,
                 level="info", logicalParentUuid=self._tip, compactMetadata=told)
        self.add("user", message={"role": "user", "content": "sum-1"}, isCompactSummary=True,
                 isVisibleInTranscriptOnly=True, uuid=summary)
        self._tip = summary

    def bytes(self):
        lines = [json.dumps(record, separators=(",", ":")).encode() for record in self.records]
        return self.mark + self.end.join([*lines, b""] if self.torn is None else [*lines[:-1], lines[-1] + self.torn])
