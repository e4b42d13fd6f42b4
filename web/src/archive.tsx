// Offers to archive sessions that Claude Code will delete soon, shows the plan, and applies it.

import { useState } from "preact/hooks";
import { type Archived, type Archiving, type Refused, asRefused, post } from "./api";
import { useGet } from "./hooks";
import { Dialog, Failure, Waiting } from "./parts";
import { several } from "./words";

/** Offers to archive sessions that are due for deletion and not archived yet, and reports the result. */
export function ArchiveOffer({ unarchived, onDone }: { unarchived: number; onDone: () => void }) {
  const [open, setOpen] = useState(false);
  const [told, setTold] = useState("");
  const done = (words: string) => {
    setOpen(false);
    setTold(words);
    onDone();
  };
  return (
    <>
      {unarchived > 0 && (
        <p>
          {several(unarchived, "file")} of these {unarchived === 1 ? "is" : "are"} not archived.{" "}
          <button type="button" class="primary" onClick={() => setOpen(true)}>
            Archive…
          </button>
        </p>
      )}
      <p role="status">{told}</p>
      {open && <ArchiveDialog onDone={done} onClose={() => setOpen(false)} />}
    </>
  );
}

function ArchiveDialog({ onDone, onClose }: { onDone: (words: string) => void; onClose: () => void }) {
  const { data, error, again } = useGet<Archiving>("archive");
  const [failure, setFailure] = useState<Refused>();
  const [busy, setBusy] = useState(false);
  const wrong = failure ?? error;
  const archive = () => {
    setBusy(true);
    post<Archived>("archive/add", {}).then(
      (archived) => onDone(archived.words),
      (refused) => {
        setFailure(asRefused(refused));
        setBusy(false);
      },
    );
  };
  const retry = () => {
    setFailure(undefined);
    again();
  };
  return (
    <Dialog title="Archive" onClose={onClose}>
      {wrong && <Failure error={wrong} again={retry} />}
      {!data && !wrong && <Waiting what="Checking which files are not archived" />}
      {data && !wrong && (
        <div class="plan">
          <ul>
            {data.sentences.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
          {busy && <Waiting what="Archiving" />}
        </div>
      )}
      <div class="buttons">
        <button type="button" class="quiet" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="primary" disabled={!data?.files || busy || !!wrong} onClick={archive}>
          Archive
        </button>
      </div>
    </Dialog>
  );
}
