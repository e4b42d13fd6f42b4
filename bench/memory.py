#!/usr/bin/env python3
"""How much memory commands take for files with huge lines, huge tails and many records.

    bench/memory.py RAMUS [--megabytes 300] [--case NAME]... [--timeout 120]

Prints the peak memory and the time of each command; what takes more than `--megabytes` is marked.
"""
import argparse, multiprocessing, os, shutil, subprocess, sys, tempfile, time

from shapes import SESSION, Session, uuid, write_lines

COMMANDS = ["sessions", "tree S", "show S", "show S --full --tools", "show S --json", "show S --raw", "find harp --limit 5", "find harp --count", "stats", "usage", "check",
            "files S", "goto S@1 --dry-run", "fork S --dry-run", "fork S --yes", "goto S@1 --yes"]


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


CASES = {"5 GB tail": tail(5 << 30), "400 MB tail": tail(400 << 20), "400 MB hole": line_of_nul(400 << 20), "100 MB prompt": prompt(100 << 20),
         "100 MB result": result(100 << 20), "860,000 records": records(860_000)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ramus")
    parser.add_argument("--megabytes", type=float, default=300)
    parser.add_argument("--case", action="append")
    parser.add_argument("--command", action="append")
    parser.add_argument("--timeout", type=float, default=120)
    a = parser.parse_args()
    over = 0
    print("| case | command | peak MB | s | exit |\n|---|---|---:|---:|---:|")
    for case in a.case or CASES:
        home = tempfile.mkdtemp(prefix="memory-")
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
            words = [SESSION if word == "S" else word.replace("S@", SESSION + "@") for word in command.split()]
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
            print(f"| {case} | {command} | {peak:.0f}{' **!**' if peak > a.megabytes else ''} | {time.monotonic() - start:.1f} | {code} |", flush=True)
        shutil.rmtree(home)
    print(f"\n{over} over {a.megabytes:.0f} MB")
    sys.exit(over > 0)


if __name__ == "__main__":
    main()
