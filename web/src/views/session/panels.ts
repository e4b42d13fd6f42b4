// Which panel is open beside a transcript.

import { useEffect, useState } from "preact/hooks";
import { useKeys } from "../../hooks";

export type Panel = "outline" | "tree" | "trace" | "details";
export const PANEL_NAMES: Record<Panel, string> = {
  outline: "Outline",
  tree: "Tree",
  trace: "Trace",
  details: "Details",
};
export interface Panels {
  shown: Panel | null;
  toggle: (panel: Panel) => void;
  close: () => void;
  /** Closes it if it covers the transcript. */
  makeRoom: () => void;
}

const isWide = () => matchMedia("(min-width: 1100px)").matches;

/** A session with forks opens with its tree, any other with its prompts. */
export function usePanels(forks: number | undefined): Panels {
  const [chosen, setChosen] = useState<Panel | "none" | undefined>(() => (isWide() ? undefined : "none"));
  const usual = forks === undefined ? null : forks > 0 ? "tree" : "outline";
  const shown = chosen === "none" ? null : (chosen ?? usual);
  const toggle = (panel: Panel) => setChosen(shown === panel ? "none" : panel);
  // An automatically opened panel stays open when the first fork appears.
  useEffect(() => {
    if (chosen === undefined && usual) setChosen(usual);
  }, [usual]);
  useKeys({
    l: () => toggle("outline"),
    t: () => toggle("tree"),
    T: () => toggle("trace"),
    i: () => toggle("details"),
  });
  return {
    shown,
    toggle,
    close: () => setChosen("none"),
    makeRoom: () => {
      if (!isWide()) setChosen("none");
    },
  };
}
