// Files as of a message, and how they changed since.

import { useState } from "preact/hooks";
import { Act, type Request } from "../act";
import { type Done, type File, type FileShown, type Files, type PathView, query } from "../api";
import { useGet } from "../hooks";
import { Html } from "../html";
import { Failure, Head, Waiting } from "../parts";
import * as route from "../route";
import { bytes, several, short, statName } from "../words";

const SOURCES: Record<string, string> = {
  snapshot: "Claude Code's backup of that prompt",
  first: "its first backup, before it was changed",
  next: "the backup of the next prompt",
  write: "a tool wrote it",
  edit: "the edits of tools, applied again",
  read: "a tool read it",
  original: "the content before a tool changed it",
  nothing: "its content was not recorded",
};
const DOUBTS: Record<string, string> = {
  "changed-outside": "it was changed outside Claude Code",
  "late-backup": "the backup was made too late",
  "backup-gone": "the backup no longer exists",
  unseen: "its complete content was never recorded",
};

export function FilesView({
  id,
  at,
  path,
  say,
}: {
  id: string;
  at: string;
  path: string;
  say: (text: string) => void;
}) {
  const address = `sessions/${encodeURIComponent(id)}`;
  const { data, error, again } = useGet<Files>(`${address}/files${query({ node: at })}`);
  const [all, setAll] = useState(false);
  const [since, setSince] = useState(false);
  const [request, setRequest] = useState<Request>();
  const [done, setDone] = useState<Done>();
  const end = useGet<PathView>(`${address}/path${query({ node: at })}`);
  const changed = data?.files.filter((file) => all || !file.only_read) ?? [];
  const chosen = path || changed[0]?.path || "";
  const shown = useGet<FileShown>(
    chosen && data
      ? `${address}/file${query({ node: at, path: chosen, than: since ? end.data?.leaf : undefined })}`
      : null,
  );
  if (error && !data)
    return (
      <div class="page">
        <Failure error={error} again={again} />
      </div>
    );
  if (!data)
    return (
      <div class="page">
        <Waiting what="Loading files" />
      </div>
    );
  const name = (file: string) => (data.cwd && file.startsWith(`${data.cwd}/`) ? file.slice(data.cwd.length + 1) : file);
  const doubt = (file: File) =>
    file.doubt === "commands-ran"
      ? `${several(file.commands ?? 0, "command")} ran since`
      : file.doubt
        ? (DOUBTS[file.doubt] ?? file.doubt)
        : "";
  return (
    <div class="page broad">
      <Head title={`Files ${data.moment === "before" ? "when this prompt was sent" : "after this message"}`}>
        <a class="button" href={route.session(id, "", data.node ?? undefined)}>
          To the message
        </a>
        {changed.length > 0 && (
          <button
            type="button"
            onClick={() => setRequest({ what: "restore-files", session: id, node: data.node ?? "" })}
          >
            Restore them…
          </button>
        )}
      </Head>
      {done && (
        <p class="note done" role="note">
          The files are as they were here.{" "}
          <button type="button" onClick={() => setRequest({ what: "undo", op: done.op })}>
            Undo
          </button>
        </p>
      )}
      <p class="hush">
        Session {short(id)}, {data.moment} {short(data.node ?? "")}. What commands did to a file shows only when it is
        next read, changed or backed up.
      </p>
      <div class="files">
        <nav class="card" aria-label="Files">
          <ul>
            {changed.map((file) => (
              <li key={file.path}>
                <a href={route.files(id, at, file.path)} aria-current={file.path === chosen ? "true" : undefined}>
                  <code>{name(file.path)}</code>
                  <span class="facts" title={SOURCES[file.source]}>
                    {file.state === "file"
                      ? file.size === null
                        ? ""
                        : bytes(file.size)
                      : file.state === "absent"
                        ? "did not exist yet"
                        : "not known"}{" "}
                    · {statName("source", file.source)}
                    {doubt(file) && <span class="left-word"> · {doubt(file)}</span>}
                  </span>
                </a>
              </li>
            ))}
          </ul>
          {changed.length === 0 && <p class="hush">No tool changed a file, and none was backed up.</p>}
          <label class="check">
            <input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} /> files that
            were only read, too
          </label>
        </nav>
        {chosen && (
          <section class="card" aria-label="Content">
            <header class="file-head">
              <h2>
                <code>{name(chosen)}</code>
              </h2>
              <label class="check">
                <input type="checkbox" checked={since} onChange={(event) => setSince(event.currentTarget.checked)} />{" "}
                what became of it until the end
              </label>
            </header>
            {shown.error ? (
              <Failure error={shown.error} />
            ) : shown.data ? (
              shown.data.html ? (
                <Html html={shown.data.html} class="pieces" />
              ) : (
                <p class="hush">{shown.data.note}</p>
              )
            ) : (
              <Waiting what="Reading" />
            )}
          </section>
        )}
      </div>
      {request && (
        <Act
          request={request}
          onClose={() => setRequest(undefined)}
          onDone={(told) => {
            setRequest(undefined);
            setDone(request.what === "undo" ? undefined : told);
            say(`Done: ${told.words}`);
          }}
        />
      )}
    </div>
  );
}
