// Tokens and cost: any range of days, stacked by several keys, down to sessions and messages.

import { useMemo, useState } from "preact/hooks";
import type { DailyRow, DailyUsage, Exchanges } from "../api";
import { MAX_SERIES, StackedBars } from "../chart";
import { useGet } from "../hooks";
import { Icon } from "../icons";
import { Bars, Failure, Head, Numbers, Waiting } from "../parts";
import { key, session as sessionAt } from "../route";
import { count, model, money, several, titleOf, tokens, unmarked, whenSent } from "../words";
import { Blocks } from "./usage/blocks";
import { MEASURES, STACKS, useChoices } from "./usage/choices";
import {
  type Group,
  type Measure,
  type Range,
  type StackBy,
  type Unit,
  amountOf,
  cacheShare,
  costText,
  csv,
  dayTime,
  groupNames,
  groups,
  periods,
  tokensOf,
  totalsOf,
} from "./usage/figures";

const SHOW: Record<Measure, (n: number) => string> = { cost: money, tokens, messages: count };
const RANGES: [string, number][] = [
  ["7 days", 7],
  ["30 days", 30],
  ["90 days", 90],
];
const MOST = 12;
const BUDGET = "ramus-budget";

/** A day; with its year where a range has several. */
const dayLabel = (day: string, { from, to }: Range) =>
  new Date(dayTime(day)).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    year: from.slice(0, 4) === to.slice(0, 4) ? undefined : "2-digit",
    timeZone: "UTC",
  });
/** How many days a bar has, for the budget. */
const UNIT_DAYS: Record<Unit, number> = { day: 1, week: 7, month: 30.4, year: 365 };

export function UsageView({ query }: { query: URLSearchParams }) {
  const { data, error, again } = useGet<DailyUsage>("usage/daily");
  if (error && !data)
    return (
      <div class="page">
        <Failure error={error} again={again} />
      </div>
    );
  if (!data)
    return (
      <div class="page">
        <Waiting what="Loading usage" />
      </div>
    );
  if (data.rows.length === 0)
    return (
      <div class="page">
        <Head title="Usage" />
        <section class="card empty">
          <h2>No usage yet</h2>
          <p>No replies with tokens found. New replies are counted as soon as Claude Code writes them.</p>
          <a class="button" href="/">
            Go to the overview
          </a>
        </section>
      </div>
    );
  return <Figures data={data} query={query} />;
}

function Figures({ data, query }: { data: DailyUsage; query: URLSearchParams }) {
  const { range, named, choose, measure, by, day, group } = useChoices(query, data);
  const [budget, setBudget] = useState(() => Number(localStorage.getItem(BUDGET)) || 0);
  const name = useMemo(() => groupNames(data, by), [data, by]);
  const inRange = useMemo(
    () => data.rows.filter((row) => row.day !== null && row.day >= range.from && row.day <= range.to),
    [data, range.from, range.to],
  );
  const undated = data.rows.filter((row) => row.day === null);
  const stacked = useMemo(() => groups(inRange, name, measure), [inRange, name, measure]);
  const { unit, list } = useMemo(() => periods(range), [range.from, range.to]);
  const series = stacked.slice(0, stacked.length > MAX_SERIES ? MAX_SERIES - 1 : MAX_SERIES).map((one) => one.name);
  const names = stacked.length > series.length ? [...series, "others"] : series;
  const bars = useMemo(() => {
    const place = new Map(list.map((period, index) => [period.key, index]));
    const sums = list.map(() => names.map(() => 0));
    let index = 0;
    for (const row of [...inRange].sort((a, b) => ((a.day ?? "") < (b.day ?? "") ? -1 : 1))) {
      while (index < list.length - 1 && (row.day ?? "") > list[index].to) index += 1;
      const at = unit === "day" ? (place.get(row.day ?? "") ?? index) : index;
      const found = series.indexOf(name(row));
      sums[at][found < 0 ? names.length - 1 : found] += amountOf(row, measure);
    }
    return list.map((period, n) => ({
      key: period.key,
      label: unit === "month" || unit === "year" ? period.key : dayLabel(period.from, range),
      parts: sums[n],
    }));
  }, [inRange, list, names.join("\n"), measure]);
  const period = list.find((one) => one.key === day);
  const chosen = inRange.filter(
    (row) =>
      (!period || ((row.day ?? "") >= period.from && (row.day ?? "") <= period.to)) && (!group || name(row) === group),
  );
  const totals = totalsOf(chosen);
  const abandoned = totalsOf(chosen.filter((row) => row.abandoned));
  const agents = totalsOf(chosen.filter((row) => row.agent));
  const save = () => {
    const file = new Blob([csv(data, chosen)], { type: "text/csv" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = `ramus-usage-${range.from}-${range.to}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <div class="page usage">
      <Head title="Usage">
        <div class="choice" role="group" aria-label="What is shown">
          {(Object.keys(MEASURES) as Measure[]).map((one) => (
            <button key={one} type="button" aria-pressed={measure === one} onClick={() => choose({ show: one })}>
              {MEASURES[one]}
            </button>
          ))}
        </div>
      </Head>
      <div class="filters" role="group" aria-label="Days">
        <div class="choice">
          {[...RANGES.map(([text, n]): [string, string] => [text, String(n)]), ["All", "all"] as const].map(
            ([text, value]) => (
              <button
                key={value}
                type="button"
                aria-pressed={named === value}
                onClick={() => choose({ days: value, from: "", to: "", day: "" })}
              >
                {text}
              </button>
            ),
          )}
        </div>
        <label>
          From{" "}
          <input
            type="date"
            value={range.from}
            max={range.to}
            onChange={(event) => choose({ days: "", from: event.currentTarget.value, to: range.to, day: "" })}
          />
        </label>
        <label>
          To{" "}
          <input
            type="date"
            value={range.to}
            min={range.from}
            onChange={(event) => choose({ days: "", from: range.from, to: event.currentTarget.value, day: "" })}
          />
        </label>
        <label>
          Stacked by{" "}
          <select value={by} onChange={(event) => choose({ by: event.currentTarget.value, group: "" })}>
            {(Object.keys(STACKS) as StackBy[]).map((one) => (
              <option key={one} value={one} selected={one === by}>
                {STACKS[one]}
              </option>
            ))}
          </select>
        </label>
        {measure === "cost" && (
          <label>
            Budget a day ($){" "}
            <input
              type="number"
              min="0"
              step="1"
              class="narrow"
              value={budget || ""}
              placeholder="none"
              onInput={(event) => {
                const value = Math.max(0, Number(event.currentTarget.value) || 0);
                localStorage.setItem(BUDGET, String(value));
                setBudget(value);
              }}
            />
          </label>
        )}
        <button type="button" onClick={save}>
          <Icon name="download" /> CSV
        </button>
      </div>
      <Numbers
        of={[
          ["cost", costText(totals)],
          ["tokens", tokens(totals.input + totals.output + totals.cache_read + totals.cache_write)],
          ["replies", totals.messages],
          ["from the cache", `${Math.round(100 * cacheShare(totals))} %`],
          ["on abandoned branches", money(abandoned.cost)],
          ["by agents", money(agents.cost)],
        ]}
      />
      {(period || group) && (
        <p class="chosen-chips">
          {period && (
            <button type="button" class="quiet chip" onClick={() => choose({ day: "" })}>
              {dayLabel(period.from, range)}
              {period.from !== period.to && ` – ${dayLabel(period.to, range)}`}
              <Icon name="close" />
            </button>
          )}
          {group && (
            <button type="button" class="quiet chip" onClick={() => choose({ group: "" })}>
              {group} <Icon name="close" />
            </button>
          )}
        </p>
      )}
      <section class="card">
        <h2>
          {MEASURES[measure]} by {unit} <span class="facts">{data.zone}; choose a bar to see its sessions</span>
        </h2>
        {inRange.length > 0 ? (
          <StackedBars
            title={`${MEASURES[measure]} by ${unit}`}
            bars={bars}
            series={names}
            show={SHOW[measure]}
            line={measure === "cost" && budget > 0 ? budget * UNIT_DAYS[unit] : undefined}
            chosen={day}
            onChoose={(one) => choose({ day: one === day ? "" : one })}
          />
        ) : (
          <p class="empty">
            Nothing was used in these days.{" "}
            <button type="button" onClick={() => choose({ days: "all", from: "", to: "", day: "" })}>
              Show all days
            </button>
          </p>
        )}
      </section>
      <div class="grid">
        <GroupTable
          title={`By ${STACKS[by].toLowerCase()}`}
          rows={groups(period ? chosen : inRange, name, measure).slice(0, MOST)}
          measure={measure}
          chosen={group}
          onChoose={(one) => choose({ group: one === group ? "" : one })}
        />
        <Cache rows={chosen} data={data} />
      </div>
      <SessionTable data={data} rows={chosen} measure={measure} />
      <Blocks blocks={data.blocks} range={range} />
      <p class="hush">
        Every reply counts once, however many copies there are. By the public list of prices of{" "}
        {data.prices.file_date ?? data.prices.date}; with a subscription the cost is only a comparison.
        {totals.unpriced > 0 &&
          ` The cost is without ${tokens(totals.unpriced)} tokens of models without a known price.`}
        {undated.length > 0 &&
          ` ${several(totalsOf(undated).messages, "reply", "replies")} without a time are on no day.`}
      </p>
    </div>
  );
}

function GroupTable({
  title,
  rows,
  measure,
  chosen,
  onChoose,
}: {
  title: string;
  rows: Group[];
  measure: Measure;
  chosen: string;
  onChoose: (name: string) => void;
}) {
  const most = Math.max(1e-9, ...rows.map((row) => row.amount));
  return (
    <section class="card">
      <h2>{title}</h2>
      <table class="bars" aria-label={title}>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">
                <button
                  type="button"
                  class="quiet row-name"
                  aria-pressed={chosen === row.name}
                  title={row.name}
                  onClick={() => onChoose(row.name)}
                >
                  {row.name}
                </button>
              </th>
              <td class="bar-cell">
                <span class="meter" style={{ inlineSize: `${Math.max(1, (100 * row.amount) / most)}%` }} />
              </td>
              <td class="amount">{measure === "cost" ? costText(totalsOf(row.rows)) : SHOW[measure](row.amount)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** The share of input tokens that was read from the cache, by model. */
function Cache({ rows, data }: { rows: DailyRow[]; data: DailyUsage }) {
  const by = groups(rows, (row) => model(data.models[row.model] || "unknown model"), "tokens").slice(0, MOST);
  return (
    <Bars
      title="Read from the cache"
      of={by.map((one): [string, number] => [one.name, 100 * cacheShare(totalsOf(one.rows))])}
      show={(n) => `${n.toFixed(1)} %`}
      most={100}
    />
  );
}

function SessionTable({ data, rows, measure }: { data: DailyUsage; rows: DailyRow[]; measure: Measure }) {
  const [all, setAll] = useState(false);
  const [open, setOpen] = useState<number>();
  const list = groups(rows, (row) => String(row.session), measure);
  const shown = all ? list.slice(0, 500) : list.slice(0, MOST);
  return (
    <section class="card">
      <h2>
        Sessions <span class="facts">{count(list.length)}</span>
      </h2>
      <div class="scroll-x" tabIndex={0} role="region" aria-label="Sessions">
        <table class="table wide-table">
          <thead>
            <tr>
              <th scope="col">Session</th>
              <th scope="col">Replies</th>
              <th scope="col">Tokens</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => {
              const index = Number(one.name);
              const session = data.sessions[index];
              const project = data.projects[session.project];
              const id = key({ id: session.session, project: project.project });
              const sum = totalsOf(one.rows);
              return (
                <>
                  <tr key={one.name}>
                    <th scope="row">
                      <button
                        type="button"
                        class="quiet unfold"
                        aria-expanded={open === index}
                        aria-label="Show its messages"
                        onClick={() => setOpen(open === index ? undefined : index)}
                      >
                        <Icon name="chevronRight" />
                      </button>
                      <a href={sessionAt(id)}>{titleOf({ title: session.title, id: session.session })}</a>
                    </th>
                    <td>{count(sum.messages)}</td>
                    <td>{tokens(one.rows.reduce((n, row) => n + tokensOf(row), 0))}</td>
                    <td>{costText(sum)}</td>
                  </tr>
                  {open === index && (
                    <tr class="opened-row">
                      <td colSpan={4}>
                        <CostlyExchanges id={id} />
                      </td>
                    </tr>
                  )}
                </>
              );
            })}
          </tbody>
        </table>
      </div>
      {!all && list.length > MOST && (
        <button type="button" class="quiet more" onClick={() => setAll(true)}>
          {several(list.length - MOST, "more session")}
        </button>
      )}
    </section>
  );
}

/** The most expensive prompts of a session, with links. */
function CostlyExchanges({ id }: { id: string }) {
  const { data, error } = useGet<Exchanges>(`sessions/${encodeURIComponent(id)}/exchanges`);
  if (error) return <Failure error={error} />;
  if (!data) return <Waiting what="Loading its prompts" />;
  const most = [...data.exchanges]
    .filter((one) => one.tokens > 0)
    .sort((a, b) => (b.cost_usd ?? 0) - (a.cost_usd ?? 0) || b.tokens - a.tokens)
    .slice(0, 8);
  if (most.length === 0) return <p class="hush">Its conversation has no replies with tokens.</p>;
  return (
    <ol class="costly">
      {most.map((one) => (
        <li key={one.at}>
          <a href={sessionAt(id, "", one.uuid ?? undefined)}>{unmarked(one.words) || one.kind}</a>
          <span class="facts">
            <span>{whenSent(one.started)}</span>
            <span>{tokens(one.tokens)}</span>
            <span>{money(one.cost_usd)}</span>
          </span>
        </li>
      ))}
    </ol>
  );
}
