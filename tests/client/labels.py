"""Labels: every text of a test conversation contains a unique label.

`ask-1` is a prompt, `say-1` an answer, `call-1a` the call of a tool, `out-1a` its result, `sum-1` the summary of a
compaction. Two lists of messages are the same if their labels are; what the client adds of its own has none.
"""
import re

LABEL = re.compile(r"\b(ask|say|call|out|sum)-(\d+[a-z]?)\b")
REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.S)
ROLES = {"ask": "user", "sum": "user", "say": "assistant"}


def of_message(message):
    """The labels of one message, in order; a text in the wrong mouth gets a `?`."""
    role, content = message.get("role"), message.get("content") or []
    if role not in ROLES.values():
        return []
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    found = []
    for block in content:
        kind = block.get("type")
        if kind == "text":
            for match in LABEL.finditer(REMINDER.sub("", block["text"])):
                if match[1] in ROLES:
                    found.append(match[0] if ROLES[match[1]] == role else match[0] + "?")
        elif kind == "tool_use":
            found += [match[0] for match in LABEL.finditer(str(block.get("input"))) if match[1] == "call"]
        elif kind == "tool_result":
            found += [match[0] for match in LABEL.finditer(str(block.get("content"))) if match[1] == "out"]
    return found


def of_messages(messages):
    return [label for message in messages for label in of_message(message)]


def unpaired(messages):
    """The calls without a result in the very next message, and the results without such a call."""
    open_calls, wrong = set(), []
    for message in messages:
        if message.get("role") not in ROLES.values():
            continue
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        results = {block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"}
        wrong += sorted(open_calls ^ results)
        open_calls = {block["id"] for block in blocks if block.get("type") == "tool_use"}
    return wrong + sorted(open_calls)


def of_path(records, uuid):
    """The labels from the root to a record, by parent links alone."""
    by_uuid = {record["uuid"]: record for record in records if record.get("uuid")}
    path, seen = [], set()
    while uuid in by_uuid and uuid not in seen:
        seen.add(uuid)
        path.append(by_uuid[uuid].get("message") or {})
        uuid = by_uuid[uuid].get("parentUuid")
    return of_messages(reversed(path))


def find(records, label):
    """The last record that holds a label."""
    return next((record for record in reversed(records) if label in of_message(record.get("message") or {})), None)
