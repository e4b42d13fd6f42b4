// The strip beside a transcript.

import { useMemo } from "preact/hooks";
import type { PathView } from "../../api";

/** Where in the transcript the reader is; a click goes somewhere else. */
export function Place({ told, seen, onGo }: { told: PathView; seen: number; onGo: (position: number) => void }) {
  const share = (position: number) => (100 * position) / Math.max(1, told.count - 1);
  // The same elements while the path is the same: the reader moves many times a second.
  const marks = useMemo(() => {
    const step = Math.max(1, Math.ceil(told.count / 400));
    const prompts = [...told.shape].flatMap((letter, position) =>
      letter === "p" && position % step === 0 ? [position] : [],
    );
    const lines = (positions: number[]) => positions.map((position) => `M0 ${share(position)}H1`).join("");
    return (
      <svg viewBox="0 0 1 100" preserveAspectRatio="none">
        <path class="p" d={lines(prompts)} />
        <path class="f" d={lines(told.forks)} />
      </svg>
    );
  }, [told]);
  return (
    <div
      class="place"
      aria-hidden="true"
      onClick={(event) => {
        const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
        onGo(Math.round(((event.clientY - box.top) / box.height) * (told.count - 1)));
      }}
    >
      {marks}
      <b style={{ transform: `translateY(${share(seen)}%)` }} />
    </div>
  );
}
