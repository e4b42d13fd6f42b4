// One turn of a transcript: role, text, tool calls.

import { memo } from "./memo";
import { useLayoutEffect, useState } from "preact/hooks";
import { Agent } from "./agent";
import { type Call, type Piece, type ReplyUsage, type View, type Way, get, query } from "./api";
import { useGet } from "./hooks";
import { Html } from "./html";
import { Failure, Time } from "./parts";
import { Picture } from "./picture";
import { AnnotationLine, useAnnotation } from "./annotations";
import { Icon, type IconName } from "./icons";
import { useSetting } from "./settings";
import {
  bytes,
  count,
  distinct,
  duration,
  middle,
  model,
  replyCost,
  several,
  tokens,
  tookText,
  statName,
  unmarked,
  whenSent,
} from "./words";

export interface Where {
  session: string;
  leaf: string;
}

/** Expanded parts: they stay expanded when they are rendered again or revisited. */
const unfolded = new Set<string>();
const MOST_UNFOLDED = 2000;

/** The key of a part of a message. It has the uuid and not the leaf, which changes as a path grows. */
export const partName = (session: string, view: { uuid?: string | null; at: number; i: number }, n: number) =>
  `${session}|${view.uuid ?? view.at}|${view.i}|${n}`;

const drawn = new Set<(name: string) => void>();

/** Expands a call, even one that is not rendered yet; `whole`: without omissions. */
export function unfold(name: string, whole = false): void {
  for (const one of whole ? [`${name}|whole`, name] : [name]) {
    unfolded.add(one);
    drawn.forEach((hear) => hear(one));
  }
}

function useUnfolded(name: string): [boolean, (open: boolean) => void] {
  const [, draw] = useState(0);
  // A layout effect, because a call expanded between rendering and subscribing would stay collapsed.
  useLayoutEffect(() => {
    const hear = (other: string) => {
      if (other === name) draw((n) => n + 1);
    };
    drawn.add(hear);
    return () => void drawn.delete(hear);
  }, [name]);
  const set = (open: boolean) => {
    if (open === unfolded.has(name)) return;
    if (!open) unfolded.delete(name);
    else {
      // The oldest goes.
      if (unfolded.size >= MOST_UNFOLDED)
        for (const first of unfolded) {
          unfolded.delete(first);
          break;
        }
      unfolded.add(name);
    }
    draw((n) => n + 1);
  };
  return [unfolded.has(name), set];
}
export interface Doing {
  onTurn?: (view: View, anchor: HTMLElement) => void;
  onCopy?: (view: View) => void;
  onWay?: (way: Way, at: number) => void;
}

const SIGNS: Record<string, IconName> = {
  run: "terminal",
  read: "fileText",
  edit: "edit",
  write: "filePlus",
  grep: "search",
  glob: "glob",
  agent: "bot",
  todos: "listChecks",
  fetch: "fetch",
  search: "search",
  ask: "circleQuestion",
  plan: "map",
  skill: "sparkles",
  tell: "mail",
  mcp: "plug",
  other: "wrench",
};
const WHO: Record<string, string> = {
  prompt: "You",
  task: "Task",
  answer: "Claude",
  command: "Command",
  compaction: "Compacted",
};

export const Turn = memo(function Turn({
  view,
  where,
  doing,
  goesOn,
  since,
}: {
  view: View;
  where: Where;
  doing?: Doing;
  goesOn?: boolean;
  /** When the message before it ended. */
  since?: string;
}) {
  const annotation = useAnnotation(where.session, view.uuid ?? null);
  const [whole, setWhole] = useState<{ of: View; all: View }>();
  // Messages written meanwhile are not in it.
  const shown = whole?.of === view ? whole.all : view;
  const all = () =>
    void get<View>(
      `sessions/${encodeURIComponent(where.session)}/turn${query({ leaf: where.leaf, at: view.at, i: view.i })}`,
    ).then((all) => setWhole({ of: view, all }));
  if (view.fork) return <Fork view={view} doing={doing} />;
  const who = WHO[view.kind];
  return (
    <article class={`turn ${view.kind}${goesOn ? " goes-on" : ""}`} aria-label={who ?? view.kind}>
      {who && (
        <header>
          <span class="who">{who}</span>
          {view.detail && (
            <span class="detail" title={view.detail}>
              {view.kind === "answer" ? middle(model(view.detail)) : view.detail}
            </span>
          )}
          {view.recovered && <span class="detail bad">from a damaged line</span>}
          <span class="grow" />
          <Time at={view.timestamp} sent />
          {doing?.onCopy && COPIED.has(view.kind) && (
            <button
              type="button"
              class="quiet copy-message"
              aria-label="Copy this message"
              title="Copy this message"
              onClick={() => doing.onCopy?.(view)}
            >
              <Icon name="copy" />
            </button>
          )}
          {doing?.onTurn && view.uuid && (
            <button
              type="button"
              class="quiet dots"
              aria-label="Actions for this message"
              onClick={(event) => doing.onTurn?.(view, event.currentTarget)}
            >
              <Icon name="dots" />
            </button>
          )}
        </header>
      )}
      {shown.parts.map((piece, index) => (
        <PieceView
          key={index}
          piece={piece}
          name={partName(where.session, view, -1 - index)}
          view={view}
          where={where}
          onAll={all}
        />
      ))}
      {annotation && <AnnotationLine of={annotation} />}
      {view.usage && (
        <Usage usage={view.usage} took={duration(since ?? view.timestamp, view.ended ?? view.timestamp)} />
      )}
    </article>
  );
});

/** Kinds of turns whose text can be copied. */
const COPIED = new Set(["prompt", "task", "answer", "command", "compaction"]);

/** Tokens, context size, cost and time of a reply; shown if switched on (see `settings.ts`). */
function Usage({ usage, took }: { usage: ReplyUsage; took: number | null }) {
  type Cell = [string, string, string];
  const cells: Cell[] = [
    ["in", tokens(usage.input), `${count(usage.input)} tokens that were not cached`],
    ["cache read", tokens(usage.cache_read), `${count(usage.cache_read)} tokens read from the cache`],
    [
      "cache write",
      tokens(usage.cache_write_5m + usage.cache_write_1h),
      `${count(usage.cache_write_5m)} tokens cached for five minutes, ${count(usage.cache_write_1h)} for an hour`,
    ],
    ["out", tokens(usage.output), `${count(usage.output)} tokens written`],
    ["context", tokens(usage.context), `${count(usage.context)} tokens before the model`],
    ["cost", replyCost(usage.cost_usd), usage.cost_usd === null ? "No price for this model" : `$${usage.cost_usd}`],
    ...(took === null ? [] : ([["took", tookText(took), "From the message before to the last tool result"]] as Cell[])),
  ];
  return (
    <dl class="reply-usage" aria-label="Usage of this reply">
      {cells.map(([name, value, title]) => (
        <div key={name} title={title}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function PieceView({
  piece,
  name,
  view,
  where,
  onAll,
}: {
  piece: Piece;
  name: string;
  view: View;
  where: Where;
  onAll: () => void;
}) {
  switch (piece.t) {
    case "html":
      return (
        <>
          <Html html={piece.html} />
          {piece.cut && <More cut={piece.cut} onAll={onAll} />}
        </>
      );
    case "text":
      return (
        <>
          <Said text={piece.text} html={piece.html} />
          {piece.cut && <More cut={piece.cut} onAll={onAll} />}
        </>
      );
    case "note":
      return <p class={piece.bad ? "note bad" : "note"}>{piece.text}</p>;
    case "fold":
      return <Folded name={name} title={piece.title} html={piece.html} cut={piece.cut} onAll={onAll} />;
    case "thinking":
      return piece.html === null ? (
        <p class="note thinking" title="Claude Code stored only a signature">
          <Icon name="brain" /> Thinking (the text was withheld)
        </p>
      ) : (
        <Folded name={name} title="Thinking" icon="brain" html={piece.html} cut={piece.cut} onAll={onAll} />
      );
    case "picture":
      return <Picture piece={piece} view={view} where={where} />;
    case "call":
      return <CallView call={piece} view={view} where={where} />;
  }
}

/** A prompt: as Markdown, or as typed. */
function Said({ text, html }: { text: string; html?: string }) {
  const [raw] = useSetting("raw");
  return html === undefined || raw ? <div class="said">{text}</div> : <Html html={html} class="said prose typed" />;
}

const More = ({ cut, onAll }: { cut: number; onAll: () => void }) => (
  <button type="button" class="more" onClick={onAll}>
    Show all {bytes(cut)}
  </button>
);

function Folded({
  name,
  title,
  html,
  icon,
  cut,
  onAll,
}: {
  name: string;
  title: string;
  html: string;
  icon?: IconName;
  cut?: number;
  onAll: () => void;
}) {
  const [open, set] = useUnfolded(name);
  return (
    <details class="fold" open={open} onToggle={(event) => set(event.currentTarget.open)}>
      <summary>
        {icon && <Icon name={icon} />} {title}
      </summary>
      {open && <Html html={html} />}
      {open && cut && <More cut={cut} onAll={onAll} />}
    </details>
  );
}

function CallView({ call, view, where }: { call: Call; view: View; where: Where }) {
  const name = partName(where.session, view, call.n);
  const [open, setOpen] = useUnfolded(name);
  return (
    <details
      class={`call ${call.tool}${call.failed ? " failed" : ""}`}
      open={open}
      onToggle={(event) => {
        if (event.target === event.currentTarget) setOpen(event.currentTarget.open);
      }}
    >
      <summary>
        <span class="sign" aria-hidden="true">
          <Icon name={SIGNS[call.tool] ?? SIGNS.other} />
        </span>
        <span class="name">{call.name}</span>
        <span class="subject">{call.subject}</span>
        <span class="outcome">
          {call.running ? (
            <>
              <span class="no-result">no result</span>
              <span class="running">running</span>
            </>
          ) : (
            call.outcome
          )}
        </span>
      </summary>
      {open && <Opened name={name} call={call} view={view} where={where} />}
    </details>
  );
}

function Opened({ name, call, view, where }: { name: string; call: Call; view: View; where: Where }) {
  const [whole, setWhole] = useUnfolded(`${name}|whole`);
  const [agent, setAgent] = useUnfolded(`${name}|agent`);
  const { data, error, again } = useGet<{ html: string }>(
    `sessions/${encodeURIComponent(where.session)}/call${query({ leaf: where.leaf, at: view.at, i: view.i, n: call.n, whole: whole || undefined })}`,
  );
  return (
    <div
      class="opened"
      onClick={(event) => {
        if ((event.target as Element).closest("[data-more]")) setWhole(true);
      }}
    >
      {data ? (
        <Html html={data.html} class="pieces" />
      ) : error ? (
        <Failure error={error} again={again} />
      ) : (
        <p class="hush">…</p>
      )}
      {call.agent && (
        <details
          class="fold agent-fold"
          open={agent}
          onToggle={(event) => {
            if (event.target === event.currentTarget) setAgent(event.currentTarget.open);
          }}
        >
          <summary>Agent transcript</summary>
          {agent && <Agent id={call.agent} of={where.session} />}
        </details>
      )}
    </div>
  );
}

/** How many branches are listed before "more". */
const MANY = 8;

function Fork({ view, doing }: { view: View; doing?: Doing }) {
  const ways = view.fork?.ways ?? [];
  const taken = ways.findIndex((way) => way.taken);
  const other = (step: number) => ways[(taken + step + ways.length) % ways.length];
  const switchTo = (way: Way | undefined) => way && doing?.onWay?.(way, view.at);
  const labels = distinct(
    ways,
    (way) => unmarked(way.words) || "(no text)",
    (way) => whenSent(way.timestamp),
    (n) => `branch ${n + 1}`,
  );
  const [all, setAll] = useState(ways.length <= MANY);
  const near = (index: number) => all || index < 3 || Math.abs(index - taken) <= 1 || ways[index].current;
  return (
    <nav class="fork" aria-label={`Fork: ${several(ways.length, "branch", "branches")}`}>
      <div class="switch">
        <button type="button" onClick={() => switchTo(other(-1))} aria-label="Previous branch">
          <Icon name="chevronLeft" />
        </button>
        <span class="which">
          {taken < 0 ? "–" : taken + 1}/{ways.length}
        </span>
        <button type="button" onClick={() => switchTo(other(1))} aria-label="Next branch">
          <Icon name="chevronRight" />
        </button>
        <span class="kind">{statName("fork", view.fork?.kind ?? "")}</span>
      </div>
      <ol>
        {ways.map(
          (way, index) =>
            near(index) && (
              <li key={way.leaf} class={`${way.taken ? "taken" : ""} ${way.current ? "current" : "left"}`}>
                <button type="button" disabled={way.taken} onClick={() => switchTo(way)}>
                  <span class="n">{index + 1}</span>
                  <span class="words">{way.taken ? "this branch" : labels[index]}</span>
                  <span class="facts">
                    {several(way.messages, "message")}
                    {way.draft ? ", draft" : way.current ? ", current" : ", abandoned"}
                  </span>
                </button>
              </li>
            ),
        )}
        {!all && (
          <li>
            <button type="button" onClick={() => setAll(true)}>
              <span class="n">…</span>
              <span class="words">all {several(ways.length, "branch", "branches")}</span>
            </button>
          </li>
        )}
      </ol>
    </nav>
  );
}
