#!/usr/bin/env python3
"""readme_pairs.py ROOT: rewrites sentences of README.md in plain English; says which it did not find."""
import sys
p=sys.argv[1]+'/README.md'; s=open(p).read()
P=[
("""Claude Code writes every conversation to `~/.claude/projects` as a **tree**: each edited prompt, retry, rewind,
fork and compaction leaves a branch behind. Claude Code shows you one of them. ramus shows you all:""",
"""Claude Code stores every conversation in `~/.claude/projects` as a **tree**: each edited prompt, retry, rewind, fork and
compaction leaves a branch behind. Claude Code shows you one of them. ramus shows you all:"""),
("# writes the sample history that this page speaks of","# write the sample history used on this page"),
("# without this line ramus reads your own history","# without this line, ramus reads your own history"),
("""The straight line is what `claude --resume` would continue; what hangs off it was left behind and is still there.
(Drawn at 100 columns. Fonts without these symbols get plain letters with `--ascii` or `RAMUS_ASCII=1`.)""",
"""The straight line is what `claude --resume` would continue. The branches beside it were abandoned, but are still there.
(Drawn at 100 columns. If your font lacks these symbols, use `--ascii` or `RAMUS_ASCII=1`.)"""),
("""- **Every branch.** Real forks are told from recording artefacts (parallel tool calls, hooks, replays): one command
  lists the abandoned branches, another reads them.""",
"""- **Every branch.** ramus distinguishes real forks from recording artefacts (parallel tool calls, hooks, replays). List the
  abandoned branches with one command and read them with another."""),
("""- **Which one is active, and why.** The rule changed with Claude Code's versions; ramus follows the version that wrote
  the file, names the record that decided, and says where other versions would go (`--explain`). Its answers are held
  against the real client.""",
"""- **Which one is active, and why.** The rule changed between versions of Claude Code. ramus follows the version that wrote
  the file, names the record that decided, and says where other versions would continue (`--explain`). Its answers are
  tested against the real client."""),
("""- **Nothing is dropped, and reading changes nothing.** Every line is accounted for as known, unknown or damaged. Unknown
  record types, torn lines, bad UTF-8 and cycles are reported, and the rest still works.""",
"""- **Nothing is dropped, and reading changes nothing.** Every line is counted as known, unknown or damaged. Unknown record
  types, torn lines, bad UTF-8 and cycles are reported, and everything else still works."""),
("""- **Time travel that Claude Code follows.** Go back to any message of any branch, or fork it into a session of its own.
  `goto`, `fork`, `merge`, `rename` and `check --fix` add lines or make new files and leave every byte that is there;
  `trash` moves files away whole. Each shows its plan first, refuses while the session is open, proves afterwards by the
  client's own rule that it worked, and is taken back with `ramus undo`.""",
"""- **Time travel that Claude Code follows.** Go back to any message of any branch, or fork it into a new session. `goto`,
  `fork`, `merge`, `rename` and `check --fix` append lines or make new files and never change existing bytes; `trash` moves
  whole files away. Each command shows its plan first, refuses while the session is open, verifies the result by the client's
  own rule, and can be undone with `ramus undo`."""),
("""- **Fast without an index, and at once the second time.** Gigabytes are listed in about the time it takes to count their
  lines; what was read is remembered until a file changes ([measured](bench/RESULTS.md)). The answers are the same without
  (`--no-cache`), and `ramus cache clear` forgets it.""",
"""- **Fast without an index, instant the second time.** Listing gigabytes takes about as long as counting their lines; results
  are cached until a file changes ([measurements](bench/RESULTS.md)). Answers are the same without the cache (`--no-cache`), and
  `ramus cache clear` deletes it."""),
("""builds ramus and opens its screens: your sessions to filter by typing, transcripts whose forks switch in place (← →), the
tree, search, live following; `?` lists the keys. Without any Claude history it offers a sample instead
(`ramus demo` writes it at any time). To install: `cargo install --path crates/ramus`.""",
"""builds ramus and opens its screens: a list of your sessions to filter by typing, transcripts in which you switch branches in
place (← →), the tree, search, and live following. `?` lists the keys. If you have no Claude history, it offers a sample
(`ramus demo` writes it at any time). To install: `cargo install --path crates/ramus`."""),
("the screens (on a terminal); in a pipe, the newest conversation as a tree","open the screens (on a terminal); in a pipe, print the newest conversation as a tree"),
("the three levels;","list projects, sessions and conversations;"),
("puts worktrees and clones together","groups worktrees and clones"),
("forks and branches as a graph, where the session came from and what came out of it;","show forks and branches as a graph, with the session's origins and offspring;"),
("the transcript of one path, whole, with a note where Claude Code resumes with less;","print the full transcript of one path, with a note where Claude Code resumes with fewer messages;"),
("`--as-client` prints what Claude Code would send","`--as-client` prints the messages Claude Code would send"),
("search everything, on every branch:","search everything on every branch:"),
("follow live: thinking, prompts, answers, tools, agents, branches;","follow sessions live: thinking, prompts, replies, tools, sub-agents, branches;"),
("two branches: prompts, answers, tools, files, tokens, cost;","compare two branches: prompts, replies, tools, files, tokens, cost;"),
("files as they were at a message: list, print,","show files as they were at a message: list, print,"),
("one transcript per unique path, agents beside them:","write one transcript per unique path, with sub-agents:"),
("a whole scope becomes a site","a whole project becomes a site"),
("make that message the one Claude Code resumes from; also `goto SESSION \"its words\"`","make Claude Code resume from that message; also `goto SESSION \"text of the message\"`"),
("a session of its own, up to that message;","make a new session with everything up to that message;"),
("one session out of several conversations;","merge several conversations into a new session;"),
("a title; move away with everything that belongs to it","set a title; move a session to the trash with everything that belongs to it"),
("what ramus did, and back; `restore` also brings a session back from the trash","list what ramus did and undo it; `restore` also brings a session back from the trash"),
("records, forks by kind, conversations, agents; by rule and by parent links alone; pictures with `--charts` or `--html FILE`","count records, forks by kind, conversations and sub-agents, by rule and by parent links alone; charts with `--charts` or `--html FILE`"),
("all of it in the browser, on this machine only","show everything in the browser, on this machine only"),
("the doctor: damaged lines, broken links, unpaired tools, files about to be deleted; `--fix` makes repaired copies, `--secrets` lists passwords and keys, masked","find damaged lines, broken links, unpaired tools, files about to be deleted; `--fix` makes repaired copies, `--secrets` lists passwords and keys, masked"),
("what abandoned branches cost; `--csv`","what abandoned branches cost; `--csv`"),
("an MCP server for agents; one page that tells an agent how to use ramus","run an MCP server for agents; print instructions for an agent with a shell"),
("what ramus remembers to be faster; `--no-cache` does without, with the same answers","show, build or delete the cache; `--no-cache` ignores it, with the same answers"),
("a sample history, shell completions, manual pages","write a sample history, shell completions, manual pages"),
("""Addresses are the same everywhere: a session by id, its first four letters, its title, a file or `latest`; a node as
`SESSION:UUID`; a conversation as `SESSION@N`; an agent as `agent-ID`. Every command takes `--json`, except `serve` and
`mcp`, which speak to programs in their own way; the field names are [stable](docs/json.md).""",
"""Addresses work the same everywhere. A session: its id, the first four letters of it, its title, a file, or `latest`. A
message: `SESSION:UUID`. A conversation: `SESSION@N`. A sub-agent: `agent-ID`. Every command takes `--json` (except `serve` and
`mcp`, which have protocols of their own); the field names are [stable](docs/json.md)."""),
("# which branch would be resumed, and why","# which branch Claude Code would resume, and why"),
("# read an abandoned one, tool calls opened","# read an abandoned branch, with tool calls"),
("# what two branches did and what they cost","# what two branches did and what they cost"),
("# how the files of two branches differ","# how the files of two branches differ"),
("# resume the abandoned branch: `claude --resume` goes on there","# make `claude --resume` continue the abandoned branch"),
("# or not\n","# undo it\n"),
("# what a session does right now; ring when it is done","# follow a session; ring the bell when it is done"),
("# what both branches did, in one conversation","# both branches in one conversation"),
("""A merge can let a command write the digest of the other branches. It reads both sides and the conflicts from its standard
input and prints the text, which you see with the plan; without `--with` nothing leaves ramus:""",
"""In a merge, a command of your choice can summarize the other branches. It reads both sides and the conflicts from standard
input and prints the summary, which you see with the plan. Without `--with`, nothing leaves ramus:"""),
("""Every branch of every session: switch between the ways at a fork, walk the tree, put two branches side by side, unfold
agents, see files as they were at any message, search everything, see what it cost, watch Claude Code write. Going to a
message, forking, merging, renaming, trashing and putting files back show their plan first and can be undone; the log
also brings back a session as it was before any of it. `?` lists the keys, `Ctrl K` goes anywhere. It listens on this
machine only, lets in one browser for each address that it prints, loads nothing from elsewhere and runs nothing that a
transcript holds. `--keep-token` lets open tabs go on after a restart.""",
"""See every branch of every session: switch branches at a fork, browse the tree, compare two branches side by side, open
sub-agents, see files as they were at any message, search everything, check the cost, and watch Claude Code write. Goto, fork,
merge, rename, trash and restoring files show their plan first and can be undone; from the log you can restore a session as it
was before any operation. `?` lists the keys, `Ctrl K` jumps anywhere. The server listens on this machine only, accepts one
browser per printed address, loads nothing from elsewhere, and runs nothing from a transcript. With `--keep-token`, open tabs
keep working after a restart."""),
("Let Claude Code look things up in its own past:","Let Claude Code look things up in its own history:"),
("# this project; `--scope user` for all of them","# for this project; `--scope user` for all"),
("""Then ask it "what did we decide about the connection pool?". It gets tools to search every branch, list projects,
sessions and conversations, read a path page by page, draw a tree, compare two branches, see files as they were and
count usage. None of them changes anything; with `ramus mcp --allow-write` there are `goto` and `fork` too, as plans that
a second call confirms. Answers are short and never longer than the agent asked for. An agent that only has a shell reads
`ramus guide` first.""",
"""Then ask it "what did we decide about the connection pool?". It gets tools to search every branch, list projects, sessions and
conversations, read a path page by page, draw a tree, compare two branches, see files as they were, and sum up usage. All of
them are read-only; `ramus mcp --allow-write` adds `goto` and `fork`, as plans that a second call confirms. Answers are short
and never longer than the agent asked for. An agent that only has a shell can read `ramus guide` first."""),
("""`ramus-core` is pure (bytes in, values out), `ramus-store` reads files. `crates/ramus-store/examples` holds four short
programs (print a conversation, list branches, count tools, follow live); `cargo doc --open` has the rest.""",
"""`ramus-core` does no I/O (bytes in, values out); `ramus-store` reads files. `crates/ramus-store/examples` has four short
programs (print a conversation, list branches, count tools, follow live); see `cargo doc --open` for the rest."""),
("## Work on it","## Contribute"),
("""sets up what the tests need and runs them all. `tests/client/` holds scripts that ask the real Claude Code instead; they
download clients of several hundred megabytes and are run by hand (each says how). `tests/client/run.py` proves `goto`
and `fork` there, cut off from the network ([how](tests/client/README.md)). [ARCHITECTURE.md](ARCHITECTURE.md) is the map,
[docs/glossary.md](docs/glossary.md) says what the words mean, [docs/format.md](docs/format.md) describes the files,
[docs/rules.md](docs/rules.md) how they are read, and `.ci/run` is what must pass before a change lands.""",
"""sets up what the tests need and runs them all. [CONTRIBUTING.md](CONTRIBUTING.md) says where things go and how to make common
changes, [ARCHITECTURE.md](ARCHITECTURE.md) is the map of the code, [docs/glossary.md](docs/glossary.md) defines the terms,
[docs/format.md](docs/format.md) describes the files and [docs/rules.md](docs/rules.md) how ramus reads them. The scripts in
`tests/client/` test against the real Claude Code, without network access ([how](tests/client/README.md)); they download clients
of several hundred megabytes and are run by hand. `.ci/run` must pass before a change is merged. Report security problems as
[SECURITY.md](SECURITY.md) says."""),
]
for a,b in P:
    if s.count(a)==1: s=s.replace(a,b)
    elif b not in s: print('README: not found:',a[:70].replace('\n',' '),s.count(a))
open(p,'w').write(s)
