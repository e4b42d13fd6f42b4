// One project: its sessions and statistics.

import type { Sessions, Stats } from "../api";
import { query } from "../api";
import { useGet, useNews } from "../hooks";
import { Bars, Failure, Gone, Head, Numbers, SessionList, Time, Waiting } from "../parts";
import * as route from "../route";
import { bytes, namedCounts, several, short, unmarked } from "../words";

export function ProjectView({ name }: { name: string }) {
  const { data, error, again } = useGet<Sessions>(`sessions${query({ project: name })}`);
  const stats = useGet<Stats>(`stats${query({ project: name })}`);
  useNews(() => again());
  if (error && !data)
    return (
      <div class="page">
        <Failure error={error} again={again} />
      </div>
    );
  if (!data)
    return (
      <div class="page">
        <Waiting what="Loading sessions" />
      </div>
    );
  const path = data.sessions.find((session) => session.cwd)?.cwd ?? name;
  const numbers = stats.data;
  return (
    <div class="page">
      <Head title={path}>
        <a class="button" href={`/search${query({ project: name })}`}>
          Search here
        </a>
      </Head>
      {numbers && (
        <Numbers
          of={[
            ["sessions", numbers.sessions],
            ["messages", numbers.messages],
            ["forks", numbers.forks],
            ["branches", numbers.conversations],
            ["on disk", bytes(numbers.bytes)],
          ]}
        />
      )}
      <section class="card">
        <h2>Sessions</h2>
        <SessionList sessions={data.sessions} showProject={false} />
      </section>
      {data.lost_agents.length > 0 && (
        <section class="card">
          <h2>Agents of deleted sessions</h2>
          <ul class="sessions lost">
            {data.lost_agents.map((one) => (
              <li key={one.agent}>
                <a href={route.session(`agent-${one.agent}`)}>
                  <span class="title">{unmarked(one.title ?? "") || one.agent}</span>
                  <span class="facts">
                    <span>agent of {short(one.session)}</span>
                    <span>{several(one.messages, "message")}</span>
                    <Time at={one.last_active} />
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Gone project={name} />
      {numbers && numbers.forks > 0 && (
        <Bars title="Forks by kind" of={namedCounts("fork", Object.entries(numbers.forks_by_kind))} />
      )}
    </div>
  );
}
