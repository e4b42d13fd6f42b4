"""Merged and repaired sessions: the client must send exactly their messages."""
import cases
from cases import flow, new, version


def put(trial, *sessions):
    for session in sessions:
        trial.put(session)
    trial.save()


def merged(trial, want, *words):
    """Merges, takes it back, merges again and lets the client go on."""
    trial.unchanged_by((("merge", *words), True))
    trial.go_on(trial.change("merge", *words, forks=True), want)


def repaired(trial, session, want):
    put(trial, session)
    words = ("check", session.name, "--fix")
    trial.unchanged_by((words, True))
    trial.go_on(trial.change(*words, forks=True), want)


def two_ends(trial):
    """One beginning and two ends; the second calls two tools at once, as new clients write it."""
    session = new(trial)
    session.turns(1, 2)
    session.ask(3, parent="say-1")
    session.call("3a", "msg_three")
    session.call("3b", "msg_three")
    for number in ("3b", "3a"):
        session.result(number, parent=f"call-{number}", sourceToolAssistantUUID=session[f"call-{number}"])
    session.say(3)
    session.turns(4, parent="say-2")
    put(trial, session)
    return [f"{session.name}:{session[label]}" for label in ("say-4", "say-3")]


OURS = ["ask-1", "say-1", "ask-2", "say-2", "ask-4", "say-4"]
THEIRS = ["ask-3", "call-3a", "call-3b", "out-3b", "out-3a", "say-3"]


@flow
def merge_append(trial):
    merged(trial, [*OURS, *THEIRS], *two_ends(trial))


@flow
def merge_interleave(trial):
    merged(trial, [*OURS[:4], *THEIRS, *OURS[4:]], *two_ends(trial), "--strategy", "interleave")


@flow
def merge_pick(trial):
    want = [*OURS[:2], *THEIRS, *OURS[4:], *THEIRS]
    merged(trial, want, *two_ends(trial), "--pick", "2:1,1:2", "--pick", "2:1")


@flow
def merge_digest(trial):
    # What the others said is quoted, so the answer stands in a user message.
    merged(trial, [*OURS, "ask-3", "say-3?"], *two_ends(trial), "--strategy", "digest")


@flow
def merge_of_a_retry(trial):
    session = new(trial)
    session.ask(1)
    session.say("1a")
    session.say("1b", parent="ask-1")
    put(trial, session)
    ends = [f"{session.name}:{session[label]}" for label in ("say-1a", "say-1b")]
    merged(trial, ["ask-1", "say-1a", "ask-1", "say-1b"], *ends)


def compacted(trial, keep=None):
    session = new(trial)
    session.turns(1, 2)
    session.compact(keep)
    session.turns(3)
    session.turns(4, parent="say-1")
    put(trial, session)
    return [f"{session.name}:{session[label]}" for label in ("say-3", "say-4")]


@flow
def merge_onto_a_compaction(trial):
    ours, theirs = compacted(trial)
    merged(trial, ["sum-1", "ask-3", "say-3", "ask-4", "say-4"], ours, theirs)


@flow
def merge_of_a_compaction(trial):
    theirs, ours = compacted(trial)
    merged(trial, ["ask-1", "say-1", "ask-4", "say-4", "sum-1", "ask-3", "say-3"], ours, theirs)


@flow
def merge_of_a_compaction_with_a_kept_message(trial):
    theirs, ours = compacted(trial, keep="say-2")
    merged(trial, ["ask-1", "say-1", "ask-4", "say-4", "sum-1", "say-2", "ask-3", "say-3"], ours, theirs)


@flow
def merge_of_strangers(trial):
    ours, theirs = new(trial), new(trial)
    ours.turns(1, 2)
    theirs.turns(3)
    put(trial, ours, theirs)
    merged(trial, ["ask-1", "say-1", "ask-2", "say-2", "ask-3", "say-3"], ours.name, theirs.name, "--no-base")


@flow
def fix_lost_parent(trial):
    session = new(trial)
    session.turns(1, 2, 3)
    session.records[4]["parentUuid"] = "00000000-0000-4000-8000-00000000dead"
    repaired(trial, session, ["ask-1", "say-1", "ask-2", "say-2", "ask-3", "say-3"])


@flow
def fix_unpaired(trial):
    session = new(trial)
    session.ask(1)
    session.call("1a", "msg_one")
    session.say(1)
    session.result("9a")
    session.turns(2)
    repaired(trial, session, ["ask-1", "call-1a", "say-1", "ask-2", "say-2"])


@flow
def fix_thinking(trial):
    session = new(trial)
    hollow = {"type": "thinking", "thinking": "", "signature": ""}
    session.ask(1)
    session.answer([hollow], message="msg_one")
    session.say(1, message="msg_one")
    session.ask(2)
    session.answer([hollow, {"type": "text", "text": "say-2"}])
    repaired(trial, session, ["ask-1", "say-1", "ask-2", "say-2"])


@flow
def fix_future(trial):
    # Later clients are not held by a date.
    if version(trial) >= cases.POINTER:
        return
    session = new(trial)
    session.turns(1, 2, 3)
    session.records[1]["timestamp"] = "2031-01-01T00:00:00.000Z"
    repaired(trial, session, ["ask-1", "say-1", "ask-2", "say-2", "ask-3", "say-3"])


@flow
def fix_times(trial):
    session = new(trial)
    session.turns(1, 2)
    for record in session.records:
        del record["timestamp"]
    put(trial, session)
    copy = trial.change("check", session.name, "--fix", forks=True)
    if (2, 0, 0) <= version(trial) < (2, 1, 0):
        # These clients end at such a file wherever it lies in the project.
        trial.ramus("trash", session.name)
    trial.go_on(copy, ["ask-1", "say-1", "ask-2", "say-2"])
