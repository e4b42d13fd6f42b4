#!/usr/bin/env python3
"""Compares two builds of ramus: CPU time and peak memory of the commands that list and draw.

    bench/against.py BEFORE AFTER --corpus DIR [--runs 7] [--limit 5]

The two builds alternate, without their caches. CPU is user plus system time, the best of all runs. Memory is the median
of all runs, in two forms: what the program allocated (anonymous memory, polled from /proc while it runs), and
the peak resident size, as /usr/bin/time reports it. The second counts pages of the program's own file, too: a few MB that
depend on the size of the program and the kernel's read-ahead, so it is only reported. Prints a Markdown table and
marks values that are more than `--limit` percent worse.

    bench/against.py BEFORE AFTER --corpus DIR --instructions

counts instructions instead (valgrind --tool=callgrind), which a busy machine does not change. It takes about
a hundred times as long.
"""
import argparse, glob, os, re, resource, shutil, statistics, subprocess, sys, tempfile


def timed(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.NamedTemporaryFile("r") as told:
        subprocess.run(["/usr/bin/time", "-o", told.name, "-f", "%M", *command], check=True, stdout=subprocess.DEVNULL)
        kilobytes = int(told.read())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu * 1000, allocated(command), kilobytes / 1024


def allocated(command):
    """The most anonymous memory, in MB, that a program was seen with."""
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    most = 0
    with open(f"/proc/{program.pid}/status", "rb", buffering=0) as status:
        while program.poll() is None:
            status.seek(0)
            if found := re.search(rb"RssAnon:\s+(\d+)", status.read()):
                most = max(most, int(found[1]))
    if program.returncode:
        sys.exit(f"{command} ends with {program.returncode}")
    return most / 1024


def instructions(command):
    counting = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    told = subprocess.run(counting, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr
    return int(re.search(r"Collected : (\d+)", told)[1]) / 1e6


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("before")
    ap.add_argument("after")
    ap.add_argument("--corpus", required=True)
    ap.add_argument("--runs", type=int, default=7)
    ap.add_argument("--limit", type=float, default=5)
    ap.add_argument("--instructions", action="store_true")
    a = ap.parse_args()
    files = glob.glob(os.path.join(a.corpus, "projects", "**", "*.jsonl"), recursive=True)
    biggest = max(files, key=os.path.getsize)
    commands = {
        "stats": ["stats", "--json"],
        "sessions": ["sessions", "--json"],
        "usage": ["usage", "--utc", "--json"],
        f"tree of {os.path.getsize(biggest) / 1e6:.0f} MB": ["tree", biggest],
    }
    print(f"{sum(map(os.path.getsize, files)) / 1e6:.0f} MB, {len(files)} files\n")
    print("| command | measured | before | after | change |\n|---|---|---:|---:|---:|")
    worse = False
    scratch = tempfile.TemporaryDirectory()
    builds = [shutil.copy(build, os.path.join(scratch.name, name)) for build, name in ((a.before, "before"), (a.after, "after"))]
    for build in builds:
        with open(build, "rb") as file:
            file.read()
    for name, command in commands.items():
        runs = ([], [])
        for _ in range(1 if a.instructions else a.runs + 1):
            for build, kept in zip(builds, runs):
                whole = [build, "--claude-dir", a.corpus, "--no-cache", *command]
                kept.append((instructions(whole),) if a.instructions else timed(whole))
        if a.instructions:
            rows = [("instructions, millions", *(kept[0][0] for kept in runs))]
        else:
            # The first run fills the page cache.
            rows = [("CPU ms", *(min(run[0] for run in kept[1:]) for kept in runs)),
                    ("MB allocated", *(statistics.median(run[1] for run in kept[1:]) for kept in runs)),
                    ("MB resident", *(statistics.median(run[2] for run in kept[1:]) for kept in runs))]
        for what, before, after in rows:
            change = 100 * (after / before - 1)
            is_over = change > a.limit and what != "MB resident"
            worse |= is_over
            mark = " (over the limit)" if is_over else ""
            print(f"| `{name}` | {what} | {before:.1f} | {after:.1f} | {change:+.1f} %{mark} |", flush=True)
    sys.exit(worse)


if __name__ == "__main__":
    main()
