#!/usr/bin/env python3
"""Measures output: exports, and the time to the first row of a search.

    bench/out.py --corpus DIR --scratch /dev/shm [--ramus target/release/ramus] [--other RAMUS] [--word the] [--runs 3]

Exports go to a temporary directory below `--scratch`. They alternate with `cat … | wc -l` of the same corpus, which shows how
busy the machine is, and with `--other`, an earlier build. CPU is user plus system time, the best of `--runs`. "First row" is
the wall time until the first byte is on stdout. Prints Markdown rows.
"""
import argparse, os, shutil, subprocess, time


def cpu(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, shell=isinstance(command, str))
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return usage.ru_utime, usage.ru_stime, usage.ru_maxrss / 1024


def first_row(command):
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    os.read(process.stdout.fileno(), 1)
    first = time.perf_counter() - start
    rows = 0
    while piece := os.read(process.stdout.fileno(), 1 << 20):
        rows += piece.count(b"\n")
    _, _, usage = os.wait4(process.pid, 0)
    return first, time.perf_counter() - start, rows, usage.ru_maxrss / 1024


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--corpus", required=True)
    ap.add_argument("--scratch", required=True)
    ap.add_argument("--ramus", default="target/release/ramus")
    ap.add_argument("--other")
    ap.add_argument("--word", default="the")
    ap.add_argument("--runs", type=int, default=3)
    a = ap.parse_args()
    out = os.path.join(a.scratch, f"ramus-bench-{os.getpid()}")
    best = {}

    def keep(name, found):
        if name not in best or sum(found[:2]) < sum(best[name][:2]):
            best[name] = found

    for _ in range(a.runs):
        keep("cat … | wc -l", cpu(f"find {a.corpus}/projects -name '*.jsonl' -exec cat {{}} + | wc -l"))
        for label, program in [("", a.ramus), (" (other)", a.other)]:
            for form in ["md", "html"] if program else []:
                keep(f"export --format {form}{label}", cpu([program, "--claude-dir", a.corpus, "export", "--format", form, "--out", out]))
                shutil.rmtree(out)
    print("| command | user s | system s | × `cat \\| wc -l` | peak MB |\n|---|---:|---:|---:|---:|")
    base = sum(best["cat … | wc -l"][:2])
    for name, (user, system, memory) in best.items():
        print(f"| {name.replace('|', chr(92) + '|')} | {user:.2f} | {system:.2f} | {(user + system) / base:.2f} | {memory:.0f} |")
    print("\n| first row of | after s | all after s | rows | peak MB |\n|---|---:|---:|---:|---:|")
    for extra in [[], ["--json"]]:
        runs = [first_row([a.ramus, "--claude-dir", a.corpus, "find", a.word, "--no-pager", *extra]) for _ in range(a.runs)]
        first, whole, rows, memory = min(runs)
        print(f"| find {' '.join([a.word, *extra])} | {first:.3f} | {whole:.2f} | {rows} | {memory:.0f} |")


main()
