// Small things that many views use.

import { Component, type ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import {
  type Lineage as Told,
  type Refused,
  type Relative,
  type Session,
  type Sessions,
  asRefused,
  query,
} from "./api";
import { useGet } from "./hooks";
import { Icon } from "./icons";
import * as route from "./route";
import { ResumeButton } from "./copy";
import { projectName } from "./projects";
import { bytes, count, exactly, several, short, statName, titleOf, until, when, whenSent } from "./words";

/** The sign of a branch. */
export const Branch = () => (
  <svg class="branch-sign" viewBox="0 0 16 16" aria-hidden="true">
    <path d="M5 14V2M5 9.5c0-3.5 6-2 6-6.5" />
    <circle cx="11" cy="2.6" r="1.2" />
  </svg>
);

export function Time({ at, sent }: { at: string | null | undefined; sent?: boolean }) {
  return at ? (
    <time dateTime={at} title={exactly(at)}>
      {sent ? whenSent(at) : when(at)}
    </time>
  ) : null;
}

export function Failure({ error, again }: { error: Refused; again?: () => void }) {
  return (
    <div class="failure-box" role="alert">
      <strong>{error.message}</strong>
      {error.hint && <p>{error.hint}</p>}
      {error.candidates.length > 0 && (
        <ul>
          {error.candidates.map((one) => (
            <li key={one}>
              <a href={route.session(one)}>{one.slice(one.indexOf("~") + 1)}</a>
            </li>
          ))}
        </ul>
      )}
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Shows an error in place of a part of the page that cannot be rendered. */
export class Guard extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  state: { error?: unknown } = {};
  componentDidCatch(error: unknown) {
    this.setState({ error });
  }
  render() {
    if (this.state.error === undefined) return this.props.children;
    return (
      <div class="page">
        <Failure error={asRefused(this.state.error)} again={() => this.setState({ error: undefined })} />
      </div>
    );
  }
}

export function Waiting({ what }: { what: string }) {
  return (
    <p class="hush" role="status">
      {what}…
    </p>
  );
}

export function Head({ title, children }: { title: string; children?: ComponentChildren }) {
  useEffect(() => {
    document.title = title ? `${title} · ramus` : "ramus";
  }, [title]);
  return (
    <header class="head">
      <h1>{title}</h1>
      {children}
    </header>
  );
}

export function SessionList({
  sessions,
  live = [],
  showProject = true,
}: {
  sessions: Session[];
  live?: string[];
  showProject?: boolean;
}) {
  return (
    <ul class="sessions">
      {sessions.map((session) => (
        <li key={session.id + session.project}>
          <a href={route.session(route.key(session))}>
            <span class="title">
              {live.includes(session.id) && (
                <span class="live" title="Written to a moment ago, or open in Claude Code">
                  live
                </span>
              )}
              {session.pinned && (
                <span class="pinned" title="Pinned">
                  <Icon name="pin" />
                </span>
              )}
              {titleOf(session)}
            </span>
            {session.note && <span class="note-text">{session.note}</span>}
            <span class="facts">
              {showProject && <span class="where">{projectName(session.project, session.cwd)}</span>}
              <span>{several(session.messages, "message")}</span>
              {session.origins.length > 0 && (
                <span class="branches">
                  {[...new Set(session.origins.map((origin) => statName("origin", origin.kind)))].join(", ")}
                </span>
              )}
              {session.tags.map((tag) => (
                <span key={tag} class="chip-tag">
                  #{tag}
                </span>
              ))}
              {session.pull_requests.map((pr) => (
                <span key={pr.url}>PR {pr.number === null ? "" : `#${pr.number}`}</span>
              ))}
              {session.conversations > 1 && (
                <span class="branches">{several(session.conversations, "branch", "branches")}</span>
              )}
              {session.agents > 0 && <span>{several(session.agents, "agent")}</span>}
              {session.defects > 0 && <span class="bad">{several(session.defects, "defect")}</span>}
              <span>{bytes(session.bytes)}</span>
              {session.archived && (
                <span title="Its file no longer exists; this is read from the archive">archived</span>
              )}
              {isDue(session) && (
                <span class="bad" title={exactly(session.deleted_after ?? "")}>
                  deleted {until(session.deleted_after ?? "")}
                </span>
              )}
              <Time at={session.last_active} />
            </span>
          </a>
          {!session.archived && <ResumeButton of={route.key(session)} />}
        </li>
      ))}
    </ul>
  );
}

/** Whether Claude Code deletes a session within a week. */
const isDue = (session: Session) =>
  session.deleted_after !== null && Date.parse(session.deleted_after) - Date.now() <= 7 * 86_400_000;

/** Sessions that Claude Code deleted, whose prompts are left. */
export function Gone({ project }: { project?: string }) {
  const { data } = useGet<Sessions>(`gone${query({ project })}`);
  if (!data || data.sessions.length === 0) return null;
  const prompts = data.sessions.reduce((sum, session) => sum + session.messages, 0);
  return (
    <details class="card gone">
      <summary>
        {several(prompts, "prompt")} of {several(data.sessions.length, "deleted session")}
      </summary>
      <p class="hush">Claude Code deleted these sessions; only their prompts are left. Search finds every prompt.</p>
      <ul class="sessions">
        {data.sessions.slice(0, 200).map((session) => (
          <li key={session.id}>
            <span class="gone-row">
              <span class="title">{titleOf(session)}</span>
              <span class="facts">
                <span>prompt only</span>
                {!project && <span class="where">{projectName(session.project, session.cwd)}</span>}
                <span>{several(session.messages, "prompt")}</span>
                <Time at={session.last_active} />
              </span>
            </span>
          </li>
        ))}
      </ul>
      {data.sessions.length > 200 && <p class="hush">and {several(data.sessions.length - 200, "more session")}</p>}
    </details>
  );
}

/** How many relatives of a kind are listed. */
const RELATIVES = 4;

/** The origins and offspring of a session, with links. */
export function Lineage({ of }: { of: Told }) {
  const kinds = (relatives: Relative[]) =>
    [...new Set(relatives.map((one) => one.words))].map((words) => {
      const known = relatives.filter((one) => one.words === words && one.session);
      return (
        <span key={words} class="lineage">
          {known.length > 0 ? words : words.replace(/ in$/, "")}
          {known.slice(0, RELATIVES).map((one, index) => (
            <>
              {index === 0 ? " " : ", "}
              {one.address ? (
                <a href={route.session(one.address)} title={one.title ?? undefined}>
                  {short(one.session ?? "")}
                </a>
              ) : (
                `${short(one.session ?? "")} (not found)`
              )}
            </>
          ))}
          {known.length > RELATIVES && ` and ${several(known.length - RELATIVES, "more session")}`}
        </span>
      );
    });
  return (
    <>
      {kinds(of.origins.filter((one) => one.kind !== "agent"))}
      {kinds(of.offspring)}
    </>
  );
}

export function Numbers({ of }: { of: [string, string | number][] }) {
  return (
    <dl class="numbers">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === "number" ? count(value) : value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Bars beside their names: a chart that is a table. */
export function Bars({
  title,
  of,
  show = count,
  most = Math.max(1, ...of.map(([, n]) => n)),
}: {
  title: string;
  of: [string, number][];
  show?: (n: number) => string;
  /** The number that fills a bar; the largest unless given. */
  most?: number;
}) {
  return (
    <section class="card">
      <h2>{title}</h2>
      <table class="bars" aria-label={title}>
        <tbody>
          {of.map(([name, n]) => (
            <tr key={name}>
              <th scope="row" title={name}>
                {name}
              </th>
              <td class="bar-cell">
                <span class="meter" style={{ inlineSize: `${Math.max(n > 0 ? 1 : 0, (100 * n) / most)}%` }} />
              </td>
              <td class="amount">{show(n)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function Dialog({
  title,
  onClose,
  children,
  wide,
  full,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
  /** A picture as large as the window. */
  full?: boolean;
}) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    box.current?.showModal();
  }, []);
  return (
    <dialog
      ref={box}
      class={full ? "full" : wide ? "wide" : ""}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === box.current) onClose();
      }}
    >
      <div class="dialog-in">
        <header>
          <h2>{title}</h2>
          <button type="button" class="quiet" onClick={onClose} aria-label="Close">
            <Icon name="close" />
          </button>
        </header>
        <Guard>{children}</Guard>
      </div>
    </dialog>
  );
}
