// What must be true of the page, whatever a history holds: nothing ran, and nothing is there that could.

import assert from "node:assert/strict";

/** A script that leaves a trace. */
export const BROKEN = "globalThis.broken=1";

/** Links in a transcript lead to the web, in a tab that knows nothing of this one, or nowhere. */
export async function onlySafeLinks(page, where) {
  const odd = await page
    .locator(":is(.prose, .pieces) a")
    .evaluateAll((all) =>
      all
        .filter(
          (one) =>
            !/^https?:\/\//i.test(one.getAttribute("href")) ||
            one.rel !== "noopener noreferrer" ||
            one.target !== "_blank" ||
            new URL(one.href).host.replace(/:\d+$/, "") !== new URL(`http://${one.dataset.host}`).hostname ||
            [...one.attributes].some(({ name }) => name.startsWith("on") || name === "ping" || name === "download"),
        )
        .map((one) => one.outerHTML),
    );
  assert.deepEqual(odd, [], where);
}

/** Elements that nothing of the page makes from the text of a history. */
const BAD =
  "script:not([src]), iframe, object, embed, base, video, audio, math, template, .prose :is(style, link, img, svg, form, input, dialog, button:not(.link, .copy, .more)), [onerror], [onfocus], [onmouseover]";

export async function isSound(page, where) {
  assert.equal(await page.evaluate(() => globalThis.broken), undefined, where);
  assert.equal(await page.evaluate(() => ({}).polluted), undefined, where);
  assert.deepEqual(
    await page.locator(BAD).evaluateAll((all) => all.map((one) => one.outerHTML.slice(0, 200))),
    [],
    where,
  );
  await onlySafeLinks(page, where);
}
