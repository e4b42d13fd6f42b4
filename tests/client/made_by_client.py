"""Sessions that the client creates: each scenario talks to it and returns the session to resume."""
import base64
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import api
import driver
import labels

SCENARIOS = []
TOOLS = "Bash,Task,Agent,Read,Write,Edit,TodoWrite,Glob,BashOutput,TaskOutput,KillShell"
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


class NotHere(Exception):
    """The client of this version has no such thing."""


def scenario(function):
    SCENARIOS.append(function)
    return function


def is_chosen(scenario, options):
    """Whether a scenario is among those that were asked for."""
    is_of = options.of in (None, scenario.__module__)
    return is_of and any(name in scenario.__name__ for name in options.case or [""])


def bash(number, command=None, **given):
    return api.tool("Bash", command=f"{command or f'echo out-{number}'} # call-{number}", description="d", **given)


class Talk:
    """A conversation with one client."""

    def __init__(self, home):
        self.home, self.api, self.session = home, home.api, None
        self.version = driver.number(home.version)

    def answer(self, prompt, *answers):
        self.api.answers[prompt] = list(answers)

    def ask(self, prompt, *options, limit=60):
        """Sends a prompt in the session, which it begins or goes on with."""
        told = ["--resume", self.session] if self.session else []
        code, output = self.home.run("-p", *told, *options, "--output-format", "json", "--allowedTools", TOOLS, "--",
                                     prompt, limit=limit)
        found = re.search(r'"session_id":\s*"([^"]+)"', output)
        if found:
            self.session = found[1]
        elif not self.session:
            files = self.home.sessions()
            self.session = files[-1].stem if files else None
        return output

    def asks(self, *prompts):
        for prompt in prompts:
            self.ask(prompt)
        return self.session

    def ended(self, prompt, until, how=signal.SIGKILL, *options):
        """Sends a prompt and ends the client once `until` is true of its session."""
        told = ["--resume", self.session] if self.session else []
        client = subprocess.Popen([*self.home.command, "-p", *told, *options, "--output-format", "json",
                                   "--allowedTools", TOOLS, "--", prompt], cwd=self.home.cwd,
                                  env=self.home.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, start_new_session=True)
        before, last = time.time(), time.time() + 40
        while time.time() < last and not until():
            time.sleep(0.1)
        time.sleep(0.7)
        os.killpg(client.pid, how) if how == signal.SIGKILL else client.send_signal(how)
        try:
            client.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(client.pid, signal.SIGKILL)
            client.wait()
        files = [file for file in self.home.sessions() if file.stat().st_mtime >= before - 1]
        if not files:
            raise NotHere("nothing was written")
        self.session = files[-1].stem
        return self.session

    def holds(self, *words):
        """Whether a session of this directory holds all words."""
        def look():
            return any(all(word in file.read_text(errors="replace") for word in words) for file in self.home.sessions())
        return look

    def asked(self, prompt):
        """Whether the API was asked this."""
        def look():
            return any(prompt in labels.of_messages(request["messages"]) for request in self.api.requests)
        return look


@scenario
def plain(talk):
    return talk.asks("ask-1", "ask-2", "ask-3")


@scenario
def one_tool(talk):
    talk.answer("ask-1", [api.text("say-1a"), bash("1")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def parallel_tools(talk):
    talk.answer("ask-1", [bash("1a"), bash("1b"), bash("1c")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def parallel_tools_with_text(talk):
    talk.answer("ask-1", [api.text("say-1a"), bash("1a"), bash("1b")], [api.text("say-1b"), bash("1c")],
                [api.text("say-1")])
    return talk.asks("ask-1")


@scenario
def tool_rounds(talk):
    talk.answer("ask-1", [bash("1a")], [bash("1b")], [bash("1c")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def failing_tool(talk):
    talk.answer("ask-1", [bash("1", "echo out-1; false")], [api.text("say-1")])
    return talk.asks("ask-1")


@scenario
def tool_that_is_not_allowed(talk):
    talk.answer("ask-1", [api.tool("WebFetch", url="http://127.0.0.1:9/call-1", prompt="x")], [api.text("say-1")])
    return talk.asks("ask-1")


@scenario
def unknown_tool(talk):
    talk.answer("ask-1", [api.tool("Juggle", what="call-1")], [api.text("say-1")])
    return talk.asks("ask-1")


@scenario
def thinking(talk):
    talk.answer("ask-1", [api.thought("thoughts one"), api.text("say-1")])
    talk.answer("ask-2", [api.thought("thoughts two"), bash("2")], [api.thought("thoughts three"), api.text("say-2")])
    return talk.asks("ask-1", "ask-2")


@scenario
def several_texts(talk):
    talk.answer("ask-1", [api.text("say-1a"), api.text("say-1b"), api.text("say-1")])
    return talk.asks("ask-1")


@scenario
def picture_read(talk):
    (talk.home.cwd / "call-1.png").write_bytes(PNG)
    talk.answer("ask-1", [api.tool("Read", file_path=str(talk.home.cwd / "call-1.png"))], [api.text("say-1")])
    return talk.asks("ask-1")


@scenario
def picture_in_prompt(talk):
    """A prompt with a picture, as programs send it."""
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                           "data": base64.b64encode(PNG).decode()}}
    line = {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "ask-1"}, picture]}}
    return streamed(talk, line)


@scenario
def two_prompts_streamed(talk):
    lines = [{"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": f"ask-{n}"}]}}
             for n in (1, 2)]
    return streamed(talk, *lines)


def streamed(talk, *lines):
    given = "".join(json.dumps(line) + "\n" for line in lines)
    subprocess.run([*talk.home.command, "-p", "--input-format", "stream-json", "--output-format", "stream-json",
                    "--verbose", "--allowedTools", TOOLS], cwd=talk.home.cwd, env=talk.home.environment, text=True,
                   input=given, capture_output=True, timeout=60)
    files = talk.home.sessions()
    if not files:
        raise NotHere("nothing was written")
    return files[-1].stem


@scenario
def file_read(talk):
    (talk.home.cwd / "notes.txt").write_text("out-1\nsecond line\n")
    talk.answer("ask-1", [api.tool("Read", file_path=str(talk.home.cwd / "notes.txt"))], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def file_mentioned(talk):
    (talk.home.cwd / "notes.txt").write_text("mentioned\nsecond line\n")
    talk.ask("ask-1 about @notes.txt")
    return talk.asks("ask-2")


@scenario
def file_written_and_changed_outside(talk):
    path = talk.home.cwd / "made.txt"
    talk.answer("ask-1", [api.tool("Write", file_path=str(path), content="out-1\n")], [api.text("say-1")])
    talk.ask("ask-1")
    path.write_text("changed\n")
    return talk.asks("ask-2")


@scenario
def todo_list(talk):
    todo = {"content": "call-1", "status": "pending", "activeForm": "Doing"}
    talk.answer("ask-1", [api.tool("TodoWrite", todos=[todo])], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def killed_inside_a_tool(talk):
    talk.ask("ask-1")
    talk.answer("ask-2", [api.text("say-2a"), bash("2", "tail -f /dev/null")], [api.text("say-2")])
    return talk.ended("ask-2", talk.holds("call-2"))


@scenario
def killed_inside_parallel_tools(talk):
    talk.answer("ask-1", [bash("1a"), bash("1b", "tail -f /dev/null")], [api.text("say-1")])
    return talk.ended("ask-1", talk.holds("call-1b"))


@scenario
def killed_in_the_second_round(talk):
    talk.answer("ask-1", [bash("1a")], [bash("1b", "tail -f /dev/null")], [api.text("say-1")])
    return talk.ended("ask-1", talk.holds("call-1b"))


@scenario
def killed_before_the_answer(talk):
    talk.ask("ask-1")
    talk.answer("ask-2", [api.wait(60), api.text("say-2")])
    return talk.ended("ask-2", talk.asked("ask-2"))


@scenario
def killed_before_the_first_answer(talk):
    talk.answer("ask-1", [api.wait(60), api.text("say-1")])
    return talk.ended("ask-1", talk.asked("ask-1"))


@scenario
def killed_before_the_answer_and_resumed(talk):
    talk.ask("ask-1")
    talk.answer("ask-2", [api.wait(60), api.text("say-2")])
    talk.ended("ask-2", talk.asked("ask-2"))
    return talk.asks("ask-3")


@scenario
def killed_inside_a_tool_and_resumed(talk):
    talk.ask("ask-1")
    talk.answer("ask-2", [bash("2", "tail -f /dev/null")], [api.text("say-2")])
    talk.ended("ask-2", talk.holds("call-2"))
    return talk.asks("ask-3", "ask-4")


@scenario
def killed_after_a_result(talk):
    talk.answer("ask-1", [bash("1")], [api.wait(60), api.text("say-1")])
    return talk.ended("ask-1", talk.holds("out-1", "tool_result"))


@scenario
def interrupted_inside_a_tool(talk):
    talk.answer("ask-1", [bash("1", "tail -f /dev/null")], [api.text("say-1")])
    return talk.ended("ask-1", talk.holds("call-1"), signal.SIGINT)


@scenario
def interrupted_before_the_answer(talk):
    talk.ask("ask-1")
    talk.answer("ask-2", [api.wait(60), api.text("say-2")])
    return talk.ended("ask-2", talk.asked("ask-2"), signal.SIGINT)


@scenario
def api_error(talk):
    talk.ask("ask-1")
    talk.answer("ask-2", [api.error(400, "invalid_request_error", "no such thing")])
    return talk.asks("ask-2")


@scenario
def api_error_and_resumed(talk):
    talk.answer("ask-1", [api.error(400, "invalid_request_error", "no such thing")])
    return talk.asks("ask-1", "ask-2")


@scenario
def api_error_after_a_tool(talk):
    talk.answer("ask-1", [bash("1")], [api.error(400, "invalid_request_error", "no such thing")])
    return talk.asks("ask-1")


@scenario
def prompt_too_long(talk):
    talk.ask("ask-1")
    talk.answer("ask-2", [api.error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")])
    return talk.asks("ask-2")


@scenario
def cut_at_the_limit_of_tokens(talk):
    talk.answer("ask-1", [api.stopped("max_tokens"), api.text("say-1")])
    return talk.asks("ask-1")


@scenario
def refused(talk):
    talk.answer("ask-1", [api.stopped("refusal"), api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def empty_answer(talk):
    talk.answer("ask-1", [api.text("")])
    return talk.asks("ask-1", "ask-2")


@scenario
def max_turns(talk):
    talk.answer("ask-1", [bash("1a")], [bash("1b")], [api.text("say-1")])
    talk.ask("ask-1", "--max-turns", "1")
    return talk.session


@scenario
def max_turns_and_resumed(talk):
    talk.answer("ask-1", [bash("1a")], [bash("1b")], [api.text("say-1")])
    talk.ask("ask-1", "--max-turns", "1")
    return talk.asks("ask-2")


@scenario
def plan_mode(talk):
    talk.ask("ask-1", "--permission-mode", "plan")
    return talk.session


@scenario
def plan_mode_left(talk):
    talk.answer("ask-1", [api.tool("ExitPlanMode", plan="call-1")], [api.text("say-1")])
    talk.ask("ask-1", "--permission-mode", "plan")
    return talk.asks("ask-2")


@scenario
def continued(talk):
    talk.ask("ask-1")
    talk.session = None
    talk.ask("ask-2", "--continue")
    return talk.session


@scenario
def forked(talk):
    talk.asks("ask-1", "ask-2")
    talk.ask("ask-3", "--fork-session")
    if talk.version < (2, 0, 0):
        raise NotHere("no --fork-session")
    return talk.session


@scenario
def forked_twice(talk):
    if talk.version < (2, 0, 0):
        raise NotHere("no --fork-session")
    talk.answer("ask-1", [bash("1a"), bash("1b")], [api.text("say-1")])
    talk.ask("ask-1")
    talk.ask("ask-2", "--fork-session")
    talk.ask("ask-3", "--fork-session")
    return talk.session


@scenario
def compacted(talk):
    talk.asks("ask-1", "ask-2", "/compact")
    return talk.session


@scenario
def compacted_and_went_on(talk):
    return talk.asks("ask-1", "ask-2", "/compact", "ask-3", "ask-4")


@scenario
def compacted_twice(talk):
    return talk.asks("ask-1", "/compact", "ask-2", "/compact", "ask-3")


@scenario
def compacted_after_tools(talk):
    talk.answer("ask-2", [bash("2a"), bash("2b")], [api.text("say-2")])
    return talk.asks("ask-1", "ask-2", "/compact", "ask-3")


def small_window(talk):
    """Takes a model whose window can be full with 200,000 tokens."""
    talk.home.environment["ANTHROPIC_MODEL"] = "claude-sonnet-4-20250514"


@scenario
def compacted_automatically(talk):
    small_window(talk)
    talk.answer("ask-2", [api.used(185000), api.text("say-2")])
    return talk.asks("ask-1", "ask-2", "ask-3", "ask-4")


@scenario
def compacted_automatically_in_a_loop(talk):
    small_window(talk)
    talk.answer("ask-2", [bash("2a")], [api.used(185000), bash("2b")], [api.text("say-2")])
    return talk.asks("ask-1", "ask-2", "ask-3")


@scenario
def background_command(talk):
    talk.answer("ask-1", [bash("1", "echo out-1; sleep 1", run_in_background=True)], [api.wait(3), api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def background_command_outlived(talk):
    talk.answer("ask-1", [bash("1", "echo out-1; tail -f /dev/null", run_in_background=True)], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def background_command_done_inside_a_tool(talk):
    talk.answer("ask-1", [bash("1a", "echo out-1a; sleep 1", run_in_background=True)], [bash("1b", "sleep 4; echo out-1b")],
                [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"


@scenario
def compacted_when_too_long(talk):
    """The client compacts when the server refuses a request, in the middle of a turn, twice."""
    too_long = [api.error(400, "invalid_request_error", TOO_LONG, times=1) for _ in range(2)]
    talk.answer("ask-2", [bash("2a")], [too_long[0], bash("2b")], [too_long[1], api.text("say-2")])
    return talk.asks("ask-1", "ask-2", "ask-3")


def agent(talk, number, prompt, **given):
    name = "Task" if talk.version < (2, 1, 63) else "Agent"
    return api.tool(name, description=f"call-{number}", prompt=prompt, subagent_type="general-purpose", **given)


@scenario
def agent_called(talk):
    talk.answer("ask-1", [agent(talk, "1", "ask-51")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def agents_side_by_side(talk):
    talk.answer("ask-1", [agent(talk, "1a", "ask-51"), agent(talk, "1b", "ask-52")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def agent_in_background(talk):
    if talk.version < (2, 0, 60):
        raise NotHere("agents run in the foreground")
    talk.answer("ask-51", [bash("51", "sleep 1; echo out-51")], [api.text("say-51")])
    talk.answer("ask-1", [agent(talk, "1", "ask-51", run_in_background=True)], [bash("1b", "sleep 4; echo out-1b")],
                [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def own_command(talk):
    place = talk.home.claude / "commands"
    place.mkdir()
    (place / "greet.md").write_text("ask-1 for $ARGUMENTS\n")
    talk.ask("/greet someone")
    return talk.asks("ask-2")


@scenario
def printing_command(talk):
    talk.ask("ask-1")
    talk.ask("/cost")
    return talk.asks("ask-2")


@scenario
def hook_adds_context(talk):
    hooks = {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo from the hook"}]}]}
    (talk.home.claude / "settings.json").write_text(json.dumps({"hooks": hooks}))
    return talk.asks("ask-1", "ask-2")


@scenario
def hook_after_a_tool(talk):
    told = json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "seen by the hook"}})
    hooks = {"PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": f"echo '{told}'"}]}]}
    (talk.home.claude / "settings.json").write_text(json.dumps({"hooks": hooks}))
    talk.answer("ask-1", [bash("1a"), bash("1b")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def hook_blocks_the_end(talk):
    mark = talk.home.path / "stopped"
    command = f"[ -e {mark} ] || {{ touch {mark}; echo go on >&2; exit 2; }}"
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
    (talk.home.claude / "settings.json").write_text(json.dumps({"hooks": hooks}))
    talk.answer("ask-1", [api.text("say-1a")], [api.text("say-1")])
    return talk.asks("ask-1", "ask-2")


@scenario
def project_notes(talk):
    (talk.home.cwd / "CLAUDE.md").write_text("Be brief.\n")
    return talk.asks("ask-1", "ask-2")


@scenario
def large_output(talk):
    talk.answer("ask-1", [bash("1", "echo out-1; seq 1 20000")], [api.text("say-1")])
    return talk.asks("ask-1")


@scenario
def record_lost(talk):
    """A record in the middle of a session is lost."""
    session = talk.asks("ask-1", "ask-2", "ask-3")
    return without(talk, session, "say-2")


@scenario
def prompt_lost(talk):
    session = talk.asks("ask-1", "ask-2", "ask-3")
    return without(talk, session, "ask-2")


@scenario
def result_lost(talk):
    talk.answer("ask-1", [bash("1")], [api.text("say-1")])
    return without(talk, talk.asks("ask-1", "ask-2"), "out-1")


@scenario
def call_lost(talk):
    talk.answer("ask-1", [bash("1")], [api.text("say-1")])
    return without(talk, talk.asks("ask-1", "ask-2"), "call-1")


@scenario
def one_of_parallel_results_lost(talk):
    talk.answer("ask-1", [bash("1a"), bash("1b")], [api.text("say-1")])
    return without(talk, talk.asks("ask-1", "ask-2"), "out-1a")


def without(talk, session, label):
    file = talk.home.project() / f"{session}.jsonl"
    lost = labels.find(driver.records(file), label)["uuid"]
    lines = [line for line in file.read_text().splitlines(True) if f'"uuid":"{lost}"' not in line]
    file.write_text("".join(lines))
    return session
