// Changing something: the server plans, a person reads the plan, then it is done.

import { useEffect, useState } from "preact/hooks";
import { Refused, post } from "./api";
import { Dialog, Failure, Waiting } from "./parts";
import { bytes } from "./words";

export interface Request { what: string; session?: string; node?: string; title?: string; op?: number }
interface Plan {
  id: string; what: string; words: string; session: string; steps: string[]; appended_bytes: number; warnings: string[];
}
export interface Done { op: number; session: string; words: string; resume_command: string | null }

const TITLES: Record<string, string> = {
  goto: "Go on from here", fork: "Fork from here", rename: "Rename", trash: "Move to the trash", undo: "Undo", restore: "Bring back", merge: "Merge",
};
const DO: Record<string, string> = { goto: "Go here", fork: "Fork", rename: "Rename", trash: "Move to the trash", undo: "Undo", restore: "Bring back", merge: "Merge" };

export function Act({ request, onDone, onClose }: { request: Request; onDone: (done: Done) => void; onClose: () => void }) {
  const [plan, setPlan] = useState<Plan>();
  const [error, setError] = useState<Refused>();
  const [busy, setBusy] = useState(false);
  useEffect(() => { post<Plan>("plan", request).then(setPlan, setError); }, []);
  const act = () => {
    if (!plan) return;
    setBusy(true);
    post<Done>("apply", { plan: plan.id }).then(onDone, (failure) => { setError(failure); setBusy(false); });
  };
  return (
    <Dialog title={TITLES[request.what] ?? request.what} onClose={onClose}>
      {error && <Failure error={error} />}
      {!plan && !error && <Waiting what="Planning" />}
      {plan && !error && (
        <div class="plan">
          <p><strong>{plan.what}</strong> {plan.words}</p>
          <ul>{plan.steps.map((step) => <li key={step}>{step}</li>)}</ul>
          {plan.appended_bytes > 0 && <p class="hush">{bytes(plan.appended_bytes)} are added to the end of the session; nothing that is there is changed.</p>}
          {plan.warnings.map((text) => <p key={text} class="note bad">{text}</p>)}
          <p class="hush">It can be undone in the log.</p>
        </div>
      )}
      <div class="buttons">
        <button type="button" class="quiet" onClick={onClose}>Cancel</button>
        <button type="button" class="primary" disabled={!plan || busy || !!error} onClick={act}>{DO[request.what] ?? "Do it"}</button>
      </div>
    </Dialog>
  );
}

/** Asks for a new title. */
export function Rename({ title, onTitle, onClose }: { title: string; onTitle: (title: string) => void; onClose: () => void }) {
  const [text, setText] = useState(title);
  return (
    <Dialog title="Rename" onClose={onClose}>
      <form onSubmit={(event) => { event.preventDefault(); if (text.trim()) onTitle(text.trim()); }}>
        <label class="stack">New title <input autoFocus value={text} maxLength={200} onInput={(event) => setText(event.currentTarget.value)} /></label>
        <div class="buttons"><button type="button" class="quiet" onClick={onClose}>Cancel</button><button type="submit" class="primary" disabled={!text.trim()}>Show the plan</button></div>
      </form>
    </Dialog>
  );
}
