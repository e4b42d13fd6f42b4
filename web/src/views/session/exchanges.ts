// The exchanges of a path, loaded in parts.

import { useEffect, useState } from "preact/hooks";
import { type Exchange, type Exchanges, type PathView, type Task, get, query } from "../../api";

export interface PathExchanges {
  exchanges: Exchange[];
  tasks: Task[];
  /** More is being loaded. */
  busy: boolean;
}

/** A part may end within an exchange; the next part then begins with the rest of it. */
function join(had: Exchange[], more: Exchange[]): Exchange[] {
  const [first, ...others] = more;
  const last = had.at(-1);
  if (!last || !first || first.kind !== "start") return [...had, ...more];
  const sum = (a: number | null, b: number | null) => (a === null && b === null ? null : (a ?? 0) + (b ?? 0));
  const whole: Exchange = {
    ...last,
    end: first.end,
    ended: first.ended ?? last.ended,
    replies: last.replies + first.replies,
    calls: last.calls + first.calls,
    failed: last.failed + first.failed,
    agents: last.agents + first.agents,
    files: [...new Set([...last.files, ...first.files])],
    tokens: last.tokens + first.tokens,
    context: Math.max(last.context, first.context),
    cost_usd: sum(last.cost_usd, first.cost_usd),
  };
  return [...had.slice(0, -1), whole, ...others];
}

/** Loads the exchanges of a path on demand; if the path grows, loading continues at its last exchange. */
export function useExchanges(address: string, told: PathView | undefined, wanted: boolean): PathExchanges {
  const [state, set] = useState<PathExchanges & { leaf: string; count: number }>({
    exchanges: [],
    tasks: [],
    busy: false,
    leaf: "",
    count: 0,
  });
  useEffect(() => {
    if (!told || !wanted || (state.leaf === told.leaf && state.count === told.count)) return;
    const stop = new AbortController();
    // A path that grew keeps its first exchanges; the last ones are loaded again.
    const isSame = state.count > 0 && told.count > state.count && state.exchanges.length > 1;
    const kept = isSame ? state.exchanges.slice(0, -1) : [];
    const read = async () => {
      let [exchanges, tasks] = [kept, isSame ? state.tasks : []];
      let from: number | null = kept.length > 0 ? kept[kept.length - 1].end + 1 : 0;
      while (from !== null) {
        const part: Exchanges = await get(`${address}/exchanges${query({ leaf: told.leaf, from })}`, stop.signal);
        const fresh = part.exchanges.filter((one) => one.at >= (exchanges.at(-1)?.end ?? -1));
        exchanges = join(exchanges, fresh);
        tasks = [...tasks.filter((one) => !part.tasks.some((other) => other.id === one.id)), ...part.tasks];
        from = part.next;
        set({ exchanges, tasks, busy: from !== null, leaf: told.leaf, count: told.count });
      }
    };
    read().catch(() => {});
    return () => stop.abort();
  }, [told?.leaf, told?.count, wanted]);
  return state;
}
