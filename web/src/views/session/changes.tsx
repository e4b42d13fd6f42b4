// Changes to a session: the choices, the plan, and where to go afterwards.

import { Act, Merge, Rename, type Request, operation } from "../../act";
import type { Conversation } from "../../api";
import { CopyCommand } from "../../copy";
import { Icon } from "../../icons";
import * as route from "../../route";
import type { Say } from "../../toast";
import type { Answers } from "./answers";

/** What is being changed. */
export type Change = { request: Request } | { rename: true } | { merge: Conversation[] };

interface Props {
  id: string;
  title: string;
  change: Change;
  onChange: (change?: Change) => void;
  answers: Answers;
  say: Say;
  /** The resume point was moved. */
  onMoved: (op: number, command: string | null) => void;
}

/** A moved resume point. */
export interface MovedTo {
  op: number;
  command: string | null;
  /** The leaf of the path that was shown before. */
  left: string;
}

/** Announces the new resume point, with links to the later messages and back. */
export function Moved({
  id,
  moved,
  isLeft,
  say,
  onBack,
  onClose,
}: {
  id: string;
  moved: MovedTo;
  /** The messages that were left are shown. */
  isLeft: boolean;
  say: Say;
  onBack: () => void;
  onClose: () => void;
}) {
  return (
    <div class="moved-banner" role="note">
      <p>
        {isLeft ? (
          <>
            <b>Claude Code now resumes at an earlier message.</b> <a href={route.session(id)}>Show where it resumes</a>
          </>
        ) : (
          <>
            <b>Claude Code now resumes here.</b> <a href={route.session(id, moved.left)}>Show the later messages</a>:
            they are still in the session.
          </>
        )}
      </p>
      {moved.command && <CopyCommand command={moved.command} say={say} />}
      <button type="button" onClick={onBack}>
        <Icon name="undo" /> Switch back
      </button>
      <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
        <Icon name="close" />
      </button>
    </div>
  );
}

export function Changing({ id, title, change, onChange, answers, say, onMoved }: Props) {
  const close = () => onChange(undefined);
  if ("rename" in change)
    return (
      <Rename
        title={title}
        onClose={close}
        onTitle={(text) => onChange({ request: { what: "rename", session: id, title: text } })}
      />
    );
  if ("merge" in change)
    return (
      <Merge
        of={change.merge}
        title={title}
        onClose={close}
        onMerge={(how) => onChange({ request: { what: "merge", session: id, ...how } })}
      />
    );
  const { request } = change;
  return (
    <Act
      request={request}
      onClose={() => {
        close();
        answers.catchUp();
      }}
      onDone={(done) => {
        close();
        answers.forgetNews();
        // An undo can only be reverted in the log.
        const undo = { label: "Undo", act: () => onChange({ request: { what: "undo", op: done.op } }) };
        say(`Done: ${operation(done.words)}`, request.what === "undo" ? undefined : undo);
        if (request.what === "goto" && done.session === route.plain(id)) onMoved(done.op, done.resume_command);
        if (request.what === "fork" || request.what === "merge") route.go(route.session(done.session));
        else if (request.what === "trash") route.go("/");
        else {
          route.go(route.session(id));
          answers.detail.again();
          answers.path.again();
          answers.outline.again();
        }
      }}
    />
  );
}
