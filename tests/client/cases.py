"""The histories and the targets in them.

A case places a history and returns targets, each of which is gone to and forked. A flow goes a longer way and checks
it itself. Where clients of other versions behave differently, with and without ramus, a comment says so.
"""
import json
import uuid

import api
import driver
import labels
import made
from trial import Target, Wrong

CASES, FLOWS = [], []
POINTER = (2, 1, 120)  # from here on a pointer decides where to resume, before that the newest date


def case(function):
    CASES.append(function)
    return function


def flow(function):
    FLOWS.append(function)
    return function


def new(trial):
    return made.Session(trial.home.version, trial.home.cwd)


def version(trial):
    return driver.number(trial.home.version)


def targets(session, *told, **fields):
    return [Target(what, f"{session.name}:{session[label]}", session.path(label), **fields) for what, label in told]


@case
def linear(trial):
    session = new(trial)
    session.turns(1, 2, 3)
    trial.put(session)
    return targets(session, ("the tip", "say-3"), ("a reply in the middle", "say-2"), ("the first reply", "say-1"),
                   ("a prompt without its reply", "ask-2"))


def branches(trial):
    session = new(trial)
    session.turns(1, 2, 3)
    session.turns(4, 5, parent="say-1")
    return session


@case
def two_branches(trial):
    session = branches(trial)
    trial.put(session)
    return targets(session, ("the leaf of the older branch", "say-3"), ("inside of the older branch", "say-2"),
                   ("where they part", "say-1"), ("inside of the newer branch", "say-4"), ("the newer tip", "say-5"))


@case
def stale_pointer(trial):
    session = new(trial)
    session.turns(1, 2)
    session.turns(3, parent="say-1")
    old = session["say-2"]
    session.note(type="last-prompt", lastPrompt="ask-2", leafUuid=old, explicit=True, sessionId=session.name)
    session.note(type="summary", summary="an old one", leafUuid=old)
    trial.put(session)
    return targets(session, ("another leaf than the one pointed to", "say-3"), ("where they part", "say-1"))


@case
def clock_skew(trial):
    session = new(trial)
    session.turns(1, 2)
    session.turns(3, parent="say-1")
    labels.find(session.records, "say-2")["timestamp"] = "2041-01-01T00:00:00.000Z"
    trial.put(session)
    pinned = version(trial) < POINTER
    return [*targets(session, ("beside a record from the future", "say-3"), forks=pinned),
            *targets(session, ("a record from the future", "say-2"), forks=pinned)]


@case
def no_final_newline(trial):
    session = new(trial)
    session.turns(1, 2, 3)
    session.torn = b""
    trial.put(session)
    return targets(session, ("a reply in the middle", "say-2"))


@case
def torn_last_line(trial):
    session = new(trial)
    session.turns(1, 2, 3)
    session.torn = b'\n{"type":"user","uuid":"torn'
    trial.put(session)
    return targets(session, ("a reply in the middle", "say-2"))


@case
def windows_lines(trial):
    session = new(trial)
    session.turns(1, 2, 3)
    session.mark, session.end = b"\xef\xbb\xbf", b"\r\n"
    trial.put(session)
    # The oldest clients lose the first record behind a byte order mark.
    return targets(session, ("a reply in the middle", "say-2"), forks=version(trial) < (2, 0, 0))


@case
def tools_in_a_chain(trial):
    session = new(trial)
    session.ask(1)
    for number in ("1a", "1b"):
        session.call(number, message="msg_parallel")
    for number in ("1a", "1b"):
        session.result(number)
    session.say(1)
    session.turns(2)
    trial.put(session)
    whole = session.path("out-1b")
    first = Target("the first of two calls", f"{session.name}:{session['call-1a']}", whole)
    return [first, *targets(session, ("after the results", "out-1b"), ("the reply after the tools", "say-1"))]


@case
def tools_side_by_side(trial):
    """Each result hangs below its own call, as clients from 2.1 on write it."""
    session = new(trial)
    session.ask(1)
    for number in ("1a", "1b"):
        session.call(number, message="msg_parallel")
    session.result("1b", parent="call-1b", sourceToolAssistantUUID=session["call-1b"])
    session.result("1a", parent="call-1a", sourceToolAssistantUUID=session["call-1a"])
    session.say(1)
    session.turns(2)
    trial.put(session)
    want = ["ask-1", "call-1a", "call-1b", "out-1b", "out-1a", "say-1"]
    if version(trial) < (2, 1, 150):  # those clients send the pair on the path only, with and without ramus
        want = session.path("say-1")
    return [Target("the reply after the tools", f"{session.name}:{session['say-1']}", want)]


@case
def compacted(trial):
    session = new(trial)
    session.turns(1, 2, 3)
    session.compact()
    session.turns(4, 5)
    trial.put(session)
    return targets(session, ("before the compaction", "say-2"), ("after the compaction", "say-4"))


@case
def compacted_with_kept_messages(trial):
    session = new(trial)
    session.turns(1, 2, 3)
    session.compact(keep="say-3")
    session.turns(4, 5)
    trial.put(session)
    after = session.path("say-4")
    if version(trial) >= (2, 1, 150):
        after.insert(1, "say-3")
    return [*targets(session, ("before the compaction, hidden by it", "say-2"), forks=True),
            Target("after the compaction", f"{session.name}:{session['say-4']}", after)]


def heavy(session, number):
    """A turn that adds 6 MiB to the file and next to nothing to what is sent."""
    session.ask(number)
    for place in "abcdef":
        session.call(f"{number}{place}", message=f"msg_heavy_{place}")
        session.result(f"{number}{place}", kept="x" * 1024 * 1024)
    session.say(number)


@case
def large(trial):
    session = new(trial)
    session.turns(1, 2)
    heavy(session, 3)
    session.turns(4, parent="say-1")
    trial.put(session)
    return targets(session, ("the leaf of the heavy branch", "say-3"), ("before the heavy turn", "say-2"),
                   ("where they part", "say-1"))


@case
def large_compacted(trial):
    session = new(trial)
    session.turns(1, 2)
    heavy(session, 3)
    session.compact()
    session.turns(4, 5)
    trial.put(session)
    hidden = version(trial) >= POINTER
    return [*targets(session, ("before the compaction", "say-2"), ("the heavy turn", "say-3"), forks=hidden),
            *targets(session, ("after the compaction", "say-4"))]


@case
def client_made(trial):
    """What the client wrote itself, with all that it adds between."""
    home = trial.home
    echo = api.tool("Bash", command="echo out-2 # call-2", description="d")
    home.api.answers = {"ask-2": [[api.text("say-2a"), echo], [api.text("say-2")]]}
    session = None
    for prompt in ("ask-1", "ask-2", "ask-3"):
        session = home.ask(prompt, resume=session).session
    file = home.project() / f"{session}.jsonl"
    records = driver.records(file)
    found = []
    for what, label in (("the first reply", "say-1"), ("the call of a tool", "call-2"), ("the reply after it", "say-2"),
                        ("the tip", "say-3")):
        # A call is taken together with its result.
        end = labels.find(records, "out-2" if label == "call-2" else label)
        address = f"{session}:{labels.find(records, label)['uuid']}"
        found.append(Target(what, address, labels.of_path(records, end["uuid"])))
    return found


@case
def agent(trial):
    """The conversation of a sub-agent, where a client of that version keeps it."""
    session = new(trial)
    session.turns(1)
    session.ask(2)
    task = {"type": "tool_use", "id": "toolu_task", "name": "Task",
            "input": {"description": "call-2", "prompt": "ask-51", "subagent_type": "general-purpose"}}
    session.answer([task])
    name = uuid.uuid4().hex[:7] if version(trial) < (2, 1, 0) else "a" + uuid.uuid4().hex[:16]
    inline = version(trial) < (2, 0, 0)
    own = {"isSidechain": True} if inline else {"isSidechain": True, "agentId": name}
    side = made.Session(trial.home.version, trial.home.cwd, session.name, **own)
    side.turns(51)
    side.ask(52)
    side.call("52a", message="msg_side")
    side.result("52a")
    side.say(52)
    if inline:
        session.records += side.records
    elif version(trial) < (2, 1, 0):
        trial.put(side, file=trial.home.project() / f"agent-{name}.jsonl")
    else:
        file = trial.home.project() / session.name / "subagents" / f"agent-{name}.jsonl"
        trial.put(side, file=file)
        told = {"agentType": "general-purpose", "description": "call-2", "toolUseId": "toolu_task", "spawnDepth": 1}
        file.with_suffix(".meta.json").write_text(json.dumps(told))
    result = {"type": "tool_result", "tool_use_id": "toolu_task", "content": [{"type": "text", "text": "out-2"}]}
    shown = {"status": "completed", "prompt": "ask-51", "content": result["content"]}
    if not inline:
        shown["agentId"] = name
    session.add("user", message={"role": "user", "content": [result]}, toolUseResult=shown)
    session.say(2)
    session.turns(3)
    trial.put(session)
    place = session.name if inline else f"agent-{name}"
    return [Target("its first reply", f"{place}:{side['say-51']}", side.path("say-51"), forks=True),
            Target("its end", f"{place}:{side['say-52']}", side.path("say-52"), forks=True),
            *targets(session, ("the reply of the main line", "say-2"))]


@case
def client_made_agent(trial):
    home = trial.home
    name = "Task" if version(trial) < (2, 1, 63) else "Agent"
    start = api.tool(name, description="call-1", prompt="ask-51", subagent_type="general-purpose")
    home.api.answers = {"ask-1": [[start], [api.text("say-1")]]}
    session = home.ask("ask-1").session
    for file in sorted(home.project().rglob("*.jsonl")):
        records = driver.records(file)
        reply = labels.find(records, "say-51")
        if reply and reply.get("isSidechain"):
            place = session if file.stem == session else file.stem
            want = labels.of_path(records, reply["uuid"])
            return [Target("its reply", f"{place}:{reply['uuid']}", want, forks=True)]
    raise Wrong("the client wrote no conversation of an agent")


@flow
def back_and_forth(trial):
    """Several times in one file, with and without the client in between."""
    session = branches(trial)
    trial.put(session)
    trial.save()
    ways = [("goto", f"{session.name}:{session[label]}") for label in ("say-2", "say-4", "say-3")]
    trial.unchanged_by(*((way, False) for way in ways))
    for way in ways:
        name = trial.change(*way, forks=False)
    older = session.path("say-3")
    trial.resume(name, "ask-90", older)
    trial.home.age()
    name = trial.change("goto", trial.address("say-4"), forks=False)
    trial.resume(name, "ask-91", session.path("say-4"))
    trial.home.age()
    back = trial.address("say-90")
    name = trial.change("goto", back, forks=False)
    trial.resume(name, "ask-92", [*older, "ask-90", "say-90"])


@flow
def fork_of_a_fork(trial):
    session = new(trial)
    session.turns(1, 2, 3)
    trial.put(session)
    trial.save()
    want = session.path("say-2")
    first = trial.change("fork", f"{session.name}:{session['say-2']}", forks=True)
    trial.resume(first, "ask-90", want)
    trial.home.age()
    second = trial.change("fork", trial.address("say-90"), forks=True)
    name = trial.resume(second, "ask-91", [*want, "ask-90", "say-90"])
    third = trial.change("fork", f"{second}:{session['say-1']}", forks=True)
    trial.resume(third, "ask-92", session.path("say-1"))
    trial.resume(name, "ask-93", [*want, "ask-90", "say-90", "ask-91", "say-91"])


@flow
def into_another_project(trial):
    session = branches(trial)
    trial.put(session)
    trial.save()
    other = trial.home.path / "another project"
    other.mkdir()
    way = ("fork", f"{session.name}:{session['say-3']}", "--into", str(other), "--title", "Elsewhere")
    trial.unchanged_by((way, True))
    name = trial.change(*way, forks=True)
    records = driver.records(trial.home.project(other) / f"{name}.jsonl")
    if {record["cwd"] for record in records if "cwd" in record} != {str(other)}:
        raise Wrong("records name another working directory")
    trial.go_on(name, session.path("say-3"), cwd=other)


@flow
def into_a_project_that_is_there(trial):
    session = new(trial)
    session.turns(1, 2)
    trial.put(session)
    other = trial.home.path / "there"
    other.mkdir()
    theirs = made.Session(trial.home.version, other)
    theirs.turns(7)
    trial.put(theirs, cwd=other)
    trial.save()
    name = trial.change("fork", f"{session.name}:{session['say-1']}", "--into", str(other), forks=True)
    trial.go_on(name, session.path("say-1"), cwd=other)
