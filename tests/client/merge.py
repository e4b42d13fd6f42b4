#!/usr/bin/env python3
"""Does the real client resume what `ramus merge` and `ramus check --fix` write?

    merge.py --tools DIR --ramus BIN VERSION...      [--case PART] [--list]

Makes small sessions, runs ramus on them, lets an installed client resume the new session, and compares the
messages of the request it really sends: exactly the expected ones, every tool call with its result, and again
after a second resume. DIR holds the driver (`lab.py`, `mk.py`, `conformance.py`): it runs a client of the npm
registry in a network namespace with loopback only, against a stub of the API. Needs root, iproute2, node.
"""
import argparse, json, os, re, subprocess, sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("versions", nargs="*")
parser.add_argument("--tools", default=os.environ.get("CLIENT_TOOLS"), help="directory of the driver")
parser.add_argument("--ramus", default="ramus")
parser.add_argument("--case", default="")
parser.add_argument("--list", action="store_true")
args = parser.parse_args()
if not args.tools:
    parser.error("--tools DIR or CLIENT_TOOLS says where the driver is")
sys.path.insert(0, args.tools)
from conformance import boundary, tokens, toks, turns  # noqa: E402
from lab import Lab, load  # noqa: E402
from mk import S  # noqa: E402

CASES = []


def case(make):
    CASES.append(make)
    return make


def two(session):
    """One beginning, two ends; the second one calls two tools at once, as new clients write it."""
    first = turns(session, 1)
    ours = turns(session, 2, parent=first[1])
    session.user("Q3", parent=first[1])
    calls, _ = session.tool(["O3a", "O3b"], results=False)
    ids = [record["message"]["content"][0]["id"] for record in session.recs[-2:]]
    for index, out in ((1, "O3b"), (0, "O3a")):
        block = {"type": "tool_result", "tool_use_id": ids[index], "content": "out " + out, "is_error": False}
        session.user([block], parent=calls[index], sourceToolAssistantUUID=calls[index])
    theirs = session.asst("R3")
    later = turns(session, 4, parent=ours[1])
    return later[1], theirs


THEIRS = ["u:Q3", "a:O3a", "a:O3b", "u:O3b", "u:O3a", "a:R3"]


@case
def append(session):
    ours, theirs = two(session)
    yield session, [f"{session.sid}:{ours}", f"{session.sid}:{theirs}"], toks("Q1", "R1", "Q2", "R2", "Q4", "R4") + THEIRS


@case
def interleave(session):
    ours, theirs = two(session)
    command = [f"{session.sid}:{ours}", f"{session.sid}:{theirs}", "--strategy", "interleave"]
    yield session, command, toks("Q1", "R1", "Q2", "R2") + THEIRS + toks("Q4", "R4")


@case
def pick(session):
    ours, theirs = two(session)
    command = [f"{session.sid}:{ours}", f"{session.sid}:{theirs}", "--pick", "2:1,1:2,2:1"]
    yield session, command, toks("Q1", "R1") + THEIRS + toks("Q4", "R4") + THEIRS


@case
def digest(session):
    ours, theirs = two(session)
    command = [f"{session.sid}:{ours}", f"{session.sid}:{theirs}", "--strategy", "digest"]
    quoted = ["u:Q3", "u:O3a", "u:O3b", "u:R3"]
    yield session, command, toks("Q1", "R1", "Q2", "R2", "Q4", "R4") + quoted


@case
def retry(session):
    prompt = session.user("Q1")
    ours = session.asst("R1a", parent=prompt)
    theirs = session.asst("R1b", parent=prompt)
    yield session, [f"{session.sid}:{ours}", f"{session.sid}:{theirs}"], toks("Q1", "R1a", "Q1", "R1b")


@case
def compacted_branch(session):
    first = turns(session, 1)
    theirs = turns(session, 2, parent=first[1])
    boundary(session, theirs, False)
    theirs = turns(session, 3)
    ours = turns(session, 4, parent=first[1])
    command = [f"{session.sid}:{ours[1]}", f"{session.sid}:{theirs[1]}"]
    yield session, command, toks("Q1", "R1", "Q4", "R4", "S1", "Q3", "R3")


@case
def compacted_trunk(session):
    first = turns(session, 1)
    ours = turns(session, 2, parent=first[1])
    boundary(session, ours, False)
    ours = turns(session, 3)
    theirs = turns(session, 4, parent=first[1])
    command = [f"{session.sid}:{ours[1]}", f"{session.sid}:{theirs[1]}"]
    yield session, command, toks("S1", "Q3", "R3", "Q4", "R4")


@case
def no_base(session):
    ours = turns(session, 1, 2)
    other = S(session.cwd, session.v)
    theirs = turns(other, 3)
    yield session, other, [f"{session.sid}:{ours[3]}", f"{other.sid}:{theirs[1]}", "--no-base"], toks("Q1", "R1", "Q2", "R2", "Q3", "R3")


@case
def fix_lost_parent(session):
    turns(session, 1, 2)
    session.user("Q3", parent="00000000-0000-4000-8000-00000000dead")
    session.asst("R3")
    yield session, None, toks("Q1", "R1", "Q2", "R2", "Q3", "R3")


@case
def fix_unpaired(session):
    session.user("Q1")
    session.tool(["O1a"], results=False)
    session.asst("R1")
    block = {"type": "tool_result", "tool_use_id": "toolu_nobody", "content": "O9", "is_error": False}
    session.user([block])
    turns(session, 2)
    yield session, None, ["u:Q1", "a:O1a", "a:R1", "u:Q2", "a:R2"]


@case
def fix_thinking(session):
    session.user("Q1")
    hollow = [{"type": "thinking", "thinking": "", "signature": ""}]
    session.asst("", content=hollow, mid="msg_one")
    session.asst("R1", mid="msg_one")
    session.user("Q2")
    session.asst("", content=hollow + [{"type": "text", "text": "R2"}])
    yield session, None, toks("Q1", "R1", "Q2", "R2")


@case
def fix_future(session):
    turns(session, 1, 2, 3)
    session.recs[1]["timestamp"] = "2031-01-01T00:00:00.000Z"
    yield session, None, toks("Q1", "R1", "Q2", "R2", "Q3", "R3")


@case
def fix_times(session):
    turns(session, 1, 2)
    for record in session.recs:
        del record["timestamp"]
    yield session, None, toks("Q1", "R1", "Q2", "R2")


def number(version):
    return tuple(int(part) for part in version.split("."))


def asked(lab, session, prompt):
    """Lets the client resume a session; the messages it sends, or why it sent none."""
    lab.skip()
    lab.p(prompt, "--resume", session, limit=120)
    sent = [request for request in lab.reqs() if request["body"].get("tools")
            and re.search(r"\b%s\b" % prompt, json.dumps(request["body"].get("messages", "")))]
    return (sent[-1], None) if sent else (None, (lab.out + lab.err).replace("\n", " ")[-160:])


def unpaired(request):
    """Tool calls that the next message does not answer, and answers to no call."""
    wrong, open_calls = [], set()
    for message in request["body"]["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        answers = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        wrong += sorted(open_calls ^ set(answers)) + [a for a in answers if answers.count(a) > 1]
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        wrong += [call for call in calls if calls.count(call) > 1]
        open_calls = set(calls)
    return wrong + sorted(open_calls)


def hollow(request):
    blocks = [b for m in request["body"]["messages"] if isinstance(m["content"], list) for b in m["content"]]
    return [b for b in blocks if b["type"] == "thinking" and not b.get("signature")]


def run(version, make):
    lab = Lab(version, "merge")
    session = S(lab.cwd, version)
    *sessions, command, want = next(make(session))
    for one in sessions:
        lab.put(one.recs, sid=one.sid)
    before = {one.sid: open(lab.path(one.sid), "rb").read() for one in sessions}
    words = ["check", session.sid, "--fix"] if command is None else ["merge", *command]
    done = subprocess.run(
        [args.ramus, "--claude-dir", lab.home + "/.claude", *words, "--yes", "--force", "--json"],
        capture_output=True, text=True,
        env={"PATH": os.environ["PATH"], "HOME": lab.home, "RAMUS_STATE_DIR": lab.home + "/ramus"})
    if done.returncode:
        return "ramus: " + (done.stderr or done.stdout).strip()[-300:]
    if command is None and not done.stdout.strip():
        # Where nothing is wrong for a client of that age, it must resume all of it as it is.
        new = session.sid
    else:
        new = json.loads(done.stdout)["session"]
    for sid, old in before.items():
        if open(lab.path(sid), "rb").read() != old:
            return "a source was changed"
    prompts = []
    for prompt in ("Q9", "Q8"):
        request, why = asked(lab, new, prompt)
        if not request:
            return "no request: " + why
        prompts.append("u:" + prompt)
        got = [token for token in tokens(request)]
        if got != want + prompts:
            return f"sent {' '.join(got)}, wanted {' '.join(want + prompts)}"
        if unpaired(request):
            return f"unpaired: {unpaired(request)}"
        if hollow(request):
            return "thinking without a signature was sent"
        if number(version) < (2, 0, 0):
            # This client goes on in a new file.
            newest = max((f for f in lab.sessions() if load(f)), key=os.path.getmtime)
            new = os.path.basename(newest)[:-6]
    return None


def main():
    cases = [make for make in CASES if args.case in make.__name__]
    if args.list:
        print("\n".join(make.__name__ for make in cases))
        return 0
    bad = ran = 0
    for version in args.versions:
        for make in cases:
            why = run(version, make)
            ran += 1
            bad += why is not None
            print(f"{'FAIL' if why else 'ok  '} {version} {make.__name__}" + (f" -- {why}" if why else ""), flush=True)
    print(f"{ran - bad} of {ran} passed")
    return 1 if bad or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
