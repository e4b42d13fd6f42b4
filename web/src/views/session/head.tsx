// The line above a transcript: what the session is called, where it is from, and what can be shown of it.

import type { Detail, Lineage as LineageTold, PathView } from "../../api";
import { useKeys } from "../../hooks";
import { Lineage, Time } from "../../parts";
import * as route from "../../route";
import { useReplyUsage } from "../../usage";
import { place, several, short } from "../../words";
import type { Panels } from "./panels";

interface Props {
  id: string;
  title: string;
  session?: Detail;
  lineage?: LineageTold;
  told?: PathView;
  panels: Panels;
  onExport: () => void;
}

export function Head({ id, title, session, lineage, told, panels, onExport }: Props) {
  const [usage, toggleUsage] = useReplyUsage();
  useKeys({ c: toggleUsage });
  return (
    <header class="session-head">
      <div class="names">
        <h1 title={title}>{title}</h1>
        <p class="facts">
          {session && <a href={route.project(session.project)}>{place(session.cwd) || session.project}</a>}
          {session?.parent && (
            <a href={route.session(route.beside(id, session.parent))}>agent of {short(session.parent)}</a>
          )}
          {session?.git_branch && <span>{session.git_branch}</span>}
          {session && <span>{several(session.messages, "message")}</span>}
          {session && session.forks > 0 && (
            <span class="branches">{several(session.conversations.length, "branch", "branches")}</span>
          )}
          {session && <Time at={session.last_active} />}
          {lineage && <Lineage of={lineage} />}
        </p>
      </div>
      <div class="tools">
        {told && told.count > 0 && (
          <span class={`tag ${told.status}`}>
            {told.resumes ? "resumes" : told.status}
            {told.conversation ? ` @${told.conversation}` : ""}
          </span>
        )}
        <button
          type="button"
          aria-pressed={usage}
          title="Tokens, context size and cost of each reply"
          onClick={toggleUsage}
        >
          Usage
        </button>
        <button type="button" onClick={onExport}>
          Export
        </button>
        <button type="button" aria-pressed={panels.shown === "tree"} onClick={() => panels.toggle("tree")}>
          Tree
        </button>
        <button type="button" aria-pressed={panels.shown === "details"} onClick={() => panels.toggle("details")}>
          Details
        </button>
      </div>
    </header>
  );
}
