// Tokens and what they cost: by day, model, project and session.

import { useState } from "preact/hooks";
import type { Amounts, ByTime, Usage } from "../api";
import { useGet } from "../hooks";
import { Bars, Failure, Head, Numbers, Waiting } from "../parts";
import * as route from "../route";
import { count, model, money, place, several, short, tokens } from "../words";

const MEASURES = { cost: "Cost", tokens: "Tokens", messages: "Answers" } as const;
type Measure = keyof typeof MEASURES;

const all = (of: Amounts) => of.input + of.output + of.cache_read + of.cache_write_5m + of.cache_write_1h;
const amount = (of: Amounts, measure: Measure) =>
  measure === "cost" ? (of.cost_usd ?? 0) : measure === "tokens" ? all(of) : of.messages;
const shown: Record<Measure, (n: number) => string> = { cost: money, tokens, messages: count };
/** How many models, projects and sessions are shown. */
const MOST = 12;

export function UsageView() {
  const { data, error, again } = useGet<Usage>("usage");
  const [chosen, setMeasure] = useState<Measure>();
  if (error && !data)
    return (
      <div class="page">
        <Failure error={error} again={again} />
      </div>
    );
  if (!data)
    return (
      <div class="page">
        <Waiting what="Adding up" />
      </div>
    );
  if (data.totals.messages === 0)
    return (
      <div class="page">
        <Head title="Usage" />
        <section class="card">
          <p>No message with tokens was found.</p>
        </section>
      </div>
    );
  const measure = chosen ?? (data.totals.cost_usd ? "cost" : "tokens");
  const rows = <T extends Amounts>(of: T[], name: (row: T) => string): [string, number][] =>
    of
      .map((row): [string, number] => [name(row), amount(row, measure)])
      .sort((a, b) => b[1] - a[1])
      .slice(0, MOST);
  // Two versions of a model may have one short name.
  const alike = (name: string) => data.by_model.filter((row) => model(row.model) === model(name)).length > 1;
  const { totals, by_branch, by_line } = data;
  return (
    <div class="page">
      <Head title="Usage">
        <div class="choice" role="group" aria-label="What is shown">
          {(Object.keys(MEASURES) as Measure[]).map((one) => (
            <button key={one} type="button" aria-pressed={measure === one} onClick={() => setMeasure(one)}>
              {MEASURES[one]}
            </button>
          ))}
        </div>
      </Head>
      <Numbers
        of={[
          ["cost", money(totals.cost_usd)],
          ["tokens", tokens(all(totals))],
          ["answers", totals.messages],
          ["on abandoned branches", money(by_branch.abandoned.cost_usd)],
          ["by agents", money(by_line.agents.cost_usd)],
        ]}
      />
      <p class="hush">
        Every answer counts once, however many copies there are. By the public list of prices of{" "}
        {data.prices.file_date ?? data.prices.date}; with a subscription the cost is only a comparison.
        {data.unpriced.length > 0 &&
          ` No price is known for ${data.unpriced.map((one) => `${model(one.model)} (${tokens(one.tokens)} tokens)`).join(", ")}; the cost is without them.`}
      </p>
      <Days of={data.by_day.filter(isDay)} undated={data.undated?.messages ?? 0} measure={measure} zone={data.zone} />
      <div class="grid">
        <Bars
          title="By model"
          of={rows(data.by_model, (row) => (alike(row.model) ? row.model : model(row.model)))}
          show={shown[measure]}
        />
        <Bars
          title="By project"
          of={rows(data.by_project, (row) => place(row.path) || row.project)}
          show={shown[measure]}
        />
      </div>
      <section class="card">
        <h2>Sessions</h2>
        <div class="scroll-x" tabIndex={0} role="region" aria-label="Sessions">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Session</th>
                <th scope="col">Answers</th>
                <th scope="col">Tokens</th>
                <th scope="col">Cost</th>
              </tr>
            </thead>
            <tbody>
              {data.by_session.slice(0, MOST).map((row) => (
                <tr key={row.session + row.project}>
                  <th scope="row">
                    <a href={route.session(route.key({ id: row.session, project: row.project }))}>
                      {row.title ?? short(row.session)}
                    </a>
                  </th>
                  <td>{count(row.messages)}</td>
                  <td>{tokens(all(row))}</td>
                  <td>{money(row.cost_usd)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {data.by_session.length > MOST && (
          <p class="hush">
            and {several(data.by_session.length - MOST, "more session")}; <code>ramus usage --by session</code> lists
            all
          </p>
        )}
      </section>
    </div>
  );
}

const DAY = 86_400_000;
/** How many days a picture holds. */
const SPAN = 120;

type Day = ByTime & { day: string };
const isDay = (one: ByTime): one is Day => one.day !== undefined;

/** The newest days from the first with something on; days without anything are days, too. */
function filled(days: Day[]): { day: string; of?: Amounts }[] {
  const by = new Map(days.map((row) => [row.day, row]));
  const last = Date.parse(days[days.length - 1].day);
  const near = days.find((row) => Date.parse(row.day) > last - SPAN * DAY) ?? days[days.length - 1];
  const out = [];
  for (let time = Date.parse(near.day); time <= last; time += DAY) {
    const day = new Date(time).toISOString().slice(0, 10);
    out.push({ day, of: by.get(day) });
  }
  return out;
}

function Days({ of, undated, measure, zone }: { of: Day[]; undated: number; measure: Measure; zone: string }) {
  if (of.length === 0) return null;
  const days = filled(of);
  const most = Math.max(...days.map(({ of }) => (of ? amount(of, measure) : 0))) || 1;
  const [width, height] = [Math.min(46, Math.max(6, Math.floor(860 / days.length))), 150];
  const label = (text: string) =>
    new Date(`${text}T12:00:00Z`).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
  const every = Math.max(1, Math.ceil(64 / width));
  // The last label has its room, too.
  const wide = Math.max(days.length * width + 4, Math.floor((days.length - 1) / every) * every * width + 48);
  return (
    <section class="card">
      <h2>
        By day{" "}
        <span class="facts">
          at most {shown[measure](most)}
          {of[0].day < days[0].day
            ? `; ${several(of.filter((row) => row.day < days[0].day).length, "earlier day")} in the table`
            : ""}
          {undated > 0 ? `; on no day: ${several(undated, "message")} without a time` : ""}
        </span>
      </h2>
      <div
        class="days"
        tabIndex={0}
        role="group"
        aria-label="By day"
        ref={(box) => {
          if (box) box.scrollLeft = box.scrollWidth;
        }}
      >
        <svg
          width={wide}
          height={height + 26}
          role="img"
          aria-label={`${MEASURES[measure]} by day, ${label(days[0].day)} to ${label(days[days.length - 1].day)}; the most on a day is ${shown[measure](most)}. The table below has each day.`}
        >
          <path class="rule" d={`M0 ${height + 4.5}H${days.length * width}`} />
          {days.map(({ day, of }, index) => {
            const n = of ? amount(of, measure) : 0;
            const tall = n > 0 ? Math.max(1.5, (n / most) * height) : 0;
            return (
              <g key={day}>
                {tall > 0 && (
                  <rect
                    class="day"
                    x={index * width + 1}
                    y={4 + height - tall}
                    width={Math.max(3, width - 3)}
                    height={tall}
                    rx="2"
                  />
                )}
                <rect class="reach" x={index * width} y="4" width={width} height={height}>
                  <title>{`${day}: ${shown[measure](n)}`}</title>
                </rect>
                {index % every === 0 && (
                  <text x={index * width + 1} y={height + 20}>
                    {label(day)}
                  </text>
                )}
              </g>
            );
          })}
        </svg>
      </div>
      <details class="fold">
        <summary>The days as a table ({zone})</summary>
        <div class="scroll-x" tabIndex={0} role="region" aria-label="Days">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Day</th>
                <th scope="col">Answers</th>
                <th scope="col">In</th>
                <th scope="col">Out</th>
                <th scope="col">Cache read</th>
                <th scope="col">Cache written</th>
                <th scope="col">Cost</th>
              </tr>
            </thead>
            <tbody>
              {[...of]
                .reverse()
                .slice(0, SPAN)
                .map((row) => (
                  <tr key={row.day}>
                    <th scope="row">{row.day}</th>
                    <td>{count(row.messages)}</td>
                    <td>{tokens(row.input)}</td>
                    <td>{tokens(row.output)}</td>
                    <td>{tokens(row.cache_read)}</td>
                    <td>{tokens(row.cache_write_5m + row.cache_write_1h)}</td>
                    <td>{money(row.cost_usd)}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  );
}
