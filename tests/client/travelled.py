#!/usr/bin/env python3
"""Runs goto and fork for every message of sessions that the real client created, and lets it resume twice.

    tests/client/travelled.py [--clients DIR] [--ramus PROGRAM] [--case NAME] [--command goto|fork] [VERSION...]

The messages that the client sends must equal `ramus show --as-client` of the target; the second time, they must also contain
the messages of the first time. A refusal with a reason is reported and counted separately.
"""
import argparse
import itertools
import json
import pathlib
import sys

sys.dont_write_bytecode = True

import api
import driver
import labels
import made_by_client
import made_in_terminal  # noqa: F401  its scenarios join those of `made_by_client`
import made_later  # noqa: F401
import resumed
import run
from trial import Trial, Wrong

VERSIONS = ["2.1.325"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION")
    parser.add_argument("--clients", type=pathlib.Path, default=run.ROOT / "target/clients", metavar="DIR")
    parser.add_argument("--ramus", metavar="PROGRAM")
    parser.add_argument("--case", action="append", metavar="NAME", help="only scenarios with NAME in their name")
    parser.add_argument("--of", metavar="MODULE", help="only scenarios of this file, such as made_later")
    parser.add_argument("--command", choices=["goto", "fork"])
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="keep sessions and what was sent, as resumed.py does")
    parser.add_argument("--all-records", action="store_true", help="try every record, not every message")
    options = parser.parse_args()
    try:
        ramus = run.program(options.ramus)
        clients = {version: driver.install(options.clients, version) for version in options.versions or VERSIONS}
        driver.enter_namespace(sys.argv)
    except driver.Missing as missing:
        print(f"cannot run: {missing}", file=sys.stderr)
        return 2
    counts = {"ok": 0, "no": 0, "FAIL": 0}
    for version, client in clients.items():
        for scenario in made_by_client.SCENARIOS:
            if made_by_client.is_chosen(scenario, options):
                travel(version, client, scenario, ramus, options, counts)
    print(f"{counts['ok']} right, {counts['no']} refused, {counts['FAIL']} wrong")
    return 1 if counts["FAIL"] else 0


def travel(version, client, scenario, ramus, options, counts):
    commands = [options.command] if options.command else ["goto", "fork"]
    find = every_record if options.all_records else targets
    server = api.Api()
    with driver.Home(version, client, server) as home:
        try:
            session = scenario(made_by_client.Talk(home))
        except made_by_client.NotHere as why:
            return print(f"none {version} {scenario.__name__}: {why}", flush=True)
        if not session:
            return print(f"none {version} {scenario.__name__}: the client left no session", flush=True)
        trial = Trial(home, ramus)
        trial.save()
        if not options.command:
            tell(counts, f"{version} claim {scenario.__name__}", claim_judged(trial, session))
        for label, uuid in find(home, session):
            for command in commands:
                trial.put_back()
                name = f"{command}_{scenario.__name__}_{label}"
                keep = options.out and options.out / version / name.replace("-", "_")
                judgement = judged(trial, command, f"{session}:{uuid}", keep)
                tell(counts, f"{version} {command} {scenario.__name__} {label}", judgement)
    server.stop()


def tell(counts, what, judgement):
    kind, why = judgement
    counts[kind] += 1
    print(f"{kind:4} {what} {why}", flush=True)


def claim_judged(trial, session):
    """Compares what the client sends when it resumes a session that nobody touched."""
    try:
        sends(trial, session, "ask-90", claimed(trial, session))
    except Wrong as wrong:
        return "FAIL", str(wrong)
    finally:
        trial.put_back()
    return "ok", ""


def targets(home, session):
    """The messages of a session, each by its last record."""
    found = {}
    for record in driver.records(home.project() / f"{session}.jsonl"):
        if record.get("type") in ("user", "assistant") and not record.get("isSidechain"):
            for label in labels.of_message(record.get("message") or {}):
                if not label.startswith("out"):
                    found[label] = record["uuid"]
    return found.items()


def every_record(home, session):
    records = driver.records(home.project() / f"{session}.jsonl")
    return [(record["type"], record["uuid"]) for record in records if "uuid" in record]


def judged(trial, command, address, keep):
    try:
        target = labels.of_messages(claimed(trial, address))
        try:
            answer, _ = trial.ramus(command, address)
        except Wrong as refused:
            return "no", str(refused)
        session = answer["session"]
        for prompt in ("ask-90", "ask-91"):
            want = claimed(trial, session)
            said = labels.of_messages(want)
            if said != target:
                raise Wrong(f"before {prompt}: {' '.join(said)}; wanted: {' '.join(target)}")
            session = sends(trial, session, prompt, want, keep if prompt == "ask-90" else None)
            target += [prompt, prompt.replace("ask", "say")]
    except Wrong as wrong:
        return "FAIL", str(wrong)
    return "ok", ""


def claimed(trial, address):
    answer, _ = trial.ramus("show", "--as-client", address)
    return answer["messages"]


def sends(trial, session, prompt, want, keep=None):
    """Lets the client resume, and compares all messages that it sends; returns the session in which it went on."""
    home = trial.home
    before = (home.project() / f"{session}.jsonl").read_text(errors="replace")
    known = resumed.known_words(driver.records(home.project() / f"{session}.jsonl"))
    answer, sent = resumed.resumed(home, session, prompt)
    if sent is None:
        raise Wrong(f"sent nothing: {' '.join(answer.output.split())[-200:]}")
    if keep:
        resumed.keep(keep, home, before, sent)
    alone = labels.unpaired(answer.sent)
    if alone:
        raise Wrong(f"calls or results stand alone: {' '.join(alone)}")
    sent, want = [as_lists(resumed.without_additions(messages, known)) for messages in (sent, want)]
    for at in range(max(len(sent), len(want))):
        if sent[at:at + 1] != want[at:at + 1]:
            raise Wrong(f"{prompt}, message {at}: " + difference(sent[at:at + 1], want[at:at + 1]))
    return answer.session


def difference(sent, want):
    """The first blocks of two messages that are not the same, in short."""
    if not sent or not want or sent[0]["role"] != want[0]["role"]:
        return f"sent {short(sent)}; claimed {short(want)}"
    pairs = list(itertools.zip_longest(sent[0]["content"], want[0]["content"]))
    place, (one, other) = next((place, pair) for place, pair in enumerate(pairs) if pair[0] != pair[1])
    return f"{sent[0]['role']}, block {place} of {len(pairs)}: sent {short(one)}; claimed {short(other)}"


def as_lists(messages):
    """A text, and a list that holds this text alone, are the same to the server."""
    return [{"role": one["role"], "content": [{"type": "text", "text": one["content"]}]
             if isinstance(one["content"], str) else one["content"]} for one in messages]


def short(what):
    return json.dumps(what, ensure_ascii=False)[:400] if what else "nothing"


if __name__ == "__main__":
    sys.exit(main())
