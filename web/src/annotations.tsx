// Pins, tags and notes: loaded once per session and shared by all views.

import { useEffect, useState } from "preact/hooks";
import { type Annotated, type Annotation, asRefused, get, post } from "./api";
import { Icon } from "./icons";
import { Dialog, Failure } from "./parts";
import type { Say } from "./toast";
import type { Refused } from "./api";

/** Annotations of a session (`""`) and of its messages, by uuid. */
type OfSession = Map<string, Annotation>;

const known = new Map<string, OfSession>();
const watchers = new Set<() => void>();
const changes = new Set<() => void>();
const tell = () => watchers.forEach((hear) => hear());
const address = (session: string) => `sessions/${encodeURIComponent(session)}/annotations`;

/** Loads the annotations of a session. */
export async function readAnnotations(session: string): Promise<void> {
  const told = await get<Annotated>(address(session));
  known.set(session, new Map(told.annotations.map((one) => [one.message ?? "", one])));
  tell();
}

/** Subscribes to changes that make lists of sessions outdated. */
export function onAnnotated(hear: () => void): () => void {
  changes.add(hear);
  return () => void changes.delete(hear);
}

export interface AnnotationChange {
  pinned?: boolean;
  add_tags?: string[];
  remove_tags?: string[];
  note?: string;
}

export async function annotate(session: string, message: string, change: AnnotationChange): Promise<void> {
  const told = await post<Annotated>(address(session), { message, pinned: null, note: null, ...change });
  const one = told.annotations[0];
  const all = new Map(known.get(session));
  all.set(one.message ?? "", one);
  // The server identifies a message by its first record.
  if ((one.message ?? "") !== message) all.set(message, one);
  known.set(session, all);
  tell();
  changes.forEach((hear) => hear());
}

const useKnown = () => {
  const [, draw] = useState(0);
  useEffect(() => {
    const hear = () => draw((n) => n + 1);
    watchers.add(hear);
    return () => void watchers.delete(hear);
  }, []);
};

/** The annotation of a message, or with `""` of the session itself. */
export function useAnnotation(session: string, message: string | null | undefined): Annotation | undefined {
  useKnown();
  const one = known.get(session)?.get(message ?? "");
  return one && (one.pinned || one.tags.length > 0 || one.note) && message !== null && message !== undefined
    ? one
    : undefined;
}

/** The annotated messages of a session. */
export function useAnnotatedMessages(session: string): Map<string, Annotation> {
  useKnown();
  return known.get(session) ?? new Map<string, Annotation>();
}

export const Tags = ({ of }: { of: string[] }) => (
  <>
    {of.map((tag) => (
      <span key={tag} class="chip-tag">
        #{tag}
      </span>
    ))}
  </>
);

/** Shows the annotation of a message or a session. */
export function AnnotationLine({ of }: { of: Annotation }) {
  return (
    <div class="annotation">
      {of.pinned && (
        <span class="pinned" title="Pinned">
          <Icon name="pin" /> <span class="unseen">Pinned</span>
        </span>
      )}
      <Tags of={of.tags} />
      {of.note && <span class="note-text">{of.note}</span>}
    </div>
  );
}

/** Edits the annotation of a session or a message. */
export function AnnotationDialog({
  session,
  message,
  onClose,
  say,
}: {
  session: string;
  message: string;
  onClose: () => void;
  say: Say;
}) {
  const now = useAnnotation(session, message);
  // Send only the edited fields: the others may have been changed elsewhere.
  const [edits, setEdits] = useState<{ pinned?: boolean; tags?: string; note?: string }>({});
  const [isRead, setIsRead] = useState(false);
  const [error, setError] = useState<Refused>();
  const read = () => {
    setError(undefined);
    readAnnotations(session).then(
      () => setIsRead(true),
      (failure) => setError(asRefused(failure)),
    );
  };
  useEffect(read, [session, message]);
  const pinned = edits.pinned ?? now?.pinned ?? false;
  const tags = edits.tags ?? (now?.tags ?? []).join(" ");
  const note = edits.note ?? now?.note ?? "";
  const wanted = [...new Set(tags.split(/[\s,]+/).map((tag) => tag.replace(/^#+/, "").toLowerCase()))].filter(Boolean);
  const save = (event: Event) => {
    event.preventDefault();
    const had = now?.tags ?? [];
    const change: AnnotationChange = {};
    if (edits.pinned !== undefined) change.pinned = pinned;
    if (edits.note !== undefined) change.note = note;
    if (edits.tags !== undefined) {
      change.add_tags = wanted.filter((tag) => !had.includes(tag));
      change.remove_tags = had.filter((tag) => !wanted.includes(tag));
    }
    annotate(session, message, change).then(
      () => {
        onClose();
        say("Saved beside the history; the session itself is not changed");
      },
      (failure) => setError(asRefused(failure)),
    );
  };
  return (
    <Dialog title={message ? "Pin, tags and note of this message" : "Pin, tags and note"} onClose={onClose}>
      <form onSubmit={save} class="stack annotation-form">
        <label class="check">
          <input
            type="checkbox"
            checked={pinned}
            onChange={(event) => setEdits({ ...edits, pinned: event.currentTarget.checked })}
          />{" "}
          Pinned
        </label>
        <label class="stack">
          Tags{" "}
          <input
            autoFocus
            value={tags}
            placeholder="review bug"
            aria-describedby="tags-help"
            onInput={(event) => setEdits({ ...edits, tags: event.currentTarget.value })}
          />
        </label>
        <p id="tags-help" class="hush">
          Separate tags with spaces. <code>ramus sessions --tag TAG</code> lists sessions by tag.
        </p>
        <label class="stack">
          Note{" "}
          <textarea
            rows={5}
            maxLength={10_000}
            value={note}
            onInput={(event) => setEdits({ ...edits, note: event.currentTarget.value })}
          />
        </label>
        {error && <Failure error={error} again={isRead ? undefined : read} />}
        <div class="buttons">
          <button type="button" class="quiet" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={!isRead}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
