#!/usr/bin/env python3
"""Loads the plugin into the real Claude Code client: it validates, its tools answer, its commands and its skill are there.

    CLIENT_LAB=DIR plugin.py --ramus PATH [--version 2.1.325]

Needs what client.py needs. The history that is searched is the one that `ramus demo` writes.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import client

ROOT = client.HERE.parent.parent
PLUGIN = ROOT / "plugin"
TOOL = "mcp__plugin_ramus_ramus__"


def sent(requests):
    """Returns the requests of the conversation itself."""
    return [one["request"] for one in requests if one["request"].get("tools")]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--ramus", required=True)
    ap.add_argument("--version", default="2.1.325")
    a = ap.parse_args()
    if not client.installed(a.version):
        print(f"skipped: no client {a.version} in $CLIENT_LAB/clients")
        return
    ramus = pathlib.Path(a.ramus).resolve()
    home = client.Home(a.version)
    subprocess.run([ramus, "demo", home.claude], check=True, capture_output=True)
    programs = home.path / "bin"
    programs.mkdir()
    (programs / "ramus").symlink_to(ramus)

    for path in (PLUGIN, ROOT):
        done, _ = home.run([], "plugin", "validate", str(path), programs=programs)
        print(done.stdout.strip())
        assert done.returncode == 0, (done.stdout, done.stderr)

    script = [{"tool": TOOL + "search", "input": {"query": "thread pool", "everywhere": True}},
              {"tool": TOOL + "tree", "input": {"session": "7ea9"}},
              {"text": "found it"}]
    done, requests = home.run(script, "-p", "--plugin-dir", str(PLUGIN), "--allowedTools",
                              f"{TOOL}search,{TOOL}tree", "--", "/ramus:find thread pool", programs=programs)
    first, last = sent(requests)[0], sent(requests)[-1]
    everything = json.dumps(first)
    assert "Search the past conversations of this project" in everything, (done.stdout, done.stderr, everything[:2000])
    assert "past-conversations" in everything, "the skill is not offered"
    results = [block for message in last["messages"] if isinstance(message["content"], list)
               for block in message["content"] if block["type"] == "tool_result"]
    assert len(results) == 2, (done.stdout, done.stderr, results)
    assert all(not block.get("is_error") and "7ea9" in json.dumps(block["content"]) for block in results), results
    assert "found it" in done.stdout, done.stdout
    # The hook is off: no archive was made.
    archive = home.path / ".local/share/ramus/archive.db"
    assert not archive.exists(), "a session was archived though nobody asked for it"
    (home.claude / "settings.json").write_text(json.dumps({"env": {"RAMUS_KEEP_SESSIONS": "1"}}))
    done, _ = home.run([{"text": "bye"}], "-p", "--plugin-dir", str(PLUGIN), "--", "hello", programs=programs)
    for _ in range(100):
        if archive.exists():
            break
        time.sleep(0.1)
    assert archive.exists(), (done.stdout, done.stderr)
    print(f"ok: client {a.version} loaded the plugin, used its tools and command, and archived when told to")


main()
