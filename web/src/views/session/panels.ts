// Which panel is open beside a transcript: the tree or the details.

import { useState } from "preact/hooks";
import { useKeys } from "../../hooks";

export type Panel = "tree" | "details";
export interface Panels {
  shown: Panel | null;
  toggle: (panel: Panel) => void;
  close: () => void;
  /** Closes it where it lies over the transcript. */
  makeRoom: () => void;
}

const isWide = () => matchMedia("(min-width: 1100px)").matches;

export function usePanels(): Panels {
  const [shown, setShown] = useState<Panel | null>(() => (isWide() ? "tree" : null));
  const toggle = (panel: Panel) => setShown(shown === panel ? null : panel);
  useKeys({ t: () => toggle("tree"), i: () => toggle("details") });
  return { shown, toggle, close: () => setShown(null), makeRoom: () => setShown((was) => (isWide() ? was : null)) };
}
