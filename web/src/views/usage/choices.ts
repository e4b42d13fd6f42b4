// What a reader chose to see of the usage: part of the address, so that it can be bookmarked and shared.

import { useMemo } from "preact/hooks";
import type { DailyUsage } from "../../api";
import { go } from "../../route";
import { type Measure, type Range, type StackBy, dayFrom, daysOf, lastDays } from "./figures";

export const MEASURES: Record<Measure, string> = { cost: "Cost", tokens: "Tokens", messages: "Replies" };
export const STACKS: Record<StackBy, string> = {
  model: "Model",
  project: "Project",
  branch: "Branch status",
  agent: "Agents",
};

/** A word from an address, if it is one of these. */
const oneOf = <T extends string>(words: Record<T, string>, word: string | null): T | undefined =>
  word !== null && Object.hasOwn(words, word) ? (word as T) : undefined;

export function useChoices(query: URLSearchParams, data: DailyUsage) {
  const { first, newest, end } = useMemo(() => daysOf(data), [data]);
  const [from, to] = [dayFrom(query.get("from")), dayFrom(query.get("to"))];
  const named = query.get("days") ?? (from || to ? "" : "30");
  const range: Range =
    named === "all"
      ? { from: first, to: newest > end ? newest : end }
      : Number(named) > 0
        ? lastDays(end, Math.min(Number(named), 3660))
        : { from: from ?? first, to: to ?? end };
  const choose = (values: Record<string, string>) => {
    const next = new URLSearchParams(query);
    for (const [name, value] of Object.entries(values)) {
      if (value) next.set(name, value);
      else next.delete(name);
    }
    go(`/usage${next.size ? `?${next}` : ""}`, "replace");
  };
  const usual: Measure = data.rows.some((row) => row.cost_usd) ? "cost" : "tokens";
  return {
    range,
    named,
    choose,
    measure: oneOf(MEASURES, query.get("show")) ?? usual,
    by: oneOf(STACKS, query.get("by")) ?? "model",
    day: query.get("day") ?? "",
    group: query.get("group") ?? "",
  };
}
