// The strip beside a transcript.

import { useMemo } from "preact/hooks";
import type { PathView } from "../../api";

/** Shows the position in the transcript; click to go elsewhere. */
export function Place({ told, seen, onGo }: { told: PathView; seen: number; onGo: (position: number) => void }) {
  const share = (position: number) => (100 * position) / Math.max(1, told.count - 1);
  // Keep the same elements for the same path: the position changes many times a second.
  const marks = useMemo(() => {
    const step = Math.max(1, Math.ceil(told.count / 400));
    const at = (letters: string) =>
      [...told.shape].flatMap((letter, position) =>
        letters.includes(letter) && position % step === 0 ? [position] : [],
      );
    const lines = (positions: number[], length = 1) =>
      positions.map((position) => `M0 ${share(position)}H${length}`).join("");
    // The largest message of each section, on a logarithmic scale.
    const bars: string[] = [];
    for (let position = 0; position < told.count; position += step) {
      const size = Math.max(...[...told.sizes.slice(position, position + step)].map((one) => one.charCodeAt(0) - 65));
      bars.push(`M1 ${share(position)}H${Math.min(0.98, Math.max(0, 1 - (size - 8) / 12)).toFixed(2)}`);
    }
    return (
      <svg viewBox="0 0 1 100" preserveAspectRatio="none">
        <path class="w" d={bars.join("")} />
        <path class="p" d={lines(at("p"), 0.45)} />
        <path class="z" d={lines(at("z"))} />
        <path class="e" d={lines(at("ei"))} />
        <path class="f" d={lines(told.forks)} />
      </svg>
    );
  }, [told]);
  return (
    <div
      class="place"
      aria-hidden="true"
      title="Overview of the transcript: prompts on the left, long messages on the right; compactions, failures and fork points across"
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
