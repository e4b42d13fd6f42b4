// Facts about a session, and actions.

import { useState } from "preact/hooks";
import type { Request } from "../act";
import { type Conversation, type Detail, type Resume, query } from "../api";
import { CopyCommand } from "../copy";
import { useGet } from "../hooks";
import { Time } from "../parts";
import * as route from "../route";
import type { Say } from "../toast";
import { bytes, distinct, several, short, statName, unmarked, whenSent } from "../words";

/** The details panel: conversations, resume point, facts and actions. */
export function Details({
  id,
  session,
  leaf,
  say,
  onAct,
  onRename,
  onMerge,
}: {
  id: string;
  session: Detail;
  leaf: string;
  say: Say;
  onAct: (request: Request) => void;
  onRename: () => void;
  onMerge: (of: Conversation[]) => void;
}) {
  const [chosen, setChosen] = useState<string[]>([]);
  const isAgent = id.startsWith("agent-");
  const mergeable = !isAgent && session.conversations.length > 1;
  const choose = (one: string, on: boolean) =>
    setChosen([...chosen.filter((other) => other !== one), ...(on ? [one] : [])]);
  // Two branches never have the same name.
  const labels = distinct(
    session.conversations,
    (one) => unmarked(one.branch_title ?? "") || "(no text)",
    (one) => whenSent(one.last_active),
    (n) => `@${session.conversations[n].n}`,
  );
  const merged = chosen.flatMap((one) => session.conversations.find((conversation) => conversation.leaf === one) ?? []);
  return (
    <div class="details">
      <h2>Branches</h2>
      <p class="hush">
        Each one is a conversation from the first message on. <code>@1</code>, <code>@2</code> … are their numbers:{" "}
        <code>ramus show {short(id)}@1</code> reads the first in a terminal.
      </p>
      <ul class="conversations">
        {session.conversations.map((one, index) => (
          <li key={one.leaf} class={one.leaf === leaf ? "here" : ""}>
            {mergeable && (
              <input
                type="checkbox"
                aria-label={`Choose @${one.n} to be merged`}
                checked={chosen.includes(one.leaf)}
                onChange={(event) => choose(one.leaf, event.currentTarget.checked)}
              />
            )}
            <a class="to" href={route.session(id, one.leaf)} aria-current={one.leaf === leaf ? "true" : undefined}>
              <span class={`status ${one.status}`} title={one.resumes ? "Claude Code resumes here" : one.status}>
                {one.resumes ? "◉" : one.status === "active" ? "●" : "○"}
              </span>
              <span class="words">{labels[index]}</span>
              <span class="facts">
                @{one.n} · {several(one.messages, "message")}
                {one.fork_kind ? ` · left at ${statName("fork", one.fork_kind)}` : ""}
                {one.draft ? " · draft" : ""}
              </span>
            </a>
            {one.leaf !== leaf && (
              <a class="compare-link" href={route.compare(id, leaf, id, one.leaf)}>
                compare
              </a>
            )}
          </li>
        ))}
      </ul>
      {mergeable && (
        <p class="merge-bar">
          <button type="button" disabled={merged.length < 2} onClick={() => onMerge(merged)}>
            {merged.length < 2 ? "Merge…" : `Merge ${merged.map((one) => `@${one.n}`).join(" + ")}…`}
          </button>
          {merged.length < 2 && <span class="hush">Choose two or more.</span>}
        </p>
      )}
      {session.resume && (
        <section>
          <h2>Resume point</h2>
          <p>
            By the rule of {session.resume.rule}: {session.resume.why} (line {session.resume.line}).{" "}
            <a href={route.session(id, "", session.resume.leaf)}>Show it</a>
          </p>
          <ResumeCommand id={id} say={say} />
          {session.resume.otherwise.map((other) => (
            <p key={other.rule} class="hush">
              {capital(other.rule)} would continue <a href={route.session(id, "", other.leaf)}>elsewhere</a>.
            </p>
          ))}
        </section>
      )}
      <section>
        <h2>Session</h2>
        <dl class="pairs">
          <dt>id</dt>
          <dd>
            <code>{session.id}</code>
          </dd>
          {session.cwd && (
            <>
              <dt>directory</dt>
              <dd>
                <code>{session.cwd}</code>
              </dd>
            </>
          )}
          {session.git_branch && (
            <>
              <dt>git branch</dt>
              <dd>{session.git_branch}</dd>
            </>
          )}
          {session.version && (
            <>
              <dt>client</dt>
              <dd>{session.version}</dd>
            </>
          )}
          <dt>size</dt>
          <dd>
            {bytes(session.bytes)}, {several(session.records, "record")}
          </dd>
          {session.started && (
            <>
              <dt>started</dt>
              <dd>
                <Time at={session.started} />
              </dd>
            </>
          )}
          {session.compactions > 0 && (
            <>
              <dt>compactions</dt>
              <dd>{session.compactions}</dd>
            </>
          )}
          {session.forked_from && (
            <>
              <dt>forked from</dt>
              <dd>
                <a href={route.session(session.forked_from[0], "", session.forked_from[1])}>
                  {short(session.forked_from[0])}
                </a>
              </dd>
            </>
          )}
        </dl>
        <p class="buttons start">
          {!isAgent && (
            <a class="button" href={route.files(id, "")}>
              Files
            </a>
          )}
          <a class="button" href={`/search${query({ session: session.id, project: session.project })}`}>
            Search in it
          </a>
          {!isAgent && (
            <button type="button" onClick={onRename}>
              Rename
            </button>
          )}
          {!isAgent && (
            <button type="button" class="danger" onClick={() => onAct({ what: "trash", session: id })}>
              Move to the trash
            </button>
          )}
        </p>
      </section>
    </div>
  );
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The command that resumes the session at its resume point. */
function ResumeCommand({ id, say }: { id: string; say: Say }) {
  const { data } = useGet<Resume>(`sessions/${encodeURIComponent(id)}/resume`);
  return data ? (
    <p>
      <CopyCommand command={data.command} say={say} />
    </p>
  ) : null;
}
