// The position at which a transcript opens: the stored one of this history entry, else the requested message.

import type { RefObject } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type PathView, get, query } from "../../api";
import type { Asked } from "../../hooks";
import * as route from "../../route";
import type { Mark, Transcript } from "../../transcript";
import { partName, unfold } from "../../turn";

interface Arrival {
  /** The position of the requested message. */
  start: number | null;
  /** The reader's earlier position. */
  back?: route.Place;
  mark?: Mark;
}
interface Held {
  uuid?: string | null;
  i: number;
  n: number;
}

export function useArrival(
  list: RefObject<Transcript | null>,
  path: Asked<PathView>,
  { id, address, at, words }: { id: string; address: string; at: string; words: string },
): Arrival {
  const told = path.data;
  const start = useMemo(() => told?.at ?? null, [told]);
  const [entry, setEntry] = useState(() => ({ address: location.href, place: route.placeHere() }));
  if (entry.address !== location.href) setEntry({ address: location.href, place: route.placeHere() });
  const wasAt = entry.address === location.href ? entry.place : route.placeHere();
  const been = wasAt.at !== undefined;
  useEffect(() => route.onLeave(() => list.current?.place() ?? {}), []);
  useEffect(() => {
    if (start !== null && at && !been) list.current?.jump(start);
  }, [start, at]);
  useEffect(() => {
    if (been && path.current) list.current?.back(wasAt);
  }, [entry, path.current]);
  const mark = useMark({ id, address, words, start, leaf: told?.leaf, seen: been });
  return { start, back: been ? wasAt : undefined, mark };
}

/** The search words; tool calls and folds that contain them are opened first. */
function useMark({
  id,
  address,
  words,
  start,
  leaf,
  seen,
}: {
  id: string;
  address: string;
  words: string;
  start: number | null;
  leaf?: string;
  seen: boolean;
}): Mark | undefined {
  const [mark, setMark] = useState<Mark>();
  useEffect(() => {
    if (!words || start === null || leaf === undefined) {
      setMark(undefined);
      return;
    }
    let off = false;
    const show = () => {
      if (!off) setMark({ at: start, text: words, seen });
    };
    get<{ calls: (Held & { whole: boolean })[]; folds: Held[] }>(
      `${address}/holds${query({ leaf, at: start, text: words })}`,
    ).then((found) => {
      if (off) return;
      found.calls.forEach((one) => unfold(partName(id, { ...one, at: start }, one.n), one.whole));
      found.folds.forEach((one) => unfold(partName(id, { ...one, at: start }, -1 - one.n)));
      show();
    }, show);
    return () => {
      off = true;
    };
  }, [words, start, leaf]);
  return mark;
}
