#!/usr/bin/env python3
"""Measure which message the real client resumes, per client version.

Makes small sessions, lets an installed client resume a copy of each, reads from the request it sends
which record it continued from, and keeps the untouched session and the answer as test fixtures.

    resume_cases.py --tools DIR [--out DIR] [--case NAME ...] VERSION ...

DIR of --tools holds lab.py (class Lab: scratch home, `put`, `run`, `reqs`, `script`), the driver that runs a
client in a network namespace with loopback only. See README.md beside this file.
"""
import argparse, datetime, glob, hashlib, json, os, re, sys, time

sys.dont_write_bytecode = True
HOME_CWD = "/home/dev/app"
ZERO = "00000000-0000-0000-0000-000000000000"
UNKNOWN = "dddddddd-0000-4000-8000-00000000dead"
TOKEN = re.compile(r"\b[QRTOSMXA]\d\d\b")
REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.S)
PROBE = "PROBE"


# ---------------------------------------------------------------- hand-made sessions
class Session:
    """A session in memory. Every message is named by its token, which is also its text."""

    def __init__(self, case, version):
        self.key = hashlib.md5(case.encode()).hexdigest()[:8]
        self.sid = f"{self.key}-1111-4000-8000-000000000000"
        self.version, self.recs, self.ids, self.n, self.tip, self.step = version, [], {}, 0, None, 10
        self.now = datetime.datetime(2026, 1, 10, 9, 0, 0)

    def __getitem__(self, token):
        return self.ids[token]

    def uuid(self, name):
        if name not in self.ids:
            self.n += 1
            self.ids[name] = f"{self.key}-0000-4000-8000-{self.n:012d}"
        return self.ids[name]

    def stamp(self, at=None):
        """Next time, or `at` seconds after the start."""
        if at is None:
            self.now += datetime.timedelta(seconds=self.step)
            t = self.now
        else:
            t = datetime.datetime(2026, 1, 10, 9, 0, 0) + datetime.timedelta(seconds=at)
        return t.strftime("%Y-%m-%dT%H:%M:%S.000Z")

    def add(self, name, kind, parent="tip", at=None, side=False, **body):
        parent = self.tip if parent == "tip" else self.ids.get(parent, parent)
        u = self.uuid(name)
        rec = {"parentUuid": parent, "isSidechain": side, "cwd": HOME_CWD, "sessionId": self.sid,
               "version": self.version, "type": kind, **body, "uuid": u, "timestamp": self.stamp(at)}
        self.recs.append(rec)
        if not side:
            self.tip = u
        return rec

    def q(self, token, parent="tip", at=None, content=None, **k):
        return self.add(token, "user", parent, at, message={"role": "user", "content": content or token}, **k)

    def r(self, token, parent="tip", at=None, content=None, mid=None, **k):
        content = content or [{"type": "text", "text": token}]
        tool = any(b["type"] == "tool_use" for b in content)
        return self.add(token, "assistant", parent, at, message={
            "id": mid or f"msg_{self.key}{token}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
            "content": content, "stop_reason": "tool_use" if tool else "end_turn",
            "usage": {"input_tokens": 10, "output_tokens": 5}}, **k)

    def turns(self, *numbers, parent="tip", at=None):
        for i, n in enumerate(numbers):
            self.q(f"Q{n:02d}", parent if i == 0 else "tip", None if at is None else at + 20 * i)
            self.r(f"R{n:02d}", "tip", None if at is None else at + 20 * i + 10)

    def use(self, token, mid, parent="tip", **k):
        return self.r(token, parent, content=[{"type": "tool_use", "id": f"toolu_{self.key}{token}", "name": "Bash",
                                               "input": {"command": f"echo {token}", "description": "d"}}], mid=mid, **k)

    def result(self, token, of, parent="tip", **k):
        return self.q(token, parent, content=[{"type": "tool_result", "tool_use_id": f"toolu_{self.key}{of}",
                                               "content": token, "is_error": False}], **k)

    def system(self, name="M01", subtype="turn_duration", parent="tip", at=None, **k):
        extra = {"durationMs": 900} if subtype == "turn_duration" else {"content": name, "level": "info"}
        return self.add(name, "system", parent, at, subtype=subtype, isMeta=False, **extra, **k)

    def attach(self, name="X01", kind="task_reminder", parent="tip", at=None, **k):
        return self.add(name, "attachment", parent, at, attachment={"type": kind, "content": [], "itemCount": 0, **k})

    def boundary(self, preserve=(), tip_only=False, at=None):
        """A compaction; `preserve` names records kept after the summary S01."""
        old = self.tip
        meta = {"trigger": "manual", "preTokens": 100}
        if preserve:
            ids, anchor = [self.ids[p] for p in preserve], self.uuid("S01")
            meta.update(preservedSegment={"headUuid": ids[0], "anchorUuid": anchor, "tailUuid": ids[-1]},
                        preservedMessages={"anchorUuid": anchor, "uuids": ids, "allUuids": ids})
        self.system("M09", "compact_boundary", None, at, logicalParentUuid=old, compactMetadata=meta)
        if not tip_only:
            self.q("S01", at=None if at is None else at + 1, content="S01 summary", isCompactSummary=True,
                   isVisibleInTranscriptOnly=True)

    def ptr(self, to, **k):
        """A last-prompt record; `to` is a token, a uuid, None (null) or "" (no leafUuid at all)."""
        rec = {"type": "last-prompt", "lastPrompt": "x"}
        if to != "":
            rec["leafUuid"] = self.ids.get(to, to)
        self.recs.append({**rec, **k, "sessionId": k.get("sessionId", self.sid)})

    def summary(self, to, first=False):
        rec = {"type": "summary", "summary": "title", "leafUuid": self.ids[to]}
        self.recs.insert(0 if first else len(self.recs), rec)

    def two(self, a=(2, 3), b=(4, 5)):
        """Q01 R01, then branch a, then branch b, both below R01."""
        self.turns(1)
        self.turns(*a)
        self.turns(*b, parent="R01")


CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def simple(name, *steps):
    """A case of two branches followed by pointer steps (target, explicit)."""
    def build(s):
        s.two()
        for to, exp in steps:
            s.ptr(to, **({"explicit": exp} if exp is not None else {}))
    CASES[name] = build


# -- order and time
@case
def linear(s): s.turns(1, 2, 3)
@case
def two_branches(s): s.two()
@case
def older_branch_last(s):
    s.turns(1); s.turns(2, 3, at=500); s.turns(4, 5, parent="R01", at=100)
@case
def newest_time_first_leaf(s):
    s.turns(1); s.turns(2); s.q("Q03"); s.r("R03", at=5000); s.turns(4, 5, parent="R01")
@case
def newest_time_interior_linear(s):
    s.turns(1); s.q("Q02"); s.r("R02", at=5000); s.turns(3)
@case
def newest_time_interior_first_branch(s):
    s.turns(1); s.q("Q02"); s.r("R02", at=5000); s.turns(3); s.turns(4, 5, parent="R01")
@case
def newest_time_prompt_interior(s):
    s.turns(1); s.q("Q02", at=5000); s.r("R02"); s.turns(3)
@case
def newest_time_root(s):
    s.q("Q01", at=5000); s.r("R01"); s.turns(2, 3)
@case
def times_equal_linear(s):
    s.step = 0; s.turns(1, 2, 3)
@case
def times_equal_branches(s):
    s.step = 0; s.two()
@case
def times_tie_two_leaves(s):
    s.turns(1, 2); s.q("Q03"); s.r("R03", at=5000); s.turns(4, parent="R01"); s.q("Q05"); s.r("R05", at=5000)
@case
def times_tie_last_turn(s):
    s.turns(1, 2); s.q("Q03", at=5000); s.r("R03", at=5000)
@case
def reversed_file(s):
    s.turns(1, 2, 3); s.recs.reverse()
@case
def reversed_branches(s):
    s.two(); s.recs.reverse()
@case
def interior_written_last(s):
    s.turns(1, 2, 3); s.recs = s.recs[:2] + s.recs[4:] + s.recs[2:4]
@case
def interior_of_other_branch_last(s):
    s.two(); s.recs = s.recs[:2] + s.recs[4:] + s.recs[2:4]
@case
def branches_interleaved(s):
    s.turns(1); s.q("Q02"); s.q("Q04", "R01"); s.r("R04"); s.r("R02", "Q02")
@case
def two_roots(s):
    s.turns(1, 2); s.turns(3, 4, parent=None)
@case
def two_roots_older_last(s):
    s.turns(1, 2, at=500); s.turns(3, 4, parent=None, at=100)
@case
def mixed_old_then_new(s):
    s.two()
    for r in s.recs[:6]: r["version"] = "2.0.10"
    s.ptr("R03")
@case
def mixed_new_then_old(s):
    s.two()
    for r in s.recs[6:]: r["version"] = "2.0.10"
    s.ptr("R03")
@case
def mixed_old_then_new_times(s):
    older_branch_last(s)
    for r in s.recs[:6]: r["version"] = "2.0.10"


# -- pointers after two branches (last leaf R05, other leaf R03)
simple("ptr_tip", ("R05", None))
simple("ptr_ancestor", ("R04", None))
simple("ptr_ancestor_prompt", ("Q05", None))
simple("ptr_fork_point", ("R01", None))
simple("ptr_other_leaf", ("R03", None))
simple("ptr_other_interior", ("R02", None))
simple("ptr_other_prompt", ("Q03", None))
simple("ptr_explicit_tip", ("R05", True))
simple("ptr_explicit_ancestor", ("R04", True))
simple("ptr_explicit_prompt", ("Q05", True))
simple("ptr_explicit_fork_point", ("R01", True))
simple("ptr_explicit_root", ("Q01", True))
simple("ptr_explicit_other_leaf", ("R03", True))
simple("ptr_explicit_other_interior", ("R02", True))
simple("ptr_explicit_false", ("R04", False))
simple("ptr_zero", (ZERO, None))
simple("ptr_zero_explicit", (ZERO, True))
simple("ptr_other_leaf_then_zero", ("R03", None), (ZERO, True))
simple("ptr_unknown", (UNKNOWN, None))
simple("ptr_unknown_explicit", (UNKNOWN, True))
simple("ptr_other_leaf_then_unknown", ("R03", None), (UNKNOWN, None))
simple("ptr_cleared", (None, True))
simple("ptr_null_plain", (None, None))
simple("ptr_other_leaf_then_null_plain", ("R03", None), (None, None))
simple("ptr_other_leaf_then_cleared", ("R03", None), (None, True))
simple("ptr_cleared_then_plain", (None, True), ("R03", None))
simple("ptr_cleared_then_explicit", (None, True), ("R03", True))
simple("ptr_cleared_then_no_leaf", (None, True), ("", None))
simple("ptr_no_leaf", ("", None))
simple("ptr_other_leaf_then_no_leaf", ("R03", None), ("", None))
simple("ptr_explicit_ancestor_then_no_leaf", ("R04", True), ("", None))
simple("ptr_two_last_wins", ("R03", None), ("R02", None))
simple("ptr_two_explicit_last_wins", ("R03", True), ("R04", True))
simple("ptr_explicit_other_then_plain_tip", ("R03", True), ("R05", None))
simple("ptr_explicit_then_plain_ancestor", ("R04", True), ("R01", None))
simple("ptr_explicit_repeated_plain", ("R04", True), ("R04", None))
simple("ptr_explicit_repeated_false", ("R04", True), ("R04", False))
simple("ptr_explicit_plain_elsewhere_plain_back", ("R04", True), ("R03", None), ("R04", None))
@case
def ptr_cleared_then_records(s):
    s.turns(1, 2); s.ptr(None, explicit=True); s.turns(3, parent=None)
@case
def ptr_cleared_then_records_below(s):
    s.turns(1, 2); s.ptr(None, explicit=True); s.turns(3)
@case
def ptr_foreign_session(s): s.two(); s.ptr("R03", sessionId="eeeeeeee-1111-4000-8000-000000000000")
@case
def ptr_rewound(s): s.two(); s.ptr("R04", explicit=True, rewound=True)
@case
def ptr_explicit_then_below(s):
    s.turns(1, 2); s.ptr("R01", explicit=True); s.turns(3, parent="R01")
@case
def ptr_explicit_other_then_below(s):
    s.two(); s.ptr("R02", explicit=True); s.turns(6, parent="R02")
@case
def ptr_explicit_leaf_then_below(s):
    s.two(); s.ptr("R03", explicit=True); s.turns(6, parent="R03")
@case
def ptr_explicit_then_unrelated(s):
    s.turns(1, 2, 3); s.ptr("R03", explicit=True); s.turns(4, 5, parent="R01")
@case
def ptr_explicit_interior_then_unrelated(s):
    s.turns(1, 2, 3); s.ptr("R02", explicit=True); s.turns(4, 5, parent="R01")
@case
def ptr_plain_then_unrelated(s):
    s.turns(1, 2, 3); s.ptr("R03"); s.turns(4, 5, parent="R01")
@case
def ptr_plain_interior_then_unrelated(s):
    s.turns(1, 2, 3); s.ptr("R02"); s.turns(4, 5, parent="R01")
@case
def ptr_plain_then_below(s):
    s.turns(1, 2); s.ptr("R02"); s.turns(3)
@case
def ptr_explicit_record_plain_same(s):
    s.two(); s.ptr("R04", explicit=True); s.turns(6, parent="R05"); s.ptr("R04")
@case
def ptr_explicit_then_system(s):
    s.two(); s.ptr("R04", explicit=True); s.system("M01", parent="R05")
@case
def ptr_explicit_then_attachment(s):
    s.two(); s.ptr("R04", explicit=True); s.attach("X01", parent="R05")
@case
def ptr_explicit_then_sidechain(s):
    s.two(); s.ptr("R04", explicit=True); s.q("A01", None, side=True); s.r("A02", "A01", side=True)
@case
def ptr_explicit_then_progress(s):
    s.two(); s.ptr("R04", explicit=True); s.add("X02", "progress", "R05", data={"type": "hook_progress"})
@case
def ptr_explicit_then_fork_briefing(s):
    s.two(); s.ptr("R04", explicit=True); s.attach("X01", "fork_briefing", "R05")
@case
def ptr_explicit_then_metadata(s):
    s.two(); s.ptr("R04", explicit=True); s.recs.append({"type": "custom-title", "customTitle": "t", "sessionId": s.sid})
@case
def ptr_explicit_then_duplicate(s):
    s.two(); s.ptr("R04", explicit=True); s.recs.append(dict(s.recs[3]))
@case
def ptr_at_head(s):
    s.uuid("Q01"); s.uuid("R01"); s.uuid("Q02"); s.uuid("R02"); s.uuid("Q03"); s.ptr("R02"); s.two()
@case
def ptr_explicit_at_head(s):
    s.uuid("Q01"); s.uuid("R01"); s.uuid("Q02"); s.uuid("R02"); s.uuid("Q03"); s.ptr("R02", explicit=True); s.two()
@case
def ptr_older_branch_last(s): older_branch_last(s); s.ptr("R03")
@case
def ptr_reversed_file(s): s.two(); s.recs.reverse(); s.ptr("R03")


# -- pointers to records that are not messages
@case
def ptr_system_tip(s): s.two(); s.system("M01"); s.ptr("M01")
@case
def ptr_system_other_branch(s):
    s.turns(1, 2, 3); s.system("M01"); s.turns(4, 5, parent="R01"); s.ptr("M01")
@case
def ptr_system_interior(s):
    s.turns(1, 2); s.system("M01"); s.turns(3); s.turns(4, 5, parent="R01"); s.ptr("M01")
@case
def ptr_explicit_system_interior(s):
    s.turns(1, 2); s.system("M01"); s.turns(3); s.ptr("M01", explicit=True)
@case
def ptr_explicit_above_system(s):
    s.turns(1, 2); s.system("M01"); s.ptr("R02", explicit=True)
@case
def ptr_plain_above_system_other_branch(s):
    s.turns(1, 2); s.system("M01"); s.turns(3, parent="R01"); s.ptr("R02")
@case
def ptr_explicit_marker(s):
    s.two(); s.system("M01", "informational", "R02"); s.ptr("M01", explicit=True)
@case
def marker_without_ptr(s): s.two(); s.system("M01", "informational", "R02")
@case
def marker_old_time(s): s.two(); s.system("M01", "informational", "R02", at=1)
@case
def ptr_attachment_other_branch(s):
    s.turns(1, 2, 3); s.attach("X01"); s.turns(4, 5, parent="R01"); s.ptr("X01")
@case
def ptr_explicit_attachment(s):
    s.turns(1, 2); s.attach("X01"); s.turns(3); s.ptr("X01", explicit=True)
@case
def ptr_sidechain(s):
    s.two(); s.q("A01", None, side=True); s.r("A02", "A01", side=True); s.ptr("A02")
@case
def ptr_explicit_sidechain(s):
    s.two(); s.q("A01", None, side=True); s.r("A02", "A01", side=True); s.ptr("A02", explicit=True)
@case
def ptr_explicit_tool_use(s):
    s.turns(1); s.q("Q02"); s.use("T01", "msg_p"); s.result("O01", "T01"); s.r("R02"); s.ptr("T01", explicit=True)
@case
def ptr_explicit_tool_result(s):
    s.turns(1); s.q("Q02"); s.use("T01", "msg_p"); s.result("O01", "T01"); s.r("R02"); s.ptr("O01", explicit=True)


# -- summaries
@case
def summary_other_leaf_head(s): s.two(); s.summary("R03", True)
@case
def summary_other_leaf_tail(s): s.two(); s.summary("R03")
@case
def summary_interior(s): s.turns(1, 2, 3); s.summary("R02")


# -- tools
@case
def tools_chained(s):
    s.turns(1); s.q("Q02"); s.use("T01", "msg_p"); s.use("T02", "msg_p"); s.result("O01", "T01"); s.result("O02", "T02"); s.r("R02")
def forked(s):
    s.turns(1); s.q("Q02"); s.use("T01", "msg_p"); s.use("T02", "msg_p")
    s.result("O02", "T02", "T02", sourceToolAssistantUUID=s["T02"]); s.result("O01", "T01", "T01", sourceToolAssistantUUID=s["T01"])
@case
def tools_forked(s): forked(s); s.r("R02"); s.turns(3)
@case
def tools_forked_tip(s): forked(s)
@case
def tools_forked_ptr_first_result(s): forked(s); s.ptr("O02")
@case
def tools_forked_three(s):
    s.turns(1); s.q("Q02"); [s.use(f"T0{i}", "msg_p") for i in (1, 2, 3)]
    [s.result(f"O0{i}", f"T0{i}", f"T0{i}", sourceToolAssistantUUID=s[f"T0{i}"]) for i in (1, 2, 3)]; s.r("R02")
@case
def tool_use_dangling_tip(s): s.turns(1); s.q("Q02"); s.use("T01", "msg_p")
@case
def text_then_tool_use_dangling_tip(s):
    s.turns(1); s.q("Q02"); s.r("R02", mid="msg_p"); s.use("T01", "msg_p")
@case
def tool_result_tip(s): s.turns(1); s.q("Q02"); s.use("T01", "msg_p"); s.result("O01", "T01")


# -- compaction
@case
def compact(s): s.turns(1, 2, 3); s.boundary(); s.turns(4, 5)
@case
def compact_summary_tip(s): s.turns(1, 2); s.boundary()
@case
def compact_boundary_tip(s): s.turns(1, 2); s.boundary(tip_only=True)
@case
def compact_preserved(s): s.turns(1, 2, 3); s.boundary(["R03"]); s.turns(4, 5)
@case
def compact_preserved_summary_tip(s): s.turns(1, 2, 3); s.boundary(["Q03", "R03"])
@case
def compact_older_times(s): s.turns(1, 2, 3, at=500); s.boundary(at=50); s.turns(4, at=100)
@case
def compact_then_old_branch(s): s.turns(1, 2, 3); s.boundary(); s.turns(4); s.turns(5, parent="R01")
@case
def compact_preserved_then_old_branch(s): s.turns(1, 2, 3); s.boundary(["R03"]); s.turns(4); s.turns(5, parent="R01")
@case
def compact_twice(s):
    s.turns(1, 2); s.boundary(); s.turns(3); old = s.tip
    s.system("M08", "compact_boundary", None, logicalParentUuid=old, compactMetadata={"trigger": "auto", "preTokens": 9})
    s.q("S02", content="S02 summary", isCompactSummary=True, isVisibleInTranscriptOnly=True); s.turns(4)
@case
def ptr_before_compact(s): s.turns(1, 2, 3); s.ptr("R03"); s.boundary(); s.turns(4)
@case
def ptr_interior_before_compact(s): s.turns(1, 2, 3); s.ptr("R02"); s.boundary(); s.turns(4)
@case
def ptr_explicit_before_compact(s): s.turns(1, 2, 3); s.ptr("R02", explicit=True); s.boundary(); s.turns(4)
@case
def ptr_after_compact_into_old(s): s.turns(1, 2, 3); s.boundary(); s.turns(4); s.ptr("R02")
@case
def ptr_after_compact_old_tip(s): s.turns(1, 2, 3); s.boundary(); s.turns(4); s.ptr("R03")
@case
def ptr_explicit_after_compact_into_old(s): s.turns(1, 2, 3); s.boundary(); s.turns(4); s.ptr("R02", explicit=True)
@case
def ptr_before_compact_preserved(s): s.turns(1, 2, 3); s.ptr("R03"); s.boundary(["R03"]); s.turns(4)
@case
def ptr_after_preserved_into_hidden(s): s.turns(1, 2, 3); s.boundary(["R03"]); s.turns(4); s.ptr("R02")
@case
def ptr_explicit_after_preserved_into_hidden(s): s.turns(1, 2, 3); s.boundary(["R03"]); s.turns(4); s.ptr("R02", explicit=True)
@case
def ptr_explicit_to_preserved(s): s.turns(1, 2, 3); s.boundary(["Q03", "R03"]); s.turns(4); s.ptr("R03", explicit=True)
@case
def ptr_explicit_to_boundary(s): s.turns(1, 2); s.boundary(); s.turns(4); s.ptr("M09", explicit=True)
@case
def ptr_explicit_to_summary(s): s.turns(1, 2); s.boundary(); s.turns(4); s.ptr("S01", explicit=True)
@case
def microcompact(s):
    s.turns(1, 2); s.system("M01", "microcompact_boundary", microcompactMetadata={"trigger": "auto", "preTokens": 9}); s.turns(3)


# -- sidechains
@case
def sidechain_root_last(s): s.turns(1, 2); s.q("A01", None, side=True); s.r("A02", "A01", side=True)
@case
def sidechain_below_tip(s): s.turns(1, 2); s.q("A01", "R02", side=True); s.r("A02", "A01", side=True)
@case
def sidechain_below_interior(s): s.turns(1, 2); s.q("A01", "R01", side=True); s.r("A02", "A01", side=True)
@case
def main_below_sidechain(s): s.turns(1); s.q("A01", "R01", side=True); s.r("R02", "A01")


# -- what stands at the tip
@case
def system_tip(s): s.turns(1, 2); s.system("M01")
@case
def system_last_on_other_branch(s): s.two(); s.system("M01", parent="R03")
@case
def system_old_time_on_other_branch(s): s.two(); s.system("M01", parent="R03", at=1)
@case
def attachment_tip(s): s.turns(1, 2); s.attach("X01"); s.attach("X02")
@case
def attachment_last_on_other_branch(s): s.two(); s.attach("X01", parent="R03")
@case
def attachment_last_on_fork_point(s): s.turns(1, 2); s.attach("X01", parent="R01")
@case
def fork_briefing_last_on_other_branch(s): s.two(); s.attach("X01", "fork_briefing", "R03")
@case
def progress_inside(s):
    s.turns(1); s.add("X01", "progress", data={"type": "hook_progress", "hookEvent": "Stop"}); s.turns(2)
@case
def progress_tip(s): s.turns(1, 2); s.add("X01", "progress", data={"type": "hook_progress", "hookEvent": "Stop"})
@case
def progress_last_on_other_branch(s):
    s.two(); s.add("X01", "progress", "R03", data={"type": "hook_progress", "hookEvent": "Stop"})
@case
def prompt_tip(s): s.turns(1, 2); s.q("Q03")
@case
def prompt_tip_branch(s): s.turns(1, 2); s.q("Q03", "R01")
@case
def meta_tip(s): s.turns(1, 2); s.q("Q03", isMeta=True)
@case
def meta_last_on_other_branch(s): s.two(); s.q("Q06", "R03", isMeta=True)
@case
def command_tip(s):
    s.turns(1, 2); s.q("X01", content="<command-name>/cost</command-name>"); s.q("X02", content="<local-command-stdout>Q03</local-command-stdout>")
@case
def interrupt_tip(s): s.turns(1); s.q("Q02"); s.q("X01", content=[{"type": "text", "text": "[Request interrupted by user]"}])
@case
def api_error_tip(s):
    s.turns(1); s.q("Q02"); s.r("R02", content=[{"type": "text", "text": "API Error R02"}], isApiErrorMessage=True)["message"]["model"] = "<synthetic>"
@case
def unknown_type_last(s): s.two(); s.add("X01", "hologram", "R03", content="x")
@case
def unknown_type_inside(s): s.turns(1); s.add("X01", "hologram", content="x"); s.turns(2)


# -- damage
@case
def same_uuid_other_content(s):
    s.turns(1, 2); d = json.loads(json.dumps(s.recs[3])); d["message"]["content"][0]["text"] = "R22"; s.recs.append(d); s.turns(3)
@case
def same_uuid_other_content_last(s):
    s.turns(1, 2, 3); d = json.loads(json.dumps(s.recs[3])); d["message"]["content"][0]["text"] = "R22"; s.recs.append(d)
@case
def same_uuid_other_parent(s):
    s.two(); d = json.loads(json.dumps(s.recs[5])); d["parentUuid"] = s["R04"]; d["message"]["content"][0]["text"] = "R33"; s.recs.append(d)
@case
def duplicate_line_last(s): s.turns(1, 2, 3); s.recs.append(dict(s.recs[3]))
@case
def duplicate_line_last_other_branch(s): s.two(); s.recs.append(dict(s.recs[3]))
@case
def duplicate_leaf_last_other_branch(s): s.two(); s.recs.append(dict(s.recs[5]))
@case
def missing_parent_near(s): s.step = 1; s.turns(1, 2); s.turns(3, parent=UNKNOWN)
@case
def missing_parent_far(s): s.turns(1, 2); s.turns(3, parent=UNKNOWN, at=4000)
@case
def missing_parent_first(s): s.turns(1, 2, parent=UNKNOWN)
@case
def missing_parent_not_tip(s): s.turns(1); s.turns(2, parent=UNKNOWN); s.turns(3, parent="R01")
@case
def ptr_missing_parent(s): s.turns(1); s.turns(2, parent=UNKNOWN); s.turns(3, parent="R01"); s.ptr("R02")
def gap(seconds):
    def build(s):
        s.turns(1, 2); last = 40
        s.turns(3, parent=UNKNOWN, at=last + seconds)
    return build
for n in (4, 5, 6, 9): CASES[f"missing_parent_gap_{n}s"] = gap(n)
@case
def missing_parent_near_not_last_branch(s):
    s.two(); s.q("Q06", UNKNOWN, at=61); s.r("R06", at=62)
@case
def unknown_type_inside_near(s): s.step = 1; s.turns(1); s.add("X01", "hologram", content="x"); s.turns(2)
@case
def fork_point_again_last(s): s.two(); s.recs.append(dict(s.recs[1]))
@case
def fork_point_again_last_older_branch_last(s): older_branch_last(s); s.recs.append(dict(s.recs[1]))
@case
def fork_point_again_last_newest_interior(s): newest_time_interior_first_branch(s); s.recs.append(dict(s.recs[1]))
@case
def fork_point_again_last_system_newest(s):
    s.turns(1, 2); s.turns(3, parent="R01"); s.system("M01", parent="R02"); s.recs.append(dict(s.recs[1]))
@case
def fork_point_again_last_prompt_newest(s):
    s.turns(1, 2); s.turns(3, parent="R01"); s.q("Q04", "R02"); s.recs.append(dict(s.recs[1]))
@case
def interior_again_last_newest_itself(s):
    s.turns(1); s.q("Q02"); s.r("R02", at=5000); s.turns(3); s.recs.append(dict(s.recs[3]))
@case
def compact_boundary_tip_newest_interior(s): newest_time_interior_first_branch(s); s.boundary(tip_only=True, at=6000)
@case
def ptr_explicit_then_duplicate_tip(s): s.two(); s.ptr("R04", explicit=True); s.recs.append(dict(s.recs[9]))
@case
def ptr_reversed_linear_interior(s): s.turns(1, 2, 3); s.recs.reverse(); s.ptr("R02")
@case
def ptr_other_then_tip_again(s): s.two(); s.ptr("R02"); s.recs.append(dict(s.recs[1]))
@case
def ptr_explicit_root_system(s):
    s.system("M01", "informational", None); s.turns(1); s.turns(2, at=500); s.turns(3, parent="R01", at=100); s.ptr("M01", explicit=True)
@case
def ptr_explicit_to_boundary_branches(s):
    s.turns(1, 2); s.boundary(); s.turns(4, at=500); s.turns(5, parent="S01", at=300); s.ptr("M09", explicit=True)
@case
def compact_boundary_tip_branches(s): older_branch_last(s); s.boundary(tip_only=True, at=1000)
@case
def compact_boundary_tip_branches_system_newest(s):
    older_branch_last(s); s.system("M01", parent="R03", at=700); s.tip = s["R05"]; s.boundary(tip_only=True, at=600)
@case
def ptr_sidechain_then_records(s):
    s.two(); s.q("A01", None, side=True); s.r("A02", "A01", side=True); s.ptr("A02"); s.turns(6, parent="R05")
@case
def no_timestamp_on_tip(s): s.turns(1, 2, 3); del s.recs[-1]["timestamp"]
@case
def only_sidechain(s): s.q("A01", None, side=True); s.r("A02", "A01", side=True)
@case
def only_metadata(s):
    s.uuid("R01"); s.ptr("R01"); s.recs.append({"type": "custom-title", "customTitle": "t", "sessionId": s.sid})


# ---------------------------------------------------------------- the client as judge
def blocks(content):
    return content if isinstance(content, list) else [{"type": "text", "text": content or ""}]


def block_tokens(block):
    kind = block.get("type")
    if kind == "text": text = REMINDER.sub("", block["text"])
    elif kind == "tool_use": text = json.dumps(block["input"])
    elif kind == "tool_result": text = json.dumps(block.get("content"))
    else: return []
    return TOKEN.findall(text)


def owners(recs):
    """token -> uuid of the message record that holds it (the last one written)."""
    out = {}
    for r in recs:
        if r.get("type") in ("user", "assistant") and isinstance(r.get("message"), dict):
            for b in blocks(r["message"].get("content")):
                for t in block_tokens(b): out[t] = r["uuid"]
    return out


def load(path):
    out = []
    for line in open(path, encoding="utf-8"):
        try: out.append(json.loads(line))
        except ValueError: pass
    return [r for r in out if isinstance(r, dict)]


def resume(lab, sid, recs, limit=30):
    """Resume `sid`; returns {resumed, sent, hung_below, note}."""
    lab.reqs()
    lab.run("-p", "--resume", sid, "--", PROBE, limit=limit)
    reqs = [q for q in lab.reqs() if q["body"].get("tools") and PROBE in json.dumps(q["body"].get("messages", ""))]
    if not reqs:
        said = " ".join((lab.out + " " + lab.err).split())
        said = re.sub(r"exit \d+$", "", said).replace(lab.home, "~").replace(lab.cwd, HOME_CWD).strip()
        note = "no request; " + (said[-120:] if said else f"no output, exit {lab.rc}")
        return {"resumed": None, "sent": [], "hung_below": None, "note": note}
    sent = []
    for m in reqs[-1]["body"]["messages"]:
        if m["role"] not in ("user", "assistant"): continue
        for b in blocks(m["content"]): sent += block_tokens(b)
    known = {r.get("uuid") for r in recs if r.get("uuid")}
    # where the new prompt was hung: climb from it to the first record that was there before
    hung, by, probe = None, {}, None
    for path in glob.glob(lab.proj() + "/*.jsonl"):
        for r in load(path):
            if r.get("uuid") and not (r["uuid"] in by and r["uuid"] in known): by[r["uuid"]] = r
            if r.get("type") == "user" and r.get("uuid") not in known and not r.get("isSidechain") \
               and PROBE in json.dumps(r.get("message", "")): probe = r
    seen = set()
    while probe and probe.get("parentUuid") and probe["parentUuid"] not in seen:
        up = probe["parentUuid"]; seen.add(up)
        if up in known: hung = up; break
        probe = by.get(up)
    return {"resumed": None, "sent": sent, "hung_below": hung, "note": "", **judge(recs, sent, hung)}


def judge(recs, sent, hung):
    """The message continued from: where the new prompt hangs, climbed to a message; the last token sent confirms it."""
    by = {r["uuid"]: r for r in recs if r.get("uuid")}
    last = owners(recs).get(sent[-1]) if sent else None
    up, seen = hung, set()
    while up in by and by[up]["type"] not in ("user", "assistant") and up not in seen:
        seen.add(up); up = by[up].get("parentUuid")
    up = up if up in by else None
    if not sent: return {"resumed": None, "note": "started an empty conversation"}
    if not hung: return {"resumed": last, "note": "by the last message sent"}
    return {"resumed": up, "note": "" if up == last else "the last message sent is " + sent[-1]}


def dump(recs):
    return [json.dumps(r, separators=(",", ":"), ensure_ascii=False) for r in recs]


def run_case(lab_mod, version, name, out):
    s = Session(name, version)
    CASES[name](s)
    lines = dump(s.recs)
    with open(f"{out}/{version}/{name}.jsonl", "w") as f: f.write("\n".join(lines) + "\n")
    lab = lab_mod.Lab(version, "case")
    lab.put([l.replace(HOME_CWD, lab.cwd) for l in lines], sid=s.sid)
    return resume(lab, s.sid, s.recs)


# ---------------------------------------------------------------- sessions the client makes itself
def newest(lab, but=()):
    files = [f for f in lab.sessions() if os.path.basename(f)[:-6] not in but and any(r.get("type") == "user" for r in load(f))]
    return max(files, key=os.path.getmtime) if files else None


def sid_of(path): return os.path.basename(path)[:-6]


SCRIPTS = {
    "r1": [[{"text": "R01"}]], "r2": [[{"text": "R02"}]], "r3": [[{"text": "R03"}]], "r4": [[{"text": "R04"}]],
    "tool": [[{"tool": "Bash", "input": {"command": "echo T01 | tr T O", "description": "d"}}], [{"text": "R02"}]],
    "par": [[{"tool": "Bash", "input": {"command": "echo T01 | tr T O", "description": "d"}},
             {"tool": "Bash", "input": {"command": "echo T02 | tr T O", "description": "d"}},
             {"tool": "Bash", "input": {"command": "echo T03 | tr T O", "description": "d"}}], [{"text": "R02"}]],
    "task": [[{"tool": "Task", "input": {"description": "T01", "prompt": "A01 go", "subagent_type": "general-purpose"}}], [{"text": "R02"}]],
    "agent": [[{"tool": "Agent", "input": {"description": "T01", "prompt": "A01 go", "subagent_type": "general-purpose"}}], [{"text": "R02"}]],
}


def ask(lab, prompt, *args):
    lab.run("-p", *args, "--allowedTools", "Bash,Task,Agent", "--", prompt, limit=40)


def chain(lab, prompts):
    """Prompts one after another in one conversation; returns the file."""
    f = None
    for p in prompts:
        ask(lab, p, *(["--resume", sid_of(f)] if f else []))
        f = newest(lab)
    return f


def old(v): return tuple(int(x) for x in v.split(".")) < (2, 1, 60)


def made_linear(lab, v): return chain(lab, ["Q01 SCRIPT:r1", "Q02 SCRIPT:r2", "Q03 SCRIPT:r3"])
def made_tool(lab, v): return chain(lab, ["Q01 SCRIPT:r1", "Q02 SCRIPT:tool"])
def made_parallel(lab, v): return chain(lab, ["Q01 SCRIPT:r1", "Q02 SCRIPT:par", "Q03 SCRIPT:r3"])
def made_parallel_tip(lab, v): return chain(lab, ["Q01 SCRIPT:r1", "Q02 SCRIPT:par"])
def made_subagent(lab, v): return chain(lab, ["Q01 SCRIPT:r1", "Q02 SCRIPT:" + ("task" if old(v) else "agent"), "Q03 SCRIPT:r3"])
def made_fork(lab, v):
    f = chain(lab, ["Q01 SCRIPT:r1", "Q02 SCRIPT:r2"])
    ask(lab, "Q03 SCRIPT:r3", "--resume", sid_of(f), "--fork-session")
    return newest(lab, {sid_of(f)})
def made_fork_source(lab, v):
    f = chain(lab, ["Q01 SCRIPT:r1", "Q02 SCRIPT:r2"])
    ask(lab, "Q03 SCRIPT:r3", "--resume", sid_of(f), "--fork-session")
    return f
def made_continue(lab, v):
    chain(lab, ["Q01 SCRIPT:r1"])
    for i in (2, 3):
        time.sleep(0.3); ask(lab, f"Q0{i} SCRIPT:r{i}", "--continue")
    return newest(lab)
def made_rewind(lab, v):
    """Resume at an earlier reply: the next prompt is a second branch in the same file."""
    f = chain(lab, ["Q01 SCRIPT:r1", "Q02 SCRIPT:r2", "Q03 SCRIPT:r3"])
    at = owners(load(f))["R01"]
    ask(lab, "Q04 SCRIPT:r4", "--resume", sid_of(f), "--resume-session-at", at)
    return newest(lab)
def made_compact(lab, v):
    f = chain(lab, ["Q01 SCRIPT:r1", "Q02 SCRIPT:r2"])
    lab.run("-p", "--resume", sid_of(f), "--", "/compact", limit=40)
    ask(lab, "Q03 SCRIPT:r3", "--resume", sid_of(newest(lab)))
    return newest(lab)


MADE = {f.__name__: f for f in (made_linear, made_tool, made_parallel, made_parallel_tip, made_subagent, made_fork,
                                made_fork_source, made_continue, made_rewind, made_compact)}


def scrub(value, paths, limit=160, key=""):
    """Machine paths replaced, long values shortened; uuids, parents, types and times stay."""
    if isinstance(value, dict):
        if key == "shape": return {}
        if key == "attachment": value = {k: v for k, v in value.items() if k == "type" or (isinstance(v, (str, int)) and len(str(v)) < 40)}
        return {k: scrub(v, paths, limit, k) for k, v in value.items() if k not in ("rendered", "renderedRole", "toolUseResult") or
                (k == "toolUseResult" and isinstance(v, dict) and len(json.dumps(v)) < 1500)}
    if isinstance(value, list): return [scrub(v, paths, limit) for v in value[:40]]
    if isinstance(value, str):
        for a, b in paths: value = value.replace(a, b)
        value = re.sub(r"/tmp/claude-\d+/[^\s\"'<>]*", "/tmp/claude/task", value)
        return value if len(value) <= limit else value[:limit] + "…"
    return value


def neutral(lab):
    flat = lambda p: re.sub(r"[^A-Za-z0-9]", "-", p)
    return [(lab.cwd, HOME_CWD), (lab.home, "/home/dev"), (flat(lab.cwd), flat(HOME_CWD)), (flat(lab.home), "-home-dev")]


def tidy(out):
    """Scrub the kept client-made sessions once more (after a change of `scrub`)."""
    for path in glob.glob(f"{out}/*/made_*.jsonl"):
        recs = [scrub(r, []) for r in load(path)]
        with open(path, "w") as o: o.write("\n".join(dump(recs)) + "\n")


def run_made(lab_mod, version, name, out):
    lab = lab_mod.Lab(version, "made")
    lab.script(**SCRIPTS)
    f = MADE[name](lab, version)
    if not f: return None
    recs = load(f)
    with open(f"{out}/{version}/{name}.jsonl", "w") as o: o.write("\n".join(dump([scrub(r, neutral(lab)) for r in recs])) + "\n")
    return resume(lab, sid_of(f), recs)


# clients that know no pointer get only these of the ptr_ cases
POINTER_SAMPLE = {"ptr_ancestor", "ptr_other_leaf", "ptr_other_interior", "ptr_explicit_ancestor", "ptr_explicit_other_leaf",
                  "ptr_zero_explicit", "ptr_cleared", "ptr_explicit_then_unrelated", "ptr_explicit_marker", "ptr_older_branch_last",
                  "ptr_explicit_after_compact_into_old", "ptr_system_other_branch", "ptr_explicit_to_preserved"}


# versions on either side of a change of the rule get only the cases that show it
CUTS = {
    ("2.0.22", "2.0.23"): ["older_branch_last", "sidechain_root_last", "sidechain_below_tip"],
    ("2.1.8", "2.1.9", "2.1.84", "2.1.85"): ["older_branch_last", "progress_last_on_other_branch", "progress_inside"],
    ("2.1.100", "2.1.101"): ["older_branch_last", "newest_time_interior_linear", "interior_written_last", "interior_of_other_branch_last",
                             "tools_forked", "compact_boundary_tip"],
    ("2.1.114", "2.1.116"): ["older_branch_last", "interior_written_last", "interior_of_other_branch_last", "sidechain_below_tip"],
    ("2.1.120",): ["ptr_other_leaf", "ptr_explicit_ancestor", "ptr_cleared", "interior_written_last"],
    ("2.1.190", "2.1.191"): ["ptr_cleared", "ptr_explicit_ancestor"],
    ("2.1.252", "2.1.257"): ["interior_written_last", "interior_of_other_branch_last", "fork_point_again_last_newest_interior",
                             "fork_briefing_last_on_other_branch", "ptr_explicit_then_fork_briefing"],
    ("2.1.260", "2.1.261"): ["tools_forked_ptr_first_result"],
    ("2.1.280", "2.1.281"): ["tool_use_dangling_tip"],
}


def wanted(name, version, everything):
    cut = next((c for vs, c in CUTS.items() if version in vs), None)
    if cut and not everything: return name in cut
    if version.startswith("1.") and name in ("made_fork", "made_rewind"): return False   # flags it does not have
    young = tuple(int(x) for x in version.split(".")) >= (2, 1, 120)
    return everything or young or not name.startswith("ptr_") or name in POINTER_SAMPLE


# versions that choose alike; a case answered alike is kept once per era, for its newest version, but these always
ERAS = [("1.0.113", "2.0.74", "2.1.50"), ("2.1.105", "2.1.119"), ("2.1.123", "2.1.205", "2.1.325")]
CORE = {"linear", "two_branches", "older_branch_last", "newest_time_interior_linear", "newest_time_interior_first_branch", "times_equal_linear",
        "times_tie_two_leaves", "interior_written_last", "interior_of_other_branch_last", "two_roots_older_last", "marker_old_time",
        "ptr_ancestor", "ptr_other_leaf", "ptr_other_interior", "ptr_explicit_ancestor", "ptr_cleared", "ptr_explicit_then_unrelated",
        "ptr_explicit_marker", "tools_forked", "compact", "compact_boundary_tip", "ptr_interior_before_compact", "sidechain_below_tip",
        "system_tip", "attachment_last_on_fork_point", "prompt_tip_branch", "duplicate_line_last_other_branch", "missing_parent_gap_5s"}


def rejudge(out):
    """Derive `resumed` again from what was kept."""
    rows = json.load(open(f"{out}/expected.json"))
    for r in rows:
        if not r["note"].startswith("no request"): r.update(judge(load(f"{out}/{r['file']}"), r["sent"], r["hung_below"]))
        r["note"] = re.sub(r"exit \d+ ", "", r["note"])
    write(out, rows)


def prune(out):
    rows = json.load(open(f"{out}/expected.json"))
    got = {(r["version"], r["case"]): r["resumed"] for r in rows}
    keep = []
    for r in rows:
        v, c = r["version"], r["case"]
        era = next((e for e in ERAS if v in e), (v,))
        younger = [w for w in era[era.index(v) + 1:] if (w, c) in got]
        alike = c in CASES and c not in CORE and younger and got[younger[0], c] == got[v, c]
        if alike: os.remove(f"{out}/{r['file']}")
        else: keep.append(r)
    write(out, keep)


def write(out, rows):
    rows.sort(key=lambda r: ([int(x) for x in r["version"].split(".")], r["case"]))
    with open(f"{out}/expected.json.new", "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(r, ensure_ascii=False) for r in rows) + "\n]\n")
    os.replace(f"{out}/expected.json.new", f"{out}/expected.json")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--tools", default=os.environ.get("CLIENT_TOOLS"), help="directory of the client driver")
    ap.add_argument("--out", default=os.path.join(here, "../../crates/ramus-core/tests/fixtures/client"))
    ap.add_argument("--case", action="append", default=[], help="only these cases")
    ap.add_argument("--match", default="", help="only cases whose name holds this")
    ap.add_argument("--all", action="store_true", help="every pointer case also for clients without pointers")
    ap.add_argument("--tidy", action="store_true", help="only scrub the kept client-made sessions again")
    ap.add_argument("--rejudge", action="store_true", help="only derive `resumed` again from the kept answers")
    ap.add_argument("--prune", action="store_true", help="only drop cases that repeat the answer of a newer version of the era")
    ap.add_argument("--list", action="store_true")
    ap.add_argument("versions", nargs="*")
    a = ap.parse_args()
    names = [n for n in [*CASES, *MADE] if (not a.case or n in a.case) and a.match in n]
    for flag, work in ((a.tidy, tidy), (a.rejudge, rejudge), (a.prune, prune)):
        if flag: work(os.path.normpath(a.out))
    if a.tidy or a.rejudge or a.prune: return 0
    if a.list: print("\n".join(names)); return 0
    if not a.tools: ap.error("--tools is needed")
    sys.path.insert(0, a.tools)
    import lab as lab_mod
    out = os.path.normpath(a.out)
    book = f"{out}/expected.json"
    for v in a.versions:
        os.makedirs(f"{out}/{v}", exist_ok=True)
        for n in names:
            if not wanted(n, v, a.all or a.case): continue
            got = (run_case if n in CASES else run_made)(lab_mod, v, n, out)
            if got is None: print(f"{v} {n}: not made", flush=True); continue
            rows = json.load(open(book)) if os.path.exists(book) else []
            rows = [r for r in rows if (r["version"], r["case"]) != (v, n)]
            rows.append({"version": v, "case": n, "file": f"{v}/{n}.jsonl", **got})
            write(out, rows)
            print(f"{v:8} {n:44} {' '.join(got['sent']) or '-'}  hung={str(got['hung_below'])[-4:]} {got['note']}", flush=True)
    return 0


if __name__ == "__main__": sys.exit(main())
