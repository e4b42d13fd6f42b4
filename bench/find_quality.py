#!/usr/bin/env python3
"""Measures how often a search finds the right conversation: recall at 1 and 5, mean reciprocal rank.

    bench/find_quality.py --ramus PATH [--samples DIR] [--fast-resume PATH] [--claude-history PATH] [--rg PATH]
                          [--half tune|held|both] [--misses]

The queries are in bench/find_queries.tsv: corpus, class, query, the expected sessions (the beginnings of their ids, separated by
commas). Three corpora: `demo` is written by `ramus demo`, `samples` is a directory of public histories, `planted` is written
here: topics that people ask about, and many sessions about other things that use the same words. Every second query of a class
is held out (`--half held`) and not used to choose weights.

`--set 2` asks other kinds of queries (bench/find_queries_2.tsv) over other topics, `second`, whose other sessions are
made differently: sentences of a grammar whose nouns and verbs are those of the topics. `--set 3` has other topics again,
`third`: every third topic is in the middle of a long session, and some sessions only list titles, paths and identifiers.

All programs get the same text. ramus is run with `--sort best --fuzzy --json`; rg gets every word with `-i`, and
files are ordered by how many words they have, then by how many lines match, then by date.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import uuid

HERE = pathlib.Path(__file__).resolve().parent
QUERIES = {1: HERE / "find_queries.tsv", 2: HERE / "find_queries_2.tsv", 3: HERE / "find_queries_3.tsv"}
TOPICS = {1: HERE / "find_topics.json", 2: HERE / "find_topics_2.json", 3: HERE / "find_topics_3.json"}
DISTRACTORS = 240


def session_lines(rng, session, topic, start):
    """The records of a session: `topic` has a title and messages (role, text)."""
    parent, lines = None, []
    for n, (role, text) in enumerate(topic["messages"]):
        record = str(uuid.UUID(int=rng.getrandbits(128)))
        stamp = f"2026-{1 + start % 9:02}-{1 + start % 27:02}T10:{n // 60:02}:{n % 60:02}.000Z"
        base = {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/home/dev/work",
                "sessionId": session, "version": "2.1.100", "gitBranch": "main", "uuid": record, "timestamp": stamp}
        if role == "user":
            base |= {"type": "user", "message": {"role": "user", "content": text}}
        elif role == "result":
            base |= {"type": "user", "toolUseResult": {"stdout": text, "stderr": ""}, "message": {
                "role": "user", "content": [{"type": "tool_result", "tool_use_id": f"toolu_{session[:8]}{n - 1}", "content": text}]}}
        else:
            block = {"type": "text", "text": text}
            if role == "call":
                block = {"type": "tool_use", "id": f"toolu_{session[:8]}{n}", "name": "Bash", "input": {"command": text}}
            base |= {"type": "assistant", "requestId": f"req_{record[:8]}", "message": {
                "id": f"msg_{record[:8]}", "type": "message", "role": "assistant", "model": "claude-opus-4-5",
                "content": [block], "usage": {"input_tokens": 1, "output_tokens": 1}}}
        lines.append(base)
        parent = record
    if topic.get("title"):
        lines.append({"type": "ai-title", "aiTitle": topic["title"], "sessionId": session})
    return lines


def write_planted(target, noise, seed=7):
    """Writes the topics, and sessions made of sentences of other topics that mean nothing together."""
    rng = random.Random(seed)
    topics = json.loads(TOPICS[1].read_text())
    # Plain words of the topics, so that no such word gives a topic away by itself. Identifiers, paths and compounds
    # stay with their topic: a person who asks for one means the session that has it.
    words = [word for topic in topics for _, text in topic["messages"] for word in text.split()
             if noise == "all" or (word.isalpha() and word.isascii() and len(word) <= 9 and word[1:].islower())]
    filler = ("the a of and to in it is that this for with on we should now not from test code file function error "
              "value type line build run check update change add remove list result config data user").split()
    sessions = [(topic["id"], topic) for topic in topics]
    for n in range(DISTRACTORS):
        messages = []
        for m in range(rng.randint(4, 30)):
            text = " ".join(rng.choice(filler if rng.random() < 0.8 else words) for _ in range(rng.randint(8, 60)))
            messages.append([("user", "assistant", "call", "result")[m % 4], text])
        sessions.append((f"d{n:07x}", {"messages": messages}))
    write_sessions(target, rng, sessions)


def write_second(target, seed=11):
    """Writes the topics of the second set, and sessions made of sentences with their plain words."""
    rng = random.Random(seed)
    topics = json.loads(TOPICS[2].read_text())
    # Long words of one topic alone are rare, as in a real history: they say what a session is about.
    count = collections.Counter(word for topic in topics for word in set(
        word for _, text in topic["messages"] for word in re.findall(r"\b[a-zäöüß]{3,11}\b", text)))
    plain = sorted(word for word in count if count[word] > 1 or len(word) < 7)
    frames = ["Can you look at the {} of the {}?", "I changed the {} and the {}; the {} is done.", "Why does the {} {} after the {}?",
              "The {} passes, but {} is still open.", "Die {} ist fertig, nur {} fehlt noch.", "Please {} the {} before we {} it.",
              "src/{}/{}.rs:{}: {}", "{} = {}", "git commit -m '{} {}'", "{} ms for {} of {}"]
    sessions = [(topic["id"], topic) for topic in topics]
    for n in range(DISTRACTORS):
        messages = []
        own = rng.sample(plain, 40)
        for m in range(rng.randint(3, 24)):
            words = lambda: rng.choice(own) if rng.random() < 0.85 else str(rng.randint(2, 400))
            text = " ".join(re.sub(r"\{\}", lambda _: words(), rng.choice(frames)) for _ in range(rng.randint(1, 7)))
            messages.append([("user", "assistant", "call", "result")[m % 4], text])
        sessions.append((f"e{n:07x}", {"messages": messages}))
    rng.shuffle(sessions)
    write_sessions(target, rng, sessions)


def write_third(target, seed=23):
    """Writes the topics of the third set, sessions of sentences, long sessions, and sessions with lists of everything."""
    rng = random.Random(seed)
    topics = json.loads(TOPICS[3].read_text())
    texts = [" ".join(text for _, text in topic["messages"]) for topic in topics]
    count = collections.Counter(word for text in texts for word in set(re.findall(r"\b[A-Za-zäöüß]{3,14}\b", text)))
    plain = sorted(word for word in count if word.islower() or count[word] > 1)
    together = " ".join(texts)
    names = sorted(set(re.findall(r"\b(?:[a-z]+_[a-z_]+|[a-z]+[A-Z][A-Za-z]+)\b", together)))
    paths = sorted({path for topic in topics for _, text in topic["messages"]
                    for path in re.findall(r"[\w.]+(?:/[\w.-]+)+\.\w+", text)})
    frames = ["Can you look at the {} of the {}?", "I changed the {} and the {}; the {} is done.", "Why does the {} {} after the {}?",
              "The {} passes, but {} is still open.", "Die {} ist fertig, nur {} fehlt noch.", "Please {} the {} before we {} it.",
              "We should {} {} before the {} of the {}.", "src/{}/{}.rs:{}: {}", "{} = {}", "git commit -m '{} {}'",
              "{} ms for {} of {}", "Let me read {} first.", "All {} tests pass."]

    def sentences(own):
        word = lambda _: rng.choice(own) if rng.random() < 0.85 else str(rng.randint(2, 400))
        return " ".join(re.sub(r"\{\}", word, rng.choice(frames)) for _ in range(rng.randint(1, 7)))

    def filler(own, length):
        return [[("user", "assistant", "call", "result")[m % 4], sentences(own)] for m in range(length)]

    sessions = []
    for n, topic in enumerate(topics):
        if n % 3 == 1:
            own = rng.sample(plain, 60)
            topic = topic | {"messages": filler(own, 24) + topic["messages"] + filler(own, 32)}
        sessions.append((topic["id"], topic))
    for n in range(220):
        own = rng.sample(plain, 40)
        title = sentences(own)[:60] if n % 2 else None
        sessions.append((f"f{n:07x}", {"title": title, "messages": filler(own, rng.randint(3, 24))}))
    sessions += [(f"f1{n:06x}", {"messages": filler(plain, 260)}) for n in range(5)]
    for n in range(6):
        log = "\n".join(f"{rng.getrandbits(28):07x} {topic['title']}" for topic in rng.sample(topics, 24))
        files = "\n".join(rng.sample(paths, int(len(paths) * 0.8)))
        tags = "\n".join(f"src/x.rs:{rng.randint(1, 900)}: {name}" for name in rng.sample(names, int(len(names) * 0.8)))
        sessions.append((f"f2{n:06x}", {"messages": [
            ["user", "What changed this week?"], ["call", "git log --oneline"], ["result", log], ["call", "rg --files"],
            ["result", files], ["call", "ctags"], ["result", tags], ["assistant", sentences(rng.sample(plain, 40))]]}))
    rng.shuffle(sessions)
    write_sessions(target, rng, sessions)


def write_sessions(target, rng, sessions):
    folder = target / "projects" / "-home-dev-work"
    folder.mkdir(parents=True)
    for n, (name, topic) in enumerate(sessions):
        session = f"{name}-0000-4000-8000-{n:012x}"
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in session_lines(rng, session, topic, n * 7))
        (folder / f"{session}.jsonl").write_text(text)
        os.utime(folder / f"{session}.jsonl", (1_767_225_600 + n * 3600,) * 2)


def unique(items):
    return list(dict.fromkeys(items))


def ask_ramus(program, claude, home, query):
    command = [program, "--claude-dir", claude, "find", "--sort", "best", "--fuzzy", "--json", "--limit", "60", "--", query]
    return run_ramus(command, home)


def ask_by_meaning(program, claude, home, query):
    program, model = program
    command = [program, "--claude-dir", claude, "find", "--like", "--like-model", model, "--json", "--limit", "60", "--", query]
    return run_ramus(command, home)


def run_ramus(command, home):
    out = subprocess.run(command, capture_output=True, text=True, env={"HOME": home, "PATH": os.environ["PATH"]})
    return unique(json.loads(line)["session"] for line in out.stdout.splitlines())


def ask_fast_resume(program, claude, home, query):
    env = {"HOME": home, "PATH": os.environ["PATH"]}
    out = subprocess.run([program, "--json", "--limit", "20", "--no-refresh", "--", query], capture_output=True,
                         text=True, env=env, stdin=subprocess.DEVNULL, timeout=60)
    answer = json.loads(out.stdout or "{}")
    rows = answer.get("sessions", answer if isinstance(answer, list) else [])
    return unique(row.get("id") or row.get("session_id") for row in rows)


def ask_claude_history(program, claude, home, query):
    env = {"HOME": home, "PATH": os.environ["PATH"], "CLAUDE_CONFIG_DIR": str(claude)}
    # Its search by meaning downloads a model, so it is asked for words.
    out = subprocess.run([program, "agent", "search", "--lexical", "--all", "--top", "20", "--no-budget", "--hits-per-conv", "1",
                          "--", query], capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL, timeout=120)
    return unique(re.findall(r"^conversation rank=\d+ .*?\buuid=(\S+)", out.stdout, re.M))


def ask_rg(program, claude, home, query):
    words = [word for word in query.replace('"', " ").split() if not word.startswith("-")]
    counts = collections.defaultdict(lambda: [0, 0])
    for word in words:
        out = subprocess.run([program, "-a", "-i", "-F", "--count", "--glob", "*.jsonl", "-e", word, str(claude / "projects")],
                             capture_output=True, text=True)
        for line in out.stdout.splitlines():
            path, _, count = line.rpartition(":")
            counts[path][0] += 1
            counts[path][1] += int(count)
    order = sorted(counts, key=lambda path: (counts[path][0], counts[path][1], os.path.getmtime(path)), reverse=True)
    return unique(pathlib.Path(path).stem for path in order)


def read_queries(number, half):
    rows, seen = [], collections.Counter()
    for line in QUERIES[number].read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        corpus, kind, query, meant = line.split("\t")
        seen[kind] += 1
        is_held = seen[kind] % 2 == 0
        if half == "both" or is_held == (half == "held"):
            rows.append((corpus, kind, query, meant.split(",")))
    return rows


def rank_of(found, meant):
    for place, session in enumerate(found, 1):
        if session and any(session.startswith(start) for start in meant):
            return place
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ramus", required=True)
    parser.add_argument("--samples", type=pathlib.Path)
    parser.add_argument("--fast-resume")
    parser.add_argument("--claude-history")
    parser.add_argument("--rg")
    parser.add_argument("--set", type=int, choices=[1, 2, 3], default=1)
    parser.add_argument("--model", help="ramus also searches by meaning, with this embedding model")
    parser.add_argument("--half", choices=["tune", "held", "both"], default="tune")
    parser.add_argument("--noise", choices=["plain", "all"], default="plain",
                        help="which words of the topics other sessions have; `all`: identifiers and paths, too")
    parser.add_argument("--misses", action="store_true", help="list the queries that ramus does not answer first")
    args = parser.parse_args()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="find-quality"))
    corpora = {}
    for name in ["demo", "samples", {1: "planted", 2: "second", 3: "third"}[args.set]]:
        home = scratch / name
        claude = home / ".claude"
        home.mkdir()
        if name == "demo":
            subprocess.run([args.ramus, "demo", str(claude)], check=True, capture_output=True, env={"HOME": str(home), "PATH": os.environ["PATH"]})
        elif name == "planted":
            write_planted(claude, args.noise)
        elif name == "second":
            write_second(claude)
        elif name == "third":
            write_third(claude)
        elif args.samples:
            shutil.copytree(args.samples, claude)
        else:
            continue
        corpora[name] = (claude, str(home))
        if args.fast_resume:
            subprocess.run([args.fast_resume, "--rebuild", "--list", "--limit", "1"], capture_output=True,
                           stdin=subprocess.DEVNULL, env={"HOME": str(home), "PATH": os.environ["PATH"]}, timeout=300)
    programs = [("ramus", ask_ramus, args.ramus), ("fast-resume", ask_fast_resume, args.fast_resume),
                ("ramus --like", ask_by_meaning, (args.ramus, args.model) if args.model else None),
                ("claude-history", ask_claude_history, args.claude_history), ("rg", ask_rg, args.rg)]
    ranks = collections.defaultdict(list)
    for corpus, kind, query, meant in read_queries(args.set, args.half):
        if corpus not in corpora:
            continue
        claude, home = corpora[corpus]
        for name, ask, program in programs:
            if program:
                found = ask(program, claude, home, query)
                rank = rank_of(found, meant)
                ranks[name].append((kind, rank))
                if args.misses and name == "ramus" and rank != 1:
                    print(f"rank {rank}: [{corpus} {kind}] {query!r} meant {meant}, found {found[:3]}", file=sys.stderr)
    print("| program | queries | recall@1 | recall@5 | MRR |\n|---|---:|---:|---:|---:|")
    for name, _, program in programs:
        if program:
            own = [rank for _, rank in ranks[name]]
            print(f"| {name} | {len(own)} | {share(own, 1)} | {share(own, 5)} | {mrr(own)} |")
    print("\n| class | " + " | ".join(name for name, _, program in programs if program) + " |")
    print("|---|" + "---:|" * sum(1 for _, _, program in programs if program))
    for kind in unique(kind for kind, _ in ranks["ramus"]):
        cells = [mrr([rank for it, rank in ranks[name] if it == kind]) for name, _, program in programs if program]
        print(f"| {kind} | " + " | ".join(cells) + " |")
    shutil.rmtree(scratch)


def share(ranks, best):
    return f"{sum(1 for rank in ranks if 0 < rank <= best) / max(1, len(ranks)):.3f}"


def mrr(ranks):
    return f"{sum(1 / rank for rank in ranks if rank) / max(1, len(ranks)):.3f}"


if __name__ == "__main__":
    main()
