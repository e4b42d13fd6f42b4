// Copies commands and texts, and confirms it.

import { type Resume, asRefused, get, query } from "./api";
import { Icon } from "./icons";
import type { Say } from "./toast";

export const copyText = (text: string, say: Say, done = "Copied"): void => {
  const refused = () => say("The browser does not allow copying");
  if (!navigator.clipboard) refused();
  else void navigator.clipboard.writeText(text).then(() => say(done), refused);
};

/** A command for a terminal, with a button that copies it. */
export function CopyCommand({ command, say }: { command: string; say: Say }) {
  return (
    <span class="command-line">
      <code>{command}</code>
      <button
        type="button"
        class="quiet"
        aria-label="Copy the command"
        title="Copy the command"
        onClick={() => copyText(command, say, "Command copied")}
      >
        <Icon name="copy" />
      </button>
    </span>
  );
}

/** What the command does before Claude Code starts. */
export const FIRST_STEP: Record<string, string> = {
  nothing: "",
  "goto-or-fork": "It first asks whether to move the resume point or to fork.",
  fork: "It makes a new session first.",
};

/** A button that copies the command which resumes a session, or one of its messages. The frame hears it (`resumed`). */
export function ResumeButton({ of, node, words }: { of: string; node?: string; words?: string }) {
  const name = node === undefined ? "Copy the command to resume" : "Copy the command to resume here";
  return (
    <button
      type="button"
      class="quiet resume"
      data-resume={of}
      data-node={node}
      aria-label={words ? undefined : name}
      title={name}
    >
      <Icon name="terminal" />
      {words && ` ${words}`}
    </button>
  );
}

/** Copies the command of a `ResumeButton` that was clicked. */
export function resumed(event: Event, say: Say): void {
  const button = (event.target as HTMLElement).closest<HTMLElement>("[data-resume]");
  if (!button) return;
  event.preventDefault();
  const { resume = "", node } = button.dataset;
  get<Resume>(`sessions/${encodeURIComponent(resume)}/resume${query({ node })}`).then(
    ({ command, first_step }) => copyText(command, say, `Copied: ${command} ${FIRST_STEP[first_step] ?? ""}`.trim()),
    (failure) => {
      const { message, hint } = asRefused(failure);
      say(hint ? `${message}: ${hint}` : message);
    },
  );
}
