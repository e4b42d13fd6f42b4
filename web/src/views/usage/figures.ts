// Sums of daily usage, by period and key.

import type { DailyRow, DailyUsage } from "../../api";
import { middle, model, money, projectNames } from "../../words";

export type Measure = "cost" | "tokens" | "messages";
export type StackBy = "model" | "project" | "branch" | "agent";

export interface Range {
  from: string;
  to: string;
}

const DAY = 86_400_000;
const dayText = (time: number) => new Date(time).toISOString().slice(0, 10);
export const dayTime = (day: string) => Date.parse(`${day}T12:00:00Z`);

/** Today, as the browser's clock has it. */
export function today(): string {
  const now = new Date();
  return dayText(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate(), 12));
}

/** The last days until one, that one included. */
export const lastDays = (to: string, days: number): Range => ({ from: dayText(dayTime(to) - (days - 1) * DAY), to });

/** The days that a history has, and the one that ranges end on. */
export function daysOf(data: DailyUsage): { first: string; newest: string; end: string } {
  const now = today();
  const days = data.rows.flatMap((row) => row.day ?? []).sort();
  const first = days[0] ?? now;
  const newest = days.at(-1) ?? now;
  // A clock that was wrong once does not move ranges into the future.
  const last = days.findLast((day) => day <= lastDays(now, 0).from) ?? newest;
  // An old history is shown up to its last day.
  return { first, newest, end: last > now || last < lastDays(now, 30).from ? last : now };
}

/** A day from an address, if it is one. */
export const dayFrom = (text: string | null): string | undefined =>
  text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && Number.isFinite(dayTime(text)) ? text : undefined;

export const tokensOf = (row: DailyRow) => row.input + row.output + row.cache_read + row.cache_write;
export const amountOf = (row: DailyRow, measure: Measure) =>
  measure === "cost" ? (row.cost_usd ?? 0) : measure === "tokens" ? tokensOf(row) : row.messages;

export interface Totals {
  messages: number;
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  cost: number;
  unpriced: number;
}

export function totalsOf(rows: DailyRow[]): Totals {
  const sum: Totals = { messages: 0, input: 0, output: 0, cache_read: 0, cache_write: 0, cost: 0, unpriced: 0 };
  for (const row of rows) {
    sum.messages += row.messages;
    sum.input += row.input;
    sum.output += row.output;
    sum.cache_read += row.cache_read;
    sum.cache_write += row.cache_write;
    sum.cost += row.cost_usd ?? 0;
    sum.unpriced += row.unpriced_tokens;
  }
  return sum;
}

/** The cost, unless no model of it has a known price. */
export const costText = ({ cost, unpriced }: Totals) => (unpriced > 0 && cost === 0 ? "–" : money(cost));

/** The share of input tokens that was read from the cache. */
export const cacheShare = ({ input, cache_read, cache_write }: Totals) =>
  input + cache_read + cache_write > 0 ? cache_read / (input + cache_read + cache_write) : 0;

/** The names of groups; equal names are made distinct. */
export function groupNames(data: DailyUsage, by: StackBy): (row: DailyRow) => string {
  if (by === "branch") return (row) => (row.abandoned ? "abandoned branches" : "active branches");
  if (by === "agent") return (row) => (row.agent ? "agents" : "main conversation");
  if (by === "model") {
    const short = data.models.map(model);
    const names = short.map((name, n) => (short.indexOf(name) === short.lastIndexOf(name) ? name : data.models[n]));
    return (row) => middle(names[row.model] || "unknown model", 30);
  }
  const names = projectNames(data.projects.map((one) => one.path ?? one.project));
  return (row) => {
    const one = data.projects[data.sessions[row.session].project];
    return names.get(one.path ?? one.project) ?? one.project;
  };
}

export interface Group {
  name: string;
  amount: number;
  rows: DailyRow[];
}

/** Rows by name, the largest first. */
export function groups(rows: DailyRow[], name: (row: DailyRow) => string, measure: Measure): Group[] {
  const by = new Map<string, Group>();
  for (const row of rows) {
    const key = name(row);
    const one = by.get(key) ?? { name: key, amount: 0, rows: [] };
    one.amount += amountOf(row, measure);
    one.rows.push(row);
    by.set(key, one);
  }
  return [...by.values()].sort((a, b) => b.amount - a.amount);
}

/** One bar: the days from one to another. */
export interface Period {
  key: string;
  from: string;
  to: string;
}

export type Unit = "day" | "week" | "month" | "year";

/** Days, weeks, months or years, depending on how many bars fit into a chart. */
export function periods(range: Range): { unit: Unit; list: Period[] } {
  const days = 1 + Math.round((dayTime(range.to) - dayTime(range.from)) / DAY);
  if (days > 3660) return { unit: "year", list: years(range) };
  const unit = days <= 120 ? "day" : days <= 800 ? "week" : "month";
  const list: Period[] = [];
  for (let time = dayTime(range.from); time <= dayTime(range.to); time += DAY) {
    const day = dayText(time);
    const monday = dayText(time - ((new Date(time).getUTCDay() + 6) % 7) * DAY);
    const key = unit === "day" ? day : unit === "week" ? monday : day.slice(0, 7);
    const last = list.at(-1);
    if (last?.key === key) last.to = day;
    else list.push({ key, from: day, to: day });
  }
  return { unit, list };
}

function years({ from, to }: Range): Period[] {
  const list: Period[] = [];
  for (let year = Number(from.slice(0, 4)); year <= Number(to.slice(0, 4)); year += 1) {
    const key = String(year).padStart(4, "0");
    const [first, last] = [`${key}-01-01`, `${key}-12-31`];
    list.push({ key, from: from > first ? from : first, to: to < last ? to : last });
  }
  return list;
}

const quoted = (value: string | number | null) => {
  const text = value === null ? "" : String(value);
  // A spreadsheet would treat such a cell as a formula.
  const safe = /^[=+\-@\t\r]/.test(text) && typeof value === "string" ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** The rows for a spreadsheet. */
export function csv(data: DailyUsage, rows: DailyRow[]): string {
  const head = "day,project,session,title,model,branch,agent,messages,input,output,cache_read,cache_write,cost_usd";
  const lines = rows.map((row) => {
    const session = data.sessions[row.session];
    const project = data.projects[session.project];
    return [
      row.day,
      project.path ?? project.project,
      session.session,
      session.title,
      data.models[row.model],
      row.abandoned ? "abandoned" : "active",
      row.agent ? "yes" : "no",
      row.messages,
      row.input,
      row.output,
      row.cache_read,
      row.cache_write,
      row.cost_usd,
    ]
      .map(quoted)
      .join(",");
  });
  return [head, ...lines, ""].join("\n");
}
