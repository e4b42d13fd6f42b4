// Two conversations side by side: messages, files, totals.

import { type Diff, type DiffSpent, type Sessions, query as asQuery } from "../api";
import { useGet } from "../hooks";
import { Html } from "../html";
import { Failure, Head, SessionList, Time, Waiting } from "../parts";
import * as route from "../route";
import { Turn } from "../turn";
import { count, lasting, money, several, tokens, unmarked } from "../words";

const unpriced = (spent: DiffSpent) =>
  Object.entries(spent.unpriced)
    .map(([name, n]) => `${name} (${tokens(n)} tokens)`)
    .join(", ");

/** What to do where nothing is compared yet. */
function Choose() {
  const { data } = useGet<Sessions>("sessions");
  const forked = data?.sessions.filter((one) => one.conversations > 1).slice(0, 12) ?? [];
  return (
    <section class="card">
      <p>
        Open a session with several branches and press <b>Details</b>: each of its branches has <b>compare</b> beside
        it.
      </p>
      {forked.length > 0 && <SessionList sessions={forked} />}
    </section>
  );
}

export function Compare({ query }: { query: URLSearchParams }) {
  const values = { a: query.get("a"), a_leaf: query.get("al"), b: query.get("b"), b_leaf: query.get("bl") };
  const { data, error } = useGet<Diff>(values.a && values.b ? `diff${asQuery(values)}` : null);
  if (error && !data)
    return (
      <div class="page">
        <Failure error={error} />
      </div>
    );
  if (!values.a || !values.b)
    return (
      <div class="page">
        <Head title="Compare" />
        <Choose />
      </div>
    );
  if (!data)
    return (
      <div class="page">
        <Waiting what="Comparing" />
      </div>
    );
  const sides = [
    { side: data.a, id: values.a, views: data.views_a, spent: data.usage.a },
    { side: data.b, id: values.b, views: data.views_b, spent: data.usage.b },
  ];
  const swap = route.compare(values.b, data.b.leaf, values.a, data.a.leaf);
  const rows: [string, string, string][] = [
    ["messages of its own", count(data.a.messages), count(data.b.messages)],
    ["prompts", count(data.a.prompts), count(data.b.prompts)],
    ["replies", count(data.a.answers), count(data.b.answers)],
    ["time", lasting(data.a.duration_ms), lasting(data.b.duration_ms)],
    ["tokens out", tokens(data.usage.a.output), tokens(data.usage.b.output)],
    [
      "tokens in",
      tokens(data.usage.a.input + data.usage.a.cache_read),
      tokens(data.usage.b.input + data.usage.b.cache_read),
    ],
    ["cost at list prices", money(data.usage.a.cost_usd), money(data.usage.b.cost_usd)],
    ...(unpriced(data.usage.a) + unpriced(data.usage.b)
      ? [
          ["without a known price", unpriced(data.usage.a) || "none", unpriced(data.usage.b) || "none"] as [
            string,
            string,
            string,
          ],
        ]
      : []),
    ...Object.entries(data.tools).map(([name, tool]): [string, string, string] => [
      name,
      calls(tool.a, tool.failed_a),
      calls(tool.b, tool.failed_b),
    ]),
  ];
  return (
    <div class="page broad">
      <Head title="Compare">
        <a class="button" href={swap}>
          Swap sides
        </a>
      </Head>
      <p class="hush">
        {data.same ? "Both contain the same messages." : `${several(data.common.messages, "message")} in common`}
        {data.common.node && (
          <>
            , up to <a href={route.session(values.a, data.a.leaf, data.common.node)}>this one</a>{" "}
            <Time at={data.common.timestamp} />
          </>
        )}
      </p>
      <div class="sides">
        {sides.map(({ side, id, views }, index) => (
          <section
            key={index}
            class={`side-column ${index === 0 ? "a" : "b"}`}
            aria-label={index === 0 ? "First" : "Second"}
          >
            <header>
              <span class="letter">{index === 0 ? "A" : "B"}</span>
              <a href={route.session(id, side.leaf)}>{unmarked(side.title ?? "") || side.address}</a>
              <span class={`tag ${side.status}`}>{side.status}</span>
            </header>
            {views.map((view, index) => (
              <Turn
                key={`${view.at}-${view.i}`}
                goesOn={view.kind === "answer" && views[index - 1]?.kind === "answer"}
                view={view}
                where={{ session: id, leaf: side.leaf }}
              />
            ))}
            {views.length === 0 && <p class="hush">no messages of its own</p>}
          </section>
        ))}
      </div>
      {data.files.length > 0 && (
        <section class="card">
          <h2>Final files</h2>
          {data.files.map((file, index) => (
            <details key={file.path} class="file" open={data.files.length === 1}>
              <summary>
                <code>{file.path}</code>
                <span class="facts">
                  {file.differs === false
                    ? "same content"
                    : file.differs === null
                      ? "not known"
                      : `A ${change(file.a)}, B ${change(file.b)}`}
                </span>
              </summary>
              {data.changes[index] ? (
                <Html html={data.changes[index]} class="pieces" />
              ) : (
                <p class="hush">
                  {file.differs === false
                    ? "Both end with the same content."
                    : "The final content of one of them is unknown."}
                </p>
              )}
            </details>
          ))}
        </section>
      )}
      <section class="card">
        <h2>Totals</h2>
        <table class="table">
          <thead>
            <tr>
              <th scope="col">
                <span class="unseen">What</span>
              </th>
              <th scope="col">A</th>
              <th scope="col">B</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, a, b]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{a}</td>
                <td>{b}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

const calls = (n: number, failed: number) => (failed ? `${n} (${failed} failed)` : String(n));
const change = (of: { changed: boolean; added: number; removed: number }) =>
  of.changed ? `+${of.added} −${of.removed}` : "unchanged";
