#!/usr/bin/env python3
"""Compares ramus with other programs in one run, as ratios.

    bench/speed.py --corpus DIR [--corpus DIR …] [--ramus target/release/ramus] [--ccusage PATH] [--runs 5]

A corpus is a Claude directory. Every command runs once to warm the page cache and then `--runs` times,
alternating with the others, so that a busy moment affects all of them; the best run counts. CPU is user plus
system time of the command and its children, memory is the peak resident size. ramus runs without its cache.
Prints Markdown rows.
"""
import argparse, glob, os, resource, subprocess, sys, time


def measure(command, env):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env, shell=isinstance(command, str))
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command}: exit {process.returncode}: {process.stderr.read().decode()[-400:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall, usage.ru_maxrss / 1024


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--corpus", action="append", required=True)
    ap.add_argument("--ramus", default="target/release/ramus")
    ap.add_argument("--ccusage")
    ap.add_argument("--rg", help="ripgrep, to compare `find` with")
    ap.add_argument("--word", action="append", default=[], help="a word for `find`, rare or common")
    ap.add_argument("--runs", type=int, default=5)
    a = ap.parse_args()
    for corpus in a.corpus:
        files = sorted(glob.glob(os.path.join(corpus, "projects", "**", "*.jsonl"), recursive=True))
        size = sum(map(os.path.getsize, files)) / 1e6
        biggest = max(files, key=os.path.getsize)
        listing = os.path.join(corpus, ".bench-files")
        with open(listing, "w") as f:
            f.write("\0".join(files))
        env = dict(os.environ, CLAUDE_CONFIG_DIR=corpus, NO_COLOR="1")
        ramus = [a.ramus, "--claude-dir", corpus, "--no-cache"]
        commands = {
            "cat … | wc -l": f"xargs -0 cat < {listing} | wc -l",
            "wc -l": f"xargs -0 wc -l < {listing}",
            "ramus stats": ramus + ["stats", "--json"],
            "ramus usage": ramus + ["usage", "--utc", "--json"],
            "ramus sessions": ramus + ["sessions", "--json"],
            f"ramus tree of {os.path.getsize(biggest) / 1e6:.0f} MB": ramus + ["tree", biggest],
        }
        for word in a.word:
            commands[f"ramus find {word} --count"] = ramus + ["find", word, "--count"]
            if a.rg:
                commands[f"rg -a --count {word}"] = [a.rg, "-a", "--count", word, "-g", "*.jsonl", os.path.join(corpus, "projects")]
        if a.ccusage:
            commands["ccusage daily --json --offline"] = [a.ccusage, "daily", "--json", "--offline"]
        best = {}
        for run in range(a.runs + 1):
            for name, command in commands.items():
                seen = measure(command, env)
                if run:
                    held = best.get(name, (9e9, 9e9, 0))
                    best[name] = (min(held[0], seen[0]), min(held[1], seen[1]), max(held[2], seen[2]))
        os.unlink(listing)
        cat, wc = best["cat … | wc -l"][0], best["wc -l"][0]
        other = best.get("ccusage daily --json --offline")
        print(f"\n### {size:.0f} MB, {len(files)} files\n")
        print("| command | CPU s | × `cat \\| wc -l` | × `wc -l` | wall s | × ccusage wall | peak MB |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        for name, (cpu, wall, peak) in best.items():
            ratio = f"{wall / other[1]:.3f}" if other else ""
            print(f"| {name.replace('|', chr(92) + '|')} | {cpu:.2f} | {cpu / cat:.2f} | {cpu / wc:.2f} | {wall:.2f} | {ratio} | {peak:.0f} |")


main()
