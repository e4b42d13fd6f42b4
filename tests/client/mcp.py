#!/usr/bin/env python3
"""Lets the real Claude Code client use `ramus mcp`: it lists the tools, calls them, and gets their answers.

    CLIENT_LAB=DIR mcp.py --ramus PATH [--version 2.1.325]

Needs what client.py needs. The history that is searched is the one that `ramus demo` writes.
"""
import argparse
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
import client


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--ramus", required=True)
    ap.add_argument("--version", default="2.1.325")
    a = ap.parse_args()
    if not client.installed(a.version):
        print(f"skipped: no client {a.version} in $CLIENT_LAB/clients")
        return
    ramus = str(pathlib.Path(a.ramus).resolve())
    home = client.Home(a.version)
    demo = home.path / "demo"
    subprocess.run([ramus, "demo", demo], check=True, capture_output=True)
    config = {"mcpServers": {"ramus": {"command": ramus, "args": ["--claude-dir", str(demo), "mcp"]}}}
    (home.path / "mcp.json").write_text(json.dumps(config))
    script = [
        {"tool": "mcp__ramus__search", "input": {"query": "thread pool"}},
        {"tool": "mcp__ramus__read", "input": {"address": "7ea9@2", "max_tokens": 300}},
        {"tool": "mcp__ramus__read", "input": {"address": "nosuch"}},
        {"text": "found it"},
    ]
    done, requests = home.run(script, "-p", "--mcp-config", str(home.path / "mcp.json"), "--strict-mcp-config",
                              "--allowedTools", "mcp__ramus__search,mcp__ramus__read", "--", "what about the pool?")
    main_line = [sent["request"] for sent in requests if sent["request"].get("tools")]
    offered = {tool["name"] for tool in main_line[0]["tools"]}
    deferred = json.dumps(main_line[0])
    for name in ("search", "list_projects", "list_sessions", "list_conversations", "read", "tree", "diff", "files_at", "usage"):
        assert f"mcp__ramus__{name}" in offered or f"mcp__ramus__{name}" in deferred, (name, sorted(offered))
    results = {}
    for message in main_line[-1]["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else []:
            if block["type"] == "tool_result":
                results[block["tool_use_id"]] = block
    assert len(results) == 3, (done.stdout, done.stderr, [json.dumps(r)[:200] for r in results.values()])
    found, page, failed = results.values()
    assert "7ea9" in json.dumps(found["content"]) and not found.get("is_error"), found
    assert "next_cursor" in json.dumps(page["content"]), page
    assert failed.get("is_error"), failed
    assert "found it" in done.stdout, done.stdout
    print(f"ok: client {a.version} was told of the tools and used them")


main()
