// Statistics.

import type { Stats } from "../api";
import { useGet } from "../hooks";
import { Bars, Failure, Head, Numbers, Waiting } from "../parts";
import * as route from "../route";
import { bytes, count, namedCounts, unmarked } from "../words";

const sorted = (of: Record<string, number>, most = 14): [string, number][] =>
  Object.entries(of)
    .filter(([, n]) => n > 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, most);

export function StatsView() {
  const { data, error, again } = useGet<Stats>("stats");
  if (error && !data)
    return (
      <div class="page">
        <Failure error={error} again={again} />
      </div>
    );
  if (!data)
    return (
      <div class="page">
        <Waiting what="Counting" />
      </div>
    );
  return (
    <div class="page">
      <Head title="Statistics" />
      <Numbers
        of={[
          ["sessions", data.sessions],
          ["messages", data.messages],
          ["records", data.records],
          ["branches", data.conversations],
          ["unique paths", data.unique_paths],
          ["on disk", bytes(data.bytes)],
        ]}
      />
      <div class="grid">
        <Bars
          title="Branches"
          of={[
            ["active", data.active],
            ["abandoned", data.abandoned],
            ["drafts", data.drafts],
          ]}
        />
        <Bars title="Forks by kind" of={namedCounts("fork", Object.entries(data.forks_by_kind))} />
        <Bars title="Records by type" of={sorted(data.by_type)} />
        <Bars
          title="Not forks: several messages follow one for other reasons"
          of={namedCounts("artefact", sorted(data.artefacts))}
        />
        <Bars title="Shape of sessions" of={namedCounts("shape", sorted(data.flow))} />
        <Bars title="Sub-agents" of={namedCounts("agent", sorted(data.agents))} />
      </div>
      <p class="hush">
        By parent links alone there would be {count(data.raw.forks)} forks and {count(data.raw.leaves)} leaves.
        {data.damaged > 0 && ` ${count(data.damaged)} of ${count(data.lines)} lines are damaged.`}
        {data.most_complex && (
          <>
            {" "}
            The most complex session is{" "}
            <a href={route.session(data.most_complex.session)}>
              {unmarked(data.most_complex.title ?? "") || data.most_complex.session}
            </a>
            .
          </>
        )}
      </p>
    </div>
  );
}
