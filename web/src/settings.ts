// Display options, stored by the browser and shared by all views.

import { useEffect, useState } from "preact/hooks";

/** `usage`: numbers below each reply. `raw`: prompts as typed. */
type Setting = "usage" | "raw";

const root = document.documentElement;
const KEYS: Record<Setting, string> = { usage: "reply-usage", raw: "raw-prompts" };
const watchers = new Set<() => void>();

const isOn = (setting: Setting) => localStorage.getItem(KEYS[setting]) === "on";
// Styles use an attribute, so that long transcripts need no new render.
const draw = () => root.toggleAttribute("data-usage", isOn("usage"));
draw();

export function useSetting(setting: Setting): [boolean, () => void] {
  const [on, set] = useState(() => isOn(setting));
  useEffect(() => {
    const hear = () => set(isOn(setting));
    watchers.add(hear);
    return () => void watchers.delete(hear);
  }, [setting]);
  const toggle = () => {
    localStorage.setItem(KEYS[setting], isOn(setting) ? "off" : "on");
    draw();
    watchers.forEach((hear) => hear());
  };
  return [on, toggle];
}
