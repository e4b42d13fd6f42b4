// The transcript of an agent, expanded below its call and loaded in parts.

import { useEffect, useState } from "preact/hooks";
import { type PathView, type Turns, type View, get, query } from "./api";
import { useGet, useNews } from "./hooks";
import { Failure, Waiting } from "./parts";
import * as route from "./route";
import { Turn } from "./turn";
import { several } from "./words";

/** The number of messages in one part. */
const PAGE = 24;

export function Agent({ id, of }: { id: string; of: string }) {
  const session = route.beside(of, `agent-${id}`);
  const address = `sessions/${encodeURIComponent(session)}`;
  const path = useGet<PathView>(`${address}/path`);
  const [views, setViews] = useState<View[]>([]);
  const [wanted, setWanted] = useState(PAGE);
  const [to, setTo] = useState(0);
  useNews((news) => {
    if (news.agent && news.session === id) path.again();
  });
  const told = path.data;
  useEffect(() => {
    if (!told || to >= Math.min(wanted, told.count)) return;
    const stop = new AbortController();
    get<Turns>(
      `${address}/turns${query({ leaf: told.leaf, from: to, to: Math.min(wanted, told.count) })}`,
      stop.signal,
    ).then(
      (page) => {
        setViews((before) => [...before, ...page.turns]);
        setTo(page.to);
      },
      () => {},
    );
    return () => stop.abort();
  }, [told?.leaf, told?.count, wanted, to]);
  if (path.error) return <Failure error={path.error} again={path.again} />;
  if (!told) return <Waiting what="Loading the agent transcript" />;
  const where = { session, leaf: told.leaf };
  const rest = told.count - to;
  return (
    <section class="agent-in" aria-label="Agent transcript">
      {views.map((view, index) => (
        <Turn
          key={`${view.at}-${view.i}`}
          view={view}
          where={where}
          goesOn={view.kind === "answer" && views[index - 1]?.kind === "answer"}
        />
      ))}
      <p class="agent-foot">
        {rest > 0 && to > 0 && (
          <button type="button" class="more" onClick={() => setWanted(to + PAGE)}>
            Show {several(Math.min(PAGE, rest), "more message")} of {rest}
          </button>
        )}
        {to === 0 && told.count > 0 && <span class="hush">…</span>}
        <a class="agent-link" href={route.session(session)}>
          Open the full transcript →
        </a>
      </p>
    </section>
  );
}
