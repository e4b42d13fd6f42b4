// Formats numbers, times and names.

const number = new Intl.NumberFormat("en");
export const count = (n: number) => number.format(n);
export const several = (n: number, word: string, plural = `${word}s`) => `${count(n)} ${n === 1 ? word : plural}`;

export function bytes(n: number): string {
  const units = ["B", "KB", "MB", "GB"];
  let unit = 0;
  while (n >= 1000 && unit < units.length - 1) {
    n /= 1000;
    unit += 1;
  }
  return `${n < 10 && unit > 0 ? n.toFixed(1) : Math.round(n)} ${units[unit]}`;
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "2-digit", month: "short" });
const date = new Intl.DateTimeFormat("en-GB", { day: "2-digit", month: "short", year: "numeric" });
const moment = new Intl.DateTimeFormat("en-GB", {
  day: "2-digit",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});
const utcDay = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "medium" });

export function when(text: string | null | undefined): string {
  if (!text) return "";
  const time = new Date(text);
  const today = new Date();
  if (time.toDateString() === today.toDateString()) return clock.format(time);
  if (time.getFullYear() === today.getFullYear()) return `${day.format(time)} ${clock.format(time)}`;
  return date.format(time);
}
/** When a message was sent: of other years with the time of day, too. */
export function whenSent(text: string | null | undefined): string {
  if (!text) return "";
  const time = new Date(text);
  return time.getFullYear() === new Date().getFullYear() ? when(text) : moment.format(time);
}
/** The same beside a message of `before`: the day only where it is another one. */
export function whenNext(text: string | null | undefined, before: string | null | undefined): string {
  if (!text || !before) return whenSent(text);
  const [time, other] = [new Date(text), new Date(before)];
  return time.toDateString() === other.toDateString() ? clock.format(time) : whenSent(text);
}
/** A day (UTC), such as `2026-09-14`. */
export const onDay = (text: string) => utcDay.format(new Date(`${text}T12:00:00Z`));
export const exactly = (text: string | null | undefined) => (text ? full.format(new Date(text)) : "");
export const until = (text: string) => {
  const days = Math.ceil((new Date(text).getTime() - Date.now()) / 86_400_000);
  return days <= 0 ? "today" : days === 1 ? "tomorrow" : `in ${days} days`;
};

export function lasting(ms: number | null): string {
  if (ms === null) return "";
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return `${Math.round(ms / 1000)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return several(Math.round(hours / 24), "day");
}

/** Ids such as `message-12` differ at their ends: only hexadecimal ones are cut. */
export const short = (id: string) => {
  const own = id.replace(/^agent-/, "");
  return /^[0-9a-f-]+$/i.test(own) ? own.slice(0, 8) : own;
};
export const place = (path: string | null | undefined) => path?.split(/[\\/]/).filter(Boolean).pop() ?? "";
/** The names of projects: the last directory, with as much of the path as needed to be unique. */
export function projectNames(paths: string[]): Map<string, string> {
  const parts = new Map(paths.map((path) => [path, path.split(/[\\/]/).filter(Boolean)]));
  const end = (path: string, length: number) => (parts.get(path) ?? []).slice(-length).join("/");
  const names = new Map<string, string>();
  const open = new Set(parts.keys());
  for (let length = 1; open.size > 0; length += 1) {
    const times = new Map<string, number>();
    for (const path of parts.keys()) times.set(end(path, length), (times.get(end(path, length)) ?? 0) + 1);
    for (const path of open)
      if (times.get(end(path, length)) === 1 || length >= (parts.get(path)?.length ?? 0)) {
        names.set(path, end(path, length) || path);
        open.delete(path);
      }
  }
  return names;
}

/** Cuts a long name in the middle, because models and branches differ at their ends. */
export function middle(text: string, most = 26): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  const front = Math.ceil((most - 1) / 2);
  return `${letters.slice(0, front).join("")}…${letters.slice(letters.length - (most - 1 - front)).join("")}`;
}

/** A title or the first words of a message, without the marks of Markdown; as `plain_title` of ramus-app. */
export const unmarked = (text: string) =>
  text
    .trim()
    .replace(/^(?:(?:#{1,6}|[>*+-])\s+)+/, "")
    .replace(/`+/g, "")
    .replace(/\*\*(?=\S)([^]+?)\*\*/g, "$1")
    .trim() || text.trim();
/** What a session is called in lists. */
export const titleOf = (session: { title?: string | null; id: string }) =>
  unmarked(session.title ?? "") || short(session.id);

/** What statistics count, in the words of the glossary; as `stat_names` of ramus-render. */
const NAMES: Record<string, Record<string, string>> = {
  artefact: {
    "parallel-tools": "parallel tool calls",
    decoration: "progress and hooks",
    replay: "messages written again",
    sidechain: "sub-agents",
  },
  shape: { sidechain: "with sub-agents" },
  agent: { task: "with a task", warmup: "without a task", inline: "in the session's file" },
  fork: { edit: "edited prompt", interrupt: "interrupted reply" },
  origin: {
    fork: "forked",
    copy: "copied",
    continuation: "continued",
    clear: "after /clear",
    merge: "merged",
    summary: "summed up",
  },
  source: {
    snapshot: "checkpoint",
    first: "first backup",
    next: "next checkpoint",
    write: "written",
    edit: "edited",
    nothing: "not recorded",
  },
};
export const statName = (group: string, stable: string) => NAMES[group]?.[stable] ?? stable;
/** The same for counts by stable word. */
export const namedCounts = (group: string, counts: [string, number][]) =>
  counts.map(([stable, n]): [string, number] => [statName(group, stable), n]);

/** Makes labels unique: duplicates get what differs as a suffix, and a number where that is the same, too. */
export function distinct<T>(
  all: T[],
  label: (one: T) => string,
  mark: (one: T) => string,
  number: (n: number) => string,
) {
  const told = (labels: string[], ending: (n: number) => string) => {
    const times = new Map<string, number>();
    for (const one of labels) times.set(one, (times.get(one) ?? 0) + 1);
    return labels.map((one, n) => ((times.get(one) ?? 0) > 1 && ending(n) ? `${one} (${ending(n)})` : one));
  };
  return told(
    told(all.map(label), (n) => mark(all[n])),
    number,
  );
}

/** How long something took. */
export function duration(from: string | null | undefined, to: string | null | undefined): number | null {
  if (!from || !to) return null;
  const ms = Date.parse(to) - Date.parse(from);
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
}
export const tookText = (ms: number) =>
  ms < 950
    ? `${Math.round(ms / 10) / 100} s`
    : ms < 60_000
      ? `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
      : lasting(ms);

export const model = (name: string) => name.replace(/^claude-/, "").replace(/-\d{8}$/, "");
/** `$0.0021`, `$12.40`, `$1,203`, as in the terminal. */
export const money = (usd: number | null) =>
  usd === null
    ? "–"
    : usd >= 999.995
      ? `$${count(Math.round(usd))}`
      : `$${usd.toFixed(usd > 0 && usd < 0.005 ? 4 : 2)}`;
/** What one reply cost; mostly cents. */
export const replyCost = (usd: number | null) =>
  usd === null ? "no price" : usd > 0 && usd < 0.0001 ? "<$0.0001" : usd < 1 ? `$${usd.toFixed(4)}` : money(usd);
/** `950`, `30k`, `1.2M`, `7.9G`, as in the terminal. */
export function tokens(n: number): string {
  if (n < 1000) return String(n);
  if (n < 999_500) return `${(n / 1e3).toFixed(n < 9950 ? 1 : 0)}k`;
  return n < 999_950_000 ? `${(n / 1e6).toFixed(1)}M` : `${(n / 1e9).toFixed(1)}G`;
}

/** A title derived from another one, within the limits for titles. */
export function proposedTitle(title: string, ending: string): string {
  const visible = title.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return [...visible].slice(0, 200 - ending.length).join("") + ending;
}
