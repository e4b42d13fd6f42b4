// The list of keyboard shortcuts.

import { Dialog } from "./parts";

const KEYS: [string, [string, string][]][] = [
  [
    "Everywhere",
    [
      ["Ctrl K", "go to a session, a project or a view"],
      ["/", "search everything; in a session, find within it"],
      ["h", "overview"],
      ["s", "statistics"],
      ["u", "usage"],
      ["b", "projects and sessions"],
      ["d", "light, dark, system"],
      ["?", "show all keys"],
    ],
  ],
  [
    "In a transcript",
    [
      ["j  k", "next, previous message"],
      ["p  P", "next, previous prompt"],
      ["]  [", "next, previous fork point"],
      ["→  ←", "switch branch at this fork point"],
      ["e  E", "next, previous failure"],
      ["g  G", "beginning, end"],
      ["l  t  T  i", "outline, tree, trace, details"],
      ["r", "show prompts as typed, or as Markdown"],
      ["o", "open or close tool calls of this message"],
      ["c", "show or hide tokens, context size, cost and time of each reply"],
      ["m", "actions for this message: resume, fork, files, copy"],
    ],
  ],
  [
    "In the tree",
    [
      ["↑  ↓", "move"],
      ["Enter", "go there"],
      ["+  −", "larger, smaller"],
    ],
  ],
];

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div class="keys">
        {KEYS.map(([title, keys]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([key, what]) => (
                <div key={key}>
                  <dt>
                    {key.split(/ {2}/).map((one) => (
                      <kbd key={one}>{one}</kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
