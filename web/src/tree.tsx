// The tree: rows and lanes; only the rows in the window are rendered.

import { memo } from "./memo";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Lineage, Row } from "./api";
import { Lineage as Family, Time } from "./parts";
import { several, statName, unmarked } from "./words";

const HEIGHTS = [10, 26, 44];
const LANE = 14;
/** Deeper lanes are drawn on top of each other: the graph stays readable on the left. */
const LANES = 9;

interface Edge {
  from: number;
  to: number;
  lane: number;
  fromLane: number;
  on: boolean;
  left: boolean;
  agent: boolean;
}

function edges(rows: Row[]): { parents: number[]; list: Edge[] } {
  const lastIn: number[] = [];
  const parents: number[] = [];
  const list: Edge[] = [];
  rows.forEach((row, index) => {
    const lane = row.edge === "straight" ? row.lane : row.edge === "branch" ? row.lane - 1 : -1;
    const parent = lane >= 0 ? (lastIn[lane] ?? -1) : -1;
    parents.push(parent);
    if (parent >= 0)
      list.push({
        from: parent,
        to: index,
        lane: row.lane,
        fromLane: rows[parent].lane,
        on: false,
        left: row.status !== "active",
        agent: row.kind === "agent",
      });
    lastIn.length = row.lane;
    lastIn[row.lane] = index;
  });
  return { parents, list };
}

const x = (lane: number) => 12 + Math.min(lane, LANES) * LANE;

/** Not rendered again while the reader only scrolls the transcript. */
export const Tree = memo(Drawn);

function Drawn({
  rows,
  leaf,
  onGo,
  onAgent,
  lineage,
}: {
  rows: Row[];
  leaf: string;
  onGo: (row: Row) => void;
  onAgent: (agent: string) => void;
  lineage?: Lineage;
}) {
  const [zoom, setZoom] = useState(1);
  const height = HEIGHTS[zoom];
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const [cursor, setCursor] = useState(-1);
  const { parents, list } = useMemo(() => edges(rows), [rows]);
  const onPath = useMemo(() => {
    const on = new Set<number>();
    let at = rows.findIndex((row) => row.node === leaf && row.kind !== "agent" && row.kind !== "fork");
    for (; at >= 0; at = parents[at]) on.add(at);
    return on;
  }, [rows, leaf, parents]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const see = () => setView({ top: element.scrollTop, height: element.clientHeight });
    see();
    const observer = new ResizeObserver(see);
    observer.observe(element);
    element.addEventListener("scroll", see, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", see);
    };
  }, []);
  useEffect(() => {
    // Scroll to the end of the path when another path is shown.
    const at = Math.max(-1, ...onPath);
    if (at >= 0 && box.current) box.current.scrollTop = Math.max(0, at * height - box.current.clientHeight / 2);
  }, [onPath, height]);
  const first = Math.max(0, Math.floor(view.top / height) - 6);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / height) + 6);
  const go = (index: number) => {
    const row = rows[index];
    if (!row) return;
    if (row.kind === "agent" && row.agent) onAgent(row.agent);
    else if (row.node) onGo(row);
  };
  const move = (step: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, (cursor < 0 ? Math.max(0, ...onPath) : cursor) + step));
    setCursor(next);
    const element = box.current;
    if (
      element &&
      (next * height < element.scrollTop || (next + 1) * height > element.scrollTop + element.clientHeight)
    ) {
      element.scrollTop = next * height - element.clientHeight / 2;
    }
  };
  const keys = (event: KeyboardEvent) => {
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 12,
      PageUp: -12,
      Home: -rows.length,
      End: rows.length,
    };
    if (event.key in steps) {
      move(steps[event.key]);
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === "Enter" && cursor >= 0) {
      go(cursor);
      event.preventDefault();
    } else if (event.key === "+" || event.key === "=") setZoom(Math.min(HEIGHTS.length - 1, zoom + 1));
    else if (event.key === "-") setZoom(Math.max(0, zoom - 1));
  };
  const wheel = (event: WheelEvent) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    setZoom(Math.max(0, Math.min(HEIGHTS.length - 1, zoom + (event.deltaY < 0 ? 1 : -1))));
  };
  const lanes = Math.min(
    LANES,
    rows.reduce((most, row) => Math.max(most, row.lane), 0),
  );
  return (
    <div class="tree">
      <div class="tree-bar">
        <span>{several(rows.filter((row) => row.kind === "fork").length, "fork")}</span>
        <span class="grow">{lineage && <Family of={lineage} />}</span>
        <button
          type="button"
          class="quiet"
          aria-label="Smaller"
          disabled={zoom === 0}
          onClick={() => setZoom(zoom - 1)}
        >
          −
        </button>
        <button
          type="button"
          class="quiet"
          aria-label="Larger"
          disabled={zoom === HEIGHTS.length - 1}
          onClick={() => setZoom(zoom + 1)}
        >
          +
        </button>
      </div>
      <div class="tree-in">
        <div
          class={`tree-scroll zoom${zoom}`}
          ref={box}
          tabIndex={0}
          role="tree"
          aria-label="Branches"
          aria-activedescendant={cursor >= 0 ? `row-${cursor}` : undefined}
          onKeyDown={keys}
          onWheel={wheel}
        >
          <div class="tree-long" role="presentation" style={{ blockSize: `${rows.length * height}px` }}>
            <svg
              class="lanes"
              aria-hidden="true"
              width={x(lanes) + 10}
              height={(last - first) * height}
              style={{ insetBlockStart: `${first * height}px` }}
            >
              {list
                .filter((edge) => edge.from < last && edge.to >= first)
                .map((edge) => {
                  const y = (row: number) => (row - first + 0.5) * height;
                  const on = onPath.has(edge.to) && onPath.has(edge.from);
                  const [a, b] = [x(edge.fromLane), x(edge.lane)];
                  const bend = Math.min(height / 2, 9);
                  const line =
                    a === b
                      ? `M${a} ${y(edge.from)}V${y(edge.to)}`
                      : `M${a} ${y(edge.from)}V${y(edge.to) - bend}Q${a} ${y(edge.to)} ${a + bend} ${y(edge.to)}H${b}`;
                  return (
                    <path
                      key={edge.to}
                      d={line}
                      class={`edge${on ? " on" : ""}${edge.left ? " left" : ""}${edge.agent ? " agent" : ""}`}
                    />
                  );
                })}
              {rows.slice(first, last).map((row, index) => {
                const [cx, cy] = [x(row.lane), (index + 0.5) * height];
                const kind = `dot ${row.kind}${row.status === "active" ? "" : " left"}${onPath.has(first + index) ? " on" : ""}${row.resumes ? " resumes" : ""}`;
                return row.kind === "fork" ? (
                  <path
                    key={index}
                    class={kind}
                    d={`M${cx} ${cy - 5}L${cx + 5} ${cy}L${cx} ${cy + 5}L${cx - 5} ${cy}Z`}
                  />
                ) : (
                  <circle key={index} class={kind} cx={cx} cy={cy} r={zoom === 0 ? 2.5 : 4} />
                );
              })}
            </svg>
            {rows.slice(first, last).map((row, offset) => {
              const index = first + offset;
              return (
                <div
                  key={index}
                  id={`row-${index}`}
                  role="treeitem"
                  aria-level={row.lane + 1}
                  aria-selected={cursor === index}
                  aria-label={zoom === 0 ? label(row) : undefined}
                  title={label(row)}
                  class={`tree-row ${row.kind}${row.status === "active" ? "" : " left"}${onPath.has(index) ? " on" : ""}${cursor === index ? " cursor" : ""}`}
                  style={{
                    insetBlockStart: `${index * height}px`,
                    blockSize: `${height}px`,
                    paddingInlineStart: `${x(Math.min(row.lane, lanes)) + 12}px`,
                  }}
                  onClick={() => {
                    setCursor(index);
                    go(index);
                  }}
                >
                  {zoom > 0 && <span class="words">{words(row)}</span>}
                  {zoom > 0 && row.resumes && (
                    <span class="tag" title="Claude Code resumes here">
                      resumes
                    </span>
                  )}
                  {zoom > 0 && row.draft && <span class="tag draft">draft</span>}
                  {zoom > 1 && (
                    <span class="facts">
                      {row.messages > 0 && several(row.messages, "message")}
                      <Time at={row.timestamp} />
                    </span>
                  )}
                </div>
              );
            })}
          </div>
        </div>
        {rows.length > 40 && (
          <Minimap
            rows={rows}
            onPath={onPath}
            view={view}
            height={height}
            onGo={(top) => {
              if (box.current) box.current.scrollTop = top;
            }}
          />
        )}
      </div>
    </div>
  );
}

function words(row: Row): string {
  switch (row.kind) {
    case "fork":
      return `${statName("fork", row.fork ?? "")}: ${several(row.ways, "branch", "branches")}${row.files ? `, files ${row.files}` : ""}`;
    case "compaction":
      return "compacted";
    case "agent":
      return unmarked(row.words ?? "") || "agent";
    case "tree":
      return "another tree";
    case "loose":
      return "records beside the conversation";
    default:
      return unmarked(row.words ?? "") || row.commands[0] || "continues";
  }
}

function label(row: Row): string {
  const facts = [words(row)];
  if (row.messages) facts.push(several(row.messages, "message"));
  if (row.kind === "agent") facts.push(`agent, ${several(row.records, "record")}`);
  if (row.status !== "active" && row.kind !== "fork") facts.push("abandoned");
  if (row.resumes) facts.push("Claude Code resumes here");
  if (row.errors) facts.push(several(row.errors, "error"));
  if (row.interrupts) facts.push(several(row.interrupts, "interrupt"));
  return facts.join(" · ");
}

/** A small map of the whole tree; click to go there. */
function Minimap({
  rows,
  onPath,
  view,
  height,
  onGo,
}: {
  rows: Row[];
  onPath: Set<number>;
  view: { top: number; height: number };
  height: number;
  onGo: (top: number) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context) return;
    const ratio = devicePixelRatio || 1;
    element.width = 34 * ratio;
    element.height = view.height * ratio;
    context.scale(ratio, ratio);
    // A canvas does not resolve CSS variables, so read their current values.
    const colour = (name: string) => {
      element.style.color = `var(${name})`;
      return getComputedStyle(element).color;
    };
    const [accent, fork, agent, other] = ["--accent", "--fork", "--agent", "--line-strong"].map(colour);
    const step = Math.min(4, view.height / rows.length);
    rows.forEach((row, index) => {
      context.fillStyle = onPath.has(index)
        ? accent
        : row.kind === "fork"
          ? fork
          : row.kind === "agent"
            ? agent
            : other;
      context.fillRect(
        2 + Math.min(row.lane, 8) * 3.4,
        index * step,
        row.kind === "fork" ? 6 : 3,
        Math.max(0.7, step - 0.6),
      );
    });
    context.fillStyle = colour("--veil");
    context.fillRect(0, (view.top / height) * step, 34, Math.max(6, (view.height / height) * step));
  }, [rows, onPath, view.top, view.height, height]);
  const step = Math.min(4, view.height / rows.length);
  const go = (event: PointerEvent) => {
    if (event.buttons !== 1) return;
    const at = (event.offsetY / step) * height;
    onGo(at - view.height / 2);
  };
  return <canvas class="minimap" ref={canvas} aria-hidden="true" onPointerDown={go} onPointerMove={go} />;
}
