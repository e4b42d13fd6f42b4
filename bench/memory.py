#!/usr/bin/env python3
"""Measures the memory of commands for files with huge lines, huge tails and many records.

    bench/memory.py RAMUS [--megabytes 300] [--case NAME]... [--command WORDS]... [--timeout 120] [--over]

Prints the peak memory and the time of each command, and marks those that take more than `--megabytes`. `--over` prints only those.
The output of a command is removed before the next one. In `--command`, S is the session and OUT a new directory.
"""
import argparse, multiprocessing, os, shutil, subprocess, sys, tempfile, time

from shapes import SESSION, Session, uuid, write_lines

COMMANDS = [
    "sessions", "projects", "conversations S", "tree S", "tree S --records", "tree S --json", "show S", "show S --full --tools", "show S --json",
    "show S --raw", "show S --as-client", "find harp --limit 5", "find harp --count", "find harp --json", "find harp --context 2 --limit 50",
    "stats --json", "stats --charts", "usage", "usage --by branch", "check", "check S --fix --dry-run", "check --secrets", "files S", "diff S@1 S@1",
    "export S --out OUT --format md", "export S --out OUT --format html", "export S --out OUT --format json", "export S --out OUT --format jsonl",
    "goto S@1 --dry-run", "fork S --dry-run", "merge S@1 S@1 --dry-run", "rename S title --yes", "goto S:T --yes", "undo --yes", "fork S --yes", "undo --yes",
    "merge S@1 F@1 --yes", "trash S --yes"]


def small(projects):
    session = Session()
    session.answer(uuid(2), session.prompt(uuid(1), None))
    path = os.path.join(projects, SESSION + ".jsonl")
    write_lines(path, session.lines)
    return path


def tail(bytes):
    return lambda projects: os.truncate(small(projects), bytes)


def line_of_nul(bytes):
    """A hole in the middle: the records after it are read."""
    def write(projects):
        path = small(projects)
        with open(path, "r+b") as file:
            text = file.read()
            file.seek(len(text) + bytes)
            file.write(b"\n" + text.replace(uuid(1).encode(), uuid(3).encode()).replace(uuid(2).encode(), uuid(4).encode()))
    return write


def prompt(bytes):
    def write(projects):
        session = Session()
        session.answer(uuid(2), session.prompt(uuid(1), None, "the harp word \n" * (bytes // 16)))
        write_lines(os.path.join(projects, SESSION + ".jsonl"), session.lines)
    return write


def result(bytes):
    def write(projects):
        session = Session()
        call = session.answer(uuid(2), session.prompt(uuid(1), None), [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "cat"}}])
        text = "the harp word \n" * (bytes // 32)
        session.answer(uuid(4), session.result(uuid(3), call, "t", text, toolUseResult={"stdout": text, "stderr": "", "interrupted": False}))
        write_lines(os.path.join(projects, SESSION + ".jsonl"), session.lines)
    return write


def records(count):
    def write(projects):
        session, last = Session(), None
        with open(os.path.join(projects, SESSION + ".jsonl"), "w") as file:
            for k in range(count // 2):
                last = session.answer(uuid(k, 2), session.prompt(uuid(k, 1), last))
                file.write("\n".join(session.lines) + "\n")
                session.lines.clear()
    return write


def normal(bytes):
    """Turns as they are in real sessions: prompts, thinking, calls and results of a few kilobytes."""
    def write(projects):
        session, last, k, size = Session(), None, 0, 0
        with open(os.path.join(projects, SESSION + ".jsonl"), "w") as file:
            while size < bytes:
                k += 1
                last = session.prompt(uuid(k, 1), last, f"please do the harp thing {k}")
                for n in range(4):
                    name = f"toolu_{k}_{n}"
                    last = session.answer(uuid(k, 2 + 3 * n), last, [{"type": "thinking", "thinking": "a thought \n" * 60, "signature": "s" * 400}], f"m{k}{n}")
                    last = session.answer(uuid(k, 3 + 3 * n), last, [{"type": "tool_use", "id": name, "name": "Bash", "input": {"command": f"cat {k}.txt"}}], f"m{k}{n}")
                    text = "some output of a program, a line of it\n" * (20 + 13 * k % 200)
                    last = session.result(uuid(k, 4 + 3 * n), last, name, text, toolUseResult={"stdout": text, "stderr": "", "interrupted": False})
                last = session.answer(uuid(k, 20), last, "Here is the **harp**.\n\n" * 20)
                text = "\n".join(session.lines) + "\n"
                size += len(text)
                file.write(text)
                session.lines.clear()
    return write


CASES = {"5 GB tail": tail(5 << 30), "400 MB tail": tail(400 << 20), "400 MB hole": line_of_nul(400 << 20), "100 MB prompt": prompt(100 << 20),
         "100 MB result": result(100 << 20), "860,000 records": records(860_000),
         "394 MB session": normal(394 << 20)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ramus")
    parser.add_argument("--megabytes", type=float, default=300)
    parser.add_argument("--case", action="append")
    parser.add_argument("--command", action="append")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--over", action="store_true")
    parser.add_argument("--dir", help="where the files are made")
    a = parser.parse_args()
    over = 0
    print("| case | command | peak MB | s | exit |\n|---|---|---:|---:|---:|")
    for case in a.case or CASES:
        home = tempfile.mkdtemp(prefix="memory-", dir=a.dir)
        claude = os.path.join(home, ".claude")
        projects = os.path.join(claude, "projects", "-home-dev-app")
        os.makedirs(projects)
        # In a process of its own: the memory of this one is counted for those that it starts.
        writer = multiprocessing.Process(target=CASES[case], args=(projects,))
        writer.start()
        writer.join()
        for command in a.command or COMMANDS:
            for folder, _, files in os.walk(projects):
                for file in files:
                    os.utime(os.path.join(folder, file), (1e9, 1e9))
            out = os.path.join(home, "out")
            shutil.rmtree(out, ignore_errors=True)
            forks = [file[:-6] for file in os.listdir(projects) if file.endswith(".jsonl") and file[:-6] != SESSION]
            names = {"S": SESSION, "OUT": out}
            words = [names.get(word, word.replace("S@", SESSION + "@").replace("S:T", SESSION + ":" + uuid(1, 1))) for word in command.split()]
            words = [word.replace("F@", (forks + [SESSION])[0] + "@") for word in words]
            env = {"HOME": home, "TZ": "UTC", "PATH": os.environ["PATH"], "COLUMNS": "100"}
            start = time.monotonic()
            child = subprocess.Popen([a.ramus, "--no-cache", "--claude-dir", claude, *words], env=env, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            code = None
            while code is None and time.monotonic() - start < a.timeout:
                done, status, usage = os.wait4(child.pid, os.WNOHANG)
                if done:
                    code = os.waitstatus_to_exitcode(status)
                else:
                    time.sleep(0.02)
            if code is None:
                child.kill()
                _, _, usage = os.wait4(child.pid, 0)
                code = "timeout"
            child.returncode = 0
            peak = usage.ru_maxrss / 1024
            over += peak > a.megabytes
            if not a.over or peak > a.megabytes or code not in (0, 1, 2):
                print(f"| {case} | {command} | {peak:.0f}{' **!**' if peak > a.megabytes else ''} | {time.monotonic() - start:.1f} | {code} |", flush=True)
        shutil.rmtree(home)
    print(f"\n{over} over {a.megabytes:.0f} MB")
    sys.exit(over > 0)


if __name__ == "__main__":
    main()
