// Who gets in, what others see of it, and what happens when the server goes and comes back.

import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import test from "node:test";
import { demo, enter, file, id, open, said, scratch, serve, until } from "./page.mjs";

const SECRET = /[0-9a-f]{64}/;

/** A server on another port that writes down all it is sent, and tosses cookies. */
async function foreign(t) {
  const heard = [];
  const server = createServer((request, answer) => {
    heard.push(`${request.method} ${request.url} ${JSON.stringify(request.rawHeaders)}`);
    const cookies = ["ramus=evil", "ramus-7700=evil", "ramus-token=evil", "token=evil"];
    answer.setHeader(
      "set-cookie",
      cookies.flatMap((cookie) => [`${cookie}; Path=/`, `${cookie}; Path=/api`]),
    );
    answer.setHeader("content-type", "text/html").end("<title>another server</title>");
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  t.after(() => server.close());
  return { heard, port: server.address().port };
}

test("a server on another port is sent no secret, and its cookies lock nobody out", async (t) => {
  const server = await serve(t, demo(t));
  const { page, context, go, wrong } = await open(t, server);
  const { heard, port } = await foreign(t);
  for (const host of ["127.0.0.1", "localhost"]) {
    await page.goto(`http://${host}:${port}/?from=${host}`);
    await page.evaluate(() => fetch("/again", { credentials: "include" }));
  }
  assert.ok(heard.length >= 4);
  for (const request of heard) assert.doesNotMatch(request, SECRET);
  await go("/");
  assert.match(await page.evaluate(() => localStorage.getItem("ramus-token")), SECRET);
  assert.deepEqual(
    (await context.cookies(server.origin)).filter(({ value }) => SECRET.test(value)),
    [],
    "no cookie holds a secret",
  );
  // With its cookies in the browser everything still works.
  await page.waitForSelector(".sessions li");
  await page.reload();
  await page.waitForSelector(".sessions li");
  assert.deepEqual(
    wrong.filter((text) => !text.includes(`:${port}/`)),
    [],
  );
});

test("no secret is on a command line when the browser is opened", async (t) => {
  const claude = demo(t);
  const [home, bin] = [scratch(t), scratch(t)];
  const seen = join(home, "seen");
  mkdirSync(seen);
  // In the place of the browser: writes down what anybody on the machine could see, and what it was given.
  const browser = join(bin, "xdg-open");
  writeFileSync(
    browser,
    `#!/bin/sh\nps -eww -o args > ${seen}/ps\ncp "$1" ${seen}/page\nstat -c %a "$1" > ${seen}/mode\necho "$1" > ${seen}/given\n`,
  );
  chmodSync(browser, 0o755);
  const server = await serve(t, claude, ["--open"], { home, env: { PATH: `${bin}:${process.env.PATH}` } });
  await until(
    "the browser is opened",
    () => existsSync(join(seen, "given")) && readFileSync(join(seen, "given"), "utf8").endsWith("\n"),
  );
  const listed = readFileSync(join(seen, "ps"), "utf8");
  assert.match(listed, /xdg-open/, "it is in the list");
  assert.doesNotMatch(listed, SECRET);
  const given = readFileSync(join(seen, "given"), "utf8").trim();
  assert.equal(readFileSync(join(seen, "mode"), "utf8").trim(), "600");
  const leads = readFileSync(join(seen, "page"), "utf8").match(/url=(http[^"]+)"/)[1];
  const { page, wrong } = await open(t, { ...server, url: leads });
  await page.waitForSelector(".sessions li");
  assert.doesNotMatch(page.url(), SECRET, "the code does not stay in the address");
  await until("the file is gone when it was used", () => !existsSync(given));
  assert.deepEqual(wrong, []);
});

test("an address works once, and what else is in it stays", async (t) => {
  const claude = demo(t);
  const server = await serve(t, claude);
  const session = id(claude, "7ea9");
  const code = new URL(server.url).searchParams.get("token");
  const leaf = JSON.parse(
    readFileSync(file(claude, "7ea9"), "utf8")
      .split("\n")
      .filter((line) => line.includes('"uuid"'))
      .at(-1),
  ).uuid;
  const { page, context } = await open(t, {
    ...server,
    url: `${server.origin}/s/${session}?token=${code}&leaf=${leaf}&at=${leaf}`,
  });
  await page.waitForSelector(".turn");
  assert.equal(page.url(), `${server.origin}/s/${session}?leaf=${leaf}&at=${leaf}`);
  // The same browser may open it again; another one is told what to do.
  await page.goto(server.url);
  await page.waitForSelector(".sessions li");
  const other = await context.browser().newContext();
  t.after(() => other.close());
  const stranger = await other.newPage();
  for (const address of [server.origin, server.url, `${server.origin}/s/${session}`]) {
    await stranger.goto(address);
    await stranger.getByText("Open the last address that ramus serve printed").waitFor();
  }
});

test("a server that goes and comes back with its token: tabs go on by themselves", async (t) => {
  const claude = demo(t);
  const session = id(claude, "7ea9");
  const home = scratch(t);
  const server = await serve(t, claude, ["--keep-token"], { home });
  const port = Number(new URL(server.origin).port);
  assert.equal(statSync(join(home, "state", "serve-token")).mode & 0o777, 0o600);
  const { page, go, wrong } = await open(t, server);
  await go(`/s/${session}`);
  await page.waitForSelector(".turn.answer");
  const leaf = await page.evaluate(
    async (address) => (await (await ask(address)).json()).leaf,
    `/api/sessions/${session}/path`,
  );
  server.server.kill("SIGINT");
  await server.ended;
  await page.getByRole("alert").filter({ hasText: "No answer from the server" }).waitFor();
  assert.ok((await page.locator(".turn.answer").count()) > 0, "what is there stays");
  // A plan says what is wrong instead of nothing.
  await page.keyboard.press("i");
  await page.getByRole("button", { name: "Move to the trash" }).click();
  await page.locator("dialog[open]").getByText("No answer from the server").waitFor();
  await page.keyboard.press("Escape");
  appendFileSync(
    file(claude, "7ea9"),
    said(leaf, "aaaaaaaa-0000-4000-8000-000000000001", "Said while the server was away.", session),
  );
  await serve(t, claude, ["--keep-token"], { home, port });
  await page.locator(".link-banner").waitFor({ state: "detached" });
  await page.locator(".said", { hasText: "Said while the server was away." }).waitFor({ state: "attached" });
  assert.deepEqual(
    wrong.filter(
      (text) => !/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET/.test(text),
    ),
    [],
  );
});

test("a server that comes back with another token says so, and one new address is enough for all tabs", async (t) => {
  const claude = demo(t);
  const home = scratch(t);
  const server = await serve(t, claude, [], { home });
  const port = Number(new URL(server.origin).port);
  assert.deepEqual(
    readdirSync(home).includes("state")
      ? readdirSync(join(home, "state")).filter((name) => name.includes("token"))
      : [],
    [],
    "no token is kept unless that is asked for",
  );
  const { page, context } = await open(t, server);
  server.server.kill("SIGINT");
  await server.ended;
  const again = await serve(t, claude, [], { home, port });
  await page.getByRole("alert").filter({ hasText: "The server was restarted" }).waitFor();
  const tab = await context.newPage();
  await tab.goto(again.url);
  await tab.waitForSelector(".sessions li");
  await page.locator(".link-banner").waitFor({ state: "detached" });
  assert.equal(
    typeof (await enter({ ...again, url: again.log.join("").match(/for another one open (\S+)/)[1] })),
    "string",
  );
});
