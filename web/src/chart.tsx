// Stacked bars over time as SVG: axes, values on hover and keyboard focus, one colour per series.

import { useState } from "preact/hooks";
import { useWidth } from "./hooks";
import { several } from "./words";

export interface Bar {
  /** The label of the bar, such as a day. */
  key: string;
  label: string;
  /** The amount of each series, in order. */
  parts: number[];
}

/** How many series have a colour; the others are combined. */
export const MAX_SERIES = 7;
const HEIGHT = 190;
const [TOP, BOTTOM] = [10, 24];
/** The room of the axis: at least this much, and this much for each letter. */
const [AXIS, LETTER] = [54, 7];
/** The numbers of an axis, without decimals if all of them are zero. */
function tickLabels(texts: string[]): string[] {
  const short = texts.map((text) => text.replace(/\.0+(?=\D?$)/, ""));
  return short.some((text) => text.includes(".")) ? texts : short;
}
/** The room of a label below the bars. */
const LABEL = 68;

/** Round numbers for an axis, from 0 to slightly above the maximum. */
export function axisTicks(most: number, wanted = 4): number[] {
  if (!(most > 0)) return [0];
  const rough = most / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough;
  const ticks = [];
  for (let tick = 0; tick < most + step * 0.999; tick += step) ticks.push(Number(tick.toPrecision(12)));
  return ticks;
}

export function StackedBars({
  title,
  bars,
  series,
  show,
  line,
  chosen,
  onChoose,
}: {
  title: string;
  bars: Bar[];
  series: string[];
  show: (n: number) => string;
  /** A line for a limit, such as a budget. */
  line?: number;
  chosen?: string;
  onChoose?: (key: string) => void;
}) {
  const [over, setOver] = useState<number>();
  const [box, room] = useWidth(860);
  const total = (bar: Bar) => bar.parts.reduce((sum, part) => sum + part, 0);
  const most = Math.max(line ?? 0, ...bars.map(total));
  const ticks = axisTicks(most);
  const top = ticks[ticks.length - 1] || 1;
  const marks = tickLabels(ticks.map(show));
  const left = Math.max(AXIS, ...marks.map((mark) => 12 + LETTER * mark.length));
  const step = Math.min(56, Math.max(4, (room - left - 2) / Math.max(1, bars.length)));
  const width = Math.max(room, left + bars.length * step);
  const y = (n: number) => TOP + HEIGHT - (n / top) * HEIGHT;
  const every = Math.max(1, Math.ceil(LABEL / step));
  const labelled = bars.flatMap((_, index) => (index % every === 0 ? [index] : []));
  const shown = over === undefined ? undefined : bars[over];
  return (
    <div class="chart">
      <div class="scroll-x plot" ref={box}>
        <svg
          width={width}
          height={TOP + HEIGHT + BOTTOM}
          viewBox={`0 0 ${width} ${TOP + HEIGHT + BOTTOM}`}
          role="group"
          aria-label={`${title}: ${several(bars.length, "bar")}, at most ${show(Math.max(0, ...bars.map(total)))}`}
          onMouseLeave={() => setOver(undefined)}
        >
          {ticks.map((tick, n) => (
            <g key={tick}>
              <path class="rule" d={`M${left - 4} ${y(tick)}H${width}`} />
              <text x={left - 8} y={y(tick) + 4} text-anchor="end">
                {marks[n]}
              </text>
            </g>
          ))}
          {bars.map((bar, index) => {
            let sum = 0;
            return (
              <g key={bar.key} class={chosen === bar.key ? "bar chosen" : "bar"}>
                {bar.parts.map((part, n) => {
                  if (part <= 0) return null;
                  const from = sum;
                  sum += part;
                  return (
                    <rect
                      key={n}
                      class={`series${n}`}
                      x={left + index * step + 1}
                      y={y(sum)}
                      width={Math.max(2, step - Math.min(3, step / 3))}
                      height={Math.max(1, y(from) - y(sum))}
                    />
                  );
                })}
                <rect
                  class="reach"
                  x={left + index * step}
                  y={TOP}
                  width={step}
                  height={HEIGHT}
                  tabIndex={onChoose ? 0 : -1}
                  role={onChoose ? "button" : "img"}
                  aria-pressed={onChoose ? chosen === bar.key : undefined}
                  aria-label={`${bar.label}: ${show(total(bar))}`}
                  onMouseEnter={() => setOver(index)}
                  onFocus={() => setOver(index)}
                  onBlur={() => setOver(undefined)}
                  onClick={() => onChoose?.(bar.key)}
                  onKeyDown={(event) => {
                    if (event.key !== "Enter" && event.key !== " ") return;
                    event.preventDefault();
                    onChoose?.(bar.key);
                  }}
                />
                {labelled.includes(index) && (bars.length < 2 || left + index * step + LABEL <= width + 12) && (
                  <text x={left + index * step + 1} y={TOP + HEIGHT + 17}>
                    {bar.label}
                  </text>
                )}
              </g>
            );
          })}
          {line !== undefined && line > 0 && (
            <g class="budget">
              <path d={`M${left} ${y(line)}H${width}`} />
              <text x={width - 4} y={y(line) - 5} text-anchor="end">
                {show(line)}
              </text>
            </g>
          )}
        </svg>
        {shown && over !== undefined && (
          <div
            class={left + over * step > width / 2 ? "tip before" : "tip"}
            aria-hidden="true"
            style={{ insetInlineStart: `${left + over * step + (left + over * step > width / 2 ? -6 : step + 6)}px` }}
          >
            <b>
              {shown.label}: {show(total(shown))}
            </b>
            {series.map(
              (name, n) =>
                (shown.parts[n] ?? 0) > 0 && (
                  <span key={name}>
                    <i class={`swatch series${n}`} /> <span class="series-name">{name}</span>{" "}
                    <em>{show(shown.parts[n])}</em>
                  </span>
                ),
            )}
          </div>
        )}
      </div>
      <ul class="legend">
        {series.map((name, n) => (
          <li key={name}>
            <span class={`swatch series${n}`} /> <span title={name}>{name}</span>
            {shown && <b>{show(shown.parts[n] ?? 0)}</b>}
          </li>
        ))}
      </ul>
      <p class="unseen chart-value" role="status">
        {shown ? `${shown.label}: ${show(total(shown))}` : ""}
      </p>
    </div>
  );
}
