// Operations, newest first, each with undo.

import { useState } from "preact/hooks";
import { Act, type Request, operation } from "../act";
import type { Log as Told } from "../api";
import { useGet } from "../hooks";
import { Failure, Head, Time, Waiting } from "../parts";
import * as route from "../route";
import { short } from "../words";

export function Log({ say }: { say: (text: string) => void }) {
  const { data, error, again } = useGet<Told>("log");
  const [request, setRequest] = useState<Request>();
  if (error && !data)
    return (
      <div class="page">
        <Failure error={error} again={again} />
      </div>
    );
  if (!data)
    return (
      <div class="page">
        <Waiting what="Loading the log" />
      </div>
    );
  return (
    <div class="page">
      <Head title="Log" />
      <p class="hush">
        Every change that ramus made. “Undo” reverts it if nothing else has changed since. “Restore” brings the session
        back as it was before that change, also from the trash. Reading is not listed.
      </p>
      {data.operations.length === 0 && (
        <section class="card empty">
          <p>
            Nothing yet. Resuming from a message, forking, merging, renaming, restoring files and moving to the trash
            are listed here. Each is in the menu of a message or in the details of a session.
          </p>
          <a class="button" href="/">
            Choose a session
          </a>
        </section>
      )}
      <ol class="log">
        {data.operations.map((one) => (
          <li key={one.op} class={one.undone_by !== null ? "undone" : ""}>
            <span class="op">{one.op}</span>
            <span class="what">{operation(one.what)}</span>
            <span class="words">
              {one.words} <a href={route.session(one.session)}>{short(one.session)}</a>
              {!one.done && <span class="bad"> not finished</span>}
              {one.undone_by !== null && <span class="hush"> undone by {one.undone_by}</span>}
            </span>
            <Time at={one.at} />
            <span class="ways">
              {one.can_undo && one.what !== "trash" && (
                <button type="button" onClick={() => setRequest({ what: "undo", op: one.op })}>
                  Undo
                </button>
              )}
              {one.can_restore && (
                <button
                  type="button"
                  title="The session before this operation"
                  onClick={() => setRequest({ what: "restore", session: one.session, op: one.op })}
                >
                  Restore
                </button>
              )}
            </span>
          </li>
        ))}
      </ol>
      {request && (
        <Act
          request={request}
          onClose={() => setRequest(undefined)}
          onDone={(done) => {
            setRequest(undefined);
            say(`Done: ${operation(done.words)}`);
            again();
          }}
        />
      )}
    </div>
  );
}
