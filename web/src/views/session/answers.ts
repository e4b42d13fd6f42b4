// The server's answers about one session, kept up to date by live events.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Detail, type Lineage, type Outline, type PathView, query } from "../../api";
import { type Asked, type News, useGet, useNews } from "../../hooks";
import * as route from "../../route";

/** The tree is expensive and not urgent, but it must still load during a stream of events. */
const TREE_DELAY = 1200;

export interface Answers {
  detail: Asked<Detail>;
  path: Asked<PathView>;
  outline: Asked<Outline>;
  lineage: Asked<Lineage>;
  /** Its file no longer exists. */
  gone: boolean;
  /** Requests everything again after the session was gone. */
  retry: () => void;
  /** Applies the news that was held back. */
  catchUp: () => void;
  /** Discards the news that was held back. */
  forgetNews: () => void;
}

/** Requests the answers about a session; while `held`, news is held back. */
export function useAnswers(
  address: string,
  { id, leaf, at, held }: { id: string; leaf: string; at: string; held: boolean },
): Answers {
  const detail = useGet<Detail>(address);
  const path = useGet<PathView>(`${address}/path${query({ leaf, node: at })}`);
  const outline = useGet<Outline>(`${address}/outline`);
  const lineage = useGet<Lineage>(`${address}/lineage`);
  const [gone, setGone] = useState("");
  const later = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const missed = useRef<News | undefined>(undefined);
  const forgetNews = () => {
    missed.current = undefined;
  };
  const hear = (news: News) => {
    forgetNews();
    setGone(news.kind === "gone" ? id : "");
    if (news.kind === "gone") return;
    detail.again();
    path.again();
    lineage.again();
    later.current ??= setTimeout(() => {
      later.current = undefined;
      outline.again();
    }, TREE_DELAY);
  };
  useNews((news) => {
    if (news.kind !== "missed" && news.session !== route.plain(id).replace(/^agent-/, "")) return;
    if (held) missed.current = news;
    else hear(news);
  });
  useEffect(() => () => clearTimeout(later.current), []);
  return {
    detail,
    path,
    outline,
    lineage,
    gone: gone === id,
    forgetNews,
    retry: () => {
      setGone("");
      detail.again();
      path.again();
    },
    catchUp: () => {
      if (missed.current) hear(missed.current);
    },
  };
}
