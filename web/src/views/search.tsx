// Search: hits as they are found.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Hit, type Progress, type Refused, asRefused, query as asQuery, stream } from "../api";
import { useKeys } from "../hooks";
import { ResumeButton } from "../copy";
import { projectName } from "../projects";
import { isWhole, pattern } from "../mark";
import { Failure, Head, Time } from "../parts";
import { beside, go, key, onLeave, placeHere, session } from "../route";
import { several, short, unmarked } from "../words";

const FIELDS = ["q", "regex", "role", "branch", "tool", "since", "until", "project", "session", "sort"] as const;

/** Filters that can be typed. */
const HINTS = ["tool:Bash", "file:main.rs", "since:7d", "is:error", "-without"];

/** The last results, shown at once when the user returns. */
let last: { asked: string; hits: Hit[]; progress?: Progress } | undefined;

export function Search({ query }: { query: URLSearchParams }) {
  const asked = query.toString();
  // Only a revisited search has earlier results.
  const back = useRef(placeHere().top !== undefined && last?.asked === asked ? last : undefined);
  const [hits, setHits] = useState<Hit[]>(back.current?.hits ?? []);
  const [progress, setProgress] = useState<Progress | undefined>(back.current?.progress);
  const [error, setError] = useState<Refused>();
  const [busy, setBusy] = useState(false);
  const [tries, setTries] = useState(0);
  const [cursor, setCursor] = useState(placeHere().cursor ?? -1);
  const where = useRef(cursor);
  where.current = cursor;
  useEffect(() => onLeave(() => ({ cursor: where.current })), []);
  const form = useRef<HTMLFormElement>(null);
  const q = query.get("q") ?? "";
  const input = useRef<HTMLInputElement>(null);
  // Focus at once, so that the next key is typed here.
  useLayoutEffect(() => {
    if (!q) input.current?.focus();
  }, []);
  // Not as a property: a new render would overwrite what is being typed.
  useLayoutEffect(() => {
    if (input.current) input.current.value = q;
  }, [q]);
  useEffect(() => {
    const returned = back.current;
    back.current = undefined;
    if (returned) return;
    const stop = new AbortController();
    setHits([]);
    setProgress(undefined);
    setError(undefined);
    if (!q.trim()) {
      setBusy(false);
      return;
    }
    setBusy(true);
    let held: Hit[] = [];
    let reached: Progress | undefined;
    let drawn = 0;
    const draw = () => {
      drawn = 0;
      setHits(held);
    };
    const values = Object.fromEntries(FIELDS.map((field) => [field, query.get(field)]));
    stream<Hit | Progress>(`find${asQuery(values)}`, stop.signal, (line) => {
      if (line.schema === "ramus.find/1") {
        held = [...held, line as Hit];
        drawn ||= requestAnimationFrame(draw);
      } else setProgress((reached = line as Progress));
    }).then(
      () => {
        draw();
        setBusy(false);
        last = { asked, hits: held, progress: reached };
      },
      (failure) => {
        if (!stop.signal.aborted) {
          draw();
          setError(asRefused(failure));
          setBusy(false);
        }
      },
    );
    return () => {
      stop.abort();
      cancelAnimationFrame(drawn);
    };
  }, [asked, tries]);
  const submit = (event?: Event) => {
    event?.preventDefault();
    if (!form.current) return;
    const values = new FormData(form.current);
    const next = Object.fromEntries(FIELDS.map((field) => [field, (values.get(field) as string | null) ?? ""]));
    setCursor(-1);
    go(`/search${asQuery(next)}`, "replace");
  };
  const open = (hit: Hit | undefined) => {
    if (hit && !isGone(hit)) go(to(hit));
  };
  const move = (step: number) => {
    const next = Math.max(0, Math.min(hits.length - 1, cursor + step));
    setCursor(next);
    document.querySelectorAll(".hits > li")[next]?.scrollIntoView({ block: "nearest" });
  };
  useKeys({ j: () => move(1), k: () => move(-1), Enter: () => open(hits[cursor]) });
  const select = (name: string, label: string, options: [string, string][]) => (
    <label>
      {label}
      <select name={name} value={query.get(name) ?? ""} onChange={() => submit()}>
        {options.map(([value, text]) => (
          <option key={value} value={value} selected={value === (query.get(name) ?? "")}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <div class="page">
      <Head title="Search" />
      <form class="search" ref={form} onSubmit={submit} role="search">
        <div class="search-line">
          <input
            id="query"
            name="q"
            type="search"
            aria-label="Search text"
            maxLength={1000}
            placeholder={'words, or "a phrase"'}
            ref={input}
            autocomplete="off"
          />
          <button type="submit">Search</button>
        </div>
        <div class="filters">
          {select("role", "By ", [
            ["", "anybody"],
            ["user", "you"],
            ["assistant", "Claude"],
            ["tool", "tools"],
            ["system", "the client"],
          ])}
          {select("branch", "Branch ", [
            ["", "any"],
            ["active", "active"],
            ["abandoned", "abandoned"],
          ])}
          {select("sort", "Show ", [
            ["", "best matches"],
            ["newest", "all, newest first"],
          ])}
          <label>
            Tool{" "}
            <input name="tool" value={query.get("tool") ?? ""} placeholder="Bash, Edit…" onInput={() => submit()} />
          </label>
          <label>
            From <input name="since" type="date" value={query.get("since") ?? ""} onInput={() => submit()} />
          </label>
          <label>
            To <input name="until" type="date" value={query.get("until") ?? ""} onInput={() => submit()} />
          </label>
          <label class="check">
            <input
              name="regex"
              type="checkbox"
              value="true"
              checked={query.get("regex") === "true"}
              onChange={() => submit()}
            />{" "}
            regular expression
          </label>
          <input type="hidden" name="project" value={query.get("project") ?? ""} />
          <input type="hidden" name="session" value={query.get("session") ?? ""} />
          {(query.get("project") || query.get("session")) && (
            <button
              type="button"
              class="quiet chip"
              onClick={() => {
                query.delete("project");
                query.delete("session");
                go(`/search?${query}`, "replace");
              }}
            >
              only in {query.get("session") ? `session ${short(query.get("session") ?? "")}` : query.get("project")} ✕
            </button>
          )}
        </div>
      </form>
      <p class="hush" role="status">
        {!q
          ? "Every branch, agent and tool result is searched."
          : busy
            ? `Searching… ${several(hits.length, "hit")}`
            : progress
              ? `${several(progress.found, "message")}${progress.shown < progress.found ? `, the best ${progress.shown} are shown` : ""}${(progress.notes ?? []).map((note) => `. ${note}`).join("")}`
              : ""}
      </p>
      {!q && (
        <p class="hush filter-hints">
          Filters:{" "}
          {HINTS.map((hint) => (
            <code key={hint}>{hint}</code>
          ))}
        </p>
      )}
      {error && <Failure error={error} again={() => setTries(tries + 1)} />}
      {q && !busy && !error && progress?.found === 0 && (
        <section class="card empty">
          <p>No message matches “{q}”.</p>
          {FIELDS.some((field) => field !== "q" && query.get(field)) && (
            <button type="button" onClick={() => go(`/search${asQuery({ q })}`, "replace")}>
              Search without filters
            </button>
          )}
          <p class="hush">Fewer words find more. A word is found in other forms and spellings, too.</p>
        </section>
      )}
      <ol class="hits">
        {hits.map((hit, index) => (
          <li key={`${hit.address}-${index}`} class={cursor === index ? "cursor" : ""}>
            <Found hit={hit}>
              <span class="hit-head">
                <span
                  class={`status ${hit.status ?? "none"}`}
                  title={hit.status ? `${hit.status} branch` : "no branch"}
                >
                  {hit.status === "active" ? "●" : hit.status ? "○" : "·"}
                </span>
                <span class="title">
                  {(hit.title && unmarked(hit.title)) ||
                    (isGone(hit) ? `deleted session ${short(hit.session)}` : short(hit.session))}
                </span>
                <span class="facts">
                  {hit.agent && <span class="agent-word">agent</span>}
                  <span class="where">{projectName(hit.project)}</span>
                  <span>{isGone(hit) ? "prompt only" : (KINDS[hit.kind] ?? hit.kind)}</span>
                  {hit.conversation && (
                    <span title={`Conversation ${hit.conversation} of the session`}>@{hit.conversation}</span>
                  )}
                  {hit.status === "abandoned" && <span class="left-word">abandoned</span>}
                  <Time at={hit.timestamp} />
                </span>
              </span>
              <Snippet hit={hit} />
            </Found>
            {!isGone(hit) && !hit.agent && (
              <ResumeButton of={key({ id: hit.session, project: hit.project ?? "" })} node={nodeOf(hit)} />
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** What hits are called here; all others by their own word. */
const KINDS: Record<string, string> = {
  answer: "reply",
  queued: "queued prompt",
  meta: "note of the client",
  "tool-input": "tool call",
  "tool-result": "tool result",
  "command-output": "output of a command",
  system: "note of the client",
  "pr-link": "pull request",
  "last-prompt": "last prompt",
};

/** Whether the session was deleted and only this prompt is left. */
const isGone = (hit: Hit) => hit.class === "prompt-only";

function Found({ hit, children }: { hit: Hit; children: ComponentChildren }) {
  return isGone(hit) ? <span class="gone-row">{children}</span> : <a href={to(hit)}>{children}</a>;
}

function Snippet({ hit }: { hit: Hit }) {
  const letters = [...hit.snippet];
  const [from, to] = hit.match;
  const found = letters.slice(from, to).join("");
  const again = found.trim() ? pattern(found, "giu", isWhole(letters[from - 1], letters[to])) : undefined;
  return (
    <span class="snippet">
      {marked(letters.slice(0, from).join(""), again)}
      <mark>{found}</mark>
      {marked(letters.slice(to).join(""), again)}
    </span>
  );
}

/** Marks what was found wherever it occurs again. */
const marked = (text: string, again?: RegExp) =>
  again ? text.split(again).map((part, at) => (at % 2 ? <mark key={at}>{part}</mark> : part)) : text;

const nodeOf = (hit: Hit) => (hit.address.includes(":") ? hit.address.slice(hit.address.indexOf(":") + 1) : undefined);

const to = (hit: Hit) => {
  const id = hit.agent ? `agent-${hit.agent}` : hit.session;
  const node = nodeOf(hit) ?? "";
  const mark = [...hit.snippet].slice(...hit.match).join("");
  return session(beside(key({ id: hit.session, project: hit.project ?? "" }), id), "", node, node && mark);
};
