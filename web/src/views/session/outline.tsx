// The outline: the prompts of a conversation, each with the results of its exchange.

import { useEffect, useRef } from "preact/hooks";
import type { Exchange } from "../../api";
import { useAnnotatedMessages } from "../../annotations";
import { Icon } from "../../icons";
import { Waiting } from "../../parts";
import { money, place, several, tokens, tookText, duration, unmarked, whenNext } from "../../words";
import type { PathExchanges } from "./exchanges";

const title = (one: Exchange) =>
  one.kind === "compaction"
    ? "Compacted"
    : one.kind === "start"
      ? "Before the first prompt"
      : unmarked(one.words) || "(no text)";

export function OutlinePanel({
  id,
  of,
  here,
  onGo,
}: {
  id: string;
  of: PathExchanges;
  /** The position of the reader. */
  here: number;
  onGo: (position: number) => void;
}) {
  const box = useRef<HTMLOListElement>(null);
  const annotated = useAnnotatedMessages(id);
  const current = of.exchanges.findLastIndex((one) => one.at <= here);
  useEffect(() => {
    box.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [current]);
  if (of.exchanges.length === 0 && of.busy) return <Waiting what="Loading the prompts" />;
  const most = Math.max(1, ...of.exchanges.map((one) => one.tokens));
  return (
    <div class="outline">
      <p class="panel-bar">
        {several(of.exchanges.filter((one) => one.kind === "prompt").length, "prompt")}
        {of.busy && " …"}
      </p>
      <ol ref={box}>
        {of.exchanges.map((one, index) => {
          const mark = one.uuid ? annotated.get(one.uuid) : undefined;
          const took = duration(one.started, one.ended);
          return (
            <li key={one.at} class={one.kind}>
              <button
                type="button"
                aria-current={index === current ? "true" : undefined}
                onClick={() => onGo(one.at)}
                title={title(one)}
              >
                <span class="words">
                  {mark?.pinned && <Icon name="pin" />} {title(one)}
                </span>
                <span class="facts">
                  <span>{whenNext(one.started, of.exchanges[index - 1]?.started)}</span>
                  {took !== null && took > 0 && <span>{tookText(took)}</span>}
                  {one.calls > 0 && (
                    <span title={several(one.calls, "tool call")}>
                      <Icon name="wrench" />
                      {one.calls}
                    </span>
                  )}
                  {one.files.length > 0 && (
                    <span class="changed" title={`Changed: ${one.files.map(place).join(", ")}`}>
                      <Icon name="edit" />
                      {one.files.length}
                    </span>
                  )}
                  {one.agents > 0 && (
                    <span class="agent-word" title={several(one.agents, "agent")}>
                      <Icon name="bot" />
                      {one.agents}
                    </span>
                  )}
                  {one.failed > 0 && <span class="bad">{several(one.failed, "failure")}</span>}
                  {one.tokens > 0 && <span title="tokens">{tokens(one.tokens)}</span>}
                  {one.cost_usd !== null && <span>{money(one.cost_usd)}</span>}
                </span>
                {/* The share of the tokens. */}
                <span class="work" style={{ inlineSize: `${(100 * one.tokens) / most}%` }} />
              </button>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
