#!/usr/bin/env python3
"""Records what the real client sends when it resumes sessions that it made itself.

    tests/client/resumed.py --out DIR [--clients DIR] [--case NAME] [VERSION...]

Every scenario is a function of `made_by_client.py` or `made_in_terminal.py`. For each the session as it was before the client resumed it goes to
DIR/VERSION/NAME.jsonl, and the messages that the client then sent, without the prompt that made it send them, to
DIR/VERSION/NAME.json. `crates/ramus-core/tests/sent.rs` compares them with what `ramus show --as-client` says.
"""
import argparse
import json
import pathlib
import re
import shutil
import sys
import traceback
import zlib

sys.dont_write_bytecode = True

import api
import driver
import labels
import made_by_client
import made_in_terminal  # noqa: F401  its scenarios join those of `made_by_client`
import made_later  # noqa: F401

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSIONS = ["2.1.325", "2.1.200", "2.1.50", "2.0.74", "1.0.113"]
LAST = "ask-99"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION")
    parser.add_argument("--clients", type=pathlib.Path, default=ROOT / "target/clients", metavar="DIR")
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--case", action="append", metavar="NAME", help="only scenarios with NAME in their name")
    parser.add_argument("--of", metavar="MODULE", help="only scenarios of this file, such as made_later")
    options = parser.parse_args()
    versions = options.versions or VERSIONS
    try:
        if not shutil.which("node"):
            raise driver.Missing("there is no `node` to run the client")
        clients = {version: driver.install(options.clients, version) for version in versions}
        driver.enter_namespace(sys.argv)
    except driver.Missing as missing:
        print(f"cannot run: {missing}", file=sys.stderr)
        return 2
    for version, client in clients.items():
        for scenario in made_by_client.SCENARIOS:
            if made_by_client.is_chosen(scenario, options):
                server = api.Api()
                with driver.Home(version, client, server) as home:
                    print(version, scenario.__name__, record(home, scenario, options.out), flush=True)
                server.stop()
    return 0


def record(home, scenario, out):
    """Lets the client make a session and resume it; returns what came of it in one line."""
    try:
        session = scenario(made_by_client.Talk(home))
    except made_by_client.NotHere as why:
        return f"not with this version: {why}"
    except Exception:  # a scenario that does not work must not end the others
        return "failed: " + traceback.format_exc().replace("\n", " | ")[-600:]
    file = home.project() / f"{session}.jsonl"
    if not file.is_file():
        return f"failed: the client left no session {session}"
    before = file.read_bytes()
    answer, sent = resumed(home, session, LAST)
    if sent is None:
        return "sent nothing: " + " ".join(answer.output.split())[-300:]
    keep(out / home.version / scenario.__name__, home, before.decode("utf-8", "replace"), sent)
    return " ".join(answer.labels)


def resumed(home, session, prompt):
    """Lets the client resume; returns its answer and the messages it sent before the prompt (`None`: it sent none)."""
    file = home.project() / f"{session}.jsonl"
    size, asked = file.stat().st_size, len(home.api.requests)
    answer = home.ask(prompt, resume=session)
    if answer.sent is None:
        return answer, None
    requests = [request["messages"] for request in home.api.requests[asked:] if request.get("tools")]
    first = next(messages for messages in requests if prompt in labels.of_messages(messages))
    # The oldest clients go on in a new file.
    return answer, until(first, prompt, additions(file.read_bytes()[size:]))


def keep(name, home, session, sent):
    """Writes a session and what the client sent of it, without where they were made."""
    name.parent.mkdir(parents=True, exist_ok=True)
    sent = json.loads(scrubbed(json.dumps({"sent": sent}, ensure_ascii=False), home))
    write(name, scrubbed(session, home), sent)


def write(name, session, sent):
    lines, sent = small(session, sent)
    name.with_suffix(".jsonl").write_text(lines)
    name.with_suffix(".json").write_text(json.dumps(sent, ensure_ascii=False, indent=1) + "\n")


def additions(lines):
    """The texts that the client wrote down for its own prompt, and what it noted about agents that had not ended."""
    records = [json.loads(line) for line in lines.splitlines() if line.startswith(b"{")]
    added = {one["content"].strip() for record in records for one in record.get("rendered") or []
             if isinstance(one.get("content"), str)}
    noted = [record["message"]["content"] for record in records if record.get("type") == "user"
             and isinstance(record["message"]["content"], str)]
    return added | {words.strip() for words in noted if words.startswith("<task-notification>")}


def words_of_system(message, added):
    """What the system says behind the prompt, without what was written down for the prompt itself."""
    content = message["content"]
    text = content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
    inside = [words.removeprefix(REMINDER + "\n").removesuffix("\n</system-reminder>") for words in added]
    for words in inside:
        text = text.replace(words, "")
    return "\n\n".join(part for part in text.split("\n\n") if part) if message["role"] == "system" else ""


def until(messages, prompt, added):
    """Returns the messages before a prompt, with what stands before it in its own message."""
    kept = []
    for place, message in enumerate(messages):
        blocks = [{"type": "text", "text": message["content"]}] if isinstance(message["content"], str) \
            else message["content"]
        at = [index for index, block in enumerate(blocks) if block.get("text") == prompt and message["role"] == "user"]
        if at:
            own = [block for block in blocks[:at[-1]] if not is_added(block.get("text", ""), added)]
            if own and own[-1].get("type") == "text":
                own[-1]["text"] = own[-1]["text"].removesuffix("\n")
            elif own and isinstance(own[-1].get("content"), str):
                # Some clients put their reminders into a result that stands before them.
                own[-1]["content"] = own[-1]["content"].split("\n\n" + REMINDER)[0]
            behind = [words_of_system(message, added) for message in messages[place + 1:place + 2]]
            own = [{"role": "user", "content": own}] if own else []
            return kept + own + [{"role": "system", "content": words} for words in behind if own and words]
        if message["role"] != "user" or not all(is_added(block.get("text", ""), added) for block in blocks):
            kept.append(message)
    return kept


def is_added(text, added):
    """Whether the client added a text for its own prompt."""
    text = text.strip()
    return text in added or any(words in text for words in added if words.startswith("<task-notification>"))


KEPT = {"parentUuid", "logicalParentUuid", "isSidechain", "type", "subtype", "uuid", "timestamp", "version", "isMeta",
        "isCompactSummary", "isApiErrorMessage", "compactMetadata", "sourceToolAssistantUUID", "rendered",
        "renderedRole", "renderedBesideToolResult", "leafUuid", "explicit", "content", "summary"}
APART = {"queue-operation", "file-history-snapshot", "file-history-delta"}  # they say nothing about what is sent
REMINDER = "<system-reminder>"
REWORDED = "just became available and are ready to use"  # the client may send this list of tools in other words
QUEUED = re.compile(r"^The user sent.*\b(ask)-\d", re.S)  # what somebody typed while the client worked


def small(session, sent):
    """Leaves out of a session and of what was sent all that neither decides what is sent nor is compared."""
    records = [json.loads(line) for line in session.splitlines() if line.strip()]
    records = [record for record in records if record.get("type") not in APART
               and ("uuid" in record or "leafUuid" in record)]
    kept = [shortened(record) for record in records]
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in kept)
    sent = {"sent": without_additions(sent["sent"], known_words(records))}
    for text in sorted(long_texts(records), key=len, reverse=True):
        short = f"{text[:40]}…{zlib.crc32(text.encode()):08x}"
        old, new = json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(short, ensure_ascii=False)[1:-1]
        lines = lines.replace(old, new)
        sent = json.loads(json.dumps(sent, ensure_ascii=False).replace(old, new))
    return lines, sent


def known_words(records):
    """All that records hold word for word: what the client adds of its own stands in none of them.

    It also puts some attachments into words that it did not write down; nobody can know those.
    """
    worded = [record for record in records if record.get("type") != "attachment" or "rendered" in record]
    return json.dumps(worded, ensure_ascii=False)


def shortened(record):
    kept = {key: value for key, value in record.items() if key in KEPT}
    if "message" in record:
        kept["message"] = {key: record["message"][key] for key in ("id", "role", "model", "content")
                           if key in record["message"]}
    if "attachment" in record:
        said = record["attachment"]
        is_small = "rendered" not in record and len(json.dumps(said)) < 2000
        kept["attachment"] = said if is_small else {key: said[key] for key in ("type", "commandMode") if key in said}
    if "origin" in record:
        kept["origin"] = {"kind": record["origin"].get("kind")}
    return kept


def long_texts(records):
    """The texts that are sent as they are and are longer than anybody wants to read."""
    found = set()
    for record in records:
        content = (record.get("message") or {}).get("content")
        blocks = [{"text": content}] if isinstance(content, str) else content or []
        for block in [*blocks, *(record.get("rendered") or [])]:
            for text in (block.get("text"), block.get("content")):
                if isinstance(text, str) and len(text) > 240 and REWORDED not in text:
                    inside = text.removeprefix(REMINDER + "\n").removesuffix("\n</system-reminder>")
                    found.add(inside)
    return found


def without_additions(messages, known):
    kept = []
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        left = []
        for block in blocks:
            block = {key: value for key, value in block.items() if key != "cache_control"}
            inside = block.get("text", "").strip().removeprefix(REMINDER + "\n").removesuffix("\n</system-reminder>")
            is_words = block.get("text", "").startswith(REMINDER) or message["role"] == "system"
            is_typed = QUEUED.search(inside) or "<task-notification>" in inside
            is_new = is_words and not is_typed and not any(part in known for part in spelled(inside))
            if not is_new:
                left.append(block)
        if len(left) < len(blocks) and len(left) == 1 and left[0].get("type") == "text":
            left = left[0]["text"]
        elif isinstance(content, str) and left:
            left = content
        if left:
            kept.append({"role": message["role"], "content": left})
    return kept


def spelled(text):
    """The paragraphs of a text as they stand in JSON."""
    return [json.dumps(part, ensure_ascii=False)[1:-1] for part in text.split("\n\n") if part.strip()]


def scrubbed(text, home):
    """Leaves out of a text where it was made."""
    text = text.replace(re.sub("[^A-Za-z0-9]", "-", str(home.path)), "-home-dev")
    return text.replace(str(home.path), "/home/dev")


if __name__ == "__main__":
    sys.exit(main())
