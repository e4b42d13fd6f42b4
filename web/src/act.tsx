// Changes to a history: the server makes a plan, the user reviews it, then it is applied.

import { useEffect, useState } from "preact/hooks";
import {
  type Action,
  type Conversation,
  type Done,
  type FilesView,
  type Merged,
  type Plan,
  type Refused,
  type Wanted,
  asRefused,
  post,
} from "./api";
import { Html } from "./html";
import { Dialog, Failure, Waiting } from "./parts";
import { bytes, proposedTitle, several, unmarked } from "./words";

export type Request = Pick<Wanted, "what"> & Partial<Wanted>;
/** How conversations are merged. */
export type How = Pick<Wanted, "leaves" | "strategy" | "title">;

const TITLES: Record<Action, string> = {
  goto: "Resume from here",
  fork: "Fork from here",
  rename: "Rename",
  trash: "Move to the trash",
  undo: "Undo",
  restore: "Restore",
  merge: "Merge into a new session",
  "restore-files": "Restore the files",
};
const DO: Record<Action, string> = {
  goto: "Resume from here",
  fork: "Fork",
  rename: "Rename",
  trash: "Move to the trash",
  undo: "Undo",
  restore: "Restore",
  merge: "Merge",
  "restore-files": "Restore them",
};

/** An operation in words for people: `goto` is a command. */
export const operation = (words: string) => words.replace(/^goto\b/, "resume point moved");

export function Act({
  request,
  onDone,
  onClose,
}: {
  request: Request;
  onDone: (done: Done) => void;
  onClose: () => void;
}) {
  const [plan, setPlan] = useState<Plan>();
  const [error, setError] = useState<Refused>();
  const [busy, setBusy] = useState(false);
  const [wanted, setWanted] = useState(request);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    setError(undefined);
    post<Plan>("plan", wanted).then(setPlan, (failure) => setError(asRefused(failure)));
  }, [wanted, tries]);
  const act = () => {
    if (!plan) return;
    setBusy(true);
    post<Done>("apply", { plan: plan.id }).then(onDone, (failure) => {
      setError(asRefused(failure));
      setBusy(false);
    });
  };
  /** A plan that could not be applied is made again, because the files may have changed. */
  const again = () => {
    setPlan(undefined);
    setTries(tries + 1);
  };
  return (
    <Dialog title={TITLES[request.what]} onClose={onClose} wide={request.what === "restore-files"}>
      {error && <Failure error={error} again={again} />}
      {!plan && !error && <Waiting what="Planning" />}
      {plan && !error && (
        <div class="plan">
          <p>
            {plan.merged ? (
              <strong>{plan.merged.title}</strong>
            ) : plan.files ? (
              plan.words
            ) : (
              <>
                <strong>{operation(plan.what)}</strong> {plan.words}
              </>
            )}
          </p>
          {plan.merged && (
            <Outline
              merged={plan.merged}
              chosen={wanted.on_conflict}
              onConflict={(on_conflict) => setWanted({ ...wanted, on_conflict })}
            />
          )}
          {plan.files ? (
            <Changes files={plan.files} />
          ) : (
            <ul>
              {plan.steps.map((step) => (
                <li key={step}>{step}</li>
              ))}
            </ul>
          )}
          {plan.appended_bytes > 0 && (
            <p class="hush">
              {bytes(plan.appended_bytes)} are added to the end of the session; existing bytes are not changed.
            </p>
          )}
          {plan.warnings.map((text) => (
            <p key={text} class="note bad">
              {text}
            </p>
          ))}
          <p class="hush">You can undo it in the log.</p>
        </div>
      )}
      <div class="buttons">
        <button type="button" class="quiet" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="primary" disabled={!plan?.id || busy || !!error} onClick={act}>
          {DO[request.what]}
        </button>
      </div>
    </Dialog>
  );
}

const FATES: Record<string, string> = { quoted: "summary", summarized: "summarized", "left-out": "not included" };

/** A summary of a merge: its exchanges and its conflicts. */
function Outline({
  merged,
  chosen,
  onConflict,
}: {
  merged: Merged;
  chosen?: string;
  onConflict: (what: string) => void;
}) {
  return (
    <>
      <p>
        {several(merged.messages, "message")}, {merged.common} of them common to all. The original sessions are not
        changed.
      </p>
      <ol class="exchanges">
        {merged.exchanges.map((one) => (
          <li key={`${one.conversation}-${one.n}`} class={one.fate}>
            <span class="n">
              {one.conversation}:{one.n}
            </span>
            <span class="words">{unmarked(one.prompt ?? "") || "(no prompt)"}</span>
            <span class="facts">{FATES[one.fate] ?? several(one.messages, "message")}</span>
          </li>
        ))}
      </ol>
      {merged.conflicts.length > 0 && (
        <fieldset class="conflicts">
          <legend>Files that the conversations changed differently</legend>
          <ul>
            {merged.conflicts.map((one) => (
              <li key={one.path}>
                <code>{one.path}</code>{" "}
                <span class="facts">
                  {one.ends.map((end) => `${end.conversation}: +${end.added} −${end.removed}`).join(", ")}
                </span>
              </li>
            ))}
          </ul>
          <p>Which version should the note at the end of the merged conversation use? Files on disk are not changed.</p>
          {[
            ["ours", "the version of the first conversation"],
            ["theirs", "the version of the last conversation"],
            ["keep-both", "all versions, to be combined later"],
          ].map(([value, words]) => (
            <label key={value} class="check">
              <input
                type="radio"
                name="on_conflict"
                value={value}
                checked={chosen === value}
                onChange={() => onConflict(value)}
              />{" "}
              {words}
            </label>
          ))}
        </fieldset>
      )}
    </>
  );
}

/** Lists what happens to each existing file. */
function Changes({ files }: { files: FilesView }) {
  return (
    <>
      <p>
        In <code>{files.cwd}</code>:
      </p>
      {files.changes.map((one) => (
        <details key={one.path} class="file" open={files.changes.length === 1}>
          <summary>
            <code>{one.path}</code>
            <span class="facts">{one.how}</span>
          </summary>
          {one.html ? <Html html={one.html} class="pieces" /> : <p class="hush">Not a text file.</p>}
        </details>
      ))}
      {files.left.map((one) => (
        <p key={one.path} class="hush">
          <code>{one.path}</code> stays: {one.why}
        </p>
      ))}
    </>
  );
}

const STRATEGIES: [string, string, string][] = [
  ["append", "One after the other", "all messages of each"],
  ["interleave", "By time", "exchange by exchange, as they were written"],
  ["digest", "Digest", "the first in full, the others as a summary"],
];

/** Asks how conversations are merged. */
export function Merge({
  of,
  title,
  onMerge,
  onClose,
}: {
  of: Conversation[];
  title: string;
  onMerge: (how: How) => void;
  onClose: () => void;
}) {
  const [strategy, setStrategy] = useState("append");
  const [text, setText] = useState(proposedTitle(title, " (merge)"));
  const submit = (event: Event) => {
    event.preventDefault();
    onMerge({ leaves: of.map((one) => one.leaf), strategy, title: text.trim() });
  };
  return (
    <Dialog title="Merge into a new session" onClose={onClose}>
      <form onSubmit={submit} class="stack">
        <ol class="exchanges">
          {of.map((one, index) => (
            <li key={one.leaf}>
              <span class="n">{index + 1}</span>
              <span class="words">{unmarked(one.branch_title ?? "") || "(no prompt)"}</span>
              <span class="facts">
                @{one.n} · {several(one.messages, "message")}
              </span>
            </li>
          ))}
        </ol>
        <fieldset>
          <legend>Strategy</legend>
          {STRATEGIES.map(([value, name, what]) => (
            <label key={value} class="check">
              <input
                type="radio"
                name="strategy"
                value={value}
                checked={strategy === value}
                onChange={() => setStrategy(value)}
              />{" "}
              <span>
                <b>{name}</b> <span class="hush">{what}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <label class="stack">
          Title <input value={text} maxLength={200} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <div class="buttons">
          <button type="button" class="quiet" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={!text.trim()}>
            Show the plan
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Asks for a new title. */
export function Rename({
  title,
  onTitle,
  onClose,
}: {
  title: string;
  onTitle: (title: string) => void;
  onClose: () => void;
}) {
  const [text, setText] = useState(title);
  return (
    <Dialog title="Rename" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim()) onTitle(text.trim());
        }}
      >
        <label class="stack">
          New title{" "}
          <input autoFocus value={text} maxLength={200} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <div class="buttons">
          <button type="button" class="quiet" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={!text.trim()}>
            Show the plan
          </button>
        </div>
      </form>
    </Dialog>
  );
}
