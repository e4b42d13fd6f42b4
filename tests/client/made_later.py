"""More sessions created by the client, written after the rules of `show --as-client` to test them."""
import json
import signal
import sys
import time

import api
import driver
from made_by_client import (PNG, NotHere, agent, bash, scenario, small_window, streamed)
from made_in_terminal import Terminal, session_with

ASK = "--allowedTools"


def hooks(talk, **events):
    """Sets hooks: an event and the command that is run at it."""
    told = {event: [{"matcher": "*", "hooks": [{"type": "command", "command": command}]}]
            for event, command in events.items()}
    (talk.home.claude / "settings.json").write_text(json.dumps({"hooks": told}))


def from_agents(talk):
    """Only clients whose agents can run in the background."""
    if talk.version < (2, 0, 60):
        raise NotHere("agents run in the foreground")


# Agents and commands that end late.

@scenario
def agent_late(talk):
    from_agents(talk)
    talk.answer("ask-51", [bash("51", "sleep 3; echo out-51")], [api.text("say-51")])
    talk.answer("ask-1", [agent(talk, "1", "ask-51", run_in_background=True)], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def agents_late_one_after_the_other(talk):
    from_agents(talk)
    talk.answer("ask-51", [bash("51", "sleep 1; echo out-51")], [api.text("say-51")])
    talk.answer("ask-52", [bash("52", "sleep 5; echo out-52")], [api.text("say-52")])
    talk.answer("ask-1", [agent(talk, "1a", "ask-51", run_in_background=True),
                          agent(talk, "1b", "ask-52", run_in_background=True)],
                [bash("1c", "sleep 3; echo out-1c")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2", "ask-3")


@scenario
def agent_left_running(talk):
    """The client is killed while an agent works in the background."""
    from_agents(talk)
    talk.answer("ask-51", [bash("51", "tail -f /dev/null")], [api.text("say-51")])
    talk.answer("ask-1", [agent(talk, "1", "ask-51", run_in_background=True)], [bash("1b", "tail -f /dev/null")])
    return talk.ended("ask-1", talk.holds("call-1b"))


@scenario
def agent_left_running_and_resumed(talk):
    agent_left_running(talk)
    return talk.asks("ask-2", "ask-3")


@scenario
def agent_killed(talk):
    """The client is killed inside of an agent that it waits for."""
    talk.answer("ask-51", [bash("51", "tail -f /dev/null")], [api.text("say-51")])
    talk.answer("ask-1", [api.text("say-1a"), agent(talk, "1", "ask-51", run_in_background=False)], [api.text("say-1")])
    talk.ask("ask-9")
    return talk.ended("ask-1", talk.asked("ask-51"))


@scenario
def background_command_late(talk):
    talk.answer("ask-1", [bash("1", "sleep 3; echo out-1", run_in_background=True)], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def background_commands_and_kill(talk):
    talk.answer("ask-1", [bash("1a", "sleep 1; echo out-1a", run_in_background=True),
                          bash("1b", "tail -f /dev/null", run_in_background=True)],
                [bash("1c", "sleep 3; echo out-1c")], [bash("1d", "tail -f /dev/null")])
    talk.ended("ask-1", talk.holds("call-1d"))
    return talk.asks("ask-2")


@scenario
def background_command_in_terminal(talk):
    """The command ends while nobody asks anything."""
    talk.answer("ask-1", [bash("1", "sleep 4; echo out-1", run_in_background=True)], [api.text("say-1")])
    with Terminal(talk, ASK, "Bash") as terminal:
        terminal.ask("ask-1")
        time.sleep(7)
        terminal.ask("ask-2")
    return session_with(talk, "ask-2")


@scenario
def agent_in_terminal(talk):
    from_agents(talk)
    talk.answer("ask-51", [bash("51", "sleep 4; echo out-51")], [api.text("say-51")])
    talk.answer("ask-1", [agent(talk, "1", "ask-51", run_in_background=True)], [api.text("say-1")])
    with Terminal(talk, ASK, "Bash,Task,Agent", "--permission-mode", "default") as terminal:
        terminal.ask("ask-1")
        time.sleep(8)
        terminal.ask("ask-2")
    return session_with(talk, "ask-2")


# Errors of the API.

@scenario
def api_error_retried(talk):
    overloaded = api.error(529, "overloaded_error", "Overloaded", times=1)
    talk.answer("ask-1", [bash("1")], [overloaded, api.text("say-1a"), bash("1b")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def api_error_given_up(talk):
    talk.home.environment["CLAUDE_CODE_MAX_RETRIES"] = "1"
    talk.answer("ask-1", [bash("1a"), bash("1b")], [api.error(500, "api_error", "Internal server error")])
    return talk.asks("ask-1", "ask-2", "ask-3")


@scenario
def api_error_twice(talk):
    talk.answer("ask-2", [api.error(400, "invalid_request_error", "no such thing")])
    talk.answer("ask-3", [bash("3")], [api.error(400, "invalid_request_error", "no such thing")])
    return talk.asks("ask-1", "ask-2", "ask-3")


@scenario
def stream_broken_off(talk):
    talk.answer("ask-1", [api.broken(times=1), api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def stream_ended_by_an_error(talk):
    talk.answer("ask-1", [bash("1")], [api.broken("overloaded_error", times=1), api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def stream_broken_behind_a_call(talk):
    talk.home.environment["CLAUDE_CODE_MAX_RETRIES"] = "1"
    talk.answer("ask-1", [api.broken(times=1), api.text("say-1a"), bash("1a"), bash("1b")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


# Calls side by side.

@scenario
def parallel_tools_with_one_failing(talk):
    talk.answer("ask-1", [bash("1a"), bash("1b", "echo out-1b; false"), bash("1c")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def parallel_tools_of_all_kinds(talk):
    (talk.home.cwd / "notes.txt").write_text("out-1c\n")
    talk.answer("ask-1", [bash("1a"), api.tool("WebFetch", url="http://127.0.0.1:9/call-1b", prompt="x"),
                          api.tool("Read", file_path=str(talk.home.cwd / "notes.txt")),
                          api.tool("Juggle", what="call-1d"), api.tool("Read", file_path="/nowhere/call-1e")],
                [api.thought("thoughts"), bash("1f"), bash("1g")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def parallel_tools_killed_and_resumed(talk):
    talk.answer("ask-1", [api.text("say-1a"), bash("1a"), bash("1b", "tail -f /dev/null"), bash("1c")], [api.text("say-1")])
    talk.ended("ask-1", talk.holds("call-1c"))
    return talk.asks("ask-2", "ask-3")


# Pictures and documents.

@scenario
def pictures_read_side_by_side(talk):
    for name in ("1a", "1b"):
        (talk.home.cwd / f"call-{name}.png").write_bytes(PNG)
    talk.answer("ask-1", [api.tool("Read", file_path=str(talk.home.cwd / f"call-{n}.png")) for n in ("1a", "1b")],
                [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


def picture():
    import base64
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                        "data": base64.b64encode(PNG).decode()}}


@scenario
def pictures_between_texts(talk):
    content = [picture(), {"type": "text", "text": "ask-1"}, picture(), {"type": "text", "text": "and more"}]
    return streamed(talk, {"type": "user", "message": {"role": "user", "content": content}})


@scenario
def picture_alone_and_went_on(talk):
    talk.session = streamed(talk, {"type": "user", "message": {"role": "user", "content": [
        {"type": "text", "text": "ask-1"}, picture()]}})
    return talk.asks("ask-2", "ask-3")


@scenario
def picture_mentioned(talk):
    (talk.home.cwd / "dot.png").write_bytes(PNG)
    talk.ask("ask-1 about @dot.png")
    return talk.asks("ask-2")


@scenario
def directory_mentioned(talk):
    (talk.home.cwd / "inside").mkdir()
    (talk.home.cwd / "inside" / "one.txt").write_text("one\n")
    talk.ask("ask-1 about @inside/")
    return talk.asks("ask-2")


# Killed, interrupted, queued.

@scenario
def killed_twice(talk):
    talk.answer("ask-1", [bash("1", "tail -f /dev/null")])
    talk.ended("ask-1", talk.holds("call-1"))
    talk.answer("ask-2", [api.text("say-2a"), bash("2", "tail -f /dev/null")])
    talk.ended("ask-2", talk.holds("call-2"))
    return talk.session


@scenario
def killed_while_it_streams(talk):
    talk.ask("ask-1")
    talk.answer("ask-2", [bash("2")], [api.slow("say-2 and much more", 60)])
    return talk.ended("ask-2", talk.holds("out-2", "tool_result"))


@scenario
def interrupted_while_it_streams(talk):
    talk.answer("ask-2", [api.slow("say-2 begins here and then goes on for long", 30)])
    with Terminal(talk) as terminal:
        terminal.ask("ask-1")
        terminal.type("ask-2")
        terminal.sees("say-2", 8)
        time.sleep(2)
        terminal.press("Escape")
        time.sleep(2)
    return session_with(talk, "ask-2")


@scenario
def interrupted_while_it_streams_and_went_on(talk):
    talk.answer("ask-2", [bash("2")], [api.slow("say-2 begins here and then goes on for long", 30)])
    with Terminal(talk, ASK, "Bash") as terminal:
        terminal.ask("ask-1")
        terminal.type("ask-2")
        terminal.sees("say-2", 8)
        time.sleep(2)
        terminal.press("Escape")
        time.sleep(2)
        terminal.press("C-e", "C-u", "C-u", pause=0.3)
        terminal.ask("ask-3")
    return session_with(talk, "ask-3")


@scenario
def two_queued_while_it_works(talk):
    talk.answer("ask-1", [bash("1a", "sleep 4; echo out-1a")], [bash("1b", "sleep 2; echo out-1b")], [api.text("say-1")])
    with Terminal(talk, ASK, "Bash") as terminal:
        terminal.type("ask-1")
        time.sleep(2)
        terminal.type("ask-2")
        terminal.type("ask-3")
        terminal.sees(r"say-3|say-1\b")
        time.sleep(4)
        terminal.ask("ask-4")
    return session_with(talk, "ask-4")


@scenario
def queued_while_it_streams(talk):
    talk.answer("ask-1", [api.slow("say-1", 5)])
    with Terminal(talk) as terminal:
        terminal.type("ask-1")
        time.sleep(2)
        terminal.type("ask-2")
        terminal.sees("say-2")
        time.sleep(2)
    return session_with(talk, "ask-2")


@scenario
def rewound_behind_tools(talk):
    talk.answer("ask-1", [bash("1a"), bash("1b")], [api.text("say-1")])
    talk.answer("ask-2", [bash("2a"), bash("2b")], [api.text("say-2")])
    with Terminal(talk, ASK, "Bash") as terminal:
        terminal.ask("ask-1")
        terminal.ask("ask-2")
        terminal.rewind("ask-2")
        terminal.ask("ask-3")
        terminal.rewind("ask-3")
        terminal.ask("ask-4")
    return session_with(talk, "ask-4")


# Hooks.

@scenario
def hook_blocks_a_tool(talk):
    hooks(talk, PreToolUse="echo not this one >&2; exit 2")
    talk.answer("ask-1", [bash("1a"), bash("1b")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def hook_blocks_a_prompt(talk):
    talk.ask("ask-1")
    hooks(talk, UserPromptSubmit="grep -q ask-2 && { echo not this one >&2; exit 2; } || exit 0")
    return talk.asks("ask-2", "ask-3")


@scenario
def hook_blocks_behind_a_tool(talk):
    hooks(talk, PostToolUse="echo mind the gap >&2; exit 2")
    talk.answer("ask-1", [bash("1a"), bash("1b")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def hook_at_the_start(talk):
    hooks(talk, SessionStart="echo words at the start")
    talk.answer("ask-1", [bash("1")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def hook_blocks_the_end_twice(talk):
    count = talk.home.path / "stops"
    hooks(talk, Stop=f"echo x >> {count}; [ $(wc -l < {count}) -ge 3 ] || {{ echo go on >&2; exit 2; }}")
    talk.answer("ask-1", [api.text("say-1a")], [bash("1")], [api.text("say-1b")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


# Compactions.

@scenario
def compacted_twice_in_a_row(talk):
    return talk.asks("ask-1", "ask-2", "/compact", "/compact", "ask-3")


@scenario
def compacted_with_words(talk):
    talk.answer("ask-1", [bash("1a"), bash("1b")], [api.text("say-1")])
    talk.asks("ask-1", "/compact keep the names")
    talk.answer("ask-2", [bash("2a"), bash("2b")], [api.text("say-2")])
    return talk.asks("ask-2", "/compact", "ask-3", "ask-4")


@scenario
def compacted_and_killed(talk):
    talk.asks("ask-1", "ask-2", "/compact")
    talk.answer("ask-3", [bash("3", "tail -f /dev/null")])
    return talk.ended("ask-3", talk.holds("call-3"))


@scenario
def compacted_again_and_again_in_a_loop(talk):
    """One turn of many calls, whose context is full time and again."""
    small_window(talk)
    talk.home.environment["CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"] = "50"
    calls = [[api.used(150000), bash(f"2{letter}")] for letter in "abcdef"]
    talk.answer("ask-2", *calls, [api.text("say-2")])
    return talk.asks("ask-1", "ask-2", "ask-3", "ask-4")


@scenario
def compacted_automatically_and_by_hand(talk):
    small_window(talk)
    talk.answer("ask-2", [api.used(190000), api.text("say-2")])
    return talk.asks("ask-1", "ask-2", "ask-3", "/compact", "ask-4")


@scenario
def compacted_and_forked(talk):
    if talk.version < (2, 0, 0):
        raise NotHere("no --fork-session")
    talk.asks("ask-1", "ask-2", "/compact", "ask-3")
    talk.ask("ask-4", "--fork-session")
    return talk.asks("ask-5")


@scenario
def too_long_behind_parallel_tools(talk):
    too_long = api.error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", times=1)
    talk.answer("ask-2", [bash("2a"), bash("2b")], [too_long, bash("2c")], [api.text("say-2")])
    return talk.asks("ask-1", "ask-2", "ask-3")


# Modes and limits.

@scenario
def plan_mode_with_tools(talk):
    (talk.home.cwd / "notes.txt").write_text("out-1\n")
    talk.answer("ask-1", [api.tool("Read", file_path=str(talk.home.cwd / "notes.txt"))], [api.text("say-1")])
    talk.ask("ask-1", "--permission-mode", "plan")
    talk.ask("ask-2", "--permission-mode", "plan")
    return talk.asks("ask-3")


@scenario
def plan_mode_and_back(talk):
    talk.ask("ask-1")
    talk.ask("ask-2", "--permission-mode", "plan")
    talk.ask("ask-3", "--permission-mode", "acceptEdits")
    return talk.asks("ask-4")


@scenario
def plan_approved_in_terminal(talk):
    talk.answer("ask-1", [api.tool("ExitPlanMode", plan="call-1")], [api.text("say-1")])
    with Terminal(talk, "--permission-mode", "plan") as terminal:
        terminal.type("ask-1")
        time.sleep(4)
        terminal.press("Enter")
        terminal.sees(r"say-1\b", 10)
        time.sleep(1)
        terminal.ask("ask-2")
    return session_with(talk, "ask-2")


@scenario
def max_turns_of_parallel_tools(talk):
    talk.answer("ask-1", [bash("1a")], [api.text("say-1a"), bash("1b"), bash("1c")], [api.text("say-1")])
    talk.ask("ask-1", "--max-turns", "2")
    return talk.session


@scenario
def max_turns_twice(talk):
    for ask in ("1", "2"):
        talk.answer(f"ask-{ask}", [bash(f"{ask}a"), bash(f"{ask}b")], [bash(f"{ask}c")], [api.text(f"say-{ask}")])
        talk.ask(f"ask-{ask}", "--max-turns", "1")
    return talk.session


# Other places and models.

@scenario
def resumed_from_another_directory(talk):
    if talk.version < (2, 1, 150):
        raise NotHere("sessions of another directory are not found")
    talk.ask("ask-1")
    place = talk.home.cwd / "inside"
    place.mkdir()
    talk.home.run("-p", "--resume", talk.session, "--output-format", "json", "--", "ask-2", cwd=place)
    return talk.session


@scenario
def forked_and_the_original_went_on(talk):
    if talk.version < (2, 0, 0):
        raise NotHere("no --fork-session")
    talk.answer("ask-1", [bash("1a"), bash("1b")], [api.text("say-1")])
    original = talk.asks("ask-1", "ask-2")
    talk.ask("ask-3", "--fork-session")
    talk.session = original
    return talk.asks("ask-4")


@scenario
def forked_and_both_went_on(talk):
    forked_and_the_original_went_on(talk)
    talk.session = session_with(talk, "ask-3")
    return talk.asks("ask-5")


@scenario
def model_changed(talk):
    talk.answer("ask-1", [bash("1")], [api.text("say-1")])
    talk.ask("ask-1", "--model", "claude-sonnet-4-20250514")
    hooks(talk, UserPromptSubmit="echo from the hook")
    talk.ask("ask-2", "--model", "claude-sonnet-4-20250514")
    return talk.asks("ask-3")


@scenario
def model_changed_back(talk):
    hooks(talk, UserPromptSubmit="echo from the hook")
    talk.ask("ask-1")
    talk.answer("ask-2", [bash("2")], [api.text("say-2")])
    # What is sent depends on the model that is asked; the last one of the file is taken to be asked again.
    small_window(talk)
    return talk.asks("ask-2")


# Words.

@scenario
def prompts_with_space_around(talk):
    talk.ask("  ask-1\n\n")
    talk.answer("ask-2", [api.text("\n\nsay-2\n")])
    talk.ask("ask-2\n\n<system-reminder>\nnot by the system\n</system-reminder>\n")
    return talk.asks("ask-3 — ünïcode \u200b\u202e 🙂")


@scenario
def blank_texts_beside_calls(talk):
    talk.answer("ask-1", [api.text("\n\n"), bash("1a")], [api.text(" "), api.thought("thoughts"), bash("1b")],
                [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def thoughts_alone(talk):
    talk.answer("ask-1", [api.thought("thoughts")])
    talk.answer("ask-2", [api.thought("more thoughts"), bash("2")], [api.thought("last thoughts")])
    return talk.asks("ask-1", "ask-2", "ask-3")


@scenario
def texts_in_one_prompt(talk):
    content = [{"type": "text", "text": "ask-1"}, {"type": "text", "text": "second part"},
               {"type": "text", "text": "third part"}]
    talk.session = streamed(talk, {"type": "user", "message": {"role": "user", "content": content}})
    return talk.asks("ask-2")


@scenario
def cut_inside_a_call(talk):
    talk.answer("ask-1", [api.stopped("max_tokens"), api.text("say-1a"), bash("1")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


# Files.

@scenario
def file_read_twice_and_changed(talk):
    path = talk.home.cwd / "notes.txt"
    path.write_text("out-1\n")
    read = api.tool("Read", file_path=str(path))
    edit = api.tool("Edit", file_path=str(path), old_string="out-1", new_string="out-2")
    talk.answer("ask-1", [read], [read], [edit], [edit], [api.text("say-1")])
    talk.ask("ask-1")
    path.write_text("out-3\nchanged outside\n")
    talk.answer("ask-2", [edit], [api.text("say-2")])
    return talk.asks("ask-2", "ask-3")


@scenario
def long_outputs_spilled(talk):
    talk.answer("ask-1", [bash("1a", "echo out-1a; seq 1 90000"), bash("1b", "seq 1 90000; echo out-1b")],
                [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def long_line_printed(talk):
    talk.answer("ask-1", [bash("1", "printf 'out-1 %0200000d' 7")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


# Tools of other programs.

SERVER = r'''
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, given = asked["method"], asked.get("params") or {}
    if method == "initialize":
        answer = {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        answer = {"tools": [{"name": "do", "description": "d", "inputSchema": {"type": "object", "properties":
                  {"what": {"type": "string"}}}}]}
    elif method == "tools/call":
        what = given["arguments"]["what"]
        text = {"type": "text", "text": what.replace("call", "out").split()[0]}
        answer = {"content": [text]}
        if "picture" in what:
            answer["content"].append({"type": "image", "data": PNG, "mimeType": "image/png"})
        if "two" in what:
            answer["content"].append({"type": "text", "text": "second text"})
        if "fails" in what:
            answer["isError"] = True
        if "structured" in what:
            answer["structuredContent"] = {"n": 1}
        if "long" in what:
            answer["content"].append({"type": "text", "text": "word " * 60000})
        if "nothing" in what:
            answer["content"] = []
        if "resource" in what:
            answer["content"].append({"type": "resource", "resource": {"uri": "a://b", "text": "inside"}})
    else:
        answer = {}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
'''


def with_server(talk, prompt):
    import base64
    program = talk.home.path / "server.py"
    program.write_text(f"PNG = {base64.b64encode(PNG).decode()!r}\n" + SERVER)
    config = talk.home.path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"s": {"command": sys.executable, "args": [str(program)]}}}))
    told = ["--resume", talk.session] if talk.session else []
    code, output = talk.home.run("-p", *told, "--mcp-config", str(config), "--output-format", "json",
                                 "--allowedTools", "mcp__s__do,Bash", "--", prompt, limit=60)
    talk.session = talk.session or talk.home.sessions()[-1].stem


@scenario
def tools_of_a_server(talk):
    def do(what):
        return api.tool("mcp__s__do", what=what)
    talk.answer("ask-1", [do("call-1a two"), do("call-1b picture"), do("call-1c fails")],
                [do("call-1d structured")], [do("call-1e resource")], [do("call-1f nothing")], [api.text("say-1")])
    with_server(talk, "ask-1")
    return talk.asks("ask-2")


@scenario
def long_output_of_a_server(talk):
    talk.answer("ask-1", [api.tool("mcp__s__do", what="call-1 long"), bash("1b")], [api.text("say-1")])
    with_server(talk, "ask-1")
    return talk.asks("ask-2")


# In the terminal.

@scenario
def tool_refused_by_hand(talk):
    talk.answer("ask-1", [bash("1a", "touch made; echo out-1a"), bash("1b", "touch more; echo out-1b")], [api.text("say-1")])
    with Terminal(talk) as terminal:
        terminal.type("ask-1")
        terminal.sees("Do you want", 10)
        time.sleep(1)
        terminal.press("Escape")
        time.sleep(3)
        terminal.press("Escape")
        time.sleep(1)
        terminal.press("C-e", "C-u", "C-u", pause=0.3)
        terminal.ask("ask-2")
    return session_with(talk, "ask-2")


@scenario
def renamed_and_cleared(talk):
    with Terminal(talk) as terminal:
        terminal.ask("ask-1")
        terminal.type("/rename a name")
        time.sleep(2)
        terminal.type("/clear")
        time.sleep(3)
        terminal.ask("ask-2")
        terminal.ask("ask-3")
    return session_with(talk, "ask-3")


@scenario
def compacted_twice_by_hand(talk):
    talk.answer("ask-2", [bash("2a"), bash("2b")], [api.text("say-2")])
    with Terminal(talk, ASK, "Bash") as terminal:
        for prompts in (("ask-1", "ask-2"), ("ask-3",)):
            for prompt in prompts:
                terminal.ask(prompt)
            terminal.type("/compact")
            time.sleep(6)
        terminal.ask("ask-4")
    return session_with(talk, "ask-4")


@scenario
def compacted_and_rewound(talk):
    with Terminal(talk) as terminal:
        terminal.ask("ask-1")
        terminal.type("/compact")
        time.sleep(6)
        terminal.ask("ask-2")
        terminal.ask("ask-3")
        terminal.rewind("ask-3")
        terminal.ask("ask-4")
    return session_with(talk, "ask-4")
