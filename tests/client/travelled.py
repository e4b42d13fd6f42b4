#!/usr/bin/env python3
"""Goes to and forks every message of sessions that the real client made itself, and lets it resume twice.

    tests/client/travelled.py [--clients DIR] [--ramus PROGRAM] [--case NAME] [--command goto|fork] [VERSION...]

What the client sends must be what `ramus show --as-client` says of the target; the second time, what was said the first
time must be there too. A refusal with a reason is told, and counts by itself.
"""
import argparse
import json
import pathlib
import sys

sys.dont_write_bytecode = True

import api
import driver
import labels
import made_by_client
import made_in_terminal  # noqa: F401  its scenarios join those of `made_by_client`
import run
from trial import Trial, Wrong

VERSIONS = ["2.1.325"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION")
    parser.add_argument("--clients", type=pathlib.Path, default=run.ROOT / "target/clients", metavar="DIR")
    parser.add_argument("--ramus", metavar="PROGRAM")
    parser.add_argument("--case", action="append", metavar="NAME", help="only scenarios with NAME in their name")
    parser.add_argument("--command", choices=["goto", "fork"])
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
            if any(name in scenario.__name__ for name in options.case or [""]):
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
            return print(f"{version} {scenario.__name__}: {why}", flush=True)
        trial = Trial(home, ramus)
        trial.save()
        for label, uuid in find(home, session):
            for command in commands:
                trial.put_back()
                kind, what = judged(trial, command, f"{session}:{uuid}")
                counts[kind] += 1
                print(f"{kind:4} {version} {command} {scenario.__name__} {label} {what}", flush=True)
    server.stop()


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


def judged(trial, command, address):
    try:
        want = claimed(trial, address)
        try:
            answer, _ = trial.ramus(command, address)
        except Wrong as refused:
            return "no", str(refused)
        session = trial.resume(answer["session"], "ask-90", want)
        trial.resume(session, "ask-91", [*want, "ask-90", "say-90"])
    except Wrong as wrong:
        return "FAIL", str(wrong)
    return "ok", ""


def claimed(trial, address):
    answer, _ = trial.ramus("show", "--as-client", address)
    return labels.of_messages(answer["messages"])


if __name__ == "__main__":
    sys.exit(main())
