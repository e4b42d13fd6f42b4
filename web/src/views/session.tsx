// One session: transcript, tree, details.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { AnnotationDialog, readAnnotations } from "../annotations";
import { Refused, type Row, type View, get, query } from "../api";
import { ResumeButton, copyText } from "../copy";
import { useKeys } from "../hooks";
import { Icon } from "../icons";
import { Failure, Waiting } from "../parts";
import { Printed, usePrinted } from "../print";
import * as route from "../route";
import { Transcript } from "../transcript";
import { Tree } from "../tree";
import type { Say } from "../toast";
import { titleOf } from "../words";
import { Details } from "./details";
import { useAnswers } from "./session/answers";
import { useArrival } from "./session/arrival";
import { type Change, Changing, Moved, type MovedTo } from "./session/changes";
import { useExchanges } from "./session/exchanges";
import { FindBar } from "./session/find";
import { Head } from "./session/head";
import { useReadingKeys } from "./session/keys";
import { Export, TurnMenu } from "./session/menus";
import { OutlinePanel } from "./session/outline";
import { PANEL_NAMES, usePanels } from "./session/panels";
import { Place } from "./session/place";
import { TracePanel } from "./session/trace";

interface Props {
  id: string;
  leaf: string;
  at: string;
  /** Words to be marked in the message `at`. */
  mark: string;
  /** What the list calls the session. */
  listed: string | null | undefined;
  say: Say;
}

const GONE = new Refused(
  "this session no longer exists",
  "it was moved or deleted; use the log to restore it if ramus moved it to the trash",
  404,
);

export function SessionView({ id, leaf, at, mark, listed, say }: Props) {
  const address = `sessions/${encodeURIComponent(id)}`;
  const [change, setChange] = useState<Change>();
  const [exporting, setExporting] = useState(false);
  const [chosen, setChosen] = useState<View>();
  const [seen, setSeen] = useState(0);
  const list = useRef<Transcript>(null);
  const [finding, setFinding] = useState(false);
  const [noting, setNoting] = useState<string>();
  const [moved, setMoved] = useState<MovedTo>();
  // Hold back news while a plan is open: it may move the session.
  const held = change !== undefined && "request" in change;
  const answers = useAnswers(address, { id, leaf, at, held });
  const { detail, path, outline, lineage } = answers;
  const told = path.data;
  const panels = usePanels(detail.data?.forks);
  const exchanges = useExchanges(address, told, panels.shown === "outline" || panels.shown === "trace");
  const here = Math.min(seen, Math.max(0, (told?.count ?? 1) - 1));
  const arrival = useArrival(list, path, { id, address, at, words: mark });
  const onWay = useCallback(
    (way: { leaf: string }, position: number) => {
      list.current?.jump(position);
      route.go(route.session(id, way.leaf));
    },
    [id],
  );
  const onCopy = useCallback(
    (view: View) => {
      const at = { leaf: list.current?.props.path.leaf, at: view.at, i: view.i };
      get<{ text: string }>(`${address}/text${query(at)}`).then(
        ({ text }) => copyText(text, say, "Message copied"),
        () => say("The message cannot be read"),
      );
    },
    [address],
  );
  const doing = useMemo(() => ({ onWay, onCopy, onTurn: (view: View) => setChosen(view) }), [onWay, onCopy]);
  useKeys({ "/": () => setFinding(true) });
  useEffect(() => {
    // Without them the session can still be read.
    readAnnotations(id).catch(() => undefined);
  }, [id]);
  const onLoad = useReadingKeys(list, path, { address, here, say, onWay, onTurn: setChosen });
  // The list may know its title earlier.
  useEffect(() => {
    if (listed && detail.data && listed !== detail.data.title) detail.again();
  }, [listed]);
  useEffect(() => {
    document.title = `${titleOf({ title: detail.data?.title, id })} · ramus`;
  }, [detail.data?.title]);
  const goRow = useCallback(
    (row: Row) => {
      panels.makeRoom();
      route.go(route.session(id, "", row.node));
    },
    [id],
  );
  const goAgent = useCallback((agent: string) => route.go(route.session(route.beside(id, `agent-${agent}`))), [id]);
  const printed = usePrinted(id, told);
  if (answers.gone)
    return (
      <div class="page">
        <Failure error={GONE} again={answers.retry} />
      </div>
    );
  if (detail.error && !detail.data)
    return (
      <div class="page">
        <Failure error={detail.error} again={detail.again} />
      </div>
    );
  const session = detail.data;
  const title = titleOf({ title: session?.title, id });
  return (
    <div class={`session${panels.shown ? " with-panel" : ""}`}>
      <Head
        id={id}
        title={title}
        session={session}
        lineage={lineage.data}
        told={told}
        panels={panels}
        onExport={() => setExporting(true)}
        onFind={() => setFinding(true)}
        onAnnotate={() => setNoting("")}
      />
      {finding && <FindBar id={id} onClose={() => setFinding(false)} />}
      {moved && (
        <Moved
          id={id}
          moved={moved}
          isLeft={told?.leaf === moved.left}
          say={say}
          onClose={() => setMoved(undefined)}
          onBack={() => {
            setChange({ request: { what: "undo", op: moved.op } });
            setMoved(undefined);
          }}
        />
      )}
      {!moved && told?.status === "abandoned" && (
        <p class="left-banner" role="note">
          This branch is abandoned. <a href={route.session(id)}>Show the branch that Claude Code resumes</a>{" "}
          <ResumeButton of={id} node={told.leaf} words="Resume this one" />
        </p>
      )}
      <div class="session-in">
        {path.error && !told ? (
          <div class="page">
            <Failure error={path.error} again={path.again} />
          </div>
        ) : told?.count === 0 ? (
          <div class="page">
            <div class="empty">
              <p>This session has no messages yet.</p>
              <p class="hush">It is shown here as soon as something is written to it.</p>
              <a class="button" href="/">
                Go to the overview
              </a>
            </div>
          </div>
        ) : told ? (
          <Transcript
            key={id}
            handle={list}
            session={id}
            path={told}
            start={arrival.start}
            doing={doing}
            selected={here}
            onSee={setSeen}
            onLoad={onLoad}
            mark={arrival.mark}
            live={session?.live}
            back={arrival.back}
          />
        ) : (
          <Waiting what="Opening the session" />
        )}
        {told && told.count > 0 && <Place told={told} seen={here} onGo={(position) => list.current?.jump(position)} />}
        {panels.shown && (
          <aside class="panel" aria-label={PANEL_NAMES[panels.shown]}>
            <button type="button" class="quiet close" aria-label="Close" onClick={panels.close}>
              <Icon name="close" />
            </button>
            {panels.shown === "outline" && (
              <OutlinePanel
                id={id}
                of={exchanges}
                here={here}
                onGo={(position) => {
                  panels.makeRoom();
                  list.current?.jump(position);
                }}
              />
            )}
            {panels.shown === "trace" && (
              <TracePanel
                address={address}
                leaf={told?.leaf ?? ""}
                of={exchanges}
                onGo={(position) => {
                  panels.makeRoom();
                  list.current?.jump(position);
                }}
                onAgent={goAgent}
              />
            )}
            {panels.shown === "tree" &&
              (outline.data ? (
                <Tree
                  lineage={lineage.data}
                  rows={outline.data.rows}
                  leaf={told?.leaf ?? ""}
                  onGo={goRow}
                  onAgent={goAgent}
                />
              ) : (
                <Waiting what="Drawing the tree" />
              ))}
            {panels.shown === "details" && session && (
              <Details
                id={id}
                session={session}
                leaf={told?.leaf ?? ""}
                say={say}
                onAct={(request) => setChange({ request })}
                onRename={() => setChange({ rename: true })}
                onMerge={(merge) => setChange({ merge })}
              />
            )}
          </aside>
        )}
      </div>
      {printed && told && <Printed views={printed} title={title} told={told} session={id} />}
      {chosen && (
        <TurnMenu
          view={chosen}
          id={id}
          leaf={told?.leaf ?? ""}
          say={say}
          onClose={() => setChosen(undefined)}
          onAct={(request) => {
            setChosen(undefined);
            setChange({ request });
          }}
          onNote={() => {
            setChosen(undefined);
            setNoting(chosen.uuid ?? "");
          }}
        />
      )}
      {exporting && <Export id={id} leaf={told?.leaf ?? ""} onClose={() => setExporting(false)} />}
      {noting !== undefined && (
        <AnnotationDialog session={id} message={noting} say={say} onClose={() => setNoting(undefined)} />
      )}
      {change && (
        <Changing
          id={id}
          title={title}
          change={change}
          onChange={setChange}
          answers={answers}
          say={say}
          onMoved={(op, command) => setMoved({ op, command, left: told?.leaf ?? "" })}
        />
      )}
    </div>
  );
}
