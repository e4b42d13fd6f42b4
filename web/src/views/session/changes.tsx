// Changing a session: what is asked for first, the plan, and where to go when it is done.

import { Act, Merge, Rename, type Request } from "../../act";
import type { Conversation } from "../../api";
import * as route from "../../route";
import type { Answers } from "./answers";

/** What is being changed. */
export type Change = { request: Request } | { rename: true } | { merge: Conversation[] };

interface Props {
  id: string;
  title: string;
  change: Change;
  onChange: (change?: Change) => void;
  answers: Answers;
  say: (text: string) => void;
}

export function Changing({ id, title, change, onChange, answers, say }: Props) {
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
        say(`Done: ${done.words}`);
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
