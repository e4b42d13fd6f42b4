// Asking the server from a component.

import { useEffect, useRef, useState } from "preact/hooks";
import { Refused, get } from "./api";

export interface Asked<T> {
  data?: T; error?: Refused; busy: boolean;
  /** The answer is to what is asked now. */
  current: boolean;
  again: () => void;
}

/** Keeps what was answered last until the next answer is there. */
export function useGet<T>(path: string | null): Asked<T> {
  const [state, set] = useState<{ path: string | null; data?: T; error?: Refused; busy: boolean }>({ path: null, busy: true });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    set((was) => ({ ...was, busy: true, ...(was.path === path ? {} : { error: undefined }) }));
    get<T>(path, stop.signal).then(
      (data) => set({ path, data, busy: false }),
      (error) => {
        if (stop.signal.aborted) return;
        const told = error instanceof Refused ? error : new Refused("the server does not answer", "start `ramus serve` again and open the address it prints", 0);
        set({ path, error: told, busy: false });
      },
    );
    return () => stop.abort();
  }, [path, turn]);
  return { data: state.data, error: state.path === path || state.error ? state.error : undefined, busy: state.busy, current: state.path === path, again: () => setTurn((n) => n + 1) };
}

export interface News { session: string; agent: boolean; kind: string; owner: string | null }

const hearers = new Set<(news: News) => void>();
let source: EventSource | undefined;

/** Hears what happens to files while the page is open. */
export function useNews(hear: (news: News) => void): void {
  const latest = useRef(hear);
  latest.current = hear;
  useEffect(() => {
    const told = (news: News) => latest.current(news);
    hearers.add(told);
    // One connection for the whole page: a browser has few of them.
    if (!source) {
      source = new EventSource("/api/events");
      source.onmessage = (event) => hearers.forEach((hearer) => hearer(JSON.parse(event.data) as News));
    }
    return () => void hearers.delete(told);
  }, []);
}

/** Keys for a view; keys typed into fields are not ours. */
export function useKeys(keys: Record<string, (event: KeyboardEvent) => void>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
      const target = event.target as HTMLElement;
      if (target.matches?.("input, textarea, select, [contenteditable]")) return;
      if (document.querySelector("dialog[open]")) return;
      const act = latest.current[event.key];
      if (act) { event.preventDefault(); act(event); }
    };
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, []);
}
