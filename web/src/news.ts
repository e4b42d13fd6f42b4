// File events while the web app is open: one stream for all tabs of a browser.
//
// A browser opens at most six connections to a server. So one visible tab, the one with the lock, reads the
// stream and forwards it to the others. A hidden tab does not listen, and reloads everything when it becomes
// visible.

import type { Changed, NewsKind } from "./generated";
import { headers, noteLink, onReturn } from "./link";

/** `missed`: events were lost, so everything may have changed. */
export interface News extends Changed {
  kind: NewsKind | "missed";
}

const MISSED: News[] = [{ kind: "missed", session: "", agent: false, owner: null }];
/** The delay before a stream that ended is opened again. */
const AGAIN = 1000;

const hearers = new Set<(news: News) => void>();
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("ramus-news") : undefined;
let stop: AbortController | undefined;

export function hearNews(hear: (news: News) => void): () => void {
  hearers.add(hear);
  return () => void hearers.delete(hear);
}

function deliver(all: News[]): void {
  if (document.hidden) return;
  for (const news of all) hearers.forEach((hear) => hear(news));
}

function publish(all: News[]): void {
  deliver(all);
  channel?.postMessage(all);
}

channel?.addEventListener("message", (event) => deliver(event.data as News[]));
onReturn(() => deliver(MISSED));

/** Reads one stream until it ends. */
async function read(signal: AbortSignal): Promise<void> {
  const response = await fetch("/api/events", { headers: headers(), signal });
  if (response.status === 401) {
    noteLink("locked");
    return;
  }
  if (!response.ok || !response.body) return;
  noteLink("up");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data:")) publish(JSON.parse(line.slice(5)) as News[]);
  }
}

/** Keeps a stream open while this tab is visible. */
async function hold(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await read(signal);
    } catch {
      if (!signal.aborted) noteLink("down");
    }
    if (!signal.aborted) await new Promise((wake) => setTimeout(wake, AGAIN));
  }
}

function see(): void {
  if (document.hidden) {
    stop?.abort();
    stop = undefined;
    return;
  }
  if (stop) return;
  const mine = (stop = new AbortController());
  // Locks need a secure context, which another machine's address does not have.
  if (navigator.locks && channel)
    void navigator.locks.request("ramus-news", { signal: mine.signal }, () => hold(mine.signal)).catch(() => {});
  else void hold(mine.signal);
}

/** Starts listening. A tab that was hidden has missed events. */
export function startNews(): void {
  see();
  document.addEventListener("visibilitychange", () => {
    see();
    if (!document.hidden) deliver(MISSED);
  });
}
