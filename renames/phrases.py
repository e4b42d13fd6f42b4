"""User-visible phrases to change, by file. `python3 PHRASES.py --write` applies those that are still there and lists
the others; `--md` writes PHRASES.md."""
import sys

P = {}
C = 'crates/ramus/src/'
P[C + 'args.rs'] = [
('/// Opens up every branch of your Claude Code conversations\n', '/// Read, search and manage every branch of your Claude Code conversations\n'),
("""/// Claude Code keeps each conversation as a tree: edited prompts, retries, rewinds, forks,
/// compactions, sub-agents. ramus reads these trees, shows all of their branches, and says which one
/// is active and why. Reading changes nothing. The commands that write (goto, fork, merge, rename,
/// trash, undo, restore, check --fix, files --restore) show their plan first and can be undone.
""", """/// Claude Code stores each session as a tree: every edited prompt, retry and rewind leaves a branch
/// behind. ramus shows all branches, and which one is active and why. Reading changes nothing.
/// Commands that write (goto, fork, merge, rename, trash, undo, restore, check --fix,
/// files --restore) show a plan first and can be undone.
"""),
('/// Show empty, warm-up and metadata-only files too', '/// Include empty, warm-up and metadata-only files'),
('/// Say which rule and which record chose the active branch', '/// Show which rule and which record decided the active branch'),
('/// Read everything anew, and remember nothing', "/// Ignore the cache and don't write to it"),
('/// As the Claude Code version that wrote the file does', '/// Like the Claude Code version that wrote the session'),
('/// What the last summary names\n', '/// The node that the last summary names\n'),
('a path, the encoded directory name, a part of either, or `.`', 'a path, an encoded directory name, part of either, or `.`'),
('an id, the first 4 or more letters of it, a title, a .jsonl file, or `latest`', 'an id, at least 4 characters of one, a title, a .jsonl file, or `latest`'),
('a node of it; the first letters of the uuid are enough', 'a message; the first characters of its uuid are enough'),
('its N-th conversation', 'the N-th conversation of a session'),
('sessions of this directory', 'list the sessions of this directory'),
('where the newest conversation forked', 'show where the newest session forked'),
('its branches, and which one Claude Code would resume', 'list its branches, and which one Claude Code resumes'),
('no history yet? write a sample to look at', 'write a sample history to try ramus on'),
]
P[C + 'filter.rs'] = [
('/// Only what was active from then on: a date, a time, or how long ago (`2h`, `3d`)', '/// Only sessions active since: a date, a time, or an age (`2h`, `3d`)'),
('/// Only what began before then', '/// Only sessions started before this time'),
('/// Sort by this [default: active]', '/// Sort order [default: active]'),
('/// Only sessions on this git branch; `active` and `abandoned` mean the status of conversations', '/// Only sessions on this git branch, or conversations that are `active` or `abandoned`'),
('/// Only sessions in which a model with this in its name answered', '/// Only sessions that used a model whose name contains this'),
('/// Only sessions that cost at least this many dollars, their sub-agents included', '/// Only sessions that cost at least this much, including sub-agents'),
('/// Only sessions that have these; given several times, all of them', '/// Only sessions with this feature. Repeat to require several'),
('/// Only sessions in which this pull request was made:', '/// Only sessions that created this pull request:'),
('/// The most recently active first', '/// Most recently active first'),
('/// The most recently begun first', '/// Most recently started first'),
('/// The largest first', '/// Largest first'),
('/// The most expensive first', '/// Most expensive first'),
("/// Errors of the model's server", '/// API errors'),
('/// The git repository: all its worktrees and clones', '/// Git repository, including all its worktrees and clones'),
]
K = C + 'commands/'
P[K + 'projects.rs'] = [
('/// List the projects, the most recently used first', '/// List projects, most recently used first'),
('/// Put projects together\n', '/// Group projects\n'),
('no project has a session yet', 'no sessions found'),
('`ramus demo` writes a sample to look at', 'run `ramus demo` to create a sample history'),
]
P[K + 'sessions.rs'] = [
('/// List the sessions, the most recently active first\n', '/// List sessions, most recently active first\n'),
("""/// BRANCHES counts the conversations of a session: one for every end that an edit, a retry or a
/// rewind left behind. ↳ says that a session came from another one (`fork`, `merge`, `copy`,
/// `continuation`) or was begun with `/clear`; `ramus tree` names both.
""", """/// BRANCHES is the number of conversations in a session: one for each branch that an edited prompt,
/// a retry or a rewind left behind. ↳ marks a session that came from another one (`fork`, `merge`,
/// `copy`, `continuation`) or was started with `/clear`. `ramus tree` shows which one.
"""),
('/// Only those of one project', '/// Only sessions of this project'),
('/// Put sessions together\n', '/// Group sessions\n'),
('/// Only sessions that Claude Code deleted, of which it remembers the prompts (`prompt-only`)', '/// Only deleted sessions, of which Claude Code still has the prompts (`prompt-only`)'),
('of deleted sessions: `--gone` lists them.', 'of deleted sessions. Use --gone to list them.'),
('no session here', 'no sessions found'),
('`--all` shows empty and metadata-only files', 'use --all to include empty and metadata-only files'),
('no history yet? `ramus demo` writes a sample to look at', 'no history yet? Run `ramus demo` to create a sample'),
('Claude Code deleted these sessions; `ramus find` searches their prompts.', 'Claude Code deleted these sessions. `ramus find` searches their prompts.'),
('  of {}, which is gone  ', '  of {}, which was deleted  '),
('  {more} more agents of sessions that are gone; `--json` lists them', '  {more} more agents of deleted sessions. Use --json to list them'),
]
P[K + 'conversations.rs'] = [
('/// List the conversations: every branch of every session', '/// List conversations: every branch of every session'),
("""/// A node that a summary names and no conversation ends with is a bookmark, marked with ◆. One
/// conversation is marked with ▶: it is the one Claude Code would resume. Active ones are current at every
/// fork on their way; the others were abandoned at the fork that is named.
""", """/// ▶ marks the conversation that Claude Code would resume. An active conversation is on the current
/// branch at every fork point; an abandoned one was left at the fork point in the last column. ◆ marks a
/// bookmark: a message that a summary names but where no conversation ends.
"""),
('no conversation here', 'no conversations found'),
('`--all` looks into files without messages too', 'use --all to include files without messages'),
('  is where Claude Code goes on, before the end of ', '  is where Claude Code resumes, before the end of '),
('no record has a timestamp, so what was said later is not resumed; `ramus check --fix` makes a copy with dates', 'no record has a timestamp, so later messages are not resumed. `ramus check --fix` makes a copy with timestamps'),
('it is dated {time}, in the future: what is said before then is not resumed; `ramus check --fix` makes a copy without that date', 'it is dated {time}, in the future, so messages before then are not resumed. `ramus check --fix` makes a copy with a valid date'),
(': there is nothing to resume', ': nothing to resume'),
]
P[K + 'show.rs'] = [
('/// Read a conversation\n', '/// Show the transcript of a conversation\n'),
("""/// Shows the path from the beginning to the address: through compactions, and through the sessions
/// that it continues. At each fork it tells of the other ways and how to read them.
""", """/// Shows all messages from the beginning up to the address, through compactions and earlier sessions
/// that it continues. A note at each fork point lists the other branches and how to read them.
"""),
('/// A session, a node or a conversation of it, or an agent', '/// A session, message, conversation or agent'),
('/// Show what the model thought, where it is kept', '/// Show thinking, if it was recorded'),
('/// Open the tool calls: input, output, diffs', '/// Show tool calls with input, output and diffs'),
('/// Below each reply its tokens, the size of its context and its cost; at the end their sums', '/// Show tokens, context size and cost of each reply, and totals at the end'),
('/// A file with prices of models, see `ramus usage --help`', '/// A file with model prices; see `ramus usage --help`'),
('/// Leave nothing out: long texts, all tool input, thinking, the text of skills and commands', '/// Show everything: long texts, all tool input, thinking, the text of skills and commands'),
('/// Print the lines of the path as they stand in the file', '/// Print the JSONL lines of the path unchanged'),
('/// Print the messages that Claude Code would send if it resumed there', '/// Print the messages that Claude Code would send on resume'),
("""    /// As the version does that wrote the session, and without what it adds by itself at that
    /// moment: the date, CLAUDE.md, lists of tools.
""", """    /// Follows the Claude Code version that wrote the session. What Claude Code adds at that moment is
    /// not included: the date, CLAUDE.md, the list of tools.
"""),
('/// Tell of the other ways at each fork; the default', '/// Show notes about other branches (default)'),
('    /// Do not\n', '    /// Hide notes about other branches\n'),
('Nobody says anything on this path; `--raw` prints its records.', 'This branch has no messages. Use --raw to print its records.'),
('This session holds {} beside this one:', 'This session has {}:'),
]
P[K + 'show/as_client.rs'] = [
('Claude Code finds nothing to resume in this session', 'this session has nothing that Claude Code could resume'),
('`ramus show SESSION` reads what is there, `--explain` says why', '`ramus show SESSION` shows its records, --explain shows why'),
('{} more, in words that the session does not hold; `--json` names them.', '{} more with text that the session does not contain. Use --json to list them.'),
('Claude Code adds a note: no report of {agents} is part of this.', 'Claude Code adds a note: {agents} has not reported yet.'),
]
P[K + 'tree.rs'] = [
('/// Draw a session as the tree it is: forks, branches, agents', '/// Draw the tree of a session: fork points, branches, agents'),
("""/// A row is a stretch of conversation without a fork, with its first words. The way that Claude
/// Code would resume runs straight down; what was left at a fork hangs beside it. The letters at the
/// end of a row go behind the session's id: `ramus show SESSION:LETTERS`.
""", """/// Each row is a run of messages without a fork, with its first words. The branch that Claude Code
/// would resume runs straight down; abandoned branches are beside it. Use the id at the end of a row
/// as an address: `ramus show SESSION:ID`.
"""),
('/// Only what lies near this node', '/// Only rows near this message'),
('/// How many rows are near\n', '/// Number of rows to show around the message\n'),
('/// Every record on a row of its own', '/// Show one row per record'),
('there is no conversation in this session', 'this session has no conversations'),
]
P[K + 'diff.rs'] = [
("""/// They may be branches of one session or of two. What both have is told in one line; then come the
/// prompts and answers, the files as they are in the end, the commands, tokens, cost and time of
/// each. What agents did counts for the side that called them. A file's end is put together from
/// Claude Code's backups and from what tools wrote and read: what a command changed is not seen
/// unless the file was read or backed up afterwards. The cost is what the tokens would cost by the
/// public list, or by the prices that `ramus usage` takes.
""", """/// Compares two branches of one session or of two. Shows what they have in common, then the prompts
/// and replies, final file contents, commands, tokens, cost and time of each. Sub-agents count for the
/// side that started them. File contents come from Claude Code's backups and from what tools wrote and
/// read; changes by commands are visible only if the file was read or backed up afterwards. Costs use
/// list prices, or the prices of `ramus usage`.
"""),
('/// One conversation: a session, a node or a conversation of it', '/// The first session, message or conversation'),
('/// The other one\n', '/// The second one\n'),
('    /// The numbers alone\n', '    /// Show only totals\n'),
('/// One on the left, one on the right [default: from 120 columns on]', '/// Show both side by side [default: from 120 columns]'),
('/// One after the other [default: below 120 columns]', '/// Show one after the other [default: below 120 columns]'),
('    /// Leave nothing out\n', '    /// Show long texts in full\n'),
]
P[K + 'files.rs'] = [
('/// Show files as they were at a message', '/// Show files as of a message'),
("""/// The address of a prompt means the moment it was sent: what Claude Code itself would restore
/// there. The address of any other message means the moment after it. The contents come from the
/// backups that Claude Code makes for each prompt, and from what tools wrote, edited and read; the
/// list says which, and what cannot be known. What commands did to a file shows only when the file
/// is next read, changed or backed up.
///
/// `--restore` changes files and nothing else; `ramus goto` moves the conversation. Each can be
/// taken back by `ramus undo`.
""", """/// For a prompt, shows the files before it was sent, as Claude Code would restore them. For any other
/// message, shows the files after it. Contents come from the backups that Claude Code makes for each
/// prompt, and from what tools wrote, edited and read. The list shows the source of each file, and what
/// is unknown. Changes by commands are visible only when the file is next read, changed or backed up.
///
/// `--restore` changes only files; `ramus goto` changes only the conversation. Both can be undone with
/// `ramus undo`.
"""),
('/// A message: a session, a node or a conversation of it', '/// A session, message or conversation'),
('/// Print this file: a path, or the end of one', '/// Print this file: a path, or the end of one'),
('/// Show how the files differ at another message', '/// Compare with the files as of another message'),
('/// With `--diff`: how many lines, not which', '/// With --diff, show only line counts'),
('/// Write the files out into this directory', '/// Write the files to this directory'),
('/// With `--into`: also into a directory that holds something', '/// With --into, allow a directory that is not empty'),
('/// Put the files back where they were, after showing the difference and asking', '/// Restore the files on disk. Shows the changes and asks first'),
('/// With `--restore`: files outside of the project too', '/// With --restore, include files outside of the project'),
('/// With `--restore`: show what would be done, and do nothing', '/// With --restore, only show what would change'),
('/// With `--restore`: do it without asking', "/// With --restore, don't ask"),
('no tool changed a file, and none was backed up', 'no files were changed or backed up'),
('the backup of {} is gone', 'the backup of {} no longer exists'),
('nobody wrote it down', 'its content was not recorded'),
('cannot tell what {path} held: {why}', 'content of {path} is unknown: {why}'),
('`--all` lists files that were only read', 'use --all to list files that were only read'),
('no tool of this conversation knew {wanted:?}', 'no file matches {wanted:?} in this conversation'),
('`ramus files ADDRESS --all` lists the files it knew', '`ramus files ADDRESS --all` lists all files'),
('{wanted:?} could be {} files:', '{wanted:?} matches {} files:'),
('send it somewhere: `ramus files … > FILE`', 'redirect it to a file: `ramus files … > FILE`'),
]
P[K + 'files/difference.rs'] = [('No file differs.', 'No differences.'), ('unknown on both sides', 'unknown on both sides')]
P[K + 'files/into.rs'] = [(', its content is not known', ', content unknown'), ('Left out: ', 'Skipped: ')]
P[K + 'files/list.rs'] = [
('"not there"', '"absent"'), ('as the next prompt found it', 'as of the next prompt'), ('commands ran; as the next prompt found it', 'commands ran; as of the next prompt'),
('a command ran in between', 'a command ran since'), ('{n} commands ran in between', '{n} commands ran since'), ('changed by someone else', 'changed outside Claude Code'),
('its backup holds the first edit', 'the backup already contains the first edit'), ('its backup is gone', 'the backup no longer exists'), ('edited, but never shown whole', 'edited, but never read completely'),
]
P[K + 'files/restore.rs'] = [
('the session ran in {}, which is not here', 'the working directory {} does not exist here'), ('`--into DIR` writes the files out anywhere', 'use --into DIR to write the files elsewhere'),
('Nothing to put back: the files are as they were then.', 'Nothing to restore: all files are unchanged.'), ('Put this file back?', 'Restore this file?'), ('Put these {n} files back?', 'Restore these {n} files?'),
('what it held is not known', 'content unknown'), ('outside of the project (`--outside` puts it back too)', 'outside of the project (use --outside to include it)'),
('it is a link, or behind one', 'it is a symbolic link, or behind one'), ('something else is in its place', 'the path is not a regular file'),
]
P[K + 'find.rs'] = [
('/// Find messages in all sessions, on every branch, the newest first', '/// Search messages in all sessions and branches, newest first'),
("""/// Looks into prompts, answers, thinking, tool calls and their results, summaries, titles, queued
/// prompts, agents and results kept in files of their own; of sessions that are gone, into the prompts
/// that Claude Code still remembers (`prompt only`). All words must occur in one message;
/// quotes inside TEXT keep words together. Case counts only where TEXT has an upper-case letter. A
/// message that stands in several files is found once.
///
/// ● is on an active branch, ○ on an abandoned one, ▸ was said by an agent; @N is the conversation.
/// The letters at the end of a row are the address for the next command.
""", """/// Searches prompts, replies, thinking, tool calls and results, summaries, titles, queued prompts,
/// agents and spilled outputs. For deleted sessions it searches the prompts that Claude Code still has
/// (`prompt only`). A message must contain all words; put a phrase in quotes inside TEXT. The search
/// ignores case unless TEXT has an upper-case letter. Copies of a message in several files are one hit.
///
/// ● is on an active branch, ○ on an abandoned one, ▸ in an agent; @N is the conversation. Use the
/// id at the end of a row as the address for other commands.
"""),
('/// What to look for; with --tool, --file or --pr it can be left out', '/// Text to search for. Optional with --tool, --file or --pr'),
('/// TEXT is a regular expression; case counts unless it begins with `(?i)`', '/// Treat TEXT as a regular expression. Case-sensitive unless it begins with `(?i)`'),
('/// Only what this one says', '/// Only messages from this role'),
('/// Only texts of this kind; `progress` and `last-prompt` are looked at only if asked for', '/// Only texts of this kind. `progress` and `last-prompt` are searched only if given here'),
('/// Only in sessions in which this pull request was made:', '/// Only in sessions that created this pull request:'),
('/// Only from here on: a date, a time, or how long ago (`2h`, `3d`)', '/// Only since: a date, a time, or an age (`2h`, `3d`)'),
('/// Only up to here\n', '/// Only until this time\n'),
('/// Whether to look into what agents did', '/// Whether to search sub-agents'),
('/// What comes first\n', '/// Sort order\n'),
('    /// The newest\n', '    /// Newest first\n'), ('    /// What fits best\n', '    /// Most relevant first\n'),
('SCOPE is a project or a session; several words of TEXT stand in quotes', 'SCOPE must be a project or a session. Put a TEXT of several words in quotes'),
('There are more; `--limit` says how many are shown', 'There are more. Use --limit to see them'),
('{} more; `--limit` says how many are shown', '{} more. Use --limit to see them'),
('No session made pull request {}', 'No session created pull request {}'),
('no message holds {text:?}', 'no matches for {text:?}'),
('all words must occur in one message; fewer find more', 'a message must contain all words. Try fewer words'),
]
P[K + 'find/prompts.rs'] = [('Sessions that are gone', 'Deleted sessions')]
P[K + 'watch.rs'] = [
('/// Follow sessions live: prompts, thinking, answers, tools, agents', '/// Follow sessions live: prompts, thinking, replies, tool calls, agents'),
("""/// Shows what is written from now on, of all sessions or of those named: projects, sessions,
/// agents, or one conversation (`SESSION@N`, `SESSION:UUID`). New sessions appear by themselves.
/// Several sessions are told apart by colour; agents speak indented. A tool call is one line, when
/// it is over, with how long it took and what came of it. On a terminal and without SCOPE you choose
/// first.
///
/// Tokens and cost are those since watching began. Recent clients keep no text of what the model
/// thinks; `"showThinkingSummaries": true` in the client's settings.json makes them keep summaries.
""", """/// Shows new messages of all sessions, or only of the given projects, sessions, agents or conversation
/// (`SESSION@N`, `SESSION:UUID`). New sessions are included automatically. Each session has its own
/// colour; agents are indented. A tool call appears when it is finished, with its duration and outcome.
/// On a terminal without SCOPE you choose from a list.
///
/// Tokens and cost count from the start of watching. Recent clients don't store thinking; set
/// `"showThinkingSummaries": true` in Claude Code's settings.json to store summaries.
"""),
('/// More of them\n', '/// More scopes\n'),
('/// Only news of these kinds', '/// Only events of these kinds'),
('/// Follow only the conversation that is being held, and say when it is left', '/// Follow only the current conversation, and report when it is left'),
('/// Show first what was said since then: a time, or how long ago (`10m`, `2h`)', '/// Start with messages since: a time, or an age (`10m`, `2h`)'),
('/// Run a command, or ring (`bell`), when a session ends its turn or waits for its user', '/// Run a command, or ring the bell, when a session ends its turn or waits for you'),
('/// The command is given to the shell, with RAMUS_EVENT', '/// The command runs in a shell with RAMUS_EVENT'),
('/// Look at the files this often instead of waiting for the system to tell, for network drives', '/// Poll files at this interval, for network drives'),
('/// Leave nothing out for being long', '/// Show long texts in full'),
]
P[K + 'watch/only.rs'] = [
('/// What people ask, and commands they give', '/// Prompts and commands'), ('/// What the model says\n', '/// Replies\n'), ('/// What it thinks, or that the text is withheld', '/// Thinking, or that it is withheld'),
('/// Agents that start, and reports of background tasks', '/// Started agents, and reports of background tasks'),
('/// Hooks, attached files, notes of the client, titles', '/// Hooks, attached files, client notes, titles'),
]
P[K + 'watch/picker.rs'] = [('      … {} more; words make the list shorter', '      … {} more; type words to narrow the list'), ('Number, or words to narrow [0]: ', 'Number, or words to filter [0]: '), ('Nothing is called that.', 'No matches.')]
P[K + 'watch/screen.rs'] = [
('the file was rewritten, and is read anew', 'the file was rewritten; reading it again'), ('a new session', 'new session'),
('the system does not tell of changes ({why}); looking twice a second instead', 'file notifications are not available ({why}); polling twice a second'),
('the client keeps no text of what the model thinks; with \\"showThinkingSummaries\\": true in its settings.json it keeps summaries', "Claude Code doesn't store thinking; set \\\"showThinkingSummaries\\\": true in its settings.json to store summaries"),
('a session without a name', 'untitled session'), ('{text}; Ctrl-C ends', '{text}; press Ctrl-C to stop'),
]
P[K + 'watch/wanted.rs'] = [('nothing was named', 'no scope given'), ('`--branch` needs a session to follow', '--branch needs a session'), ('{scope} is not below the Claude directory', '{scope} is not in the Claude directory'), ('`--claude-dir DIR` names another one', 'use --claude-dir DIR to choose another one')]
P[K + 'stats.rs'] = [
('/// Count what there is: records, forks, branches, agents', '/// Count records, forks, branches and agents'),
("""/// Every number about branches is given twice: by ramus's rules, which tell real forks from
/// recording artefacts, and raw, by parent links alone.
""", """/// Branch counts are given twice: by ramus's rules, which ignore recording artefacts, and raw, by parent
/// links alone.
"""),
('/// Draw pictures too: tools, hours, context, the longest and the most complex sessions', '/// Add charts: tools, hours, context, longest and most complex sessions'),
('/// Write the pictures as a page of their own (`-`: to stdout)', '/// Write the charts to an HTML file (`-` for stdout)'),
('give `--html` a file', 'give --html a file name'), ('The pictures are in {}', 'Wrote charts to {}'), ('{} is no file', '{} is not a regular file'),
('nothing is written over; give another name, or delete it first', 'choose another name, or delete it first'), ('without what resumed and forked sessions repeat', 'without what resumed and forked sessions repeat'),
('ways that were never answered', 'branches without a reply'), ('up to {largest} ways, {mean:.1} on average', 'up to {largest} branches, {mean:.1} on average'),
('`ramus check` shows where', 'run `ramus check` for details'),
]
P[K + 'stats/charts.rs'] = [
('{}  nine of ten within {}', '{}  p90 {}'), ('How long tools take', 'Tool durations'), ('the middle of all calls, with waiting for permission', 'median of all calls, including permission prompts'),
('the score and what it is made of', 'score and its parts'), ('tokens before each of {} answers{marked}', 'tokens before each of {} replies{marked}'), ('calls, and how many failed', 'calls and failures'),
]
P[K + 'usage.rs'] = [
('/// Count tokens and what they cost: by day, model, project, session, branch', '/// Show tokens and cost by day, model, project, session or branch'),
("""/// Every message counts once, however many records, resumed copies, forks and replays repeat it. Prices
/// are those of the public list; with a subscription the figure is only a comparison.
""", """/// Every message counts once, even if resumed, forked or replayed copies repeat it. Costs use public list
/// prices; with a subscription they are only a comparison.
"""),
('/// One table instead of the overview', '/// Show one table instead of the overview'), ('/// From this time on: a date, a time, or how long ago (`7d`)', '/// Only since: a date, a time, or an age (`7d`)'),
('/// Up to this time; a date counts whole', '/// Only until this time. A date includes the whole day'), ('/// Only models whose name holds this', '/// Only models whose name contains this'),
('/// Write a table of comma-separated values', '/// Write CSV'), ("/// Set the client's own count of each session beside ours", "/// Compare with Claude Code's own totals for each session"),
('/// Days of UTC instead of the local time zone', '/// Use UTC days instead of local days'), ('/// Show the running block of five hours, live', '/// Show the current five-hour block live'),
('/// Whole paths; what they share counts for each', '/// Complete paths. Shared messages count for each'), ('/// Stretches between forks; every message lies on one', '/// Parts between fork points. Every message counts once'),
('no message with tokens was found', 'no messages with usage found'), ('what was asked for is not in that project', 'the scope is not in that project'),
]
P[K + 'usage/page.rs'] = [
('  {} of {}; `--by {word}` shows all', '  {} of {}. Use --by {word} to show all'), ("No session holds a count of the client's own; 2.1.246 and later write one.", "No session has totals of its own; Claude Code 2.1.246 and later write them."),
('The client also counts what it asks beside the conversation, such as titles, and forgets a session that it could not end.', 'Claude Code also counts requests outside of the conversation, such as titles, and loses sessions that it could not end properly.'),
('No price for {}: not in the cost.', 'No price for {}; not included in the cost.'), ('main line', 'main conversation'), ('written for 5 min', 'cache write 5 min'),
]
P[K + 'usage/page/rows.rs'] = [('no time', 'no timestamp')]
P[K + 'usage/watch.rs'] = [('No block is running.', 'No five-hour block is active.'), ('The last message was {last}; the next one begins a block of five hours.', 'The last message was {last}. The next message starts a new block.'), ('at the end if it goes on like this', 'projected')]
P[K + 'check.rs'] = [
('/// Look for damage: bad lines, broken links, wrong ids and dates, lost backups, files due for deletion', '/// Check for damage: bad lines, broken links, wrong ids and dates, lost backups, files due for deletion'),
("""/// Every line of every file is accounted for as known, unknown or damaged. Nothing is changed, not
/// even by `--fix`: it makes a copy of the conversation that Claude Code would resume, in which lost
/// parents follow what stands before them, every tool call has a result, thinking that cannot be
/// sent is left out, every record belongs to one session, ids stand once, and no date lies in the
/// future. The list marks what it can repair. Only a last line that broke off is ended where
/// it stands. Each repair is shown and asked for; `ramus undo` takes it back.
///
/// `--secrets` lists where passwords, keys and tokens are instead, without showing them: by session,
/// file and line. `ramus export --redact` leaves the same ones out.
""", """/// Every line is counted as known, unknown or damaged. Checking changes nothing.
///
/// `--fix` makes a repaired copy of the conversation that Claude Code would resume: records with a
/// missing parent are linked, every tool call has a result, thinking that cannot be sent is left out,
/// all records belong to one session, ids are unique, and no date is in the future. Defects that it can
/// repair are marked. Only an incomplete last line is ended in the original file. Each repair is shown
/// first and can be undone with `ramus undo`.
///
/// `--secrets` lists the location of passwords, keys and tokens without showing them. `ramus export
/// --redact` removes the same ones.
"""),
('/// Exit with 1 when there is a defect or a secret', '/// Exit with code 1 if there are defects or secrets'), ('/// List where passwords, keys and tokens are, masked', '/// List passwords, keys and tokens, masked'),
('/// Leave out thinking without text too: for sessions that the server refuses because of it', '/// Also remove thinking without text, for sessions that the API rejects because of it'),
('nothing is written without `--fix`', '--dry-run and --yes need --fix'), ('  and {} more; `--json` lists them all', '  and {} more. Use --json to list all'), ('No defect.', 'No defects.'),
('`ramus check --fix` offers a repaired copy where a defect is on the conversation that Claude Code resumes; the files here stay as they are.', 'Run `ramus check --fix` to make a repaired copy of conversations with defects. The original files are not changed.'),
('Thinking is withheld in {} of {} blocks: recent clients keep only its signature.', 'Thinking is withheld in {} of {} blocks: recent clients store only a signature.'),
]
P[K + 'secrets.rs'] = [('No secret found in {files}.', 'No secrets found in {files}.'), ('  and {} more; `--json` lists up to {}', '  and {} more. Use --json to list up to {}')]
P[K + 'export.rs'] = [
('/// Write transcripts: one for each path that is unique', '/// Export transcripts, one for each unique path'),
("""/// A path runs from the beginning to the end of one branch, through compactions and through the
/// sessions it continues; what resumed and forked sessions repeat is written once. One path goes to
/// stdout; several need `--out`, where they become a site that opens from disk.
""", """/// A path goes from the first message to the end of one branch, through compactions and earlier sessions.
/// Copies in resumed and forked sessions are exported once. A single path is written to stdout; several
/// paths need `--out` and become a website that you can open from disk.
"""),
('    /// What to write\n', '    /// Output format\n'), ('    /// Which paths\n', '    /// Which paths to export\n'), ('/// The directory to write to', '/// Output directory'), ('/// Tell what the model thought, where it is kept', '/// Include thinking, if it was recorded'),
('/// How much of tool calls\n', '/// How much of tool calls to include\n'), ('/// Only what was active since: a date, a time, or how long ago', '/// Only sessions active since: a date, a time, or an age'),
('/// Leave out passwords, keys, tokens, e-mail addresses and home directories', '/// Remove passwords, keys, tokens, e-mail addresses and home directories'), ('/// Whether to write what agents did, each into a file that its call points to', '/// Whether to export sub-agents, as separate linked files'),
('/// Where pictures go [default: inline for html, files beside md]', '/// Where to put images [default: inline for html, files for md]'), ('/// Write into a directory that holds other files', '/// Write to a directory that contains other files'),
('there is no conversation to export', 'no conversations to export'), ('`ramus conversations` lists what there is', '`ramus conversations` lists conversations'), ('{count} transcripts need a directory', '{count} transcripts need an output directory'),
('give one with `--out DIR`, or one conversation such as `latest@1`', 'use --out DIR, or export one conversation such as `latest@1`'),
('every transcript repeats the beginning that it shares with others: {read} become about {expected}. `--paths active`, or one branch such as `SESSION@2`, takes less', 'transcripts repeat the messages that they share: {read} become about {expected}. Use --paths active, or one branch such as `SESSION@2`, to export less'),
('Redacted: nothing was found', 'Redacted: nothing'), ('choose another directory, or write there all the same with `--force`', 'choose another directory, or use --force'),
]
P[K + 'export/path.rs'] = [('(another way after: {kind})', '(other branch: {kind})')]
P[K + 'goto.rs'] = [
('/// Make a message the one that Claude Code resumes from\n', '/// Make Claude Code resume from another message\n'),
("""/// Adds three lines to the session that every version of Claude Code follows; nothing that is there
/// is changed, and `ramus undo` takes the lines off again. The message is taken with its tool calls
/// and their results. Where adding lines cannot work, ramus says why and offers a fork.
""", """/// Appends three lines to the session, which every version of Claude Code follows. Existing lines are not
/// changed, and `ramus undo` removes the new ones. Tool calls of the message and their results are
/// included. If this cannot work for a message, ramus says why and offers a fork instead.
"""),
('/// A node or a conversation, or a session together with TEXT', '/// A message or conversation, or a session together with TEXT'), ('/// Words of the message, or the beginning of its uuid', '/// Words of the message, or the start of its uuid'),
('/// Make a node of a session the one that Claude Code resumes from', '/// Make Claude Code resume a session from another message'), ("/// The beginning of the node's uuid", '/// The start of the uuid'),
('The session resumes there already; nothing was written.', 'Nothing to do: the session already resumes there.'), ('Cannot go there in this session: ', 'Cannot resume there in this session: '), ('A new session with the same conversation does it:', 'A fork with the same conversation works:'),
('Go there?', 'Resume from there?'), ('no message of the session says {text:?}', 'no message in the session matches {text:?}'), ('`ramus find` looks in all sessions', '`ramus find` searches all sessions'), ('{} messages say {text:?}', '{} messages match {text:?}'), ('name one of them: `ramus goto SESSION UUID`', 'choose one: `ramus goto SESSION UUID`'),
]
P[K + 'fork.rs'] = [
('/// Copy a conversation up to a message into a session of its own', '/// Copy a conversation up to a message into a new session'),
("""/// The session that is forked stays as it is. Abandoned branches, what was said before a compaction
/// and the conversations of sub-agents can be forked alike; their agents, spilled outputs and file
/// backups come along.
""", """/// The original session is not changed. You can fork abandoned branches, messages before a compaction
/// and sub-agents. Sub-agents, spilled outputs and file backups are copied too.
"""),
('/// A node, a conversation, or an agent', '/// A message, conversation or agent'), ('/// Another project: its path, its name or a part of it', '/// Create it in this project: a path, a name, or part of one'), ('/// What the new session is called', '/// Title of the new session'),
('  {set_back} records are dated in the future and set back', '  {set_back} records with a date in the future get a valid date'), ('Make it?', 'Create it?'),
]
P[K + 'merge.rs'] = [
('/// Put several conversations together in a session of its own', '/// Merge several conversations into a new session'),
("""/// What all of them begin with stands once; then come the exchanges that each has of its own, whole:
/// a prompt with everything answered to it. Nothing that is merged is changed. Where a conversation
/// was compacted, its summary is quoted in the place of what it stands for.
///
/// Files that several of them changed with different results are conflicts. Files on disk are never
/// touched: `--on-conflict` decides what the merged conversation says about them at its end.
""", """/// The new session starts with what all conversations have in common, followed by the exchanges that only
/// one of them has: a prompt and everything up to the next prompt. The original sessions are not changed.
/// Where a conversation was compacted, its summary is quoted instead of the messages it replaced.
///
/// A file that several conversations changed with different results is a conflict. Files on disk are not
/// changed; `--on-conflict` decides what a note at the end of the merged conversation says about them.
"""),
('/// The conversations: sessions, nodes or conversations of them', '/// Sessions, messages or conversations'), ('/// How to put them together', '/// How to combine the conversations'),
("/// Exchanges in the order wanted: `2:3` (the third of the second conversation's own), `2:3-5`, `2:3-`, `2` or the first letters of a uuid", '/// Exchanges in the order you want: `2:3` (third exchange of the second conversation), `2:3-5`, `2:3-`, `2`, or the start of a uuid'),
('/// Do not look for what they have in common; they may have nothing', "/// Merge conversations that have nothing in common"), ('/// What holds where several changed a file with different results', '/// Which version of a conflicting file is valid'),
('/// One after the other; the default', '/// One after the other (default)'), ('/// Exchange by exchange, as they were written', '/// Exchange by exchange, by time'), ('/// The exchanges that `--pick` names', '/// Only the exchanges of --pick'), ('/// The first one, then the others in short as one message', '/// The first conversation, then a summary of the others'), ('/// The same, but the command given by `--with` writes that message', '/// Like digest, but the command of --with writes the summary'),
('/// Nothing: do not merge; the default', '/// Stop without merging (default)'), ('/// What the first conversation left', "/// The first conversation's version"), ('/// What the last conversation left', "/// The last conversation's version"), ('/// All of it, to be put together later', '/// All versions, to be combined later'),
('{address:?} is no part of a conversation', '{address:?} is not part of a conversation'), ('Make it?', 'Create it?'), ('ramus sends nothing anywhere by itself', 'ramus itself sends nothing'),
('nothing was written: {files} changed with different results', 'nothing changed: {files} changed with different results'), ('`--on-conflict ours`, `theirs` or `keep-both` says what holds; nothing on disk is touched', 'use --on-conflict ours, theirs or keep-both to choose a version; files on disk are not changed'),
('            both are told at its end; files on disk stay as they are', '            a note at the end lists both versions; files on disk are not changed'),
('tool calls without a result get one that says so', 'tool calls without a result get one that says so'), ('records are dated in the future and set back', 'records with a date in the future get a valid date'), ('in short: ', 'summarized: '), ('not known', 'unknown'),
]
P[K + 'merge/assist.rs'] = [('nothing was written: `{command}` {why}', 'nothing changed: `{command}` {why}'), ('Handing {size} kB to `{command}`…', 'Sending {size} kB to `{command}`…')]
P[K + 'rename.rs'] = [('/// Give a session a title', '/// Rename a session'), ('/// Adds the line that `/rename` of Claude Code adds. That is safe while the session is open.', '/// Appends the same line as `/rename` in Claude Code, which is safe while the session is open.'), ('  is called       ', '  title      '), ('  will be called  ', '  new title  ')]
P[K + 'trash.rs'] = [('/// Move a session away, with its agents and file backups', '/// Move a session to the trash, with its agents and file backups'), ('/// Nothing is deleted: it goes to the trash of ramus, and `ramus undo` brings it back.', '/// Nothing is deleted. `ramus undo` brings the session back.')]
P[K + 'log.rs'] = [('/// Show what ramus did, the newest first', '/// Show operations, newest first'), ('/// Also operations in other Claude directories', '/// Include operations in other Claude directories'), ('/// Give up interrupted operations that can be neither finished nor taken back', '/// Give up interrupted operations that can be neither finished nor undone'), ('/// What they left stays where it is, and is listed.', '/// Their files stay where they are and are listed.'), ('ramus has not written anything here', 'no operations yet'), ('Operation {op} is given up: {why}', 'Gave up operation {op}: {why}'), ('No operation is unfinished.', 'No unfinished operations.')]
P[K + 'undo.rs'] = [
('/// Take back what ramus did last', '/// Undo the last operation'),
("""/// Every byte, mode and date is as it was before. That works while nothing came after the
/// operation; otherwise `--fork` makes a new session of the state before it.
""", """/// Restores every byte, mode and date. If the session has continued since, use `--fork` to make a new
/// session from the state before the operation.
"""),
('/// The number of the operation, as `ramus log` shows it [default: the last one]', '/// The operation number from `ramus log` [default: the last operation]'), ('/// Make a new session of the state before the operation', '/// Make a new session from the state before the operation'),
('/// Bring back an earlier version of a session', '/// Restore an earlier version of a session'),
("""/// Before each operation ramus keeps a copy. What is there now is kept as well. A session in the
/// trash comes back with all its files.
""", """/// ramus backs up a session before each operation, and also the current version before restoring. A
/// session in the trash is restored with all its files.
"""),
('/// As it was before that operation [default: the newest version that is not there now]', '/// Restore the version before this operation [default: the newest version that differs]'),
('Bring it back?', 'Restore it?'), ('what was there before operation {op} is not there any more', 'the state before operation {op} no longer exists'), ('`ramus restore {} --at {op}` brings it back', 'run `ramus restore {} --at {op}` to restore it'), ('`ramus log --repair` gives it up; what it left stays where it is', 'run `ramus log --repair` to give it up; its files stay where they are'),
]
P[K + 'serve.rs'] = [
('/// Open the histories in the browser\n', '/// Browse histories in a web browser\n'),
("""/// A page on this machine: projects, sessions, transcripts with their trees, search, comparison. It
/// listens on the loopback address only. The address it prints lets one browser in; after that it prints
/// the address for the next one. Nothing leaves the machine. Ctrl-C ends it.
""", """/// Starts a web app on this machine: projects, sessions, transcripts, trees, search, comparison. It listens
/// on the loopback address only. Each printed address works for one browser; then the next address is
/// printed. Nothing leaves the machine. Press Ctrl-C to stop.
"""),
('/// The port; the next free one if it is taken', '/// Port to listen on. If it is in use, the next free one'), ("/// Listen on another address than this machine's own", '/// Listen on this address instead of loopback'), ('/// Let pages that are open go on after a restart: keep their token in a file that only you can read', '/// Keep open tabs working after a restart. Stores the token in a private file'), ('/// Answer to this name, too, such as that of this machine in its network', "/// Also accept this host name, for example this machine's name in the network"),
('whoever asks must name this machine, and it is not known how', 'the host name of this machine is unknown'), ('`--host NAME` gives the name or address that others open in their browser', 'use --host NAME with the name or address that others open'), ('others on the network can reach this; whoever has the whole address can read everything.', 'the server is reachable from the network. Anyone with the full address can read everything.'),
('Open that address in a browser; Ctrl-C ends the server.', 'Open this address in a browser. Press Ctrl-C to stop.'), ('There is no browser to be found here; open the address yourself.', 'No browser found. Open the address yourself.'), ('be careful: whoever has the address can read everything', 'careful: anyone with the address can read everything'),
]
P[K + 'mcp.rs'] = [('/// Serve past conversations to an agent, as an MCP server over stdio', '/// Run an MCP server (stdio) that gives agents access to past conversations'),
("""/// Tools to search, list, read, compare and count. Nothing can be changed unless `--allow-write` is given.
/// Answers are short and cut to what the agent asks for, with a cursor that continues them.
""", """/// Offers tools to search, list, read, compare and count. They change nothing unless `--allow-write` is
/// given. Answers are limited to the size the agent asks for, with a cursor for the rest.
"""), ('/// Offer `goto` and `fork` too, as plans that a second call confirms', '/// Also offer `goto` and `fork`, as plans that need a second call to confirm')]
P[K + 'guide.rs'] = [('/// Print one page for an agent: how to use ramus well', '/// Print a short guide for coding agents')]
P[K + 'cache.rs'] = [('/// See, build or clear what ramus remembers to be faster', '/// Show, build or clear the cache'),
("""/// Everything works without it, and with it nothing is answered otherwise: what is remembered of a file
/// counts only while the file has not changed. It is made in passing; `build` makes all of it now.
""", """/// The cache only makes ramus faster. An entry is used only while its file is unchanged, so answers are the
/// same without it. It fills as you use ramus; `build` fills it now.
"""), ('/// Say where it is and how large', '/// Show the location and size'), ('/// Read everything that is not remembered yet', '/// Read all files that are not cached yet'), ('/// Forget everything', '/// Delete the cache'), ('another ramus is at work on it', 'another ramus process is building the cache'), ('nothing is remembered (--no-cache)', 'the cache is off (--no-cache)')]
P[K + 'demo.rs'] = [('/// Write a sample history and say how to look at it', '/// Write a sample history to try ramus on'), ('Your own history is not touched.', 'Your own history is not changed.'), ('look at it with `ramus --claude-dir {dir} sessions`, or give another directory', 'use it with `ramus --claude-dir {dir} sessions`, or choose another directory'), ('Wrote a sample history to {dir}. Look at it:', 'Wrote a sample history to {dir}. Try:'), ('what there is in all', 'show statistics')]
P[K + 'completions.rs'] = [('/// Print the completions of a shell', '/// Print shell completions')]
P[K + 'man.rs'] = [('/// Print the manual page, or write all of them', '/// Print the manual page, or write all pages to a directory')]
P[K + 'home.rs'] = [('`ramus sessions` lists all, `ramus show` reads this one, `ramus --help` tells the rest.', '`ramus sessions` lists all sessions, `ramus show` shows this one, `ramus --help` lists all commands.'), ('There is no Claude Code history in your home directory yet.', 'No Claude Code history found in your home directory.'), ('Write a sample history to ./ramus-demo and look at it?', 'Write a sample history to ./ramus-demo and open it?'), ('`ramus demo` writes a sample history and says how to look at it.', 'Run `ramus demo` to create a sample history.')]
P[K + 'fix.rs'] = [('Session {id} was repaired before: `ramus show {}`', 'Session {id} was repaired already: `ramus show {}`'), ('Left as it is.', 'Not changed.'), ('There is nothing to repair.', 'Nothing to repair.'), ('the last line broke off: it is ended, so that the next one is not lost with it', 'the last line is incomplete: it gets a newline, so that the next record is not lost'), ('; the old one stays as it is', '; the original is not changed')]
P[C + 'error.rs'] = [('`--port` takes another port, `--listen` another address', 'use --port or --listen to choose another address'), ('`--force` writes into it all the same', 'use --force to write to it anyway'), ('give the directory that holds `projects` with `--claude-dir DIR`', 'use --claude-dir DIR with the directory that contains `projects`'), ('no history yet? `ramus demo` writes a sample to look at', 'no history yet? Run `ramus demo` to create a sample')]
P[C + 'mcp.rs'] = [('list_projects, list_sessions and list_conversations tell what there is', 'use list_projects, list_sessions and list_conversations to see what exists'), ('ramus could not finish this; that is a defect of ramus', 'internal error in ramus'), ('{:?} is no address of a transcript; they begin with {}', 'invalid transcript address {:?}; it must begin with {}'), ('An `abandoned` branch is one the person went back from.', 'An `abandoned` branch is one that the user left.')]
P[C + 'mcp/page.rs'] = [('{cursor:?} is no cursor', 'invalid cursor {cursor:?}'), ('give the `next_cursor` of the answer before, or none', 'use the `next_cursor` of the previous answer, or leave it out')]
P[C + 'mcp/resources.rs'] = [('{cursor:?} is no cursor of this list', 'invalid cursor {cursor:?} for this list'), ('A long one ends with the name of its rest', 'A long one ends with the address of the rest')]
P[C + 'mcp/tools.rs'] = [
('/// What to look for; all words must be in one message. Quotes keep words together', '/// Text to search for. A message must contain all words; put phrases in quotes'), ('/// Only what this one said: user, assistant, tool, system', '/// Only messages from this role: user, assistant, tool, system'), ('/// Only from here on: a date, or how long ago (`7d`)', '/// Only since: a date or an age (`7d`)'), ('/// Only up to here\n', '/// Only until this time\n'), ('/// How long the answer may be; 2000 if not given', '/// Maximum length of the answer in tokens (default 2000)'), ('/// Where an earlier answer stopped', '/// Cursor from an earlier answer, to continue it'),
('/// Tool calls with all of their input and output', '/// Include full input and output of tool calls'), ('/// What the model thought, where it was kept', '/// Include thinking, if it was recorded'), ('/// Only so many turns from the end of the path; with the address of a hit, what led to it', '/// Only this many turns from the end; with the address of a hit, the turns before it'), ('/// Only what lies near this node', '/// Only rows near this message'), ('/// The other one\n', '/// The second conversation\n'), ('/// The numbers alone\n', '/// Only totals\n'), ('the message at which to look', 'show the files as of this message'), ('/// One file to print, by its path or the end of it; all are listed if not given', '/// A file to print: its path or the end of it. Without it, all files are listed'), ('everything if not given', 'default: everything'),
('/// Search all past conversations, every branch of them. Each line: address, branch status, who, when, words around the match; `prompt-only` means that the session was deleted.', '/// Search all past conversations on every branch. Each line has the address, branch status, role, time and the text around the match. `prompt-only`: the session was deleted.'), ('/// List sessions, the most recently active first: id, title, size, when, where.', '/// List sessions, most recently active first: id, title, size, time, project.'), ('/// Draw a session as a tree: forks, branches, agents. The letters at the end of a row go behind the session: SESSION:LETTERS.', '/// Draw the tree of a session: fork points, branches, agents. Use the id at the end of a row as an address: SESSION:ID.'), ('/// Compare two conversations: what each said, did to files, ran and cost since they parted.', '/// Compare two conversations: messages, files, commands and cost since they diverged.'), ('/// List the files as they were at a message, or print one of them, with where its content is known from.', '/// List files as of a message, or print one, with the source of its content.'), ('/// Count tokens and cost, in all or by day, model, project, session or branch; abandoned branches and agents apart.', '/// Show tokens and cost, in total or by day, model, project, session or branch, with abandoned branches and agents separately.'), ('{} found, the newest first', '{} found, newest first'),
]
P[C + 'mcp/write.rs'] = [('there is no plan {:?}', 'no plan {:?}'), ('Nothing to do, it resumes there already', 'Nothing to do: it already resumes there'), ('the session has changed since this was planned', 'the session changed after the plan was made'), ('operation {op}; `ramus undo {op}` takes it back', 'operation {op}; run `ramus undo {op}` to undo it')]
P[C + 'perform.rs'] = [
('nothing was written: there is nobody to ask', 'Nothing changed: no terminal to confirm on'), ('`--yes` does it without asking, `--dry-run` shows what would be written', 'use --yes to apply without asking, or --dry-run to see what would be written'), ('nothing was written"', 'nothing changed"'), ('operation {op} is done, but its answer cannot be printed: {reason:#}', 'operation {op} is done, but the result cannot be printed: {reason:#}'), ('`ramus undo` takes it back.', 'Run `ramus undo` to undo it.'), ('Go on in ', 'Continue in '),
('  brings back {} and adds what is there now', '  restores {} and appends the current lines'), ('  takes {bytes} bytes off {}', '  removes {bytes} bytes from {}'), ('  puts back {}: {lines} lines, {size} bytes', '  restores {}: {lines} lines, {size} bytes'), (', in place of {before} bytes that are kept', ', replacing {before} bytes that are backed up'), (', which is gone now', ', which does not exist now'),
('end it there first; Claude Code would take the change back when it ends (`--force` does it all the same)', 'close it there first, or Claude Code will overwrite the change when it ends (use --force to continue anyway)'), ('wait until it rests, or end the client that writes it (`--force` does it all the same)', 'wait until it is idle, or close the client that writes it (use --force to continue anyway)'), ('nothing was written; run the command again to plan anew', 'nothing changed; run the command again'), ('name the file or directory that the link leads to', 'use the path that the link points to'), ('nothing was written; let its owner do it', 'nothing changed; only its owner can do this'), ('nothing was written; close it there first', 'nothing changed; close it there first'), ('`ramus log --repair` gives that operation up; what it left stays where it is', 'run `ramus log --repair` to give that operation up; its files stay where they are'), ('use the newer ramus, or another directory by `RAMUS_STATE_DIR`', 'use the newer ramus, or set RAMUS_STATE_DIR to another directory'),
]
P[C + 'refusal.rs'] = [('`ramus projects` lists them all; a directory on disk does, too', '`ramus projects` lists all projects; a directory on disk works too'), ('`ramus show SESSION` lists messages to go to', '`ramus show SESSION` shows its messages'), ('`--no-base` merges what has nothing in common', 'use --no-base to merge conversations without a common part'), ('one of them holds the other: there is nothing to merge', 'one contains the other, so there is nothing to merge'), ('`ramus fork AGENT` makes it a conversation that can be merged', 'run `ramus fork AGENT` first to make it a conversation'), ('`ramus log` shows what was done', '`ramus log` lists operations'), ('`ramus undo {op} --fork` makes a new session of the state before it', 'use `ramus undo {op} --fork` to make a new session from the state before it'), ('nothing was changed', 'nothing changed'), ('there is nothing of it to take back', 'it has nothing to undo'), ('ramus keeps a version before each of its operations; `ramus log` lists them', 'ramus makes a backup before each operation; `ramus log` lists operations')]
P[C + 'when.rs'] = [('{text:?} is no time', 'invalid time {text:?}'), ('give a date (`2026-01-31`), a time (`2026-01-31T10:00:00Z`), or how long ago', 'use a date (`2026-01-31`), a time (`2026-01-31T10:00:00Z`), or an age')]
A = 'crates/ramus-app/src/'
P[A + 'address.rs'] = [('there is no session yet', 'no sessions yet'), ('no project is or contains {0:?}', 'no project matches {0:?}'), ('there is no history of the directory {0:?}', 'no history for the directory {0:?}'), ('there is no conversation {n}; the session has {count}', 'no conversation {n}; the session has {count}'), ('no node of the session begins with {0:?}', 'no message in the session has a uuid starting with {0:?}'), ('there is no conversation in this session', 'this session has no conversations'), ('{:?} could be {} {kind}:', '{:?} matches {} {kind}:'), ('`ramus sessions` lists ids and titles; the first 4 letters of an id are enough', '`ramus sessions` lists ids and titles; 4 characters of an id are enough'), ('`ramus demo` writes a sample to look at', 'run `ramus demo` to create a sample history'), ('give more letters, or the file itself as it is listed here', 'use more characters, or the file path from this list'), ('give the id instead of the title', 'use the id instead of the title')]
P[A + 'change.rs'] = [('The session is open in Claude Code (process {pid}); close it there first.', 'The session is open in Claude Code (process {pid}). Close it there first.'), ('The session has {more} bytes more by now. They are kept; undo brings them back.', 'The session has grown by {more} bytes since. They are kept; undo restores them.'), ('the record is no part of a conversation', 'the record is not part of a conversation'), ('no project is or contains {0:?}', 'no project matches {0:?}'), ('"go there"', '"resume there"')]
P[A + 'prices.rs'] = [('there is no file {}', 'no such file: {}')]
T = 'crates/ramus-tui/src/'
P[T + 'app.rs'] = [('This could not be done', 'This failed')]
P[T + 'keys.rs'] = [
('find in all sessions, on every branch', 'search all sessions and branches'), ('in the list: put projects of one git repository together', 'in the list: group projects by git repository'), ('draw the screen again', 'redraw the screen'), ('suspend; `fg` in the shell comes back', 'suspend (resume with `fg`)'), ('this list of keys', 'show all keys'), ('go to the next pane', 'next pane'), ('"a page down"', '"page down"'), ('"a page up"', '"page up"'), ('at a fork: the next way; in a list: open a row', 'at a fork point: next branch; in a list: expand'), ('at a fork: the way before; in a list: close a row', 'at a fork point: previous branch; in a list: collapse'), ('open, or close again', 'open or close'), ('to the next prompt', 'next prompt'), ('to the prompt before', 'previous prompt'), ('to the next fork', 'next fork point'), ('to the fork before', 'previous fork point'), ('show or fold all tool calls', 'expand or collapse all tool calls'), ('show or fold thinking', 'show or hide thinking'), ('open or close the agents of this message, in place', 'expand or collapse the agents of this message'), ('list all agents; open one as a pane', 'list all agents'), ('all branches of this session', 'list all branches of this session'), ('the tree; its cursor moves the transcript too', 'show the tree'), ('search in this session', 'search this session'), ('to the next hit', 'next match'), ('to the hit before', 'previous match'), ('mark this branch; on a second one, compare the two', 'mark this branch, then another one to compare'), ('go to: resume here from now on', 'go to: make Claude Code resume here'), ('fork: a new session up to here', 'fork: copy up to here into a new session'), ('merge the marked branch and this one into a new session', 'merge the marked branch with this one into a new session'), ('undo what was done last', 'undo the last operation'), ('live: follow the end as it is written', 'follow live'),
]
P[T + 'panes/branches.rs'] = [('{} · Enter reads, d marks to compare', '{} · Enter opens, d marks to compare')]
P[T + 'panes/help.rs'] = [('In the list of sessions, letters filter it. Everywhere else they do this:', 'In the session list, typing filters. Everywhere else:'), ('Where no text is typed', 'Everywhere except in text input'), ('go there; once more: open; at a fork: take that way', 'select; again: open; at a fork point: switch branch'), ('scroll what is under it', 'scroll')]
P[T + 'panes/list/gone.rs'] = [('Claude Code deleted this session; only these prompts are left.', 'Claude Code deleted this session. Only its prompts are left.')]
P[T + 'panes/list/view.rs'] = [('no sessions here', 'no sessions'), ('nothing fits; Esc shows all again', 'no matches; press Esc to show all')]
P[T + 'panes/results.rs'] = [('nothing found', 'no matches'), ('all words must occur in one message; fewer find more', 'a message must contain all words; try fewer')]
P[T + 'panes/transcript/search.rs'] = [('looking for “{}” …', 'searching “{}” …'), ('“{}” is not on this branch', 'no match for “{}” on this branch')]
P[T + 'panes/transcript/view.rs'] = [('nobody says anything in this session', 'this session has no messages')]
P[T + 'panes/welcome.rs'] = [('There is no history to show yet: ', 'No history found: '), ('Claude Code writes one while you talk to it. If yours lies elsewhere, start ramus with ', 'Claude Code creates one when you use it. If yours is somewhere else, start ramus with '), (', the directory that holds ', ', the directory that contains '), (' write a sample history to ./ramus-demo and look at it', ' write a sample history to ./ramus-demo and open it')]
P[T + 'update.rs'] = [('this session is not on the disk any more', 'this session no longer exists'), ('this session lies at {} now', 'this session moved to {}'), ('no, leave everything as it is', 'no, change nothing')]
P[T + 'update/reading.rs'] = [('no more forks that way', 'no more fork points in this direction'), ('there is no fork on the screen; ( and ) go to forks', 'no fork point on screen; use ( and ) to find one'), ('looking for the agents …', 'loading agents …'), ('putting files together …', 'loading files …'), ('this message started no agent; A lists all of them', 'this message started no agents; A lists all agents'), ('marked {address}; d on another branch compares the two', 'marked {address}; press d on another branch to compare'), ('an agent is no conversation of its own; F makes one of it', 'an agent is not a conversation; press F to fork it into one'), ('mark the other branch first: d', 'mark another branch first with d'), ('what this conversation left holds', "use this conversation's version"), ('what the marked one left holds', "use the marked conversation's version"), ('all of it, to be put together later', 'keep all versions'), ('Merge with the marked one; where both changed a file', 'Merge with the marked branch. If both changed a file:')]
P[T + 'view.rs'] = [(' find in all sessions: ', ' search all sessions: '), ('too small', 'terminal too small')]
P[T + 'work/follow.rs'] = [('the file was rewritten, and is read anew', 'the file was rewritten; reading it again')]
P[T + 'work/render.rs'] = [('{all} ways', '{all} branches'), ('    … {} more; b lists all branches', '    … {} more; press b to list all branches')]
W = 'crates/ramus-web/src/'
P[W + 'api.rs'] = [('thing to ask for', 'endpoint')]
P[W + 'api/act.rs'] = [('there is no such action', 'unknown action'), ('bring the session back as it was before that, or fork from an earlier message', 'restore the session to the state before it, or fork from an earlier message'), ('take along 1 file backup or output', 'copy 1 file backup or output'), ('take along {n} file backups and outputs', 'copy {n} file backups and outputs'), ('take along {}', 'copy {}'), ('add {} to the end of {}', 'append {} to {}'), ('write the new file {}', 'create {}'), ('put an earlier content back into {}', 'restore an earlier version of {}'), ("move {} to ramus's own trash", "move {} to ramus's trash"), ('bring {} back, and add the lines that are there now', 'restore {}, and append the current lines'), ('move {} back to its place', 'move {} back'), ('cut {} back to {} bytes', 'reduce {} to {} bytes'), ('look at it again, and plan again', 'reload the session and try again')]
P[W + 'api/act/files.rs'] = [('the session ran in {}, which is not here', 'the working directory {} does not exist here'), ('`ramus files --into DIR` in a terminal writes them anywhere', 'use `ramus files --into DIR` in a terminal to write them elsewhere'), ('the files are as they were then', 'all files are unchanged'), ('nothing is to be done', 'nothing to do'), ('what it held is not known', 'content unknown'), ('it lies outside of the project', 'outside of the project'), ('it is a link, or behind one', 'it is a symbolic link, or behind one'), ('something else is in its place', 'the path is not a regular file')]
P[W + 'api/act/merge.rs'] = [('a merge takes two conversations or more', 'a merge needs at least two conversations'), ('there is no such way to merge', 'unknown merge strategy'), ('there is no such answer to a conflict', 'unknown conflict choice'), ('one of them holds the other: there is nothing to merge', 'one contains the other, so there is nothing to merge'), ('`ramus merge --no-base` in a terminal merges what has nothing in common', 'use `ramus merge --no-base` in a terminal to merge conversations without a common part')]
P[W + 'api/enter.rs'] = [('this address was used before, or belongs to another start of the server', 'this address was already used, or is from an earlier server'), ('open the address that `ramus serve` printed last in its terminal', 'open the last address that `ramus serve` printed'), ('a browser was let in; for another one open {address}', 'a browser connected; for another one open {address}')]
P[W + 'guard.rs'] = [('the token of this server is missing or not valid any more', 'the access token is missing or no longer valid'), ('only GET and POST are answered', 'only GET and POST are allowed'), ('open the address that `ramus serve` printed last in its terminal', 'open the last address that `ramus serve` printed'), ('the address holds `..`', 'the address contains `..`')]
P[W + 'api/export.rs'] = [('there is no such format; there are md, html, json, jsonl and txt', 'unknown format; use md, html, json, jsonl or txt')]
P[W + 'api/files.rs'] = [('It is the same.', 'Identical.'), ('There was no such file then.', 'The file did not exist.'), ('Nobody wrote down what it held.', 'Its content was not recorded.'), ('Its backup is gone or too large.', 'Its backup no longer exists or is too large.'), ('It is not text.', 'Not a text file.')]
P[W + 'api/find.rs'] = [('there is no such role', 'unknown role'), ('a day is written as 2026-03-31', 'use the form 2026-03-31 for a day')]
P[W + 'error.rs'] = [('there is no such {what}', 'no such {what}'), ('it may have been deleted meanwhile; go back to the overview', 'it may have been deleted; go back to the overview'), ('{} projects have a session of this id', '{} projects have a session with this id')]
P[W + 'view.rs'] = [('Interrupted: a tool was refused', 'Interrupted: tool call rejected'), ('{pre} tokens before', '{pre} tokens before compaction'), ('changed meanwhile', 'changed on disk'), ('a record of the unknown type {kind}', 'unknown record type {kind}'), ('while it worked', 'queued'), ('{} took over from {}', 'switched from {1} to {0}')]
P[W + 'work.rs'] = [('this should not have happened: {error}', 'internal error: {error}'), ('please report it; the other pages still work', 'please report it'), ('the server has too much to do right now', 'the server is busy'), ('try again in a moment', 'try again in a moment')]
S = 'crates/ramus-store/src/'
P[S + 'apply.rs'] = [('{} lies outside of the Claude directory, behind a link', '{} is outside of the Claude directory, behind a symbolic link'), ('belongs to another user, so it cannot be put back exactly', 'belongs to another user, so it could not be restored exactly'), ('{} is there already', '{} already exists'), ('the new content of {} was not written; the change was taken back', 'the new content of {} could not be written; the change was rolled back'), ('the session would not go on where it should; the change was taken back', 'Claude Code would not resume where planned; the change was rolled back'), ('{}; taking it back failed as well ({}), the next ramus command tries again', '{}; rolling back failed too ({}), the next ramus command tries again'), ('it is done, but the log could not be completed yet: {}', 'the operation is done, but the log is not complete yet: {}'), ('{bytes} bytes of ramus may be in {}', '{bytes} bytes written by ramus may be in {}')]
P[S + 'apply/recover.rs'] = [('earlier operations could not be looked at: {}', 'earlier operations could not be checked: {}'), ('"taken back"', '"rolled back"'), ('an older ramus was interrupted in it; its files are left as they are', 'an older ramus was interrupted; its files are not changed'), ('another program saved {} after it was moved away; that version is {}', 'another program saved {} after it was moved to the trash; that version is {}')]
P[S + 'apply/swap.rs'] = [('another program changed {0} meanwhile, and that version stays; {0} as it was before is {1}', 'another program changed {0} in the meantime and that version is kept; the earlier version is {1}'), ('{bytes} bytes that another program added to {name} were kept in it', '{bytes} bytes that another program appended to {name} were kept'), ('{} as it was before is {}', 'the earlier version of {} is {}')]
P[S + 'apply/take_back.rs'] = [('another program wrote to {}; it stays', 'another program wrote to {}, so it was not removed'), ('what another program wrote to {file} is kept at {at}', 'what another program wrote to {file} is now at {at}'), ('what another program wrote to {} is kept at {}', 'what another program wrote to {} is now at {}'), ('somebody made {0} again, and it stays; {0} as it was before is {1}', '{0} was created again and is kept; the earlier version is {1}'), ('may hold a part of a line that ramus began to write; `ramus check` shows it', 'may contain part of a line that ramus began to write; run `ramus check`')]
P[S + 'export.rs'] = [('{} holds files that are not an export of ramus', '{} contains files that are not from a ramus export')]
P[S + 'index/sketches.rs'] = [('the sketch is damaged', 'the gram filter is damaged')]
P[S + 'plan.rs'] = [('1 message that is read before it is', '1 message before it is'), ('{many} messages that are read before it are', '{many} messages before it are'), ('{words} not part of what Claude Code resumes there', '{words} not loaded when Claude Code resumes there'), ('it was changed since', 'it has changed')]
P[S + 'plan/fix.rs'] = [('ends a line that broke off', 'ends an incomplete line')]
P[S + 'tree.rs'] = [('{} leads out of the directory through a link', '{} leads out of the directory through a symbolic link'), ('{0:?} is no place in a directory', 'invalid path {0:?}')]
P[S + 'undo.rs'] = [('there is nothing to undo', 'nothing to undo'), ('there is no operation {0}', 'no operation {0}'), ('operation {op} was undone already, by operation {by}', 'operation {op} was already undone by operation {by}'), ('operation {0} was not carried out', 'operation {0} was not completed'), ('operation {0} was an undo itself', 'operation {0} is an undo and cannot be undone'), ('{} has gone on since operation {op}', '{} has changed since operation {op}'), ('{} was made again since operation {op}; the one from before is {}', '{} was created again since operation {op}; the earlier version is {}'), ('what operation {op} kept of {} is not there any more', 'the backup of {} from operation {op} no longer exists'), ('no version of session {0} was kept', 'no backup of session {0} exists')]
R = 'crates/ramus-core/src/'
P[R + 'edit/refusal.rs'] = [('the record is no part of a conversation', 'the record is not part of a conversation'), ("the message is a sub-agent's, and a session goes on in its main line only", 'the message belongs to a sub-agent, and a session can only resume in its main conversation'), ('the compaction in line {line} hides what was said before it from the client', 'Claude Code does not load messages before the compaction in line {line}'), ('in a file of this size ({} MB) the client does not look before the compaction in line {line}', 'in a file of this size ({} MB) Claude Code does not read before the compaction in line {line}'), ('line {line} has another version in line {other}, and the client sees only that one', 'Claude Code only sees the other version of line {line}, in line {other}'), ('line {line} is dated in the future ({time}), and the client that wrote this session goes on at the newest date', 'line {line} is dated in the future ({time}), and the client that wrote this session resumes at the newest date'), ('the client would go on somewhere else all the same', 'Claude Code would still resume somewhere else'), ('there is no message to go on from', 'there is no message to resume from'), ('conversation {n} does not begin with what one before it begins with', 'conversation {n} has nothing in common with an earlier one'), ('conversation {n} has nothing that the others have not', 'conversation {n} adds nothing to the others'), ('there is no exchange {pick}', 'no exchange {pick}'), ('{pick} could be {found} exchanges', '{pick} matches {found} exchanges')]
P[R + 'edit/merge/pick.rs'] = [('{0:?} names no exchange; write `2:3`, `2:3-5`, `2` or the first letters of a uuid', 'invalid exchange {0:?}; use `2:3`, `2:3-5`, `2`, or the start of a uuid')]
P[R + 'edit/fix.rs'] = [('follows what stands before it in the file', 'linked to the record before it'), ('"gets a line of its own"', '"moved to its own line"'), ('id that was used before', 'duplicate id'), ('"stands once"', '"made unique"'), ('is set back', 'gets a valid date')]
P[R + 'pull_request.rs'] = [('{text:?} is no pull request: use 42, owner/name#42 or its URL', 'invalid pull request {text:?}; use 42, owner/name#42 or its URL')]
P[R + 'query.rs'] = [('at most {LONGEST} are allowed: look for a part of it', 'at most {LONGEST} are allowed; search for a part of it'), ('at most {WORDS} are allowed: put words that stand together in quotes', 'at most {WORDS} are allowed; put phrases in quotes'), ('there is nothing to look for', 'the search text is empty')]
P[R + 'query/term.rs'] = [('a word of {} bytes is too long to look for', 'a word of {} bytes is too long to search for')]
P[R + 'retention.rs'] = [('{what} will be deleted by Claude Code within {} days{overdue}. It keeps sessions for {days} days, {source}; `cleanupPeriodDays` in settings.json changes that.', 'Claude Code will delete {what} within {} days{overdue}. It keeps sessions for {days} days ({source}); change `cleanupPeriodDays` in settings.json to keep them longer.')]
P[R + 'turn/aside.rs'] = [('{to} took over from {from}', 'switched from {from} to {to}'), ('{tools} tool results taken out of view, {saved} tokens saved', '{tools} tool results removed from the context, {saved} tokens saved')]
P[R + 'defect.rs'] = [('not JSON from byte {column} of the line on', 'invalid JSON at byte {column} of the line'), ('the last line is not whole: still being written, or cut', 'the last line is incomplete: still being written, or cut off'), ('the parent link closes a cycle and was cut', 'the parent link forms a cycle and is ignored'), ('two clients wrote here at once, at least until line {until}; `ramus merge` puts both branches on one line', 'two clients wrote at the same time, at least until line {until}; use `ramus merge` to combine both branches')]
V = 'web/src/'
P[V + 'act.tsx'] = [('Put the files back', 'Restore the files'), ('Put them back', 'Restore them'), ('all of it, to be put together later', 'all versions, to be combined later'), ('It is no text.', 'Not a text file.'), ('>How<', '>Strategy<')]
P[V + 'help.tsx'] = [('other way at this fork', 'switch branch at this fork point'), ('this sheet', 'show all keys'), ('next, previous fork', 'next, previous fork point')]
P[V + 'main.tsx'] = [('There is no such page', 'Page not found'), ('Reading the histories…', 'Loading…')]
P[V + 'tree.tsx'] = [('`${row.fork}, ${several(row.ways, "way")}${row.files ?', '`${row.fork}: ${several(row.ways, "branch", "branches")}${row.files ?')]
P[V + 'turn.tsx'] = [('Next way', 'Next branch'), ('Previous way', 'Previous branch'), ('What to do with this message', 'Actions for this message'), ('What the agent did', 'Agent transcript'), ('"this way"', '"this branch"')]
P[V + 'views/compare.tsx'] = [('cost by the public list', 'cost at list prices'), ('>Numbers<', '>Totals<'), ('"the same"', '"same content"')]
P[V + 'views/details.tsx'] = [('Where Claude Code would resume', 'Resume point'), ('Go there', 'Show it')]
P[V + 'views/files.tsx'] = [('its backup was made too late', 'the backup was made too late'), ('not there yet', 'did not exist yet')]
P[V + 'views/overview.tsx'] = [('About to be deleted', 'Due for deletion')]
P[V + 'views/search.tsx'] = [('What to look for', 'Search text'), ('Said by ', 'From ')]
P[V + 'views/session.tsx'] = [('Read the one that Claude Code would resume', 'Show the conversation that Claude Code resumes')]
P[V + 'views/session/menus.tsx'] = [('Go on from here', 'Resume from here'), ('For this start of the server', 'Valid until the server restarts')]
P[V + 'views/session/keys.ts'] = [('There are no more above', 'No more above'), ('There are no more below', 'No more below'), ('There are no more failures that way', 'No more failures in this direction'), ('There is no fork here', 'No fork point here'), ('There is nothing to do with this', 'No actions available')]
P[V + 'views/usage.tsx'] = [('>Answers<', '>Replies<')]

if '--md' in sys.argv:
    with open('PHRASES.md', 'w') as out:
        out.write('# User-visible phrases to change\n\nGenerated from PHRASES.py, which applies them.\n')
        for file, pairs in P.items():
            out.write(f'\n## {file}\n\n| old | new |\n|---|---|\n')
            for old, new in pairs:
                cell = lambda t: t.strip().replace('|', '\\|').replace('\n', '<br>')
                if old != new: out.write(f'| {cell(old)} | {cell(new)} |\n')
else:
    done = missing = 0
    for file, pairs in P.items():
        try: text = open(file, encoding='utf8').read()
        except FileNotFoundError:
            print('no file', file); missing += len(pairs); continue
        for old, new in pairs:
            if old == new: continue
            if old in text: text = text.replace(old, new); done += 1
            else: print('missing', file, repr(old[:90])); missing += 1
        if '--write' in sys.argv: open(file, 'w', encoding='utf8').write(text)
    print(done, 'found,', missing, 'missing')
