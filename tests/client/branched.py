#!/usr/bin/env python3
"""Merges sessions with copies that the client's `/branch` and `--fork-session` made, and lets the client resume them.

    tests/client/branched.py [--clients DIR] [--ramus PROGRAM] [--case NAME] [VERSION...]

In each scenario a session is copied, and both continue. They are merged in both orders with every strategy. The client resumes
the result twice; what it sends must equal `ramus show --as-client` and contain the own messages of each session once.
"""
import argparse
import pathlib
import sys
import time

sys.dont_write_bytecode = True

import api
import driver
import labels
import run
from made_by_client import NotHere, Talk, bash
from made_in_terminal import Terminal, session_with
from travelled import as_lists, claimed, sends, tell
from trial import Trial, Wrong

SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


class Branching(Talk):
    """A conversation in a terminal that is branched."""

    def terminal(self, *arguments):
        return Terminal(self, "--allowedTools", "Bash", "--permission-mode", "default", *arguments)

    def branch(self, terminal, words="/branch"):
        before = len(self.home.sessions())
        terminal.type(words)
        last = time.time() + 40
        while time.time() < last and len(self.home.sessions()) == before:
            time.sleep(0.5)
        time.sleep(3)

    def both_go_on(self, copy_with, original_with, *prompts):
        """Goes on in the session without a label, then returns both: the original first."""
        copy = session_with(self, copy_with)
        found = [file.stem for file in self.home.sessions() if original_with in file.read_text() and file.stem != copy]
        self.session = found[-1]
        self.asks(*prompts)
        return self.session, copy


@scenario
def plain(talk):
    with talk.terminal() as terminal:
        terminal.ask("ask-1")
        terminal.ask("ask-2")
        talk.branch(terminal)
        terminal.ask("ask-3")
        terminal.ask("ask-4")
    return *talk.both_go_on("ask-3", "ask-2", "ask-5", "ask-6"), ["ask-5", "ask-6"], ["ask-3", "ask-4"]


@scenario
def after_one_turn(talk):
    with talk.terminal() as terminal:
        terminal.ask("ask-1")
        talk.branch(terminal)
        terminal.ask("ask-2")
    return *talk.both_go_on("ask-2", "ask-1", "ask-3"), ["ask-3"], ["ask-2"]


@scenario
def parallel_tools(talk):
    for n in "123":
        talk.answer(f"ask-{n}", [bash(f"{n}a"), bash(f"{n}b")], [api.text(f"say-{n}")])
    with talk.terminal() as terminal:
        terminal.ask("ask-1")
        talk.branch(terminal)
        terminal.ask("ask-2")
    return *talk.both_go_on("ask-2", "ask-1", "ask-3"), ["ask-3"], ["ask-2"]


@scenario
def with_a_title(talk):
    with talk.terminal() as terminal:
        terminal.ask("ask-1")
        terminal.type("/rename a name")
        time.sleep(2)
        terminal.ask("ask-2")
        talk.branch(terminal, "/branch another name")
        terminal.ask("ask-3")
    return *talk.both_go_on("ask-3", "ask-2", "ask-4"), ["ask-4"], ["ask-3"]


@scenario
def compacted_before(talk):
    with talk.terminal() as terminal:
        terminal.ask("ask-1")
        terminal.ask("ask-2")
        terminal.type("/compact")
        terminal.sees("Compacted|compacted", 40)
        time.sleep(3)
        talk.branch(terminal)
        terminal.ask("ask-3")
    return *talk.both_go_on("ask-3", "ask-2", "ask-4"), ["ask-4"], ["ask-3"]


@scenario
def compacted_before_and_went_on(talk):
    with talk.terminal() as terminal:
        terminal.ask("ask-1")
        terminal.type("/compact")
        terminal.sees("Compacted|compacted", 40)
        time.sleep(3)
        terminal.ask("ask-2")
        talk.branch(terminal)
        terminal.ask("ask-3")
    return *talk.both_go_on("ask-3", "ask-2", "ask-4"), ["ask-4"], ["ask-3"]


@scenario
def copy_compacted(talk):
    with talk.terminal() as terminal:
        terminal.ask("ask-1")
        terminal.ask("ask-2")
        talk.branch(terminal)
        terminal.ask("ask-3")
        terminal.type("/compact")
        terminal.sees("Compacted|compacted", 40)
        time.sleep(3)
        terminal.ask("ask-4")
    return *talk.both_go_on("ask-4", "ask-2", "ask-5"), ["ask-5"], ["ask-4"]


@scenario
def original_compacted(talk):
    with talk.terminal() as terminal:
        terminal.ask("ask-1")
        terminal.ask("ask-2")
        talk.branch(terminal)
        terminal.ask("ask-3")
    return *talk.both_go_on("ask-3", "ask-2", "ask-4", "/compact", "ask-5"), ["ask-5"], ["ask-3"]


@scenario
def compacted_automatically_before(talk):
    talk.home.environment["ANTHROPIC_MODEL"] = "claude-sonnet-4-20250514"
    talk.answer("ask-2", [api.used(190000), api.text("say-2")])
    with talk.terminal() as terminal:
        for prompt in ("ask-1", "ask-2", "ask-3"):
            terminal.ask(prompt)
        talk.branch(terminal)
        terminal.ask("ask-4")
    return *talk.both_go_on("ask-4", "ask-3", "ask-5"), ["ask-5"], ["ask-4"]


@scenario
def rewound_before(talk):
    with talk.terminal() as terminal:
        terminal.ask("ask-1")
        terminal.ask("ask-2")
        terminal.rewind("ask-2")
        terminal.ask("ask-3")
        talk.branch(terminal)
        terminal.ask("ask-4")
    return *talk.both_go_on("ask-4", "ask-3", "ask-5"), ["ask-5"], ["ask-4"]


@scenario
def rewound_and_branched_at_once(talk):
    """Nothing is said between going back and branching."""
    with talk.terminal() as terminal:
        terminal.ask("ask-1")
        terminal.ask("ask-2")
        terminal.ask("ask-3")
        terminal.rewind("ask-3")
        talk.branch(terminal)
        terminal.ask("ask-4")
    return *talk.both_go_on("ask-4", "ask-3", "ask-5"), ["ask-3", "ask-5"], ["ask-4"]


@scenario
def rewound_in_the_copy(talk):
    with talk.terminal() as terminal:
        terminal.ask("ask-1")
        terminal.ask("ask-2")
        talk.branch(terminal)
        terminal.ask("ask-3")
        terminal.rewind("ask-2")
        terminal.ask("ask-4")
    return *talk.both_go_on("ask-4", "ask-2", "ask-5"), ["ask-2", "ask-5"], ["ask-4"]


@scenario
def branch_of_a_branch(talk):
    """The original and the copy of its copy."""
    with talk.terminal() as terminal:
        terminal.ask("ask-1")
        talk.branch(terminal)
        terminal.ask("ask-2")
        talk.branch(terminal)
        terminal.ask("ask-3")
    copy = session_with(talk, "ask-3")
    talk.session = next(file.stem for file in talk.home.sessions() if "ask-2" not in file.read_text())
    original = talk.asks("ask-4")
    return original, copy, ["ask-4"], ["ask-2", "ask-3"]


@scenario
def two_branches(talk):
    """Two copies of one session, of which one was branched from the other."""
    with talk.terminal() as terminal:
        terminal.ask("ask-1")
        talk.branch(terminal)
        terminal.ask("ask-2")
        talk.branch(terminal)
        terminal.ask("ask-3")
    copy = session_with(talk, "ask-3")
    files = [file for file in talk.home.sessions() if "ask-2" in file.read_text() and "ask-3" not in file.read_text()]
    talk.session = files[-1].stem
    return talk.asks("ask-4"), copy, ["ask-4"], ["ask-3"]


@scenario
def interrupted_before(talk):
    talk.answer("ask-2", [bash("2a"), bash("2", "tail -f /dev/null")], [api.text("say-2")])
    with talk.terminal() as terminal:
        terminal.ask("ask-1")
        terminal.type("ask-2")
        time.sleep(5)
        terminal.press("Escape")
        time.sleep(2)
        talk.branch(terminal)
        terminal.ask("ask-3")
    return *talk.both_go_on("ask-3", "ask-2", "ask-4"), ["ask-4"], ["ask-3"]


@scenario
def the_same_asked_in_both(talk):
    with talk.terminal() as terminal:
        terminal.ask("ask-1")
        talk.branch(terminal)
        terminal.ask("ask-2")
        terminal.ask("ask-3")
    copy = session_with(talk, "ask-3")
    talk.session = next(file.stem for file in talk.home.sessions() if "ask-2" not in file.read_text())
    return talk.asks("ask-2", "ask-4"), copy, ["ask-2", "ask-4"], ["ask-2", "ask-3"]


@scenario
def the_original_goes_on_first(talk):
    """The copy is made from a session that another client goes on with at once."""
    talk.asks("ask-1", "ask-2")
    original = talk.session
    with talk.terminal("--resume", original) as terminal:
        talk.branch(terminal)
        talk.asks("ask-3")
        terminal.ask("ask-4")
    return original, session_with(talk, "ask-4"), ["ask-3"], ["ask-4"]


@scenario
def copied_with_fork_session(talk):
    talk.answer("ask-1", [bash("1a"), bash("1b")], [api.text("say-1")])
    original = talk.asks("ask-1", "ask-2")
    talk.ask("ask-3", "--fork-session")
    copy = session_with(talk, "ask-3")
    talk.session = original
    return talk.asks("ask-4"), copy, ["ask-4"], ["ask-3"]


@scenario
def copied_with_fork_session_behind_a_compaction(talk):
    original = talk.asks("ask-1", "ask-2", "/compact", "ask-3")
    talk.ask("ask-4", "--fork-session")
    copy = session_with(talk, "ask-4")
    talk.session = original
    return talk.asks("ask-5"), copy, ["ask-5"], ["ask-4"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION")
    parser.add_argument("--clients", type=pathlib.Path, default=run.ROOT / "target/clients", metavar="DIR")
    parser.add_argument("--ramus", metavar="PROGRAM")
    parser.add_argument("--case", action="append", metavar="NAME", help="only scenarios with NAME in their name")
    options = parser.parse_args()
    try:
        ramus = run.program(options.ramus)
        clients = {version: driver.install(options.clients, version) for version in options.versions or ["2.1.325"]}
        driver.enter_namespace(sys.argv)
    except driver.Missing as missing:
        print(f"cannot run: {missing}", file=sys.stderr)
        return 2
    counts = {"ok": 0, "no": 0, "FAIL": 0}
    for version, client in clients.items():
        for made in SCENARIOS:
            if any(name in made.__name__ for name in options.case or [""]):
                merge_all(version, client, made, ramus, counts)
    print(f"{counts['ok']} right, {counts['no']} refused, {counts['FAIL']} wrong")
    return 1 if counts["FAIL"] else 0


def merge_all(version, client, made, ramus, counts):
    server = api.Api()
    with driver.Home(version, client, server) as home:
        try:
            original, copy, own, other = made(Branching(home))
        except NotHere as why:
            return print(f"none {version} merge {made.__name__}: {why}", flush=True)
        trial = Trial(home, ramus)
        trial.save()
        for ours, theirs, own_ours, own_theirs in ((original, copy, own, other), (copy, original, other, own)):
            order = "original first" if ours == original else "copy first"
            for strategy in ("append", "interleave", "digest", "pick"):
                trial.put_back()
                what = f"{version} merge {made.__name__} {strategy}, {order}"
                if strategy == "pick" and made.__name__ in PICKED:
                    first = PICKED[made.__name__]
                    own_ours, own_theirs = [[label] for label in (first if ours == original else reversed(first))]
                tell(counts, what, judged(trial, strategy, ours, theirs, own_ours, own_theirs))
    server.stop()


# What `--pick 1:1` and `2:1` mean where a compaction hides the first exchange of one's own.
PICKED = {"copy_compacted": ["ask-5", "ask-3"], "original_compacted": ["ask-4", "ask-3"]}


def judged(trial, strategy, ours, theirs, own_ours, own_theirs):
    told = ["--pick", "2:1", "--pick", "1:1"] if strategy == "pick" else ["--strategy", strategy]
    try:
        separate = [spoken(claimed(trial, session)) for session in (ours, theirs)]
        answer, _ = trial.ramus("merge", ours, theirs, *told)
        want = claimed(trial, answer["session"])
        said = labels.of_messages(want)
        hold(strategy, spoken(want), separate, own_ours, own_theirs)
        session = sends(trial, answer["session"], "ask-90", want)
        again = claimed(trial, session)
        if labels.of_messages(again) != [*said, "ask-90", "say-90"]:
            raise Wrong(f"went on: {' '.join(labels.of_messages(again))}; before: {' '.join(said)}")
        sends(trial, session, "ask-91", again)
    except Wrong as wrong:
        return "FAIL", str(wrong)
    return "ok", " ".join(said)


def spoken(messages):
    """The labels of messages, without those of titles that commands print."""
    def is_said(block):
        return not block.get("text", "").startswith(("<local-command", "<command"))
    return labels.of_messages({**one, "content": [block for block in one["content"] if is_said(block)]}
                              for one in as_lists(messages))


def hold(strategy, said, separate, own_ours, own_theirs):
    """What is merged holds what each has of its own, and what is common once."""
    own = {*own_ours, *own_theirs}
    if strategy == "pick":
        # The first own exchange of each, theirs first.
        own = {own_ours[0], own_theirs[0]}
        wanted = [label for label in said if label in own]
        if wanted != [own_theirs[0], own_ours[0]]:
            raise Wrong(f"picked {' '.join(wanted)}: {' '.join(said)}")
        return
    for label in own:
        times = (label in own_ours) + (label in own_theirs)
        if said.count(label) != times:
            raise Wrong(f"{label} is there {said.count(label)} times, not {times}: {' '.join(said)}")
    shared = {label for label in separate[0] if label.startswith("ask")} - own
    for label in shared:
        if said.count(label) > 1:
            raise Wrong(f"{label} is common and there {said.count(label)} times: {' '.join(said)}")
    if strategy == "append" and said[:len(separate[0])] != separate[0]:
        raise Wrong(f"does not begin with {' '.join(separate[0])}: {' '.join(said)}")


if __name__ == "__main__":
    sys.exit(main())
