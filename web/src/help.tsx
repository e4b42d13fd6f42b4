// The sheet of keys.

import { Dialog } from "./parts";

const KEYS: [string, [string, string][]][] = [
  [
    "Everywhere",
    [
      ["Ctrl K", "go to a session, a project or a view"],
      ["/", "search"],
      ["h", "overview"],
      ["s", "numbers"],
      ["u", "usage"],
      ["b", "projects and sessions"],
      ["d", "light, dark, system"],
      ["?", "this sheet"],
    ],
  ],
  [
    "In a transcript",
    [
      ["j  k", "next, previous message"],
      ["p  P", "next, previous prompt"],
      ["]  [", "next, previous fork"],
      ["→  ←", "other way at this fork"],
      ["e  E", "next, previous failure"],
      ["g  G", "beginning, end"],
      ["t  i", "tree, details"],
      ["o", "open or close tool calls of this message"],
      ["c", "show or hide tokens, context size and cost of each reply"],
      ["m", "what to do with this message: go on, fork, files, copy"],
    ],
  ],
  [
    "In the tree",
    [
      ["↑ ↓", "move"],
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
