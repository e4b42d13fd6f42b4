// The connection to the server: whether it answers, and the access token.
//
// The token is not a cookie, because a browser sends cookies to every port of a host. It is kept in the storage
// of this origin, which no other port can read, and sent in a header.

import type { Let } from "./generated";

const TOKEN = "ramus-token";

/** `down`: no answer. `locked`: the server answers, but this browser has no access. */
export type State = "up" | "down" | "locked";

let state: State = "up";
let why = "";
const watchers = new Set<() => void>();
const returns = new Set<() => void>();
let looking: ReturnType<typeof setTimeout> | undefined;

/** How often to poll a server that does not answer. */
const AGAIN = 1500;

export const linkState = () => state;
/** Why access was refused, if it was. */
export const lockedWhy = () => why;

export function token(): string {
  try {
    return localStorage.getItem(TOKEN) ?? "";
  } catch {
    return "";
  }
}

export function headers(): Record<string, string> {
  return { authorization: `Bearer ${token()}` };
}

/** Subscribes to state changes. */
export function watchLink(hear: () => void): () => void {
  watchers.add(hear);
  return () => void watchers.delete(hear);
}

/** Called when the server is back: failed requests must be repeated. */
export function onReturn(hear: () => void): () => void {
  returns.add(hear);
  return () => void returns.delete(hear);
}

/** Records the result of a request. */
export function noteLink(next: State): void {
  if (next !== "up") looking ??= setTimeout(look, AGAIN);
  if (next === state) return;
  const was = state;
  state = next;
  watchers.forEach((hear) => hear());
  if (next === "up" && was !== "up") returns.forEach((hear) => hear());
}

/** Polls the server until it answers. */
export function look(): void {
  clearTimeout(looking);
  looking = undefined;
  // A hidden tab checks when it becomes visible.
  if (document.hidden) return;
  fetch("/api/ping", { headers: headers() }).then(
    (answer) => noteLink(answer.status === 401 ? "locked" : answer.ok ? "up" : "down"),
    () => noteLink("down"),
  );
}

// Another tab got access, or this one became visible: try again.
addEventListener("storage", (event) => {
  if (event.key === TOKEN && state !== "up") look();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && state !== "up") look();
});

/** Exchanges the code in the address, if there is one, for the token; the rest of the address stays. */
export async function enter(): Promise<void> {
  const url = new URL(location.href);
  const code = url.searchParams.get("token");
  if (code !== null) {
    url.searchParams.delete("token");
    history.replaceState(history.state, "", url.pathname + url.search + url.hash);
    try {
      const answer = await fetch("/api/enter", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code }),
      });
      const told = (await answer.json()) as Let & { error: string };
      if (answer.ok) {
        localStorage.setItem(TOKEN, told.token);
        return;
      }
      why = told.error ?? "";
    } catch {
      noteLink("down");
      return;
    }
  }
  // A used code does not matter if this browser already has access.
  if (!token()) noteLink("locked");
}
