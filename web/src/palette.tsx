// Ctrl-K: go to a session, project or view by typing part of its name.

import { useMemo, useState } from "preact/hooks";
import type { Project, Session } from "./api";
import { Dialog } from "./parts";
import { go, key, project, session } from "./route";
import { projectName } from "./projects";
import { short, titleOf, when } from "./words";

interface Entry {
  name: string;
  detail: string;
  act: () => void;
}

export function Palette({
  projects,
  sessions,
  onTheme,
  onHelp,
  onClose,
}: {
  projects: Project[];
  sessions: Session[];
  onTheme: () => void;
  onHelp: () => void;
  onClose: () => void;
}) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const entries = useMemo<Entry[]>(
    () => [
      { name: "Overview", detail: "view", act: () => go("/") },
      { name: "Search", detail: "view", act: () => go("/search") },
      { name: "Statistics", detail: "view", act: () => go("/stats") },
      { name: "Usage", detail: "view", act: () => go("/usage") },
      { name: "Log of operations", detail: "view", act: () => go("/log") },
      { name: "Change colours", detail: "light, dark, system", act: onTheme },
      { name: "Keys", detail: "help", act: onHelp },
      ...projects.map((one) => ({
        name: projectName(one.name, one.path),
        detail: one.path ?? one.name,
        act: () => go(project(one.name)),
      })),
      ...sessions.map((one) => ({
        name: titleOf(one),
        detail: `${projectName(one.project, one.cwd)} · ${when(one.last_active)} · ${short(one.id)}`,
        act: () => go(session(key(one))),
      })),
    ],
    [projects, sessions],
  );
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = entries
    .filter((entry) => words.every((word) => `${entry.name} ${entry.detail}`.toLowerCase().includes(word)))
    .slice(0, 12);
  if (words.length > 0)
    fitting.push({
      name: `Search messages for “${text.trim()}”`,
      detail: "search",
      act: () => go(`/search?q=${encodeURIComponent(text.trim())}`),
    });
  const chosen = Math.min(at, Math.max(0, fitting.length - 1));
  const take = (entry: Entry | undefined) => {
    onClose();
    entry?.act();
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") {
      setAt(Math.min(fitting.length - 1, chosen + 1));
      event.preventDefault();
    }
    if (event.key === "ArrowUp") {
      setAt(Math.max(0, chosen - 1));
      event.preventDefault();
    }
    if (event.key === "Enter") {
      event.preventDefault();
      take(fitting[chosen]);
    }
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        class="palette-field"
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={fitting.length ? `entry-${chosen}` : undefined}
        aria-label="Go to"
        placeholder="A session, project or view, or text to search for"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={keys}
      />
      <ul class="palette" id="palette-list" role="listbox" aria-label="Suggestions">
        {fitting.map((entry, index) => (
          <li
            key={`${entry.name}${entry.detail}`}
            id={`entry-${index}`}
            role="option"
            aria-selected={index === chosen}
            class={index === chosen ? "chosen" : ""}
            onClick={() => take(entry)}
          >
            <span>{entry.name}</span>
            <span class="detail">{entry.detail}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
