// Numbers and times for people.

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
const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "medium" });

export function when(text: string | null | undefined): string {
  if (!text) return "";
  const time = new Date(text);
  const today = new Date();
  if (time.toDateString() === today.toDateString()) return clock.format(time);
  if (time.getFullYear() === today.getFullYear()) return `${day.format(time)} ${clock.format(time)}`;
  return date.format(time);
}
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
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Ids such as `message-12` differ at their ends: only hexadecimal ones are cut. */
export const short = (id: string) => {
  const own = id.replace(/^agent-/, "");
  return /^[0-9a-f-]+$/i.test(own) ? own.slice(0, 8) : own;
};
export const place = (path: string | null | undefined) => path?.split(/[\\/]/).filter(Boolean).pop() ?? "";
export const model = (name: string) => name.replace(/^claude-/, "").replace(/-\d{8}$/, "");
export const money = (usd: number | null) =>
  usd === null ? "–" : `$${usd < 10 ? usd.toFixed(2) : count(Math.round(usd))}`;
/** What one reply cost; mostly cents. */
export const replyCost = (usd: number | null) =>
  usd === null ? "no price" : usd > 0 && usd < 0.0001 ? "<$0.0001" : `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
export function tokens(n: number): string {
  if (n < 1000) return String(n);
  if (n < 1_000_000) return `${(n / 1000).toFixed(n < 10_000 ? 1 : 0)}k`;
  return `${(n / 1_000_000).toFixed(1)}M`;
}

/** A title made from another one, as short and visible as titles must be. */
export function proposedTitle(title: string, ending: string): string {
  const visible = title.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return [...visible].slice(0, 200 - ending.length).join("") + ending;
}
