// Find within a session: `/` opens a field, Enter goes from hit to hit.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Hit, type Progress, type Refused, asRefused, query, stream } from "../../api";
import { Icon } from "../../icons";
import * as route from "../../route";
import { count } from "../../words";

interface FoundHit {
  node: string;
  words: string;
}

const isHit = (line: Hit | Progress): line is Hit => line.schema === "ramus.find/1";

/** How long typing must pause before the session is searched. */
const PAUSE = 180;

export function FindBar({ id, onClose }: { id: string; onClose: () => void }) {
  const [text, setText] = useState("");
  const [hits, setHits] = useState<FoundHit[]>([]);
  const [at, setAt] = useState(-1);
  const [busy, setBusy] = useState(false);
  /** The newest hits are listed if there are too many. */
  const [more, setMore] = useState(false);
  const [error, setError] = useState<Refused>();
  const field = useRef<HTMLInputElement>(null);
  // What the agents of a session say is in transcripts of their own.
  const agent = /^agent-/.test(id) ? route.plain(id).slice("agent-".length) : "";
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    setHits([]);
    setAt(-1);
    setError(undefined);
    if (!text.trim()) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      setBusy(true);
      const found: FoundHit[] = [];
      let progress: Progress | undefined;
      stream<Hit | Progress>(`find${query({ q: text, session: id, sort: "newest" })}`, stop.signal, (line) => {
        if (!isHit(line)) {
          progress = line;
          return;
        }
        if ((line.agent ?? "") !== agent || !line.address.includes(":")) return;
        const words = [...line.snippet].slice(...line.match).join("");
        found.push({ node: line.address.slice(line.address.indexOf(":") + 1), words });
      }).then(
        () => {
          setBusy(false);
          // Hits come newest first; a reader goes from top to bottom.
          setHits(found.reverse());
          setMore(progress !== undefined && progress.shown < progress.found);
        },
        (failure) => {
          setBusy(false);
          if (!stop.signal.aborted) setError(asRefused(failure));
        },
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, id]);
  const move = (step: number) => {
    if (hits.length === 0) return;
    const next = at < 0 && step < 0 ? hits.length - 1 : (at + step + hits.length) % hits.length;
    setAt(next);
    route.go(route.session(id, "", hits[next].node, hits[next].words), "replace");
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter") move(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") onClose();
    else return;
    event.preventDefault();
  };
  return (
    <div class="find-bar" role="search">
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        aria-label="Find in this session"
        placeholder="Find in this session, all branches"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={keys}
      />
      <span class="hush" role="status">
        {error
          ? error.message
          : !text.trim()
            ? ""
            : busy
              ? "…"
              : hits.length === 0
                ? "no matches"
                : `${at < 0 ? "" : `${count(at + 1)} of `}${more ? "the last " : ""}${count(hits.length)}`}
      </span>
      <button
        type="button"
        class="quiet"
        aria-label="Previous match"
        disabled={hits.length === 0}
        onClick={() => move(-1)}
      >
        <Icon name="chevronLeft" />
      </button>
      <button type="button" class="quiet" aria-label="Next match" disabled={hits.length === 0} onClick={() => move(1)}>
        <Icon name="chevronRight" />
      </button>
      <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
        <Icon name="close" />
      </button>
    </div>
  );
}
