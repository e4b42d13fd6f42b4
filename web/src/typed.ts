// Keys typed faster than data loads: each key waits until its data has arrived.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "./hooks";

/** The action of a key; `false`: its data has not arrived yet. */
export type Act = () => boolean | void | Promise<void>;

/** Older keys are dropped. */
const PATIENCE = 5000;

/** Handles keys in the order they were typed. Call the returned function when something has loaded. */
export function useTyped(ready: () => boolean, keys: Record<string, Act>): () => void {
  const typed = useRef<{ key: string; at: number }[]>([]);
  const busy = useRef(false);
  const [, draw] = useState(0);
  const again = () => {
    if (typed.current.length > 0) draw((n) => n + 1);
  };
  const hear = (key: string) => () => {
    typed.current.push({ key, at: performance.now() });
    again();
  };
  useKeys(Object.fromEntries(Object.keys(keys).map((key) => [key, hear(key)])));
  // One key per render, so that the next key sees the effect of this one.
  useLayoutEffect(() => {
    typed.current = typed.current.filter(({ at }) => performance.now() - at < PATIENCE);
    if (!ready() || busy.current || typed.current.length === 0) return;
    const done = keys[typed.current[0].key]();
    if (done === false) return;
    typed.current.shift();
    if (!(done instanceof Promise)) {
      again();
      return;
    }
    busy.current = true;
    void done.finally(() => {
      busy.current = false;
      again();
    });
  });
  return again;
}
