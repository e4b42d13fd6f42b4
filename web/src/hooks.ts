// Hooks for requests to the server.

import { useCallback, useEffect, useReducer, useRef, useState } from "preact/hooks";
import { type Refused, asRefused, get } from "./api";
import { type State, linkState, onReturn, watchLink } from "./link";
import { type News, hearNews } from "./news";

export type { News };

export interface Asked<T> {
  data?: T;
  error?: Refused;
  busy: boolean;
  /** Whether the answer belongs to the current request. */
  current: boolean;
  again: () => void;
}

/**
 * Keeps the last answer until the next one arrives.
 *
 * Repeated requests during a pending one become a single request after it, because news can arrive faster
 * than answers.
 */
export function useGet<T>(path: string | null): Asked<T> {
  const [state, set] = useState<{ path: string | null; data?: T; error?: Refused; busy: boolean }>({
    path: null,
    busy: true,
  });
  const asking = useRef<{ stop: AbortController; stale: boolean } | undefined>(undefined);
  const wanted = useRef(path);
  wanted.current = path;
  const ask = () => {
    const path = wanted.current;
    if (path === null) return;
    if (asking.current) {
      asking.current.stale = true;
      return;
    }
    const one = { stop: new AbortController(), stale: false };
    asking.current = one;
    set((was) => ({ ...was, busy: true, ...(was.path === path ? {} : { error: undefined }) }));
    void get<T>(path, one.stop.signal)
      .then(
        (data) => ({ path, data, error: undefined, busy: false }),
        (error) => ({ path, error: asRefused(error), busy: false }),
      )
      .then((next) => {
        if (one.stop.signal.aborted) return;
        asking.current = undefined;
        // Keep the last answer while the server is unreachable.
        set((was) => ({ ...(was.path === path ? was : {}), ...next }));
        if (one.stale) ask();
      });
  };
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    latest.current();
    return () => {
      asking.current?.stop.abort();
      asking.current = undefined;
    };
  }, [path]);
  useEffect(() => onReturn(() => latest.current()), []);
  return {
    data: state.data,
    error: state.path === path || state.error ? state.error : undefined,
    busy: state.busy,
    current: state.path === path,
    again: () => latest.current(),
  };
}

/** Subscribes to file events. */
export function useNews(hear: (news: News) => void): void {
  const latest = useRef(hear);
  latest.current = hear;
  useEffect(() => hearNews((news) => latest.current(news)), []);
}

/** Whether the server answers. */
export function useLink(): State {
  const [, draw] = useReducer((n: number, _: void) => n + 1, 0);
  useEffect(() => watchLink(() => draw()), []);
  return linkState();
}

/** Key bindings of a view; keys typed into fields are ignored. */
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
      if (act) {
        event.preventDefault();
        act(event);
      }
    };
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, []);
}

/** The width of an element, for charts that fill it. */
export function useWidth(usual: number): [(element: HTMLElement | null) => void, number] {
  const [width, setWidth] = useState(usual);
  const observer = useRef<ResizeObserver | undefined>(undefined);
  const watch = useCallback((element: HTMLElement | null) => {
    observer.current?.disconnect();
    if (!element) return;
    observer.current = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    observer.current.observe(element);
  }, []);
  return [watch, width];
}
