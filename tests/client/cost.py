#!/usr/bin/env python3
"""Lets a real client compute the cost of scripted answers, and compares ramus with it to the cent.

    CLIENT_LAB=DIR cost.py --ramus PATH [--version 2.1.325] [MODEL …]

Needs what client.py needs. Prints a line per model; exits 1 if one differs.
"""
import argparse
import json
import subprocess
import sys

sys.dont_write_bytecode = True
import client

MODELS = ["claude-fable-5", "claude-mythos-5", "claude-fable-5-1", "claude-mythos-5-1", "claude-opus-5-5", "claude-opus-5",
          "claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6[1m]", "claude-opus-4-5-20251101",
          "claude-sonnet-5-5", "claude-sonnet-5",
          "claude-sonnet-4-6[1m]", "claude-sonnet-4-5-20250929", "claude-sonnet-4-20250514", "claude-3-7-sonnet-20250219",
          "claude-3-5-sonnet-20241022", "claude-haiku-5-5", "claude-haiku-4-5-20251001", "claude-3-5-haiku-20241022"]


def usage(five=0, hour=0, **counts):
    written = {"ephemeral_5m_input_tokens": five, "ephemeral_1h_input_tokens": hour}
    return {"cache_creation_input_tokens": five + hour, "cache_creation": written, **counts}


SCRIPT = [
    {"tool": "Bash", "input": {"command": "echo hi"},
     "usage": usage(4000, 5000, input_tokens=1000, output_tokens=2000, cache_read_input_tokens=30000)},
    {"tool": "Bash", "input": {"command": "echo ho"},
     "usage": usage(100, 0, input_tokens=11, output_tokens=222, cache_read_input_tokens=40000,
                    server_tool_use={"web_search_requests": 3, "web_fetch_requests": 1})},
    # A prompt that some models have another price for.
    {"tool": "Bash", "input": {"command": "echo long"},
     "usage": usage(0, 1000, input_tokens=30, output_tokens=500, cache_read_input_tokens=250000)},
    {"tool": "Bash", "input": {"command": "echo fast"},
     "usage": usage(0, 0, input_tokens=3000, output_tokens=700, cache_read_input_tokens=10000, speed="fast")},
    {"tool": "Bash", "input": {"command": "echo place"},
     "usage": usage(0, 0, input_tokens=3000, output_tokens=700, inference_geo="us")},
    {"text": "done", "usage": usage(0, 0, input_tokens=1, output_tokens=2)},
]


def compare(ramus, version, model, script):
    home = client.Home(version)
    done, _ = home.run(script, "-p", "--model", model, "--allowedTools", "Bash", "--", "go on")
    if done.returncode:
        return None, f"the client failed: {(done.stdout + done.stderr)[-200:]}"
    out = subprocess.run([ramus, "--claude-dir", home.claude, "usage", "--compare-client", "--json"],
                         capture_output=True, text=True)
    if out.returncode:
        return None, out.stderr
    rows = json.loads(out.stdout)["client"]
    if len(rows) != 1:
        return None, f"{len(rows)} sessions hold a count"
    return rows[0], None


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--ramus", required=True)
    ap.add_argument("--version", default="2.1.325")
    ap.add_argument("--steps", action="store_true", help="one answer at a time, to see which one differs")
    ap.add_argument("models", nargs="*", default=MODELS)
    a = ap.parse_args()
    if not client.installed(a.version):
        print(f"skipped: no client {a.version} in $CLIENT_LAB/clients")
        return
    failed = 0
    for model in a.models:
        for script in [[step, SCRIPT[-1]] for step in SCRIPT[:-1]] if a.steps else [SCRIPT]:
            row, problem = compare(a.ramus, a.version, model, script)
            if problem:
                print(f"{model:30} {problem}")
                failed += 1
                continue
            note = "  the client does not know its price" if row["client_lacks_prices"] else ""
            same = abs(row["difference_usd"]) < 0.005
            failed += not same
            name = script[0].get("input", {}).get("command", "") if a.steps else ""
            print(f"{model:30} client ${row['client_cost_usd']:.6f}  ramus ${row['cost_usd']:.6f}  "
                  f"{'same' if same else 'DIFFERENT'} {name}{note}", flush=True)
    sys.exit(1 if failed else 0)


main()
