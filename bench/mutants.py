#!/usr/bin/env python3
"""Runs commands over structural mutants of generated sessions, and reports panics, hangs and excessive memory.

    bench/mutants.py RAMUS [--count 2000] [--batch 50] [--seed 1] [--seconds 2] [--megabytes 500] [--singles 50]

Every mutant is a session whose lines were cut, doubled, swapped, glued, nested or had their links, ids, types and
values changed. A batch of them is one Claude directory, over which listing commands and exports run once; of the
commands about one session a random one runs over each of `--singles` mutants of a batch. Prints what went wrong, and keeps
the mutant. A command is wrong if it panics (exit code 255 or by a signal), takes more CPU time or memory than given, or
prints something that is not JSON although it was asked for it. A listing gets 5 ms more for each mutant of its batch.
"""
import argparse, json, os, random, shutil, subprocess, sys, tempfile, time

LISTING = ["sessions --all --json", "stats --json", "usage --utc --json", "check --json", "find harp --json", "conversations --json",
           "export --out OUT --format md --tools full --thinking", "export --out OUT --format html", "export --out OUT --format json"]
SINGLE = ["show S --json", "show S --tools --thinking --full", "tree S", "tree S --records", "tree S --json", "conversations S --json",
          "files S --json", "fork S --dry-run --json", "goto S@1 --dry-run --json", "merge S@1 S@2 --dry-run --json --on-conflict ours",
          "check S --fix --dry-run", "export S --out OUT --format md", "export S --out OUT --format html", "diff S@1 S@2 --json",
          "find harp S --context 2"]


def session(random, number):
    """Writes a session with forks, tools, compactions, agents and snapshots; returns its records."""
    records, names = [], []
    for k in range(random.randint(3, 40)):
        parent = random.choice(names[-3:]) if names and random.random() < 0.9 else (random.choice(names) if names else None)
        name = f"{number:08x}-{k:04x}-4000-8000-000000000000"
        record = {"parentUuid": parent, "isSidechain": random.random() < 0.05, "type": "user", "uuid": name, "sessionId": "s", "version": random.choice(["1.0.113", "2.0.74", "2.1.50", "2.1.325"]),
                  "cwd": "/home/dev/app", "timestamp": f"2026-01-01T00:{k:02}:00.000Z"}
        pick = random.random()
        if pick < 0.35:
            record["message"] = {"role": "user", "content": random.choice(["harp", "<command-name>/clear</command-name>", "[Request interrupted by user]", [{"type": "text", "text": "harp"}]])}
        elif pick < 0.65:
            record["type"] = "assistant"
            record["message"] = {"id": f"m{k // 2}", "role": "assistant", "model": "claude-opus-4-5", "usage": {"input_tokens": 1, "output_tokens": 2},
                                 "content": [{"type": random.choice(["text", "thinking"]), "text": "harp", "thinking": "", "signature": "x"}]}
        elif pick < 0.8:
            record["type"] = "assistant"
            tool = random.choice(["Bash", "Edit", "Write", "Task", "TodoWrite"])
            record["message"] = {"id": f"m{k}", "role": "assistant", "content": [{"type": "tool_use", "id": f"t{k}", "name": tool, "input": {
                "command": "ls", "file_path": "/home/dev/app/a", "old_string": "a", "new_string": "b", "content": "c", "prompt": "harp", "todos": []}}]}
        elif pick < 0.93:
            record["message"] = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{k - 1}", "content": "done"}]}
            record["toolUseResult"] = random.choice(["text", {"filePath": "/home/dev/app/a", "structuredPatch": [], "originalFile": "a"}, {"agentId": "a1"}])
        else:
            record |= {"type": "system", "subtype": "compact_boundary", "parentUuid": None, "logicalParentUuid": parent, "compactMetadata": {"trigger": "auto", "preTokens": 5}}
        names.append(name)
        records.append(record)
        if random.random() < 0.1:
            records.append(random.choice([{"type": "summary", "summary": "harp", "leafUuid": name}, {"type": "last-prompt", "lastPrompt": "harp", "leafUuid": name},
                                          {"type": "file-history-snapshot", "messageId": name, "snapshot": {"messageId": name, "trackedFileBackups": {"a": {"backupFileName": None, "version": 1}}}}]))
    return records


ODD = [None, True, 0, -1, 1e308, 2**63, "", "x" * 5000, "\ud83d", [], {}, [[[]]], {"a": {"b": []}}, "null", "2026-13-45T99:99:99Z", "\u0000\u001b[2J"]


def change_value(random, value, depth=0):
    """Replaces something somewhere in a value."""
    if isinstance(value, dict) and value and random.random() < 0.85:
        key = random.choice(list(value))
        pick = random.random()
        if pick < 0.15:
            del value[key]
        elif pick < 0.25:
            value[random.choice(["uuid", "type", "parentUuid", "message", "content", "id"])] = value[key]
        else:
            value[key] = change_value(random, value[key], depth + 1)
        return value
    if isinstance(value, list) and value and random.random() < 0.85:
        at = random.randrange(len(value))
        value[at] = change_value(random, value[at], depth + 1)
        return value * random.choice([1, 1, 1, 50])
    return random.choice(ODD)


def mutant(random, number):
    records = session(random, number)
    names = [r["uuid"] for r in records if "uuid" in r]
    for _ in range(random.randint(1, 6)):
        at = random.randrange(len(records))
        pick = random.randrange(8)
        if pick == 0:
            records[at] = change_value(random, json.loads(json.dumps(records[at])))
            if not isinstance(records[at], dict):
                records[at] = {"type": records[at]}
        elif pick == 1:
            records[at] = records[at] | {"parentUuid": random.choice(names)}
        elif pick == 2:
            records[at] = records[at] | {"uuid": random.choice(names)}
        elif pick == 3:
            records.insert(random.randrange(len(records)), records[at])
        elif pick == 4:
            records.insert(random.randrange(len(records)), records.pop(at))
        elif pick == 5:
            records[at] = records[at] | {"type": random.choice(["user", "assistant", "system", "attachment", "progress", "odd", "tool_result", "summary"])}
        elif pick == 6:
            records[at] = records[at] | {"isSidechain": True, "isMeta": random.random() < 0.5}
        else:
            records[at:at + 1] = [records[at] | {"uuid": f"{n:04}"} for n in range(random.choice([2, 30]))]
    lines = [json.dumps(r, separators=random.choice([(",", ":"), (", ", ": ")])).encode("utf-8", "surrogatepass") for r in records]
    for _ in range(random.choice([0, 0, 1, 3])):
        at = random.randrange(len(lines))
        pick = random.randrange(6)
        if pick == 0:
            lines[at] = lines[at][:random.randrange(len(lines[at]) + 1)]
        elif pick == 1:
            lines[at] = lines[at] + lines[random.randrange(len(lines))]
        elif pick == 2:
            lines[at] = b"\0" * random.randint(1, 9) + lines[at]
        elif pick == 3:
            lines[at] = b"\xef\xbb\xbf" + lines[at]
        elif pick == 4 and lines[at]:
            spot = random.randrange(len(lines[at]))
            lines[at] = lines[at][:spot] + bytes([random.randrange(256)]) + lines[at][spot + 1:]
        else:
            lines[at] = b"[" * random.choice([3, 3000]) + lines[at]
    return random.choice([b"\n", b"\r\n", b"\n\n"]).join(lines) + random.choice([b"\n", b""])


def run(ramus, claude, words, seconds, megabytes, out):
    line = ["prlimit", f"--as={8 << 30}", ramus, "--no-cache", "--claude-dir", claude] + words
    env = {"HOME": os.path.dirname(claude), "TZ": "UTC", "PATH": os.environ["PATH"], "COLUMNS": "100", "RAYON_NUM_THREADS": "2"}
    with open(out + ".out", "w+b") as stdout, open(out + ".err", "w+b") as stderr:
        child = subprocess.Popen(line, env=env, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
        start = time.monotonic()
        while True:
            done, status, usage = os.wait4(child.pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() - start > seconds * 30:
                child.kill()
                os.wait4(child.pid, 0)
                return "hangs", 0
            time.sleep(0.002)
        child.returncode = os.waitstatus_to_exitcode(status)
        stdout.seek(0)
        stderr.seek(0)
        printed, said = stdout.read(), stderr.read()
    # CPU time: how long it takes on the clock is up to what else the machine does.
    took, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    if child.returncode not in (0, 1, 2):
        return f"exit code {child.returncode}: {said[-300:].decode(errors='replace')}", peak
    if took > seconds:
        return f"took {took:.1f} s", peak
    if peak > megabytes:
        return f"took {peak:.0f} MB", peak
    if "--json" in words and "find" not in words and printed:
        try:
            json.loads(printed)
        except ValueError as error:
            return f"no JSON: {error}", peak
    return None, peak


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ramus")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--megabytes", type=float, default=500)
    parser.add_argument("--singles", type=int, default=50, help="over how many mutants of a batch a command of its own runs")
    a = parser.parse_args()
    source = random.Random(a.seed)
    wrong = runs = made = 0
    largest = 0.0
    while made < a.count:
        home = tempfile.mkdtemp(prefix="mutants-")
        projects = os.path.join(home, ".claude", "projects", "-home-dev-app")
        os.makedirs(projects)
        paths = []
        for _ in range(min(a.batch, a.count - made)):
            paths.append(os.path.join(projects, f"{made:08x}-1111-4000-8000-000000000000.jsonl"))
            with open(paths[-1], "wb") as file:
                file.write(mutant(source, made))
            made += 1
        claude = os.path.join(home, ".claude")
        keep = False
        tasks = [(words.split(), None) for words in LISTING]
        tasks += [(source.choice(SINGLE).split(), path) for path in source.sample(paths, min(a.singles, len(paths)))]
        for words, path in tasks:
            out = os.path.join(home, "out")
            shutil.rmtree(out, ignore_errors=True)
            id = os.path.basename(path or "")[:36]
            words = [{"S": id, "OUT": out}.get(word, word.replace("S@", id + "@")) for word in words]
            # A listing reads all mutants of a batch.
            limit = a.seconds if path else a.seconds + len(paths) * 0.005
            problem, peak = run(a.ramus, claude, words, limit, a.megabytes, out)
            largest = max(largest, peak)
            runs += 1
            if problem:
                wrong += 1
                keep = True
                print(f"{' '.join(words)} in {claude}: {problem}", flush=True)
        if not keep:
            shutil.rmtree(home)
    print(f"{made} mutants, {runs} runs, {wrong} wrong, largest process {largest:.0f} MB")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
