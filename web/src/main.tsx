// The web app: the list of histories on the left, and a view for each address.

import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Tags, onAnnotated } from "./annotations";
import type { Project, Projects, Session, Sessions } from "./api";
import { useGet, useKeys, useLink, useNews } from "./hooks";
import { resumed } from "./copy";
import { copied } from "./html";
import { enter, lockedWhy, look, token } from "./link";
import { startNews } from "./news";
import { Branch, Guard, Head } from "./parts";
import { Help } from "./help";
import { Icon, type IconName } from "./icons";
import { Palette } from "./palette";
import {
  follow,
  go,
  project as projectAt,
  key,
  listed,
  notePlace,
  onLeave,
  placeHere,
  session as sessionAt,
  useRoute,
} from "./route";
import { type Say, useToast } from "./toast";
import { Compare } from "./views/compare";
import { FilesView } from "./views/files";
import { Log } from "./views/log";
import { Overview } from "./views/overview";
import { ProjectView } from "./views/project";
import { Search } from "./views/search";
import { SessionView } from "./views/session";
import { StatsView } from "./views/stats";
import { UsageView } from "./views/usage";
import { nameProjects, projectName } from "./projects";
import { place, titleOf, when } from "./words";

const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function useTheme(): [Theme, () => void] {
  const [theme, set] = useState<Theme>(() => (localStorage.getItem("theme") as Theme | null) ?? "system");
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("theme", theme);
  }, [theme]);
  return [theme, () => set(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length])];
}

/** How long lists may show an outdated title or time. */
const LATER = 4000;

function App() {
  const { path, query } = useRoute();
  const [theme, nextTheme] = useTheme();
  const [sheet, setSheet] = useState<"help" | "palette" | null>(null);
  const [drawer, setDrawer] = useState(false);
  const [toast, say] = useToast();
  const projects = useGet<Projects>("projects");
  const sessions = useGet<Sessions>("sessions");
  useMemo(() => listed(sessions.data?.sessions ?? []), [sessions.data]);
  useMemo(() => nameProjects(projects.data?.projects ?? []), [projects.data]);
  useEffect(() => onAnnotated(() => sessions.again()), []);
  const later = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useNews((news) => {
    if (news.kind === "found" || news.kind === "gone" || news.kind === "missed") {
      projects.again();
      sessions.again();
    }
    // Titles and times change with messages, but are not urgent.
    else
      later.current ??= setTimeout(() => {
        later.current = undefined;
        sessions.again();
      }, LATER);
  });
  useKeys({
    "?": () => setSheet("help"),
    // In a session, search within it.
    ...(path.startsWith("/s/")
      ? {}
      : {
          "/": () => {
            go("/search");
            document.querySelector<HTMLInputElement>("#query")?.focus();
          },
        }),
    b: () => setDrawer((open) => !open),
    h: () => go("/"),
    s: () => go("/stats"),
    u: () => go("/usage"),
    d: nextTheme,
  });
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setSheet("palette");
      }
    };
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, []);
  useEffect(() => setDrawer(false), [path, query.toString()]);
  useMainPlace(path + query.toString());
  const link = useLink();
  const [, kind = "", id = ""] = path.split("/").map(decode);
  return (
    <div
      class="frame"
      onClick={(event) => {
        copied(event, say);
        resumed(event, say);
        follow(event);
      }}
    >
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        Go to the content
      </a>
      <header class="top">
        <button
          type="button"
          class="quiet menu"
          aria-label="Projects and sessions"
          aria-expanded={drawer}
          onClick={() => setDrawer(!drawer)}
        >
          <Icon name="menu" />
        </button>
        <a class="brand" href="/">
          <Branch />
          ramus
        </a>
        <Views here={kind} />
        <span class="grow" />
        <button type="button" class="quiet hint" aria-label="Go to… Ctrl K" onClick={() => setSheet("palette")}>
          <Icon name="search" /> <span>Go to…</span> <kbd>Ctrl K</kbd>
        </button>
        <button
          type="button"
          class="quiet"
          onClick={nextTheme}
          aria-label={`Colours: ${theme}`}
          title={`Colours: ${theme}`}
        >
          <Icon name={theme === "system" ? "monitor" : theme === "light" ? "sun" : "moon"} />
        </button>
        <button type="button" class="quiet" onClick={() => setSheet("help")} aria-label="Keys" title="Keys">
          <Icon name="keyboard" />
        </button>
      </header>
      <Side
        open={drawer}
        view={kind}
        projects={projects.data?.projects ?? []}
        sessions={sessions.data?.sessions ?? []}
        here={kind === "s" ? id : ""}
        project={kind === "p" ? id : ""}
        busy={sessions.busy && !sessions.data}
      />
      <main id="main" tabIndex={-1}>
        {link !== "up" && <Link state={link} />}
        <Guard key={path}>
          {view(kind, id, query, say, sessions.data?.sessions.find((one) => key(one) === id)?.title)}
        </Guard>
      </main>
      {drawer && <div class="shade" onClick={() => setDrawer(false)} />}
      {sheet === "help" && <Help onClose={() => setSheet(null)} />}
      {sheet === "palette" && (
        <Palette
          projects={projects.data?.projects ?? []}
          sessions={sessions.data?.sessions ?? []}
          onTheme={nextTheme}
          onHelp={() => setSheet("help")}
          onClose={() => setSheet((now) => (now === "palette" ? null : now))}
        />
      )}
      {toast}
    </div>
  );
}

/** A banner for a server that does not answer or refuses access. */
function Link({ state }: { state: "down" | "locked" }) {
  return (
    <div class="link-banner" role="alert">
      {state === "down" ? (
        <p>
          <b>No answer from the server.</b> It was stopped or is restarting. This page reconnects automatically; until
          then it may be out of date.
        </p>
      ) : (
        <p>
          <b>The server was restarted, and this browser needs access again.</b> Open the last address that it printed in
          its terminal; this tab then reconnects. Start it with <code>ramus serve --keep-token</code> to avoid this.
        </p>
      )}
      <button type="button" onClick={look}>
        Try now
      </button>
    </div>
  );
}

/** Shown to a browser without access. */
function Locked() {
  return (
    <main class="locked">
      <h1>
        <Branch /> ramus
      </h1>
      <p>This page shows Claude Code histories on this machine. This browser has no access yet.</p>
      {lockedWhy() && <p class="note bad">Access was refused: {lockedWhy()}.</p>}
      <p>
        Open the last address that <code>ramus serve</code> printed in its terminal. Each address works for one browser;
        once it is used, ramus prints the next one. <code>ramus serve --open</code> opens the browser for you.
      </p>
    </main>
  );
}

/** How long a revisited view may take to reach its earlier height. */
const COMING = 5000;

/** Restores the scroll position of a revisited view. */
function useMainPlace(address: string) {
  useEffect(() => {
    const main = document.getElementById("main");
    const top = placeHere().top ?? 0;
    if (!main) return;
    const until = performance.now() + COMING;
    let frame = 0;
    const stop = () => cancelAnimationFrame(frame);
    const settle = () => {
      main.scrollTop = top;
      if (Math.abs(main.scrollTop - top) > 1 && performance.now() < until) frame = requestAnimationFrame(settle);
    };
    settle();
    // Stop as soon as the user scrolls.
    const acts = ["wheel", "pointerdown", "keydown", "touchstart"];
    acts.forEach((act) => addEventListener(act, stop, { passive: true }));
    const forget = onLeave(() => ({ top: main.scrollTop }));
    return () => {
      stop();
      forget();
      acts.forEach((act) => removeEventListener(act, stop));
    };
  }, [address]);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function view(kind: string, id: string, query: URLSearchParams, say: Say, listed: string | null | undefined) {
  switch (kind) {
    case "":
      return <Overview />;
    case "p":
      return <ProjectView key={id} name={id} />;
    case "s":
      return (
        <SessionView
          key={id}
          id={id}
          leaf={query.get("leaf") ?? ""}
          at={query.get("at") ?? ""}
          mark={query.get("mark") ?? ""}
          listed={listed}
          say={say}
        />
      );
    case "f":
      return <FilesView key={id} id={id} at={query.get("at") ?? ""} path={query.get("path") ?? ""} say={say} />;
    case "compare":
      return <Compare query={query} />;
    case "search":
      return <Search query={query} />;
    case "stats":
      return <StatsView />;
    case "usage":
      return <UsageView query={query} />;
    case "log":
      return <Log say={say} />;
    default:
      return (
        <div class="page">
          <Head title="Page not found" />
          <p>
            <a href="/">Go to the overview</a>
          </p>
        </div>
      );
  }
}

const VIEWS: [string, string, IconName][] = [
  ["search", "Search", "search"],
  ["usage", "Usage", "chart"],
  ["stats", "Statistics", "numbers"],
  ["log", "Log", "log"],
];

/** The links to the views: at the top, or in the drawer on a phone. */
function Views({ here }: { here: string }) {
  return (
    <nav class="views" aria-label="Views">
      {VIEWS.map(([kind, name, icon]) => (
        <a key={kind} href={`/${kind}`} aria-current={here === kind ? "page" : undefined}>
          <Icon name={icon} /> {name}
        </a>
      ))}
    </nav>
  );
}

/** How many sessions of a project are listed before "more". */
const SHOWN = 8;

function Side({
  open,
  projects,
  sessions,
  here,
  view,
  project,
  busy,
}: {
  open: boolean;
  view: string;
  projects: Project[];
  sessions: Session[];
  here: string;
  project: string;
  busy: boolean;
}) {
  const [filter, setFilter] = useState("");
  const [all, setAll] = useState(new Set<string>());
  const [byRepository, setByRepository] = useState(() => localStorage.getItem("ramus-by") === "repository");
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (session: Session) =>
    words.every((word) =>
      word.startsWith("#")
        ? session.tags.some((tag) => tag.startsWith(word.slice(1)))
        : `${session.title} ${session.cwd} ${session.id} ${session.note ?? ""}`.toLowerCase().includes(word),
    );
  const by = new Map<string, Session[]>();
  // A repository is named after its most recently used project.
  const home = new Map<string, string>();
  if (byRepository)
    for (const one of projects)
      if (one.repository)
        home.set(one.name, projects.find((other) => other.repository === one.repository)?.name ?? one.name);
  const groupOf = (session: Session) => home.get(session.project) ?? session.project;
  for (const session of sessions)
    if (fits(session)) by.set(groupOf(session), [...(by.get(groupOf(session)) ?? []), session]);
  const name = (one: Project) =>
    (byRepository && one.repository && place(one.repository)) || projectName(one.name, one.path);
  const pinned = sessions.filter((session) => session.pinned && fits(session));
  const row = (session: Session) => (
    <li key={session.id + session.project}>
      <a
        href={sessionAt(key(session))}
        aria-current={here === key(session) ? "page" : undefined}
        title={titleOf(session)}
      >
        <span class="title">{titleOf(session)}</span>
        <span class="facts">
          {session.conversations > 1 && (
            <span class="branches" title={`${session.conversations} branches`}>
              <Branch />
              {session.conversations}
            </span>
          )}
          <time>{when(session.last_active)}</time>
          <Tags of={session.tags} />
        </span>
      </a>
    </li>
  );
  const toggle = () => {
    localStorage.setItem("ramus-by", byRepository ? "project" : "repository");
    setByRepository(!byRepository);
  };
  return (
    <nav class={`side${open ? " open" : ""}`} aria-label="Projects and sessions">
      <Views here={view} />
      <input
        type="search"
        placeholder="Filter: title, path, id or #tag"
        aria-label="Filter sessions"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      <label class="by-repository">
        <input type="checkbox" checked={byRepository} onChange={toggle} /> By repository
      </label>
      {busy && <p class="hush">Loading…</p>}
      {words.length > 0 && by.size === 0 && !busy && <p class="hush pad">No session matches.</p>}
      {pinned.length > 0 && (
        <section class="pinned-list">
          <h2>
            <span class="heading">
              <Icon name="pin" /> Pinned
            </span>
            <span>{pinned.length}</span>
          </h2>
          <ul>{pinned.slice(0, 50).map(row)}</ul>
        </section>
      )}
      {projects
        .filter((one) => by.has(one.name))
        .slice(0, 60)
        .map((one) => {
          const listed = by.get(one.name) ?? [];
          const shown = all.has(one.name) || words.length > 0 ? listed.slice(0, 200) : listed.slice(0, SHOWN);
          return (
            <section key={one.name}>
              <h2>
                <a
                  href={projectAt(one.name)}
                  aria-current={project === one.name ? "page" : undefined}
                  title={(byRepository ? one.repository : null) ?? one.path ?? one.name}
                >
                  {name(one)}
                </a>
                <span>{listed.length}</span>
              </h2>
              <ul>{shown.map(row)}</ul>
              {shown.length < listed.length && (
                <button type="button" class="quiet more" onClick={() => setAll(new Set([...all, one.name]))}>
                  {listed.length - shown.length} more
                </button>
              )}
            </section>
          );
        })}
    </nav>
  );
}

/** The app, once the browser has access; an open view stays visible when access is lost. */
function Start() {
  const link = useLink();
  const known = useRef(false);
  if (link === "up" || token()) known.current = true;
  return known.current ? <App /> : <Locked />;
}

// Restore the position after a reload, and after returning from another site.
addEventListener("pagehide", notePlace);

const root = document.getElementById("app");
void enter().then(() => {
  if (!root) return;
  root.textContent = "";
  render(<Start />, root);
  startNews();
});
