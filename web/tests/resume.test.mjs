// The command that resumes is wherever a session, a branch or a message is.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { demo, id, open, serve, until } from "./page.mjs";
import { ramus } from "./where.mjs";

test("the command to resume is copied from a list, a hit, the header and the banner of an abandoned branch", async (t) => {
  const claude = demo(t);
  const session = id(claude, "7ea9");
  const told = spawnSync(ramus, ["--claude-dir", claude, "conversations", "7ea9", "--json"], { encoding: "utf8" });
  const left = JSON.parse(told.stdout).conversations.find((one) => one.status === "abandoned").leaf;
  const { page, go, wrong } = await open(t, await serve(t, claude));
  const command = (node, of = session) =>
    page.evaluate(
      async ([session, node]) =>
        (await (await ask(`/api/sessions/${session}/resume${node ? `?node=${node}` : ""}`)).json()).command,
      [of, node],
    );
  const copies = async (button, expected) => {
    await page.evaluate(() => navigator.clipboard.writeText("before"));
    await button.click();
    let copied = "before";
    await until("something else was copied", async () => {
      copied = await page.evaluate(() => navigator.clipboard.readText());
      return copied !== "before";
    });
    assert.equal(copied, expected);
  };
  const whole = await command();
  const branch = await command(left);
  assert.notEqual(whole, branch);

  const row = page.locator(".sessions > li", { hasText: "Tiny HTTP teapot server" });
  await row.hover();
  await copies(row.getByRole("button", { name: "Copy the command to resume" }), whole);
  await page.getByText(`Copied: ${whole}`).waitFor();
  assert.match(page.url(), /\/$/, "copying opens nothing");

  await go(`/s/${session}`);
  await page.waitForSelector(".turn.answer");
  await copies(page.locator(".session-head .resume"), whole);
  await go(`/s/${session}?leaf=${left}`);
  await copies(page.locator(".left-banner").getByRole("button", { name: "Resume this one" }), branch);
  await copies(page.locator(".session-head .resume"), branch);

  await go("/search?q=coffee");
  const hit = page.locator(".hits > li", { has: page.locator(".resume") }).first();
  await hit.hover();
  const node = await hit.locator(".resume").getAttribute("data-node");
  await copies(hit.locator(".resume"), await command(node, await hit.locator(".resume").getAttribute("data-resume")));
  assert.deepEqual(wrong, []);
});
