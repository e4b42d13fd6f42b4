// The strip beside a transcript.

import { useMemo } from "preact/hooks";
import type { PathView } from "../../api";

/** Where in the transcript the reader is; a click goes somewhere else. */
export function Place({ told, seen, onGo }: { told: PathView; seen: number; onGo: (position: number) => void }) {
  const share = (position: number) => (100 * position) / Math.max(1, told.count - 1);
  // The same elements while the path is the same: the reader moves many times a second.
  const marks = useMemo(() => {
    const step = Math.max(1, Math.ceil(told.count / 400));
    const at = (letters: string) =>
      [...told.shape].flatMap((letter, position) =>
        letters.includes(letter) && position % step === 0 ? [position] : [],
      );
    const lines = (positions: number[], length = 1) =>
      positions.map((position) => `M0 ${share(position)}H${length}`).join("");
    // How much was written where: the largest message of each stretch, by how often its size can be halved.
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
      title="Where work happened: long messages to the right, prompts to the left; compactions, failures and fork points across"
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
