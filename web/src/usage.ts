// Whether tokens, context size and cost are shown below each reply; remembered by the browser.

import { useState } from "preact/hooks";

const KEY = "reply-usage";
const root = document.documentElement;
const draw = (on: boolean) => {
  if (on) root.dataset.usage = "on";
  else delete root.dataset.usage;
};
draw(localStorage.getItem(KEY) === "on");

export function useReplyUsage(): [boolean, () => void] {
  const [on, set] = useState(() => root.dataset.usage === "on");
  const toggle = () => {
    const next = root.dataset.usage !== "on";
    localStorage.setItem(KEY, next ? "on" : "off");
    draw(next);
    set(next);
  };
  return [on, toggle];
}
