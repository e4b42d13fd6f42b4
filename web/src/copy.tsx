// Copies commands and texts, and confirms it.

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
