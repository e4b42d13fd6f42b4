// Actions for one message, and for the whole conversation.

import { useState } from "preact/hooks";
import type { Request } from "../../act";
import { type Refused, type Resume, type View, asRefused, download, query } from "../../api";
import { useGet } from "../../hooks";
import { FIRST_STEP, copyText } from "../../copy";
import { Dialog, Failure } from "../../parts";
import * as route from "../../route";
import type { Say } from "../../toast";
import { short } from "../../words";

export function TurnMenu({
  view,
  id,
  leaf,
  say,
  onClose,
  onAct,
  onNote,
}: {
  view: View;
  id: string;
  leaf: string;
  say: Say;
  onClose: () => void;
  onAct: (request: Request) => void;
  onNote: () => void;
}) {
  const link = `${location.origin}${route.session(id, leaf, view.uuid)}`;
  const isAgent = id.startsWith("agent-");
  const copy = (text: string, copied: string) => {
    copyText(text, say, copied);
    onClose();
  };
  return (
    <Dialog title="This message" onClose={onClose}>
      <ul class="menu-list">
        {!isAgent && (
          <li>
            <button type="button" onClick={() => onAct({ what: "goto", session: id, node: view.uuid })}>
              <b>Resume from here</b>
              <span>Claude Code resumes this session after this message</span>
            </button>
          </li>
        )}
        {!isAgent && (
          <li>
            <button type="button" onClick={() => onAct({ what: "fork", session: id, node: view.uuid })}>
              <b>Fork from here</b>
              <span>A new session with everything up to this message</span>
            </button>
          </li>
        )}
        <ResumeItem id={id} node={view.uuid ?? ""} copy={copy} />
        {!isAgent && (
          <li>
            <a href={route.files(id, view.uuid ?? "")}>
              <b>Files as of here</b>
              <span>
                What each file held {view.kind === "prompt" ? "when this was sent" : "after this"}, and what became of
                it
              </span>
            </a>
          </li>
        )}
        <li>
          <button type="button" onClick={onNote}>
            <b>Pin, tags, note</b>
            <span>Kept beside the history; the session is not changed</span>
          </button>
        </li>
        <li>
          <button type="button" onClick={() => copy(link, "Address copied")}>
            <b>Copy the address of this message</b>
            <span>Valid until the server restarts</span>
          </button>
        </li>
        <li>
          <button
            type="button"
            onClick={() => copy(`ramus show ${short(id)}:${short(view.uuid ?? "")}`, "Command copied")}
          >
            <b>Copy the command for a terminal</b>
            <span>
              <code>
                ramus show {short(id)}:{short(view.uuid ?? "")}
              </code>
            </span>
          </button>
        </li>
      </ul>
    </Dialog>
  );
}

/** The command that starts Claude Code on exactly this message. */
function ResumeItem({ id, node, copy }: { id: string; node: string; copy: (text: string, copied: string) => void }) {
  const { data, error } = useGet<Resume>(`sessions/${encodeURIComponent(id)}/resume${query({ node })}`);
  // Not every message can be resumed; the other actions stay available.
  if (error) return null;
  return (
    <li>
      <button type="button" disabled={!data} onClick={() => data && copy(data.command, "Command copied")}>
        <b>Copy the command that resumes here</b>
        {data && (
          <>
            <span>
              <code>{data.command}</code>
            </span>
            <span>
              {FIRST_STEP[data.first_step]}
              {data.missing_directory && ` The directory ${data.missing_directory} does not exist; add --cd DIR.`}
            </span>
          </>
        )}
      </button>
    </li>
  );
}

export function Export({ id, leaf, onClose }: { id: string; leaf: string; onClose: () => void }) {
  const formats: [string, string, string][] = [
    ["md", "Markdown", "readable anywhere"],
    ["html", "HTML", "one file, opens in any browser"],
    ["txt", "Text", "as the terminal shows it"],
    ["json", "JSON", "for programs"],
    ["jsonl", "JSONL", "the original lines"],
  ];
  const [error, setError] = useState<Refused>();
  const fetchIt = (format: string) =>
    void download(`sessions/${encodeURIComponent(id)}/export${query({ leaf, format })}`).then(onClose, (failure) =>
      setError(asRefused(failure)),
    );
  return (
    <Dialog title="Export this conversation" onClose={onClose}>
      <ul class="menu-list">
        {formats.map(([format, name, what]) => (
          <li key={format}>
            <button type="button" onClick={() => fetchIt(format)}>
              <b>{name}</b>
              <span>{what}</span>
            </button>
          </li>
        ))}
      </ul>
      {error && <Failure error={error} />}
    </Dialog>
  );
}
