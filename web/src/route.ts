// Every view has an address.

import { useEffect, useState } from "preact/hooks";

export interface Route {
  path: string;
  query: URLSearchParams;
}

function now(): Route {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

const changed = new Set<() => void>();
const tell = () => changed.forEach((hear) => hear());
addEventListener("popstate", tell);

/** The scroll position in a view, stored with the entry of the browser's history. */
export interface Place {
  top?: number;
  cursor?: number;
  at?: number;
  offset?: number;
  end?: boolean;
}

const leaving = new Set<() => Place>();

/** Asks the current view for its scroll position before navigating. */
export function onLeave(place: () => Place): () => void {
  leaving.add(place);
  return () => void leaving.delete(place);
}

/** The stored scroll position of this history entry. */
export const placeHere = (): Place => (history.state as { place?: Place } | null)?.place ?? {};

/** Stores the scroll position with this history entry. */
export function notePlace(): void {
  let place = placeHere();
  for (const where of leaving) place = { ...place, ...where() };
  history.replaceState({ ...history.state, place }, "");
}

export function go(to: string, how: "push" | "replace" = "push"): void {
  if (to === location.pathname + location.search) return;
  if (how === "push") {
    notePlace();
    history.pushState(null, "", to);
  } else history.replaceState(null, "", to);
  tell();
}

export function useRoute(): Route {
  const [route, set] = useState(now);
  useEffect(() => {
    const hear = () => set(now());
    changed.add(hear);
    return () => void changed.delete(hear);
  }, []);
  return route;
}

/** Follows internal links without reloading. */
export function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link = (event.target as Element).closest?.("a");
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
  if (link.pathname.startsWith("/api/")) return;
  event.preventDefault();
  go(link.pathname + link.search);
}

let twice = new Set<string>();

/** Records all sessions, to find ids that several projects have. */
export function listed(sessions: { id: string }[]): void {
  const once = new Set<string>();
  twice = new Set(sessions.filter(({ id }) => once.size === once.add(id).size).map(({ id }) => id));
}

/** The key of a session: its id, with its project if the id is ambiguous. */
export const key = (one: { id: string; project: string }) => (twice.has(one.id) ? `${one.id}~${one.project}` : one.id);
/** The key of another session of the same project. */
export const beside = (key: string, id: string) => (key.includes("~") ? `${id}${key.slice(key.indexOf("~"))}` : id);
/** The id alone. */
export const plain = (key: string) => key.replace(/~.*$/, "");

export const session = (id: string, leaf?: string, at?: string, mark?: string) => {
  const query = new URLSearchParams();
  if (leaf) query.set("leaf", leaf);
  if (at) query.set("at", at);
  if (mark) query.set("mark", mark);
  return `/s/${encodeURIComponent(id)}${query.size ? `?${query}` : ""}`;
};
export const files = (id: string, at: string, path = "") =>
  `/f/${encodeURIComponent(id)}?${new URLSearchParams({ at, ...(path ? { path } : {}) })}`;
export const project = (name: string) => `/p/${encodeURIComponent(name)}`;
export const compare = (a: string, al: string, b: string, bl: string) =>
  `/compare?${new URLSearchParams({ a, al, b, bl })}`;
