// One session: transcript, tree, details.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Act, Merge, Rename, type Request } from "../act";
import { type Conversation, type Detail, type Lineage as LineageTold, type PathView, Refused, type Row, type View, asRefused, download, get, query } from "../api";
import { type News, useGet, useKeys, useNews } from "../hooks";
import { Dialog, Failure, Lineage, Time, Waiting } from "../parts";
import * as route from "../route";
import { Printed, usePrinted } from "../print";
import { type Mark, Transcript } from "../transcript";
import { partName, unfold } from "../turn";
import { Tree } from "../tree";
import { useTyped } from "../typed";
import { useReplyUsage } from "../usage";
import { place, several, short } from "../words";
import { Details } from "./details";

type Panel = "tree" | "details";

export function SessionView({ id, leaf, at, mark, listed, say }: { id: string; leaf: string; at: string; mark: string; listed: string | null | undefined; say: (text: string) => void }) {
  const address = `sessions/${encodeURIComponent(id)}`;
  const detail = useGet<Detail>(address);
  const path = useGet<PathView>(`${address}/path${query({ leaf, node: at })}`);
  const outline = useGet<{ rows: Row[] }>(`${address}/outline`);
  const lineage = useGet<LineageTold>(`${address}/lineage`);
  const [panel, setPanel] = useState<Panel>("tree");
  const [open, setOpen] = useState(() => matchMedia("(min-width: 1100px)").matches);
  const [seen, setSeen] = useState(0);
  const [request, setRequest] = useState<Request>();
  const [asking, setAsking] = useState<"rename" | "export" | null>(null);
  const [chosen, setChosen] = useState<View>();
  const [merging, setMerging] = useState<Conversation[]>();
  const [gone, setGone] = useState("");
  const list = useRef<Transcript>(null);
  const [usage, toggleUsage] = useReplyUsage();
  const later = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const told = path.data;
  const here = Math.min(seen, Math.max(0, (told?.count ?? 1) - 1));
  const missed = useRef<News | undefined>(undefined);
  const hear = (news: News) => {
    missed.current = undefined;
    setGone(news.kind === "gone" ? id : "");
    if (news.kind === "gone") return;
    detail.again(); path.again(); lineage.again();
    // Drawing the tree anew is the dearest of them, and nobody waits for it; yet it must come although news goes on.
    later.current ??= setTimeout(() => { later.current = undefined; outline.again(); }, 1200);
  };
  useNews((news) => {
    if (news.kind !== "missed" && news.session !== route.plain(id).replace(/^agent-/, "")) return;
    // Behind a plan nothing moves: what it does may take the session away.
    if (request) missed.current = news;
    else hear(news);
  });
  useEffect(() => () => clearTimeout(later.current), []);
  // What other sessions call it may be known only now.
  useEffect(() => { if (listed && detail.data && listed !== detail.data.title) detail.again(); }, [listed]);
  useEffect(() => { document.title = `${detail.data?.title ?? short(id)} · ramus`; }, [detail.data?.title]);
  // A node that was asked for is gone to when its path is there.
  const start = useMemo(() => told?.at ?? null, [told]);
  // Where this entry of the browser's history was left, if it was: that comes before what it was opened at.
  const [entry, setEntry] = useState(() => ({ address: location.href, place: route.placeHere() }));
  if (entry.address !== location.href) setEntry({ address: location.href, place: route.placeHere() });
  const wasAt = entry.address === location.href ? entry.place : route.placeHere();
  const been = wasAt.at !== undefined;
  useEffect(() => route.onLeave(() => list.current?.place() ?? {}), []);
  useEffect(() => { if (start !== null && at && !been) list.current?.jump(start); }, [start, at]);
  useEffect(() => { if (been && path.current) list.current?.back(wasAt); }, [entry, path.current]);
  // A hit in a call or a fold is unfolded before it is looked for.
  const [marked, setMarked] = useState<Mark>();
  useEffect(() => {
    if (!mark || start === null || !told) { setMarked(undefined); return; }
    let off = false;
    get<{ calls: { uuid?: string | null; i: number; n: number; whole: boolean }[]; folds: { uuid?: string | null; i: number; n: number }[] }>(`${address}/holds${query({ leaf: told.leaf, at: start, text: mark })}`).then((found) => {
      if (off) return;
      found.calls.forEach((one) => unfold(partName(id, { ...one, at: start }, one.n), one.whole));
      found.folds.forEach((one) => unfold(partName(id, { ...one, at: start }, -1 - one.n)));
      setMarked({ at: start, text: mark, seen: been });
    }, () => { if (!off) setMarked({ at: start, text: mark, seen: been }); });
    return () => { off = true; };
  }, [mark, start, told?.leaf]);
  const printed = usePrinted(id, told);
  const onWay = useMemo(() => (way: { leaf: string }, position: number) => {
    list.current?.jump(position);
    route.go(route.session(id, way.leaf));
  }, [id]);
  const goRow = useCallback((row: Row) => { setOpen(matchMedia("(min-width: 1100px)").matches); route.go(route.session(id, "", row.node)); }, [id]);
  const goAgent = useCallback((agent: string) => route.go(route.session(route.beside(id, `agent-${agent}`))), [id]);
  const doing = useMemo(() => ({ onWay, onTurn: (view: View) => setChosen(view) }), [onWay]);
  const next = (step: number, fits: (position: number) => boolean) => {
    if (!told) return;
    for (let position = here + step; position >= 0 && position < told.count; position += step) {
      if (fits(position)) { list.current?.jump(position); return; }
    }
    say(step > 0 ? "There are no more below" : "There are no more above");
  };
  const letter = (position: number) => told?.shape[position] ?? "";
  const prompt = (position: number) => letter(position) === "p";
  const fork = (position: number) => told?.forks.includes(position) ?? false;
  /** A message may turn out to show nothing, which is known when it is there. */
  const step = (by: number) => {
    let position = here + by;
    while (letter(position) === "d" || (list.current?.loaded[position] && !list.current.views.has(position))) position += by;
    if (letter(position) && !list.current?.has(position)) return false;
    next(by, (other) => other === position);
  };
  const failure = async (back: boolean) => {
    const found = await get<{ at: number | null }>(`${address}/next${query({ leaf: told?.leaf, at: here, back: back || undefined })}`).catch((error) => { say(asRefused(error).message); });
    if (!found) return;
    if (found.at === null) say("There are no more failures that way");
    else list.current?.jump(found.at);
  };
  const way = (step: number) => {
    const at = told?.forks.filter((position) => position <= here + 1).pop() ?? told?.forks[0];
    if (at === undefined) { say("There is no fork here"); return; }
    if (!list.current?.has(at)) return false;
    const ways = list.current.views.get(at)?.find((view) => view.fork)?.fork?.ways ?? [];
    const taken = ways.findIndex((one) => one.taken);
    if (ways.length > 0) onWay(ways[(taken + step + ways.length) % ways.length], at);
  };
  const unfoldHere = () => {
    if (!list.current?.has(here)) return false;
    const folds = [...document.querySelectorAll<HTMLDetailsElement>(`.row[data-at="${here}"] > .turn > details`)];
    const closed = folds.some((one) => !one.open);
    folds.forEach((one) => { one.open = closed; });
  };
  const onLoad = useTyped(() => path.current && told !== undefined && list.current?.props.path === told, {
    j: () => step(1), k: () => step(-1),
    p: () => next(1, prompt), P: () => next(-1, prompt),
    "]": () => next(1, fork), "[": () => next(-1, fork),
    ArrowRight: () => way(1), ArrowLeft: () => way(-1),
    e: () => failure(false), E: () => failure(true),
    g: () => list.current?.jump(0), G: () => list.current?.end(),
    o: unfoldHere,
    m: () => {
      if (!list.current?.has(here)) return false;
      const view = list.current.views.get(here)?.find((one) => one.uuid && !one.fork);
      if (view) setChosen(view);
      else say("There is nothing to do with this");
    },
  });
  useKeys({
    t: () => { setOpen(!open || panel !== "tree"); setPanel("tree"); },
    i: () => { setOpen(!open || panel !== "details"); setPanel("details"); },
    c: toggleUsage,
  });
  if (gone === id) return <div class="page"><Failure error={new Refused("this session is not there any more", "it was moved or deleted; what ramus put into the trash the log brings back", 404)} again={() => { setGone(""); detail.again(); path.again(); }} /></div>;
  if (detail.error && !detail.data) return <div class="page"><Failure error={detail.error} again={detail.again} /></div>;
  const session = detail.data;
  const title = session?.title ?? short(id);
  return (
    <div class={`session${open ? " with-panel" : ""}`}>
      <header class="session-head">
        <div class="names">
          <h1 title={title}>{title}</h1>
          <p class="facts">
            {session && <a href={route.project(session.project)}>{place(session.cwd) || session.project}</a>}
            {session?.parent && <a href={route.session(route.beside(id, session.parent))}>agent of {short(session.parent)}</a>}
            {session?.git_branch && <span>{session.git_branch}</span>}
            {session && <span>{several(session.messages, "message")}</span>}
            {session && session.forks > 0 && <span class="branches">{several(session.conversations.length, "branch", "branches")}</span>}
            {session && <Time at={session.last_active} />}
            {lineage.data && <Lineage of={lineage.data} />}
          </p>
        </div>
        <div class="tools">
          {told && told.count > 0 && <span class={`tag ${told.status}`}>{told.resumes ? "resumes" : told.status}{told.conversation ? ` @${told.conversation}` : ""}</span>}
          <button type="button" aria-pressed={usage} title="Tokens, context size and cost of each reply" onClick={toggleUsage}>Usage</button>
          <button type="button" onClick={() => setAsking("export")}>Export</button>
          <button type="button" aria-pressed={open && panel === "tree"} onClick={() => { setOpen(!(open && panel === "tree")); setPanel("tree"); }}>Tree</button>
          <button type="button" aria-pressed={open && panel === "details"} onClick={() => { setOpen(!(open && panel === "details")); setPanel("details"); }}>Details</button>
        </div>
      </header>
      {told?.status === "abandoned" && (
        <p class="left-banner" role="note">This branch was left behind. <a href={route.session(id)}>Read the one that Claude Code would resume</a></p>
      )}
      <div class="session-in">
        {path.error && !told ? <div class="page"><Failure error={path.error} again={path.again} /></div>
          : told?.count === 0 ? <div class="page"><p>There is nothing to read in this session yet.</p></div>
          : told ? <Transcript key={id} handle={list} session={id} path={told} start={start} doing={doing} selected={here} onSee={setSeen} onLoad={onLoad} mark={marked} back={been ? wasAt : undefined} />
          : <Waiting what="Opening the session" />}
        {told && told.count > 0 && <Place told={told} seen={here} onGo={(position) => list.current?.jump(position)} />}
        {open && (
          <aside class="panel" aria-label={panel === "tree" ? "Tree" : "Details"}>
            <button type="button" class="quiet close" aria-label="Close" onClick={() => setOpen(false)}>✕</button>
            {panel === "tree"
              ? (outline.data ? <Tree lineage={lineage.data} rows={outline.data.rows} leaf={told?.leaf ?? ""} onGo={goRow} onAgent={goAgent} /> : <Waiting what="Drawing the tree" />)
              : session && <Details id={id} session={session} leaf={told?.leaf ?? ""} onAct={setRequest} onRename={() => setAsking("rename")} onMerge={setMerging} />}
          </aside>
        )}
      </div>
      {printed && told && <Printed views={printed} title={title} told={told} session={id} />}
      {chosen && <TurnMenu view={chosen} id={id} leaf={told?.leaf ?? ""} say={say} onClose={() => setChosen(undefined)} onAct={(next) => { setChosen(undefined); setRequest(next); }} />}
      {asking === "rename" && <Rename title={title} onClose={() => setAsking(null)} onTitle={(text) => { setAsking(null); setRequest({ what: "rename", session: id, title: text }); }} />}
      {merging && <Merge of={merging} title={title} onClose={() => setMerging(undefined)} onMerge={(how) => { setMerging(undefined); setRequest({ what: "merge", session: id, ...how }); }} />}
      {asking === "export" && <Export id={id} leaf={told?.leaf ?? ""} onClose={() => setAsking(null)} />}
      {request && <Act request={request} onClose={() => { setRequest(undefined); if (missed.current) hear(missed.current); }} onDone={(done) => {
        setRequest(undefined);
        missed.current = undefined;
        say(`Done: ${done.words}`);
        if (request.what === "fork" || request.what === "merge") route.go(route.session(done.session));
        else if (request.what === "trash") route.go("/");
        else { route.go(route.session(id)); detail.again(); path.again(); outline.again(); }
      }} />}
    </div>
  );
}

/** Where in the transcript the reader is; a click goes somewhere else. */
function Place({ told, seen, onGo }: { told: PathView; seen: number; onGo: (position: number) => void }) {
  const share = (position: number) => (100 * position) / Math.max(1, told.count - 1);
  // The same elements while the path is the same: the reader moves many times a second.
  const marks = useMemo(() => {
    const step = Math.max(1, Math.ceil(told.count / 400));
    const prompts = [...told.shape].flatMap((letter, position) => (letter === "p" && position % step === 0 ? [position] : []));
    const lines = (positions: number[]) => positions.map((position) => `M0 ${share(position)}H1`).join("");
    return <svg viewBox="0 0 1 100" preserveAspectRatio="none"><path class="p" d={lines(prompts)} /><path class="f" d={lines(told.forks)} /></svg>;
  }, [told]);
  return (
    <div class="place" aria-hidden="true" onClick={(event) => {
      const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
      onGo(Math.round(((event.clientY - box.top) / box.height) * (told.count - 1)));
    }}>
      {marks}
      <b style={{ transform: `translateY(${share(seen)}%)` }} />
    </div>
  );
}

function TurnMenu({ view, id, leaf, say, onClose, onAct }: { view: View; id: string; leaf: string; say: (text: string) => void; onClose: () => void; onAct: (request: Request) => void }) {
  const link = `${location.origin}${route.session(id, leaf, view.uuid)}`;
  const isAgent = id.startsWith("agent-");
  return (
    <Dialog title="This message" onClose={onClose}>
      <ul class="menu-list">
        {!isAgent && <li><button type="button" onClick={() => onAct({ what: "goto", session: id, node: view.uuid })}><b>Go on from here</b><span>Claude Code resumes this session after this message</span></button></li>}
        {!isAgent && <li><button type="button" onClick={() => onAct({ what: "fork", session: id, node: view.uuid })}><b>Fork from here</b><span>A new session with everything up to this message</span></button></li>}
        {!isAgent && <li><a href={route.files(id, view.uuid ?? "")}><b>Files as of here</b><span>What each file held {view.kind === "prompt" ? "when this was sent" : "after this"}, and what became of it</span></a></li>}
        <li><button type="button" onClick={() => { void navigator.clipboard?.writeText(link).then(() => say("Address copied"), () => say("The browser does not let this page copy")); onClose(); }}><b>Copy the address of this message</b><span>For this start of the server</span></button></li>
        <li><button type="button" onClick={() => { void navigator.clipboard?.writeText(`ramus show ${short(id)}:${short(view.uuid ?? "")}`).then(() => say("Command copied"), () => say("The browser does not let this page copy")); onClose(); }}><b>Copy the command for a terminal</b><span><code>ramus show {short(id)}:{short(view.uuid ?? "")}</code></span></button></li>
      </ul>
    </Dialog>
  );
}

function Export({ id, leaf, onClose }: { id: string; leaf: string; onClose: () => void }) {
  const formats: [string, string, string][] = [["md", "Markdown", "reads well everywhere"], ["html", "HTML", "one file, opens in any browser"], ["txt", "Text", "as the terminal shows it"], ["json", "JSON", "for programs"], ["jsonl", "JSONL", "the original lines"]];
  const [error, setError] = useState<Refused>();
  const fetchIt = (format: string) => void download(`sessions/${encodeURIComponent(id)}/export${query({ leaf, format })}`).then(onClose, (failure) => setError(asRefused(failure)));
  return (
    <Dialog title="Export this conversation" onClose={onClose}>
      <ul class="menu-list">
        {formats.map(([format, name, what]) => <li key={format}><button type="button" onClick={() => fetchIt(format)}><b>{name}</b><span>{what}</span></button></li>)}
      </ul>
      {error && <Failure error={error} />}
    </Dialog>
  );
}
