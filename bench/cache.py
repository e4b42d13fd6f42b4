#!/usr/bin/env python3
"""Measures the gain from the cache: the first run, the second, and after one line was appended.

    bench/cache.py --corpus c2000 [--ramus target/release/ramus] [--word zyxwvutsq] [--runs 5]

The cache is in a temporary directory. A small session is added to the corpus for the appended line, and removed at the end.
Wall times are the best of `--runs`. A file is cached only two seconds after it changed, so the first runs wait that long.
Prints Markdown rows.
"""
import argparse, glob, os, shutil, subprocess, tempfile, time

LINE = '{"parentUuid":null,"type":"user","uuid":"00000000-0000-4000-8000-%012d","message":{"role":"user","content":"one more"},"timestamp":"2026-01-01T00:00:00.000Z"}\n'


def run(command, env):
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    _, _, usage = os.wait4(process.pid, 0)
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def best(results):
    return min(wall for wall, _, _ in results), min(cpu for _, cpu, _ in results), max(memory for _, _, memory in results)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--corpus", required=True)
    ap.add_argument("--ramus", default="target/release/ramus")
    ap.add_argument("--word", default="zyxwvutsq")
    ap.add_argument("--runs", type=int, default=5)
    a = ap.parse_args()
    largest = max(glob.glob(f"{a.corpus}/projects/*/*.jsonl"), key=os.path.getsize)
    session = os.path.basename(largest)[:-6]
    commands = [["sessions", "--json"], ["stats", "--json"], ["usage", "--json"], ["conversations", session, "--json"], ["find", a.word]]
    project = f"{a.corpus}/projects/-bench-cache"
    os.makedirs(project)
    appended = f"{project}/00000000-0000-4000-8000-000000000000.jsonl"
    with open(appended, "w") as file:
        file.write(LINE % 0)
    home = tempfile.mkdtemp()
    cache = f"{home}/cache"
    env = {"HOME": home, "PATH": os.environ["PATH"], "RAMUS_CACHE_DIR": cache, "TZ": "UTC"}
    ramus = [a.ramus, "--claude-dir", a.corpus]
    try:
        time.sleep(2.5)
        plain, first = [], []
        for _ in range(a.runs):
            plain.append(run(ramus + ["sessions", "--json", "--no-cache"], env))
            shutil.rmtree(cache, ignore_errors=True)
            first.append(run(ramus + ["sessions", "--json"], env))
        bytes_ = sum(os.path.getsize(path) for path in glob.glob(f"{a.corpus}/**", recursive=True) if os.path.isfile(path))
        built = run(ramus + ["cache", "build"], env)
        print("| command | without: wall s, CPU s | warm: wall s, CPU s | MB | after one line more: wall s |\n|---|---:|---:|---:|---:|")
        for n, command in enumerate(commands):
            without = best([run(ramus + command + ["--no-cache"], env) for _ in range(2)])
            run(ramus + command, env)
            warm = best([run(ramus + command, env) for _ in range(a.runs)])
            walls = []
            for m in range(a.runs):
                with open(appended, "a") as file:
                    file.write(LINE % (1000 * n + m + 1))
                walls.append(run(ramus + command, env)[0])
            name = " ".join(command).replace(session, f"(session of {os.path.getsize(largest) // 1000000} MB)")
            print(f"| {name} | {without[0]:.2f}, {without[1]:.2f} | {warm[0]:.3f}, {warm[1]:.2f} | {warm[2]:.0f} | {min(walls):.3f} |")
        held = sum(os.path.getsize(path) for path in glob.glob(f"{cache}/*/*"))
        (_, cpu, _), (_, more, _) = best(plain), best(first)
        print(f"\nFirst read that writes the tables: {more / cpu:.2f} × the CPU of one that does not. Sketches: {built[1] / bytes_ * 1e9:.1f} s of CPU per GB. Size: {100 * held / bytes_:.1f} % of the history.")
    finally:
        shutil.rmtree(home, ignore_errors=True)
        shutil.rmtree(project, ignore_errors=True)


if __name__ == "__main__":
    main()
