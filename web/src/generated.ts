// Written from the types of the server by `UPDATE_TYPES=1 cargo nextest run --workspace -E 'test(types_of_the_page)'`.

/**
 * A change that the web app can request.
 */
export type Action = "fork" | "goto" | "merge" | "rename" | "restore" | "restore-files" | "trash" | "undo";

/**
 * When an agent worked.
 */
export type AgentSpan = {
/**
 * What opens it, without `agent-`.
 */
id: string, words: string,
/**
 * How many agents are between it and the session.
 */
depth: number, records: number, started: string | null, ended: string | null,
/**
 * The position of the call that started it, if that is on the path.
 */
at: number | null, };

export type AgentSpans = { agents: Array<AgentSpan>, };

export type Amounts = { messages: number, input: number, output: number, cache_read: number, cache_write_5m: number, cache_write_1h: number,
/**
 * `None`: no model has a known price.
 */
cost_usd: number | null,
/**
 * Tokens that are not in the cost, because their model has no known price.
 */
unpriced_tokens: number,
/**
 * Part of `output`, where the client wrote it down.
 */
thinking: number, fast_messages: number, web_searches: number, web_fetches: number, };

/**
 * Pins, tags and notes.
 */
export type Annotated = { annotations: Array<AnnotatedTarget>, };

/**
 * What a person put on a session or on one of its messages.
 */
export type AnnotatedTarget = {
/**
 * The session's id; that of an agent begins with `agent-`.
 */
session: string,
/**
 * The message's uuid. `None`: the session itself.
 */
message: string | null, pinned: boolean, tags: Array<string>, note: string | null,
/**
 * When it was changed last.
 */
changed: string | null, };

export type ArchivedView = {
/**
 * What was done.
 */
words: string, };

export type ArchivingView = {
/**
 * What would be done, a sentence each.
 */
sentences: Array<string>,
/**
 * How many files are not archived as they are now.
 */
files: number, };

export type BlockRow = {
/**
 * The day on which it begins, in the zone of the report.
 */
day: string, start: string, end: string, messages: number, tokens: number, cost_usd: number | null, };

export type ByBranch = { active: Amounts, abandoned: Amounts, };

/**
 * A whole path, with what it shares with others; these do not add up.
 */
export type ByConversation = { session: string, n: number, leaf: string, status: string, resumes: boolean, title: string | null,
/**
 * The title that tells it from the other branches, as in `conversations`.
 */
branch_title: string | null,
/**
 * What it begins with after its last fork.
 */
prompt: string | null,
/**
 * What was spent since the last fork, on nothing but this conversation.
 */
own_cost_usd: number, messages: number, input: number, output: number, cache_read: number, cache_write_5m: number, cache_write_1h: number,
/**
 * `None`: no model has a known price.
 */
cost_usd: number | null,
/**
 * Tokens that are not in the cost, because their model has no known price.
 */
unpriced_tokens: number,
/**
 * Part of `output`, where the client wrote it down.
 */
thinking: number, fast_messages: number, web_searches: number, web_fetches: number, };

export type ByLine = { main: Amounts, agents: Amounts, };

export type ByModel = { model: string, messages: number, input: number, output: number, cache_read: number, cache_write_5m: number, cache_write_1h: number,
/**
 * `None`: no model has a known price.
 */
cost_usd: number | null,
/**
 * Tokens that are not in the cost, because their model has no known price.
 */
unpriced_tokens: number,
/**
 * Part of `output`, where the client wrote it down.
 */
thinking: number, fast_messages: number, web_searches: number, web_fetches: number, };

export type ByProject = {
/**
 * The encoded name.
 */
project: string, path: string | null, messages: number, input: number, output: number, cache_read: number, cache_write_5m: number, cache_write_1h: number,
/**
 * `None`: no model has a known price.
 */
cost_usd: number | null,
/**
 * Tokens that are not in the cost, because their model has no known price.
 */
unpriced_tokens: number,
/**
 * Part of `output`, where the client wrote it down.
 */
thinking: number, fast_messages: number, web_searches: number, web_fetches: number, };

export type BySession = { session: string, project: string, title: string | null, last_active: string | null,
/**
 * Part of it that agents took.
 */
agents_cost_usd: number,
/**
 * The part on abandoned branches.
 */
abandoned_cost_usd: number, messages: number, input: number, output: number, cache_read: number, cache_write_5m: number, cache_write_1h: number,
/**
 * `None`: no model has a known price.
 */
cost_usd: number | null,
/**
 * Tokens that are not in the cost, because their model has no known price.
 */
unpriced_tokens: number,
/**
 * Part of `output`, where the client wrote it down.
 */
thinking: number, fast_messages: number, web_searches: number, web_fetches: number, };

/**
 * A day (`2026-01-31`), a week by its Monday, or a month (`2026-01`).
 */
export type ByTime = { day?: string, week?: string, month?: string, messages: number, input: number, output: number, cache_read: number, cache_write_5m: number, cache_write_1h: number,
/**
 * `None`: no model has a known price.
 */
cost_usd: number | null,
/**
 * Tokens that are not in the cost, because their model has no known price.
 */
unpriced_tokens: number,
/**
 * Part of `output`, where the client wrote it down.
 */
thinking: number, fast_messages: number, web_searches: number, web_fetches: number, };

export type CallView = {
/**
 * Which of the calls of the turn it is.
 */
n: number,
/**
 * `run`, `read`, `edit`, `write`, `grep`, …: selects the icon.
 */
tool: string, name: string, subject: string, outcome: string, failed: boolean, running: boolean, agent?: string, };

export type ChangeView = { path: string, how: string,
/**
 * Escaped; empty: it is no text.
 */
html: string, };

export type Changed = { session: string, agent: boolean, owner: string | null, };

/**
 * A session as the client counts it, next to our count.
 */
export type Client = { session: string, title: string | null, client_cost_usd: number, cost_usd: number,
/**
 * Ours less the client's.
 */
difference_usd: number,
/**
 * The client did not know some model's price.
 */
client_lacks_prices: boolean, models: Array<ClientModel>, };

export type ClientModel = { model: string, client_cost_usd: number, cost_usd: number, client_tokens: number, tokens: number, };

export type ConflictEnd = { conversation: number,
/**
 * `text`, `absent` or `unknown`.
 */
state: string, content: string | null, added: number, removed: number, };

export type Conversation = { session: string,
/**
 * Its session's path from the Claude directory on.
 */
file: string, n: number, leaf: string, status: "active" | "abandoned", resumes: boolean, draft: boolean, why: string, title: string | null,
/**
 * What distinguishes it from the other conversations of its session.
 */
branch_title: string | null,
/**
 * The first prompt since its fork.
 */
prompt: string | null, fork_point: string | null, fork_kind: string | null, messages: number, records: number, compactions: number, last_active: string | null, };

/**
 * What one model used in one session on one day, on active or abandoned branches, in sub-agents or not.
 */
export type DailyRow = {
/**
 * `None`: the messages have no time.
 */
day: string | null,
/**
 * Its index in `sessions`.
 */
session: number,
/**
 * Its index in `models`.
 */
model: number, abandoned: boolean, agent: boolean, messages: number, input: number, output: number, cache_read: number, cache_write: number, cost_usd: number | null,
/**
 * Tokens that are not in the cost, because their model has no known price.
 */
unpriced_tokens: number, };

export type DailyUsage = {
/**
 * The time zone that days are of.
 */
zone: string, prices: Prices, models: Array<string>, projects: Array<UsageProject>, sessions: Array<UsageSession>,
/**
 * They add up to everything.
 */
rows: Array<DailyRow>,
/**
 * The five-hour blocks in which something was used, the earliest first.
 */
blocks: Array<BlockRow>, };

/**
 * A session, as read from its own file.
 */
export type Detail = { id: string, project: string, title: string | null, cwd: string | null, git_branch: string | null, version: string | null, bytes: number, records: number, messages: number, forks: number, compactions: number, started: string | null, last_active: string | null, resume: Resume | null, conversations: Array<Conversation>,
/**
 * The session that this agent works for.
 */
parent: string | null, forked_from: [string, string] | null,
/**
 * It was written to a moment ago, or is open in Claude Code.
 */
live: boolean,
/**
 * Changes when the file does.
 */
stamp: string, };

export type DiffChange = { changed: boolean, added: number, removed: number,
/**
 * Whether the final content of the file is known.
 */
known: boolean,
/**
 * Its final content; `null` if unknown or if there is no file.
 */
content: string | null, };

export type DiffCommand = { command: string, error: boolean, };

export type DiffCommands = { a: Array<DiffCommand>, b: Array<DiffCommand>, };

export type DiffCommon = { messages: number,
/**
 * The last message that both have.
 */
node: string | null, timestamp: string | null, };

export type DiffFile = { path: string, a: DiffChange, b: DiffChange,
/**
 * `null`: what one of them ends with is not known.
 */
differs: boolean | null, };

/**
 * One of the two sides; the counts cover only what it does not share.
 */
export type DiffSide = { session: string, leaf: string, status: string,
/**
 * What finds it again: `SESSION@N` or `SESSION:UUID`.
 */
address: string, title: string | null, messages: number, prompts: number, answers: number,
/**
 * Agents that it called; what they did is among the tools, files, commands and tokens.
 */
agents: number, started: string | null, ended: string | null, duration_ms: number | null, };

export type DiffSpent = { messages: number, input: number, output: number, cache_read: number, cache_write_5m: number, cache_write_1h: number,
/**
 * For the models with a known price; `null` if there is none.
 */
cost_usd: number | null,
/**
 * Messages by model.
 */
models: { [key in string]: number },
/**
 * Tokens of the models without a known price.
 */
unpriced: { [key in string]: number }, };

export type DiffTool = { a: number, b: number, failed_a: number, failed_b: number, };

export type DiffUsage = { a: DiffSpent, b: DiffSpent, };

/**
 * The comparison, and the differences as the web app shows them.
 */
export type DiffView = { views_a: Array<View>, views_b: Array<View>,
/**
 * For each file, what the second side ends with against the first.
 */
changes: Array<string>,
/**
 * Neither side has messages that the other lacks.
 */
same: boolean, a: DiffSide, b: DiffSide, common: DiffCommon, files: Array<DiffFile>, tools: { [key in string]: DiffTool }, commands: DiffCommands, usage: DiffUsage, };

export type DoneView = { op: number, session: string, words: string, resume_command: string | null,
/**
 * What else happened, such as lines of other programs that were carried over.
 */
notes: Array<string>, };

export type ExchangeView = {
/**
 * `prompt`, `task`, `compaction`, or `start` for what comes before the first prompt.
 */
kind: string,
/**
 * The positions of its first and last message.
 */
at: number, end: number, uuid: string | null, words: string, started: string | null, ended: string | null, replies: number, calls: number, failed: number, agents: number, files: Array<string>, tokens: number, context: number, cost_usd: number | null, };

export type Exchanges = { exchanges: Array<ExchangeView>, tasks: Array<TaskView>,
/**
 * Where the next answer begins; `None`: that is all.
 */
next: number | null, };

export type File = { path: string,
/**
 * `file`, `absent` or `unknown`.
 */
state: string, size: number | null, source: string,
/**
 * The backup that contains it; with the doubt `late-backup`, the one that does not.
 */
backup: string | null, version: number | null, doubt: string | null,
/**
 * How many commands or agents ran since; with the doubt `commands-ran`.
 */
commands: number | null, only_read: boolean,
/**
 * The text, if one file was requested and it is text.
 */
content?: string, };

/**
 * A file, or how it differs.
 */
export type FileShown = { path: string,
/**
 * Escaped HTML. Empty if there is nothing to show; `note` gives the reason.
 */
html: string, note: string, };

export type Files = { files: Array<File>, session: string,
/**
 * `null`: the record has no uuid.
 */
node: string | null,
/**
 * `before` a prompt, `after` any other message.
 */
moment: string, cwd: string | null, };

/**
 * What a restore does to existing files.
 */
export type FilesView = { cwd: string, changes: Array<ChangeView>,
/**
 * Files that differ and are not changed.
 */
left: Array<LeftView>, };

export type ForkView = { kind: string, ways: Array<WayView>, };

/**
 * One message that was found; a stream of them is written, one a line.
 */
export type Hit = {
/**
 * The session; of an agent's record, the one that started the agent.
 */
session: string, title: string | null,
/**
 * The encoded name of the project.
 */
project: string | null,
/**
 * The agent whose record it is.
 */
agent: string | null,
/**
 * What to give to the next command.
 */
address: string,
/**
 * Its path from the Claude directory on.
 */
file: string, line: number,
/**
 * `None`: the record has no name, such as a title or a summary.
 */
uuid: string | null, role: string, kind: string,
/**
 * `prompt-only`: its session was deleted.
 */
class?: string,
/**
 * The number of its conversation.
 */
conversation: number | null, status: string | null,
/**
 * The client would continue this conversation.
 */
resumes: boolean, timestamp: string | null,
/**
 * The text around the first match, on one line.
 */
snippet: string,
/**
 * From and to which character of the snippet it matches.
 */
match: [number, number],
/**
 * Every copy of the message, the eldest first.
 */
places: Array<HitPlace>,
/**
 * The messages before and after it; only if requested.
 */
context?: HitContext,
/**
 * How close the words are to each other: `phrase`, `message`, `conversation` or `partial`. This and what
 * follows: only if the best matches come first.
 */
level?: string,
/**
 * The score of the match; only comparisons within one answer are meaningful.
 */
score?: number,
/**
 * How many more messages of the session match.
 */
more?: number, why?: HitReasons, };

export type HitContext = {
/**
 * From the eldest on.
 */
before: Array<HitNeighbour>,
/**
 * All messages that follow, on every branch.
 */
after: Array<HitNeighbour>, };

export type HitNeighbour = { uuid: string | null, role: string,
/**
 * Its first words.
 */
text: string, };

export type HitPlace = { file: string, line: number,
/**
 * `null` if it is not on a conversation.
 */
status: string | null, conversation: number | null, };

/**
 * Why a hit has its place.
 */
export type HitReasons = {
/**
 * The score of the session, and the share of it that comes from its time.
 */
session_score: number, recency: number, words: Array<WordReason>, };

/**
 * A file that the client's clean-up deletes soon.
 */
export type Leaving = {
/**
 * What opens it: a session, or an agent.
 */
id: string, project: string, title: string | null, at: string, };

export type LeftView = { path: string, why: string, };

export type Let = { token: string, };

export type LineageView = { origins: Array<RelativeView>, offspring: Array<RelativeView>, };

export type Link = {
/**
 * `fork`, `merge`, `copy`, `continuation` or `summary`.
 */
kind: string, session: string, };

export type Log = { operations: Array<OperationView>, };

/**
 * An agent whose session no longer has a file.
 */
export type LostAgent = {
/**
 * Its id; `agent-ID` is its address.
 */
agent: string,
/**
 * The session that started it.
 */
session: string, file: string, project: string, title: string | null, messages: number, last_active: string | null, };

export type MergeConflict = { path: string, ends: Array<ConflictEnd>, };

export type MergedExchange = {
/**
 * The conversation and the number that `--pick` takes.
 */
conversation: number, n: number, uuid: string, prompt: string | null, timestamp: string | null, messages: number,
/**
 * `copied`, `quoted`, `summarized` or `left-out`.
 */
fate: string, };

/**
 * The summary of a planned merge.
 */
export type MergedView = { title: string, messages: number,
/**
 * Messages that all begin with.
 */
common: number, exchanges: Array<MergedExchange>, conflicts: Array<MergeConflict>,
/**
 * The user must first choose a version of the conflicting files.
 */
stops: boolean, };

export type MostComplex = { session: string, title: string | null, score: number, parts: { [key in string]: number }, };

export type NewsKind = "found" | "grew" | "rewritten" | "gone";

/**
 * A segment between two fork points, with its agents; segments add up.
 */
export type OfBranch = { session: string,
/**
 * The record it begins with.
 */
node: string, status: string,
/**
 * The first prompt on it.
 */
prompt: string | null, messages: number, input: number, output: number, cache_read: number, cache_write_5m: number, cache_write_1h: number,
/**
 * `None`: no model has a known price.
 */
cost_usd: number | null,
/**
 * Tokens that are not in the cost, because their model has no known price.
 */
unpriced_tokens: number,
/**
 * Part of `output`, where the client wrote it down.
 */
thinking: number, fast_messages: number, web_searches: number, web_fetches: number, };

export type OperationView = { op: number, at: string, what: string, session: string, words: string, done: boolean, undone_by: number | null, undoes: number | null, can_undo: boolean,
/**
 * The session can be restored to its state before the operation, and differs from it now.
 */
can_restore: boolean, };

export type Otherwise = { rule: string, leaf: string, };

/**
 * A session's tree as rows, oldest first.
 */
export type Outline = { session: string, rows: Array<OutlineRow>, };

export type OutlineRow = {
/**
 * The column; the main line is 0.
 */
lane: number,
/**
 * `root`, `straight` or `branch`.
 */
edge: string,
/**
 * `prompt`, `answer`, `command`, `other`, `fork`, `compaction`, `agent`, `tree`, `loose`.
 */
kind: string,
/**
 * The node to go to; empty: there is none.
 */
node: string,
/**
 * The first node of the row.
 */
first: string,
/**
 * The agent whose file contains it.
 */
agent: string | null, words: string | null, timestamp: string | null, until: string | null, status: string, draft: boolean, resumes: boolean, messages: number, records: number,
/**
 * For a fork point: its kind and its number of branches.
 */
fork: string | null, ways: number,
/**
 * Of a fork: `restored` or `kept`, where it is known what became of the files.
 */
files: string | null, commands: Array<string>, interrupts: number, errors: number, };

export type Overview = { projects: number, sessions: number, conversations: number, bytes: number, recent: Array<Session>,
/**
 * Ids of the sessions that are live.
 */
live: Array<string>,
/**
 * How many days the client keeps a session, and whether its settings say so.
 */
retention_days: number, retention_set: boolean,
/**
 * Announces files due for deletion; `None`: there are none.
 */
due: string | null,
/**
 * How many of these files are not archived; they can be.
 */
unarchived: number, leaving: Array<Leaving>,
/**
 * Messages of each day (UTC), agents' own left out.
 */
activity: { [key in string]: number }, };

/**
 * An outline of a path: its length, and the positions of notable messages.
 */
export type PathView = { session: string, leaf: string, status: string, resumes: boolean, conversation: number | null, count: number,
/**
 * A letter for the role of each message.
 */
shape: string,
/**
 * A letter for each message: how long it is.
 */
sizes: string,
/**
 * What the last messages are called.
 */
last: Array<string>,
/**
 * Positions after which the path forks.
 */
forks: Array<number>,
/**
 * The position of the fork at which it leaves the current branch.
 */
left_at: number | null,
/**
 * The position of the requested message.
 */
at: number | null,
/**
 * The sessions it runs through, the eldest first.
 */
sessions: Array<string>, };

/**
 * A piece of a turn.
 */
export type Piece = { "t": "html", html: string, cut?: number, } | { "t": "text", text: string, html?: string, cut?: number, } | { "t": "note", text: string, bad: boolean, } | { "t": "fold", title: string, html: string, cut?: number, } | { "t": "thinking", html: string | null, cut?: number, } | { "t": "call" } & CallView | { "t": "picture", n: number, name: string, shown: boolean, };

export type PlanView = {
/**
 * Empty: it cannot be carried out as it is.
 */
id: string, what: string, words: string, session: string, steps: Array<string>, appended_bytes: number, warnings: Array<string>, merged?: MergedView, files?: FilesView, };

/**
 * By which list of prices the cost was made.
 */
export type Prices = {
/**
 * The day of the list that is built in.
 */
date: string,
/**
 * A file that changes it.
 */
file: string | null, file_date: string | null, };

export type Project = {
/**
 * The encoded directory name.
 */
name: string,
/**
 * The working directory of the project, as its records name it.
 */
path: string | null,
/**
 * The project's directory on disk.
 */
dir: string, sessions: number, conversations: number, agents: number, bytes: number, last_active: string | null,
/**
 * The git repository of the project; only if requested.
 */
repository: string | null, };

export type Projects = { projects: Array<Project>,
/**
 * Projects in groups; only if requested.
 */
repositories?: Array<Repository>, };

/**
 * A pull request that was made in a session.
 */
export type PullRequest = { number: number | null, url: string, repository: string | null, };

/**
 * The same counted by parent links only.
 */
export type RawStats = { forks: number, leaves: number, roots: number, sessions_with_forks: number, linear_sessions: number, complex_sessions: number, largest_branching: number, mean_branching: number, };

/**
 * A session that another one came from, or that came out of it.
 */
export type Relative = {
/**
 * `fork`, `merge`, `copy`, `continuation`, `clear`; of an agent `agent`.
 */
kind: string,
/**
 * `None`: nothing records which one it was.
 */
session: string | null,
/**
 * Its file is there.
 */
found: boolean, };

/**
 * An origin or offspring of a session.
 */
export type RelativeView = {
/**
 * The relation, such as `forked from`.
 */
words: string, title: string | null,
/**
 * Its address, if it is there.
 */
address: string | null,
/**
 * `fork`, `merge`, `copy`, `continuation`, `clear`; of an agent `agent`.
 */
kind: string,
/**
 * `None`: nothing records which one it was.
 */
session: string | null,
/**
 * Its file is there.
 */
found: boolean, };

/**
 * What one reply used.
 */
export type ReplyUsage = { input: number, output: number, cache_read: number, cache_write_5m: number, cache_write_1h: number,
/**
 * Part of `output`, where the client wrote it down.
 */
thinking: number,
/**
 * Input, cache reads and cache writes of the request.
 */
context: number,
/**
 * `None`: the model has no known price.
 */
cost_usd: number | null, };

/**
 * All projects of one git repository, or one project that is in none.
 */
export type Repository = {
/**
 * The address of its remote, else its directory; `None`: it is no repository, as far as is known.
 */
repository: string | null,
/**
 * The encoded names of its projects.
 */
projects: Array<string>, sessions: number, conversations: number, bytes: number, last_active: string | null, };

export type Resume = { point: string, leaf: string, rule: string, why: string,
/**
 * The line of the record that decided.
 */
line: number,
/**
 * Where clients of other versions would continue instead.
 */
otherwise: Array<Otherwise>, };

export type ResumeView = {
/**
 * One line for a shell.
 */
command: string,
/**
 * What the command does before it starts Claude Code: `nothing`, `goto-or-fork` or `fork`.
 */
first_step: string,
/**
 * The session's directory, if it does not exist.
 */
missing_directory: string | null, };

export type Session = { id: string,
/**
 * Its path from the Claude directory on.
 */
file: string,
/**
 * The encoded name of its project.
 */
project: string, class: string, title: string | null, version: string | null, records: number, lines: number, messages: number, conversations: number, forks: number, compactions: number, agents: number, defects: number, bytes: number, started: string | null, last_active: string | null, resume_leaf: string | null, cwd: string | null, git_branch: string | null,
/**
 * `linear`, or any of `branching`, `sidechain`, `forked`, `merged`.
 */
flow: Array<string>, complexity: number, links: Array<Link>,
/**
 * When Claude Code deletes its file, should it not be changed before.
 */
deleted_after: string | null,
/**
 * Its file no longer exists; it is read from the archive.
 */
archived: boolean, pull_requests: Array<PullRequest>,
/**
 * The git repository of its project; only if requested.
 */
repository: string | null,
/**
 * Where it came from.
 */
origins: Array<Relative>,
/**
 * What came out of it.
 */
offspring: Array<Relative>,
/**
 * Pins, tags and notes are ramus's own data.
 */
pinned: boolean, tags: Array<string>, note: string | null,
/**
 * How many of its messages are pinned, tagged or have a note.
 */
annotated_messages: number, };

export type Sessions = { sessions: Array<Session>,
/**
 * Agents whose session no longer has a file.
 */
lost_agents: Array<LostAgent>, };

export type Stats = { projects: number, sessions: number, files: number, bytes: number, by_class: { [key in string]: number }, lines: number, blank: number, records: number, unknown: number, damaged: number, by_type: { [key in string]: number }, system_by_subtype: { [key in string]: number }, messages: number, forks: number, forks_by_kind: { [key in string]: number }, drafts: number, artefacts: { [key in string]: number }, conversations: number, active: number, abandoned: number, unique_paths: number, compactions: number, compaction_records: number, sidechain_records: number, agents: { [key in string]: number }, duplicate_uuids: number, orphans: number, defects: number, sessions_with_forks: number, sessions_with_sidechains: number, forked_sessions: number, merged_sessions: number, linear_sessions: number, complex_sessions: number, largest_branching: number, mean_branching: number, flow: { [key in string]: number }, most_complex: MostComplex | null, raw: RawStats, };

export type TaskView = { id: string, words: string, at: number, started: string | null, ended: string | null, };

export type Ticket = { ticket: string, };

export type Turns = { from: number, to: number, turns: Array<View>, };

export type Unpriced = { model: string, tokens: number, };

export type Usage = {
/**
 * The time zone that days are of.
 */
zone: string, since: string | null, until: string | null, prices: Prices, totals: Amounts, by_day: Array<ByTime>, by_week: Array<ByTime>, by_month: Array<ByTime>,
/**
 * Messages without a timestamp; only if there are any.
 */
undated?: Amounts, by_model: Array<ByModel>, by_project: Array<ByProject>, by_session: Array<BySession>,
/**
 * Only if requested.
 */
by_conversation?: Array<ByConversation>,
/**
 * Only if requested.
 */
branches?: Array<OfBranch>, by_branch: ByBranch, by_line: ByLine,
/**
 * Models without a price, with their tokens.
 */
unpriced: Array<Unpriced>,
/**
 * Only if requested.
 */
client?: Array<Client>, };

export type UsageProject = {
/**
 * The encoded name.
 */
project: string, path: string | null, };

export type UsageSession = { session: string,
/**
 * Its index in `projects`.
 */
project: number, title: string | null, };

/**
 * One thing a reader sees.
 */
export type View = {
/**
 * Its position on the path, and which of the turns there it is.
 */
at: number, i: number, kind: string, uuid?: string, timestamp?: string,
/**
 * The time of its last record, if that is another one.
 */
ended?: string,
/**
 * A word next to the role: the model, `queued`, the trigger of a compaction.
 */
detail?: string, recovered?: boolean, parts: Array<Piece>, fork?: ForkView,
/**
 * Tokens, context size and cost of a reply.
 */
usage?: ReplyUsage, };

export type Wanted = { what: Action, session: string, node: string, title: string, op: number | null,
/**
 * The conversations to merge, by their last messages, and how.
 */
leaves: Array<string>, strategy: string, on_conflict: string, };

/**
 * What is changed about the annotation of a session or a message.
 */
export type WantedAnnotation = {
/**
 * A message, by a uuid; empty: the session itself.
 */
message: string, pinned: boolean | null, add_tags: Array<string>, remove_tags: Array<string>, note: string | null, };

export type WayView = { node: string, leaf: string, words: string, timestamp: string | null, messages: number, draft: boolean, current: boolean, taken: boolean, };

/**
 * What one word adds to the place of a hit.
 */
export type WordReason = { word: string,
/**
 * How it matches: `word`, `start`, `part` or `elsewhere`.
 */
form: string,
/**
 * The rarer the word, the more.
 */
weight: number, };
