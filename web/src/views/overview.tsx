// The overview: totals, recent sessions, and sessions due for deletion.

import { useState } from "preact/hooks";
import type { Overview as Told } from "../api";
import { ArchiveOffer } from "../archive";
import { useGet, useNews } from "../hooks";
import { Failure, Gone, Head, Numbers, SessionList, Waiting } from "../parts";
import * as route from "../route";
import { bytes, count, exactly, onDay, several, titleOf, until } from "../words";

export function Overview() {
  const { data, error, again } = useGet<Told>("overview");
  useNews((news) => {
    if (!news.agent) again();
  });
  if (error && !data)
    return (
      <div class="page">
        <Failure error={error} again={again} />
      </div>
    );
  if (!data)
    return (
      <div class="page">
        <Waiting what="Loading histories" />
      </div>
    );
  const live = data.recent.filter((session) => data.live.includes(session.id));
  const recent = data.recent.filter((session) => !data.live.includes(session.id));
  return (
    <div class="page">
      <Head title="Overview" />
      <Numbers
        of={[
          ["projects", data.projects],
          ["sessions", data.sessions],
          ["branches", data.conversations],
          ["on disk", bytes(data.bytes)],
        ]}
      />
      <Heat activity={data.activity} />
      {live.length > 0 && (
        <section class="card">
          <h2>Live</h2>
          <SessionList sessions={live} live={data.live} />
        </section>
      )}
      {data.due && (
        <section class="card warn">
          <h2>Due for deletion</h2>
          <p>{data.due}</p>
          <ArchiveOffer unarchived={data.unarchived} onDone={again} />
          <ul class="leaving">
            {data.leaving.slice(0, 12).map((one) => (
              <li key={one.id + one.project}>
                <a href={route.session(route.key(one))}>{titleOf(one)}</a>{" "}
                <time dateTime={one.at} title={exactly(one.at)}>
                  {until(one.at)}
                </time>
              </li>
            ))}
          </ul>
          {data.leaving.length > 12 && <p class="hush">and {several(data.leaving.length - 12, "more session")}</p>}
        </section>
      )}
      {recent.length > 0 ? (
        <section class="card">
          <h2>Recent</h2>
          <SessionList sessions={recent} />
        </section>
      ) : (
        live.length === 0 && (
          <section class="card empty">
            <h2>No sessions yet</h2>
            <p>
              Start <code>claude</code> in a project: its sessions appear here by themselves. To look around first,{" "}
              <code>ramus demo</code> writes a sample history and says how to open it.
            </p>
          </section>
        )
      )}
      <Gone />
    </div>
  );
}

const DAY = 86_400_000;
const noon = (day: string) => Date.parse(`${day}T12:00:00Z`);
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
/** How many days an arrow key goes: a column is a week. */
const STEPS: Record<string, number> = { ArrowLeft: -7, ArrowRight: 7, ArrowUp: -1, ArrowDown: 1 };

/** Up to a year of days: one square per day, one column per week. */
function Heat({ activity }: { activity: Record<string, number> }) {
  const [over, setOver] = useState<string>();
  const days = Object.keys(activity).sort();
  if (days.length === 0) return null;
  // Ends today, so that a current pause is visible.
  const today = noon(dayOf(Date.now()));
  const ahead = noon(days[days.length - 1]);
  // A clock that was wrong once does not move the calendar into the future.
  const newest = days.some((day) => noon(day) <= today) ? today : ahead;
  // Weeks begin on Monday, as in the terminal.
  const end = newest + ((7 - new Date(newest).getUTCDay()) % 7) * DAY;
  const weeks = 53;
  const begin = end - (weeks * 7 - 1) * DAY;
  const shown = days.filter((day) => noon(day) >= begin && noon(day) <= newest);
  const most = Math.max(0, ...shown.map((day) => activity[day]));
  const busiest = shown.find((day) => activity[day] === most);
  const squares = [];
  const months = [];
  for (let week = 0; week < weeks; week++) {
    for (let day = 0; day < 7; day++) {
      const time = new Date(begin + (week * 7 + day) * DAY);
      if (time.getTime() > newest) break;
      const key = dayOf(time.getTime());
      const n = activity[key] ?? 0;
      const level = n === 0 ? 0 : Math.ceil((4 * Math.log1p(n)) / Math.log1p(most));
      squares.push(
        <rect
          key={key}
          x={week * 14}
          y={18 + day * 14}
          width="11"
          height="11"
          rx="2.5"
          class={`heat${level}${key === over ? " heat-over" : ""}`}
          onMouseEnter={() => setOver(key)}
        >
          <title>{`${key}: ${several(n, "message")}`}</title>
        </rect>,
      );
      if (day === 0 && time.getUTCDate() <= 7)
        months.push(
          <text key={key} x={week * 14} y="11">
            {time.toLocaleString("en-GB", { month: "short", timeZone: "UTC" })}
          </text>,
        );
    }
  }
  const total = shown.reduce((sum, day) => sum + activity[day], 0);
  return (
    <section class="card">
      <h2>Activity</h2>
      <div class="heat-days">
        <svg viewBox="0 0 26 118" aria-hidden="true">
          {["Mon", "Wed", "Fri", "Sun"].map((day, n) => (
            <text key={day} x="0" y={27 + n * 28}>
              {day}
            </text>
          ))}
        </svg>
        <div
          class="heat"
          ref={(box) => {
            if (box) box.scrollLeft = box.scrollWidth;
          }}
          tabIndex={0}
          role="group"
          aria-label="Activity by day; the arrow keys go through the days"
          onMouseLeave={() => setOver(undefined)}
          onBlur={() => setOver(undefined)}
          onKeyDown={(event) => {
            const step = STEPS[event.key];
            if (!step) return;
            event.preventDefault();
            const next = over === undefined ? newest : noon(over) + step * DAY;
            setOver(dayOf(Math.min(newest, Math.max(begin, next))));
          }}
        >
          <svg
            viewBox={`0 0 ${weeks * 14} 118`}
            role="img"
            aria-label={`Messages by day: ${several(total, "message")} on ${several(shown.length, "day")}`}
          >
            {months}
            {squares}
          </svg>
        </div>
      </div>
      <p class="heat-legend">
        <span role="status">
          {over === undefined
            ? busiest
              ? `${several(total, "message")} on ${several(shown.length, "day")} of a year, most on ${onDay(busiest)}: ${count(most)}`
              : "No messages in the last year"
            : `${onDay(over)}: ${several(activity[over] ?? 0, "message")}`}
        </span>
        <span class="heat-scale">
          Less
          {[0, 1, 2, 3, 4].map((level) => (
            <i key={level} class={`heat${level}`} />
          ))}
          More
        </span>
      </p>
    </section>
  );
}
