// The header of a transcript: title, origin, and buttons for panels and display options.

import { AnnotationLine, useAnnotation } from "../../annotations";
import type { Detail, Lineage as LineageTold, PathView, Usage } from "../../api";
import { useGet, useKeys } from "../../hooks";
import { ResumeButton } from "../../copy";
import { Icon, type IconName } from "../../icons";
import { Lineage, Time } from "../../parts";
import { projectName } from "../../projects";
import * as route from "../../route";
import { useSetting } from "../../settings";
import { duration, lasting, middle, model, money, several, short, tokens } from "../../words";
import { PANEL_NAMES, type Panel, type Panels } from "./panels";

interface Props {
  id: string;
  title: string;
  session?: Detail;
  lineage?: LineageTold;
  told?: PathView;
  panels: Panels;
  onExport: () => void;
  onFind: () => void;
  onAnnotate: () => void;
}

const PANEL_ICONS: Record<Panel, IconName> = { outline: "list", tree: "tree", trace: "trace", details: "info" };

export function Head({ id, title, session, lineage, told, panels, onExport, onFind, onAnnotate }: Props) {
  const [usage, toggleUsage] = useSetting("usage");
  const [raw, toggleRaw] = useSetting("raw");
  const annotation = useAnnotation(id, "");
  useKeys({ c: toggleUsage, r: toggleRaw });
  return (
    <header class="session-head">
      <div class="names">
        <h1 title={title}>
          {session?.live && (
            <span class="live" title="Written to a moment ago, or open in Claude Code">
              live
            </span>
          )}
          {title}
        </h1>
        <p class="facts">
          {told && told.count > 0 && (
            <span
              class={`tag ${told.status}`}
              title={
                told.conversation
                  ? `Conversation ${told.conversation} of this session. In a terminal: ramus show ${short(id)}@${told.conversation}`
                  : undefined
              }
            >
              {told.resumes ? "resumes" : told.status}
              {told.conversation ? ` @${told.conversation}` : ""}
            </span>
          )}
          {session && (
            <a class="where" href={route.project(session.project)}>
              {projectName(session.project, session.cwd)}
            </a>
          )}
          {session?.parent && (
            <a href={route.session(route.beside(id, session.parent))}>agent of {short(session.parent)}</a>
          )}
          {session?.git_branch && <span title={session.git_branch}>{middle(session.git_branch)}</span>}
          {session && <span>{several(session.messages, "message")}</span>}
          {session && session.forks > 0 && (
            <span class="branches">{several(session.conversations.length, "branch", "branches")}</span>
          )}
          {session && <Spent id={id} session={session} />}
          {session && <Time at={session.last_active} />}
          {lineage && <Lineage of={lineage} />}
        </p>
        {annotation && <AnnotationLine of={annotation} />}
      </div>
      <div class="tools">
        <span class="group" role="group" aria-label="This session">
          {told && told.count > 0 && !id.startsWith("agent-") && (
            <ResumeButton of={id} node={told.resumes ? undefined : told.leaf} />
          )}
          <Tool icon="pin" name="Pin, tags, note" on={annotation !== undefined} onClick={onAnnotate} />
          <Tool icon="search" name="Find" onClick={onFind} />
          <Tool icon="download" name="Export" onClick={onExport} />
        </span>
        <span class="group" role="group" aria-label="Display options">
          <Tool icon="text" name="Raw prompts" pressed={raw} onClick={toggleRaw} />
          <Tool
            icon="chart"
            name="Usage"
            title="Tokens, context size, cost and time of each reply"
            pressed={usage}
            onClick={toggleUsage}
          />
        </span>
        <span class="group" role="group" aria-label="Panels">
          {(Object.keys(PANEL_NAMES) as Panel[]).map((panel) => (
            <button
              key={panel}
              type="button"
              aria-pressed={panels.shown === panel}
              onClick={() => panels.toggle(panel)}
              title={PANEL_NAMES[panel]}
            >
              <Icon name={PANEL_ICONS[panel]} /> <span class="tool-name">{PANEL_NAMES[panel]}</span>
            </button>
          ))}
        </span>
      </div>
    </header>
  );
}

function Tool({
  icon,
  name,
  title = name,
  pressed,
  on,
  onClick,
}: {
  icon: IconName;
  name: string;
  title?: string;
  pressed?: boolean;
  on?: boolean;
  onClick: () => void;
}) {
  return (
    <button
      type="button"
      class={on ? "on" : undefined}
      aria-label={name}
      aria-pressed={pressed}
      title={title}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

/** The cost, models and duration of the session; requested once. */
function Spent({ id, session }: { id: string; session: Detail }) {
  const { data } = useGet<Usage>(`sessions/${encodeURIComponent(id)}/usage`);
  const took = duration(session.started, session.last_active);
  const models = data?.by_model ?? [];
  const all = data
    ? data.totals.input +
      data.totals.output +
      data.totals.cache_read +
      data.totals.cache_write_5m +
      data.totals.cache_write_1h
    : 0;
  return (
    <>
      {models.length > 0 && (
        <span class="model" title={models.map((one) => one.model).join(", ")}>
          {middle(model(models[0].model))}
          {models.length > 1 ? ` +${models.length - 1}` : ""}
        </span>
      )}
      {data && data.totals.messages > 0 && (
        <span class="cost" title={`${tokens(all)} tokens with agents and all branches`}>
          {data.totals.cost_usd === null ? `${tokens(all)} tokens` : money(data.totals.cost_usd)}
        </span>
      )}
      {took !== null && took > 0 && <span title="From the first to the last message">{lasting(took)}</span>}
    </>
  );
}
