#!/usr/bin/env python3
"""Runs every command over sessions of hostile shapes at n, 2n and 4n, and checks that the work grows linearly with the bytes.

    bench/shapes.py RAMUS [--n 500] [--steps 3] [--shape NAME]... [--command NAME]... [--instructions]

Prints a table: for each shape and command the work at each size, and the exponent of its growth (1.0 is
linear, 2.0 quadratic) between the two largest sizes, where the work of an empty session has been taken off.
Work is user CPU time; `--instructions` counts instructions with valgrind instead, which is exact and slow.
Rows above `--limit` (1.3) are marked, and the exit code says whether there are any.
"""
import argparse, json, math, os, re, resource, shutil, subprocess, sys, tempfile, time

SESSION = "5e551000-0000-4000-8000-000000000000"
OTHER = "07ee0000-0000-4000-8000-000000000000"


def uuid(n, kind=0):
    return f"{n:08x}-{kind:04x}-4000-8000-000000000000"


class Session:
    """Lines of one file, each a second after the one before."""

    def __init__(self, session=SESSION):
        self.session, self.lines, self.second = session, [], 0

    def add(self, kind, name, parent, message=None, **more):
        self.second += 1
        when = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1767225600 + self.second))
        record = {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/home/dev/app",
                  "sessionId": self.session, "version": "2.1.325", "type": kind}
        if message is not None:
            record["message"] = message
        record |= {"uuid": name, "timestamp": when}
        record |= more
        self.lines.append(json.dumps(record, separators=(",", ":")))
        return name

    def prompt(self, name, parent, text="please do the harp thing", **more):
        return self.add("user", name, parent, {"role": "user", "content": text}, **more)

    def answer(self, name, parent, blocks="Here is the harp.", message_id=None, **more):
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        usage = {"input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 2}
        message = {"id": message_id or f"msg_{name}", "type": "message", "role": "assistant",
                   "model": "claude-opus-4-5-20251101", "content": blocks, "usage": usage}
        return self.add("assistant", name, parent, message, **{"requestId": f"req_{message_id or name}"} | more)

    def result(self, name, parent, call, text="done", **more):
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        return self.add("user", name, parent, {"role": "user", "content": [block]}, **more)

    def raw(self, **record):
        self.lines.append(json.dumps(record, separators=(",", ":")))


def call(n, name="Bash", **given):
    return {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": given or {"command": f"echo {n}"}}


def plain(s, n):
    last = None
    for k in range(n):
        last = s.answer(uuid(k, 2), s.prompt(uuid(k, 1), last))


def calls_in_one_record(s, n):
    last = s.answer(uuid(1), s.prompt(uuid(0), None), [call(k) for k in range(n)])
    blocks = [{"type": "tool_result", "tool_use_id": f"toolu_{k}", "content": "done"} for k in range(n)]
    last = s.add("user", uuid(2), last, {"role": "user", "content": blocks})
    s.answer(uuid(3), last)


def calls_in_one_message(s, n):
    last = s.prompt(uuid(0), None)
    for k in range(n):
        last = s.answer(uuid(k, 1), last, [call(k)], "msg_all")
    for k in range(n):
        last = s.result(uuid(k, 2), uuid(k, 1), f"toolu_{k}")
    s.answer(uuid(0, 3), last)


def calls_with_chained_results(s, n):
    last = s.answer(uuid(1), s.prompt(uuid(0), None), [call(k) for k in range(n)])
    for k in range(n):
        last = s.result(uuid(k, 2), last, f"toolu_{k}")
    s.answer(uuid(0, 3), last)


def results_behind_hooks(s, n):
    last = s.answer(uuid(1), s.prompt(uuid(0), None), [call(k) for k in range(n)])
    for k in range(n):
        last = s.add("attachment", uuid(k, 1), last, attachment={"type": "hook_success", "hookName": "x"})
        s.result(uuid(k, 2), last, f"toolu_{k}")
    s.answer(uuid(0, 3), last)


def replays(s, n):
    last = None
    for k in range(n):
        last = s.answer(uuid(k, 2), s.prompt(uuid(k, 1), last, f"harp {k}"))
    again = [json.loads(line) for line in s.lines]
    for k, record in enumerate(again):
        record |= {"uuid": uuid(k, 5), "parentUuid": last}
        last = record["uuid"]
        s.lines.append(json.dumps(record, separators=(",", ":")))


def preserved(s, n):
    last = None
    for k in range(n):
        last = s.answer(uuid(k, 2), s.prompt(uuid(k, 1), last))
    for k in range(n):
        last = s.add("system", uuid(k, 3), None, subtype="compact_boundary", content="Conversation compacted", logicalParentUuid=last,
                     compactMetadata={"trigger": "auto", "preservedMessages": {"uuids": [uuid(k, 1), uuid(k, 2)]}})
        last = s.prompt(uuid(k, 4), last, "This session is being continued.", isCompactSummary=True)


def many_roots(s, n):
    for k in range(n):
        s.answer(uuid(k, 2), s.prompt(uuid(k, 1), None, f"harp {k}"))


def orphans(s, n):
    for k in range(n):
        s.answer(uuid(k, 2), s.prompt(uuid(k, 1), uuid(k, 9)))


def one_uuid_chained(s, n):
    for k in range(n):
        s.prompt(uuid(0), uuid(0) if k else None, f"harp {k}")


def two_uuids_chained(s, n):
    for k in range(n):
        s.answer(uuid(2), s.prompt(uuid(1), uuid(2) if k else None, f"harp {k}"), f"harp {k}")


def children(s, n):
    top = s.answer(uuid(2, 9), s.prompt(uuid(1, 9), None))
    for k in range(n):
        s.answer(uuid(k, 2), s.prompt(uuid(k, 1), top, f"harp {k}"))


def versions(s, n):
    top = s.prompt(uuid(1, 9), None)
    for k in range(n):
        s.answer(uuid(0), top, f"harp {k}")


def answers(s, n):
    top = s.prompt(uuid(1, 9), None)
    for k in range(n):
        s.answer(uuid(k, 1), top, f"harp {k}")


def one_message_id(s, n):
    last = s.prompt(uuid(0), None)
    for k in range(n):
        last = s.answer(uuid(k, 1), last, f"harp {k}", "msg_all")


def one_message_id_apart(s, n):
    last = None
    for k in range(n):
        last = s.answer(uuid(k, 2), s.prompt(uuid(k, 1), last, f"harp {k}"), f"harp {k}", "msg_all")


def interrupts(s, n):
    last = None
    for k in range(n):
        last = s.answer(uuid(k, 2), s.prompt(uuid(k, 1), last))
        last = s.prompt(uuid(k, 3), last, "[Request interrupted by user]")


def interrupts_aside(s, n):
    top = s.prompt(uuid(1, 9), None)
    for k in range(n):
        s.prompt(uuid(k, 3), s.answer(uuid(k, 2), top, f"harp {k}"), "[Request interrupted by user]")


def comb(s, n):
    last = None
    for k in range(n):
        last = s.prompt(uuid(k, 1), last)
        s.answer(uuid(k, 2), last, "harp left behind")
        last = s.answer(uuid(k, 3), last)


def compactions(s, n):
    last = None
    for k in range(n):
        last = s.answer(uuid(k, 2), s.prompt(uuid(k, 1), last))
        last = s.add("system", uuid(k, 3), None, subtype="compact_boundary", content="Conversation compacted",
                     logicalParentUuid=last, compactMetadata={"trigger": "auto", "preTokens": 9})
        last = s.prompt(uuid(k, 4), last, "This session is being continued.", isCompactSummary=True)


def edits(s, n):
    last = s.prompt(uuid(0), None)
    for k in range(n):
        path = "/home/dev/app/a.txt"
        last = s.answer(uuid(k, 1), last, [call(k, "Edit", file_path=path, old_string=f"{k}", new_string=f"{k + 1}")])
        last = s.result(uuid(k, 2), last, f"toolu_{k}", toolUseResult={
            "filePath": path, "oldString": f"{k}", "newString": f"{k + 1}", "originalFile": f"{k}\n", "structuredPatch": []})


def many_files(s, n):
    last = s.prompt(uuid(0), None)
    for k in range(n):
        path = f"/home/dev/app/{k}.txt"
        last = s.answer(uuid(k, 1), last, [call(k, "Write", file_path=path, content="x")])
        last = s.result(uuid(k, 2), last, f"toolu_{k}", toolUseResult={
            "type": "create", "filePath": path, "content": "x", "structuredPatch": []})


def snapshots(s, n):
    last = None
    for k in range(n):
        last = s.prompt(uuid(k, 1), last)
        s.raw(type="file-history-snapshot", messageId=last, isSnapshotUpdate=False, snapshot={
            "messageId": last, "timestamp": "2026-01-01T00:00:00.000Z",
            "trackedFileBackups": {"a.txt": {"backupFileName": None, "version": k + 1, "backupTime": "2026-01-01T00:00:00.000Z"}}})
        last = s.answer(uuid(k, 2), last)


def sidechains(s, n):
    top = s.answer(uuid(1), s.prompt(uuid(0), None), [call(k, "Task", prompt=f"harp {k}") for k in range(n)])
    for k in range(n):
        first = s.prompt(uuid(k, 1), None, f"harp {k}", isSidechain=True)
        s.answer(uuid(k, 2), first, isSidechain=True)
    for k in range(n):
        top = s.result(uuid(k, 3), top, f"toolu_{k}")
    s.answer(uuid(2), top)


def titles(s, n):
    plain(s, 10)
    for k in range(n):
        s.raw(type="summary", summary=f"harp {k}", leafUuid=uuid(k % 10, 2))
        s.raw(type="last-prompt", lastPrompt=f"harp {k}", leafUuid=uuid(k % 10, 2), sessionId=s.session)
        s.raw(type="queue-operation", operation="enqueue", content=f"harp {k}", timestamp="2026-01-01T00:00:00.000Z", sessionId=s.session)


def progress(s, n):
    last = s.answer(uuid(1), s.prompt(uuid(0), None))
    for k in range(n):
        s.add("progress", uuid(k, 1), last, data={"type": "hook_progress"})
        last = s.add("attachment", uuid(k, 2), last, attachment={"type": "queued_command", "prompt": f"harp {k}", "commandMode": "prompt"})
    s.answer(uuid(2), last)


def damaged(s, n):
    for k in range(n):
        s.prompt(uuid(k, 1), uuid(k - 1, 1) if k else None)
        s.lines.append("\0" * 8 + s.lines[-1] + "{\"parentUuid\":" + s.lines[-1][:40])


def blocks(s, n):
    last = s.prompt(uuid(0), None)
    s.answer(uuid(1), last, [{"type": "text", "text": f"harp {k}"} for k in range(n)])


def long_line(s, n):
    s.answer(uuid(1), s.prompt(uuid(0), None, "the harp \n" * n * 20), "word " * n * 20)


def with_agents(nested):
    def write(s, n, projects):
        last = s.answer(uuid(1), s.prompt(uuid(0), None), [call(0, "Task", prompt="harp 0")] if nested else
                        [call(k, "Task", prompt=f"harp {k}") for k in range(n)])
        for k in range(1 if nested else n):
            last = s.result(uuid(k, 2), last, f"toolu_{k}", toolUseResult={"agentId": f"a{k:07x}", "status": "completed"})
        s.answer(uuid(0, 3), last)
        folder = os.path.join(projects, s.session, "subagents")
        os.makedirs(folder)
        for k in range(n):
            agent = Session(s.session)
            more = {"isSidechain": True, "agentId": f"a{k:07x}"}
            last = agent.prompt(uuid(k, 4), None, f"harp {k}", **more)
            if nested and k + 1 < n:
                last = agent.answer(uuid(k, 5), last, [call(k + 1, "Task", prompt=f"harp {k + 1}")], **more)
                last = agent.result(uuid(k, 6), last, f"toolu_{k + 1}", toolUseResult={"agentId": f"a{k + 1:07x}", "status": "completed"}, **more)
            agent.answer(uuid(k, 7), last, **more)
            path = os.path.join(folder, f"agent-a{k:07x}")
            write_lines(path + ".jsonl", agent.lines)
            write_lines(path + ".meta.json", [json.dumps({"agentType": "general-purpose", "description": f"harp {k}", "toolUseId": f"toolu_{k}"})])
    return write


def copies(s, n, projects):
    plain(s, n)
    for k in range(n):
        other = Session(f"{k:08x}-0000-4000-8000-000000000001")
        plain(other, 2)
        write_lines(os.path.join(projects, other.session + ".jsonl"), other.lines)


SHAPES = {f.__name__.replace("_", "-"): f for f in [
    plain, calls_in_one_record, calls_in_one_message, calls_with_chained_results, results_behind_hooks, replays, preserved, many_roots, orphans, one_uuid_chained,
    two_uuids_chained, children, versions, answers, one_message_id, one_message_id_apart, interrupts, interrupts_aside,
    comb, compactions, edits, many_files, snapshots, sidechains, titles, progress, damaged, blocks, long_line, copies]}
SHAPES |= {"agents": with_agents(False), "nested-agents": with_agents(True)}

COMMANDS = {
    "sessions": "sessions --all --json", "conversations": "conversations S --json", "tree": "tree S",
    "tree --records": "tree S --records", "tree --json": "tree S --json", "show": "show S", "show --tools": "show S --tools --thinking --full",
    "show --json": "show S --json", "find": "find harp", "find --context": "find harp --context 2 --limit 100",
    "find --branch": "find harp --branch abandoned --count", "stats": "stats --json", "usage": "usage --utc --json",
    "usage --by branch": "usage --utc --json --by branch", "check": "check --json", "check --fix": "check S --fix --dry-run",
    "export md": "export S --out OUT --format md", "export json": "export --out OUT --format json",
    "diff": "diff S@1 S@2 --json", "files": "files S --json", "goto": "goto S@1 --dry-run --json",
    "fork": "fork S --dry-run --json", "merge": "merge S@1 S@2 --dry-run --json --on-conflict ours",
}


def write_lines(path, lines):
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def write_shape(shape, n, home):
    projects = os.path.join(home, ".claude", "projects", "-home-dev-app")
    os.makedirs(projects)
    session = Session()
    write = SHAPES[shape]
    write(session, n, projects) if write.__code__.co_argcount == 3 else write(session, n)
    write_lines(os.path.join(projects, SESSION + ".jsonl"), session.lines)
    old = time.time() - 3600
    for folder, _, files in os.walk(home):
        for file in files:
            os.utime(os.path.join(folder, file), (old, old))


def run(ramus, command, home, instructions, timeout):
    out = os.path.join(home, "out")
    shutil.rmtree(out, ignore_errors=True)
    words = [{"S": SESSION, "OUT": out}.get(word, word.replace("S@", SESSION + "@")) for word in COMMANDS[command].split()]
    line = [ramus, "--no-cache", "--claude-dir", os.path.join(home, ".claude")] + words
    env = {"HOME": home, "TZ": "UTC", "COLUMNS": "100", "RAYON_NUM_THREADS": "1", "PATH": os.environ["PATH"]}
    if instructions:
        line = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"] + line
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)
    except subprocess.TimeoutExpired:
        return math.inf, 0, "timeout"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    work = after.ru_utime - before.ru_utime
    if instructions:
        found = re.search(rb"I +refs: +([\d,]+)", done.stderr)
        work = int(found[1].replace(b",", b"")) / 1e9 if found else math.nan
    size = len(done.stdout) + sum(os.path.getsize(os.path.join(f, x)) for f, _, fs in os.walk(out) for x in fs)
    return work, size, done.returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ramus")
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--shape", action="append")
    parser.add_argument("--command", action="append")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--limit", type=float, default=1.3)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--all", action="store_true", help="print rows of linear growth too")
    a = parser.parse_args()
    sizes = [a.n << step for step in range(a.steps)]
    floor = 0.05 if not a.instructions else 0.01
    unit = "G instructions" if a.instructions else "CPU s"
    print(f"| shape | command | {' | '.join(f'n={n}' for n in sizes)} | growth | bytes read and written |")
    print("|---|---|" + "---:|" * (len(sizes) + 2) + f"  <!-- {unit} -->")
    bad = 0
    for shape in a.shape or SHAPES:
        with tempfile.TemporaryDirectory() as scratch:
            homes = {}
            for n in [1] + sizes:
                homes[n] = os.path.join(scratch, str(n))
                write_shape(shape, n, homes[n])
            read = {n: sum(os.path.getsize(os.path.join(f, x)) for f, _, fs in os.walk(home) for x in fs) for n, home in homes.items()}
            for command in a.command or COMMANDS:
                empty, _, _ = run(a.ramus, command, homes[1], a.instructions, a.timeout)
                seen = [run(a.ramus, command, homes[n], a.instructions, a.timeout) for n in sizes]
                work = [max(w - empty, 1e-9) for w, _, _ in seen]
                moved = [size + read[n] for (_, size, _), n in zip(seen, sizes)]
                growth = math.log(work[-1] / work[-2]) / math.log(moved[-1] / moved[-2]) if work[-1] < math.inf else math.inf
                codes = sorted({str(code) for _, _, code in seen} - {"0", "1", "2"})
                is_bad = (growth > a.limit and work[-1] > floor) or bool(codes)
                bad += is_bad
                if is_bad or a.all:
                    cells = " | ".join(f"{w:.3f}" for w, _, _ in seen)
                    mark = " **!**" if is_bad else ""
                    print(f"| {shape} | {command} | {cells} | {growth:.2f}{mark} {' '.join(codes)} | {moved[-1] / 1e6:.1f} MB |", flush=True)
    print(f"\n{bad} rows grow faster than bytes^{a.limit}")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
