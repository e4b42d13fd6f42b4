// The trace: what ran when. One lane for the conversation, lanes for agents and background tasks.

import type { AgentSpan, AgentSpans } from "../../api";
import { query } from "../../api";
import { useGet, useWidth } from "../../hooks";
import { Waiting } from "../../parts";
import { duration, several, tookText, unmarked, whenSent } from "../../words";
import type { PathExchanges } from "./exchanges";

interface Span {
  key: string;
  kind: "main" | "agent" | "task";
  words: string;
  from: number;
  to: number;
  at: number | null;
  agent?: AgentSpan;
  open?: boolean;
}

/** Longer pauses are shortened, so that nights don't take most of the width. */
const PAUSE = 5 * 60_000;
const GAP = 14;
const LANE = 24;
/** The room of a time. */
const LABEL = 110;
/** How many lanes and spans are drawn. */
const MOST = 400;

/** Maps times to positions, with long pauses omitted. */
export function timeScale(spans: { from: number; to: number }[], width: number) {
  const sorted = [...spans].sort((a, b) => a.from - b.from);
  const busy: { from: number; to: number }[] = [];
  for (const { from, to } of sorted) {
    const last = busy.at(-1);
    if (last && from - last.to <= PAUSE) last.to = Math.max(last.to, to);
    else busy.push({ from, to: Math.max(to, from + 1000) });
  }
  const gaps = Math.max(0, busy.length - 1);
  const gap = Math.min(GAP, width / 4 / Math.max(1, gaps));
  const total = busy.reduce((sum, one) => sum + one.to - one.from, 0) || 1;
  const scale = (width - gaps * gap) / total;
  let x = 0;
  const parts = busy.map((one) => {
    const start = x;
    x += (one.to - one.from) * scale + gap;
    return { ...one, x: start };
  });
  const place = (time: number) => {
    const part = parts.findLast((one) => one.from <= time) ?? parts[0];
    return part ? part.x + (Math.min(time, part.to) - part.from) * scale : 0;
  };
  return { place, parts, gap };
}

/** Puts spans into as few lanes as possible, each free of overlaps. */
export function packLanes<T extends { from: number; to: number }>(spans: T[]): T[][] {
  const lanes: T[][] = [];
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const lane = lanes.find((one) => (one.at(-1)?.to ?? 0) <= span.from);
    if (lane) lane.push(span);
    else lanes.push([span]);
  }
  return lanes;
}

export function TracePanel({
  address,
  leaf,
  of,
  onGo,
  onAgent,
}: {
  address: string;
  leaf: string;
  of: PathExchanges;
  onGo: (position: number) => void;
  onAgent: (agent: string) => void;
}) {
  const [box, room] = useWidth(400);
  const width = Math.max(300, room - 28);
  const agents = useGet<AgentSpans>(`${address}/agent-spans${query({ leaf })}`);
  if (of.busy && of.exchanges.length === 0)
    return (
      <div ref={box}>
        <Waiting what="Loading the trace" />
      </div>
    );
  const time = (text: string | null) => (text ? Date.parse(text) : NaN);
  const span = (one: { started: string | null; ended: string | null }, rest: Omit<Span, "from" | "to">): Span[] => {
    const from = time(one.started);
    const to = one.ended ? time(one.ended) : from;
    return Number.isFinite(from) ? [{ ...rest, from, to: Math.max(from, to), open: !one.ended }] : [];
  };
  const main = of.exchanges.flatMap((one) =>
    span(one, { key: `m${one.at}`, kind: "main", words: unmarked(one.words) || one.kind, at: one.at }),
  );
  const helpers = (agents.data?.agents ?? [])
    .slice(0, MOST)
    .flatMap((one) =>
      span(one, { key: `a${one.id}`, kind: "agent", words: unmarked(one.words) || one.id, at: one.at, agent: one }),
    );
  const tasks = of.tasks
    .slice(0, MOST)
    .flatMap((one) => span(one, { key: `t${one.id}`, kind: "task", words: unmarked(one.words), at: one.at }));
  const all = [...main, ...helpers, ...tasks];
  if (all.length === 0) return <p class="hush pad">No message of this conversation has a time.</p>;
  const { place, parts, gap } = timeScale(all, width);
  const lanes: [string, Span[]][] = [
    ["Conversation", main],
    ...packLanes(helpers).map((lane, n): [string, Span[]] => [n === 0 ? "Agents" : "", lane]),
    ...packLanes(tasks).map((lane, n): [string, Span[]] => [n === 0 ? "Background tasks" : "", lane]),
  ];
  let y = 22;
  const rows = lanes.map(([name, lane]) => {
    if (name) y += 18;
    const top = y;
    y += LANE;
    return { name, lane, top };
  });
  // Each time has room before the next one and before the edge.
  const labelled = new Set<(typeof parts)[number]>();
  let free = 0;
  for (const part of parts)
    if (part.x >= free && (part.x + LABEL <= width || part === parts[0])) {
      labelled.add(part);
      free = part.x + LABEL;
    }
  const open = (one: Span) => {
    if (one.agent) onAgent(one.agent.id);
    else if (one.at !== null) onGo(one.at);
  };
  const label = (one: Span) => {
    const ms = one.to - one.from;
    return `${one.words}: ${whenSent(new Date(one.from).toISOString())}, ${one.open ? "end unknown" : tookText(ms)}`;
  };
  return (
    <div class="trace">
      <p class="panel-bar">
        {helpers.length > 0 && `${several(helpers.length, "agent")}, `}
        {tasks.length > 0 && `${several(tasks.length, "background task")}, `}
        {tookText(parts.reduce((sum, one) => sum + one.to - one.from, 0))} of work
        {parts.length > 1 && `, ${several(parts.length - 1, "pause")} omitted`}
      </p>
      <div class="scroll-x" ref={box} tabIndex={0} role="group" aria-label="What ran when">
        <svg viewBox={`0 0 ${width} ${y + 8}`} width={width} height={y + 8}>
          {parts.map((part, index) => (
            <g key={part.from}>
              <text x={part.x} y={13}>
                {labelled.has(part) ? whenSent(new Date(part.from).toISOString()) : ""}
              </text>
              {index > 0 && (
                <rect class="pause" x={part.x - gap + 2} y={20} width={Math.max(1, gap - 4)} height={y - 16} />
              )}
            </g>
          ))}
          {rows.map(({ name, lane, top }) => (
            <g key={top}>
              {name && (
                <text class="lane-name" x={0} y={top - 4}>
                  {name}
                </text>
              )}
              <path class="rule" d={`M0 ${top + LANE - 2.5}H${width}`} />
              {lane.map((one) => (
                <rect
                  key={one.key}
                  class={`span ${one.kind}${one.open ? " open" : ""}`}
                  x={place(one.from)}
                  y={top}
                  width={Math.max(3, place(one.to) - place(one.from) - 1)}
                  height={LANE - 6}
                  rx="3"
                  tabIndex={0}
                  role="button"
                  aria-label={label(one)}
                  onClick={() => open(one)}
                  onKeyDown={(event) => {
                    if (event.key === "Enter" || event.key === " ") {
                      event.preventDefault();
                      open(one);
                    }
                  }}
                >
                  <title>{label(one)}</title>
                </rect>
              ))}
            </g>
          ))}
        </svg>
      </div>
      <ul class="trace-list">
        {[...helpers, ...tasks].slice(0, 60).map((one) => (
          <li key={one.key}>
            <button type="button" class="quiet" onClick={() => open(one)}>
              <span class={`dot-mark ${one.kind}`} />
              <span class="words">{one.words}</span>
              <span class="facts">
                {one.open
                  ? "end unknown"
                  : tookText(duration(new Date(one.from).toISOString(), new Date(one.to).toISOString()) ?? 0)}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
