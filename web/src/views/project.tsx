// One project: its sessions and its numbers.

import type { Session, Stats } from "../api";
import { query } from "../api";
import { useGet, useNews } from "../hooks";
import { Bars, Failure, Gone, Head, Numbers, SessionList, Waiting } from "../parts";
import { bytes } from "../words";

export function ProjectView({ name }: { name: string }) {
  const { data, error, again } = useGet<{ sessions: Session[] }>(`sessions${query({ project: name })}`);
  const stats = useGet<Stats>(`stats${query({ project: name })}`);
  useNews(() => again());
  if (error && !data) return <div class="page"><Failure error={error} again={again} /></div>;
  if (!data) return <div class="page"><Waiting what="Reading the sessions" /></div>;
  const path = data.sessions.find((session) => session.cwd)?.cwd ?? name;
  const numbers = stats.data;
  return (
    <div class="page">
      <Head title={path}><a class="button" href={`/search${query({ project: name })}`}>Search here</a></Head>
      {numbers && <Numbers of={[["sessions", numbers.sessions], ["messages", numbers.messages], ["forks", numbers.forks], ["conversations", numbers.conversations], ["on disk", bytes(numbers.bytes)]]} />}
      <section class="card"><h2>Sessions</h2><SessionList sessions={data.sessions} showProject={false} /></section>
      <Gone project={name} />
      {numbers && numbers.forks > 0 && <Bars title="Forks by kind" of={Object.entries(numbers.forks_by_kind)} />}
    </div>
  );
}
