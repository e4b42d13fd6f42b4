// Highlights search words without changing the DOM.

interface Highlights {
  set(name: string, highlight: object): void;
  delete(name: string): void;
}
interface WithHighlights {
  CSS?: { highlights?: Highlights };
  Highlight?: new (...ranges: Range[]) => object;
}

const NAME = "hit";

const LETTER = "[\\p{L}\\p{N}_]";

/** Whether something between these letters is a word of its own. */
export const isWhole = (before = "", after = ""): boolean => !new RegExp(LETTER, "u").test(before + after);

/** Words as a pattern with one group; any white space matches any other. `whole`: not as a part of longer words. */
export function pattern(words: string, flags: string, whole = false): RegExp {
  const parts = words.trim().split(/\s+/);
  const escaped = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("\\s+");
  return new RegExp(whole ? `(?<!${LETTER})(${escaped})(?!${LETTER})` : `(${escaped})`, flags);
}

/** Finds words in the visible text of an element: whole ones if there are any. */
export function findWords(element: Element, words: string): Range[] {
  const nodes: { node: Text; from: number }[] = [];
  let text = "";
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
    nodes.push({ node, from: text.length });
    text += node.data;
  }
  if (!words.trim()) return [];
  const at = (position: number, isEnd: boolean): [Text, number] | undefined => {
    const found = nodes.findLast(({ from }) => (isEnd ? from < position : from <= position));
    return found && [found.node, position - found.from];
  };
  const ranges: Range[] = [];
  const whole = [...text.matchAll(pattern(words, "gu", true))];
  for (const match of whole.length > 0 ? whole : text.matchAll(pattern(words, "gu"))) {
    const [start, end] = [at(match.index, false), at(match.index + match[0].length, true)];
    if (!start || !end) continue;
    const range = document.createRange();
    range.setStart(...start);
    range.setEnd(...end);
    ranges.push(range);
  }
  return ranges;
}

/** Highlights exactly these ranges. A browser without highlights only marks the message. */
export function highlight(ranges: Range[]): void {
  const { CSS: css, Highlight } = globalThis as WithHighlights;
  if (!css?.highlights || !Highlight) return;
  if (ranges.length > 0) css.highlights.set(NAME, new Highlight(...ranges));
  else css.highlights.delete(NAME);
}

/** Scrolls elements with their own scroll bar, such as an output, until the words are visible. */
export function reveal(words: Range, within: Element): void {
  for (let box = words.startContainer.parentElement; box && box !== within; box = box.parentElement) {
    if (box.scrollHeight <= box.clientHeight + 1) continue;
    const [at, window] = [words.getBoundingClientRect(), box.getBoundingClientRect()];
    if (at.top < window.top || at.bottom > window.bottom) box.scrollTop += at.top - window.top - window.height / 2;
  }
}
