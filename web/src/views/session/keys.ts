// Keys that move through a transcript.

import type { RefObject } from "preact";
import { type PathView, type View, asRefused, get, query } from "../../api";
import type { Asked } from "../../hooks";
import type { Transcript } from "../../transcript";
import { useTyped } from "../../typed";

interface Reading {
  address: string;
  /** The position of the reader. */
  here: number;
  say: (text: string) => void;
  onWay: (way: { leaf: string }, position: number) => void;
  onTurn: (view: View) => void;
}

/** Call the returned function when messages have been loaded. */
export function useReadingKeys(
  list: RefObject<Transcript | null>,
  path: Asked<PathView>,
  { address, here, say, onWay, onTurn }: Reading,
): () => void {
  const told = path.data;
  const letter = (position: number) => told?.shape[position] ?? "";
  const isPrompt = (position: number) => letter(position) === "p";
  const isFork = (position: number) => told?.forks.includes(position) ?? false;
  const next = (step: number, fits: (position: number) => boolean) => {
    if (!told) return;
    for (let position = here + step; position >= 0 && position < told.count; position += step) {
      if (fits(position)) {
        list.current?.jump(position);
        return;
      }
    }
    say(step > 0 ? "No more below" : "No more above");
  };
  /** A message may turn out to be empty, which is only known once it is loaded. */
  const step = (by: number) => {
    let position = here + by;
    while (letter(position) === "d" || list.current?.showsNothing(position)) position += by;
    if (letter(position) && !list.current?.has(position)) return false;
    next(by, (other) => other === position);
  };
  const failure = async (back: boolean) => {
    const found = await get<{ at: number | null }>(
      `${address}/next${query({ leaf: told?.leaf, at: here, back: back || undefined })}`,
    ).catch((error) => {
      say(asRefused(error).message);
    });
    if (!found) return;
    if (found.at === null) say("No more failures in this direction");
    else list.current?.jump(found.at);
  };
  const way = (step: number) => {
    const at = told?.forks.filter((position) => position <= here + 1).pop() ?? told?.forks[0];
    if (at === undefined) {
      say("No fork point here");
      return;
    }
    if (!list.current?.has(at)) return false;
    const ways = list.current.views.get(at)?.find((view) => view.fork)?.fork?.ways ?? [];
    const taken = ways.findIndex((one) => one.taken);
    if (ways.length > 0) onWay(ways[(taken + step + ways.length) % ways.length], at);
  };
  const unfoldHere = () => {
    if (!list.current?.has(here)) return false;
    const folds = [...document.querySelectorAll<HTMLDetailsElement>(`.row[data-at="${here}"] > .turn > details`)];
    const closed = folds.some((one) => !one.open);
    folds.forEach((one) => {
      one.open = closed;
    });
  };
  const menu = () => {
    if (!list.current?.has(here)) return false;
    const view = list.current.views.get(here)?.find((one) => one.uuid && !one.fork);
    if (view) onTurn(view);
    else say("No actions available");
  };
  return useTyped(() => path.current && told !== undefined && list.current?.props.path === told, {
    j: () => step(1),
    k: () => step(-1),
    p: () => next(1, isPrompt),
    P: () => next(-1, isPrompt),
    "]": () => next(1, isFork),
    "[": () => next(-1, isFork),
    ArrowRight: () => way(1),
    ArrowLeft: () => way(-1),
    e: () => failure(false),
    E: () => failure(true),
    g: () => list.current?.jump(0),
    G: () => list.current?.end(),
    o: unfoldHere,
    m: menu,
  });
}
