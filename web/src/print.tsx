// Printing: the whole transcript, although only a part is loaded.

import { options } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type PathView, type Turns, type View, getNow, query } from "./api";
import { Turn } from "./turn";
import { several, statName } from "./words";

/** How many positions are read at once. */
const MANY = 200;

/** Changes something and draws it at once. */
function drawNow(change: () => void) {
  let draw: (() => void) | undefined;
  options.debounceRendering = (drawing) => {
    draw = drawing;
  };
  change();
  draw?.();
  options.debounceRendering = undefined;
}

/** The whole transcript, loaded before printing, because printing cannot wait. */
export function usePrinted(session: string, told: PathView | undefined): View[] | undefined {
  const [views, set] = useState<View[]>();
  useEffect(() => {
    if (!told || told.count === 0) return;
    let is = false;
    const begin = () => {
      if (is) return;
      is = true;
      const all: View[] = [];
      for (let from = 0; from < told.count;) {
        const part = getNow<Turns>(
          `sessions/${encodeURIComponent(session)}/turns${query({ leaf: told.leaf, from, to: Math.min(told.count, from + MANY), whole: true })}`,
        );
        all.push(...part.turns);
        if (part.to <= from) break;
        from = part.to;
      }
      drawNow(() => set(all));
    };
    const end = () => {
      is = false;
      set(undefined);
    };
    const paper = matchMedia("print");
    const change = () => (paper.matches ? begin() : end());
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    paper.addEventListener("change", change);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
      paper.removeEventListener("change", change);
    };
  }, [session, told]);
  return views;
}

export function Printed({
  views,
  title,
  told,
  session,
}: {
  views: View[];
  title: string;
  told: PathView;
  session: string;
}) {
  const where = { session, leaf: told.leaf };
  return (
    <article class="printed">
      <h1>{title}</h1>
      <p class="facts">
        {session}
        {told.conversation ? ` · conversation ${told.conversation}` : ""} · {told.status}
        {told.resumes ? ", resumed by Claude Code" : ""} · {several(told.forks.length, "fork")}
      </p>
      {views.map((view, index) => {
        const left = told.left_at !== null && view.at > told.left_at;
        if (view.fork) return <PrintedFork key={`${view.at}-${view.i}`} view={view} />;
        const goesOn = view.kind === "answer" && views[index - 1]?.kind === "answer";
        return (
          <div key={`${view.at}-${view.i}`} class={left ? "row left" : "row"}>
            <Turn view={view} where={where} goesOn={goesOn} />
          </div>
        );
      })}
    </article>
  );
}

/** A fork point in print: its branches, and which one continues. */
function PrintedFork({ view }: { view: View }) {
  const ways = view.fork?.ways ?? [];
  return (
    <section class="printed-fork">
      <h2>
        Fork ({statName("fork", view.fork?.kind ?? "")}): {several(ways.length, "branch", "branches")}
      </h2>
      <ol>
        {ways.map((way) => (
          <li key={way.leaf}>
            {way.taken ? <b>this one, printed below</b> : way.words || "(no text)"}{" "}
            <span class="facts">
              {several(way.messages, "message")}
              {way.draft ? ", draft" : way.current ? ", current" : ", abandoned"}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
