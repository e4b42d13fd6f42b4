// Five-hour blocks, the periods of Claude Code's usage limits.

import type { BlockRow } from "../../api";
import { count, money, tokens, whenSent } from "../../words";
import type { Range } from "./figures";

/** How many blocks are listed. */
const SHOWN = 20;

export function Blocks({ blocks, range }: { blocks: BlockRow[]; range: Range }) {
  const inside = blocks.filter((one) => one.day >= range.from && one.day <= range.to);
  if (inside.length === 0) return null;
  const most = Math.max(1, ...inside.map((one) => one.tokens));
  const now = Date.now();
  const newest = [...inside].reverse().slice(0, SHOWN);
  const running = newest.find((one) => Date.parse(one.start) <= now && now < Date.parse(one.end));
  const left = running ? Math.round((Date.parse(running.end) - now) / 60_000) : 0;
  return (
    <section class="card">
      <h2>
        Five-hour blocks{" "}
        <span class="facts">
          {count(inside.length)} in these days{running ? `; one is running, ${left} min left` : ""}
        </span>
      </h2>
      <div class="scroll-x" tabIndex={0} role="region" aria-label="Five-hour blocks">
        <table class="table wide-table">
          <thead>
            <tr>
              <th scope="col">Started</th>
              <th scope="col">Replies</th>
              <th scope="col">Tokens</th>
              <th scope="col">Cost</th>
              <th scope="col">
                <span class="unseen">Share of the largest</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {newest.map((one) => (
              <tr key={one.start}>
                <th scope="row" class="when">
                  {whenSent(one.start)} {one === running && <span class="live">running</span>}
                </th>
                <td>{count(one.messages)}</td>
                <td>{tokens(one.tokens)}</td>
                <td>{money(one.cost_usd)}</td>
                <td class="bar-cell">
                  <span class="meter" style={{ inlineSize: `${Math.max(1, (100 * one.tokens) / most)}%` }} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
