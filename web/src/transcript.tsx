// A transcript of any length: only the rows near the window are rendered.
//
// The scroll position is an anchor: a row, and the distance of the window's top below the top of that row.
// Heights are estimated from sizes until a row has been rendered and measured.

import { Component, createRef, type RefObject } from "preact";
import { type PathView, type Turns, type View, get, query } from "./api";
import { Icon } from "./icons";
import { findWords, highlight, reveal } from "./mark";
import type { Place } from "./route";
import { type Doing, Turn, type Where } from "./turn";
import { several } from "./words";
import {
  type Anchor,
  anchorAt,
  clampRow,
  grownHeights,
  grownLoaded,
  guessHeights,
  heldAnchor,
  isGrown,
  missingChunks,
  rowAt,
  rowsWithin,
  sumTops,
  totalHeight,
  windowTop,
} from "./window";

/** How many positions are loaded at once, and how far beyond the window. */
const CHUNK = 32;
const AHEAD = 4000;
/** How far beyond the window rows are rendered, and the margin below which more are added, a few at a time. */
const BEYOND = 900;
const NEAR = 700;

/** Words to highlight in a message; `seen`: the window has been scrolled there already. */
export interface Mark {
  at: number;
  text: string;
  seen: boolean;
}

interface Props {
  mark?: Mark;
  back?: Place;
  session: string;
  path: PathView;
  start: number | null;
  doing: Doing;
  onSee: (at: number) => void;
  onLoad: () => void;
  /** The session is live. */
  live?: boolean;
  selected: number | null;
  handle: RefObject<Transcript | null>;
}

export class Transcript extends Component<Props, { tick: number }> {
  state = { tick: 0 };
  box = createRef<HTMLDivElement>();
  long = createRef<HTMLDivElement>();
  heights: Float64Array = new Float64Array(0);
  tops: Float64Array = new Float64Array(1);
  loaded: Uint8Array = new Uint8Array(0);
  asked = new Set<number>();
  views = new Map<number, View[]>();
  anchor: Anchor = { at: 0, offset: 0 };
  following = false;
  /** How many messages arrived since the reader was at the end. */
  unread = 0;
  /** The last known scroll position. */
  settled = -1;
  first = 0;
  last = 0;
  observer?: ResizeObserver;
  /** Rows that are rendered but not measured yet. */
  fresh: HTMLElement[] = [];
  frame = 0;
  /** Counts changes of the path: expanded parts stay expanded while a path only grows. */
  begun = 0;
  where: Where = { session: "", leaf: "" };
  stop = new AbortController();

  componentWillMount() {
    this.begin(this.props, this.props.start ?? Math.max(0, this.props.path.count - 1), this.props.start === null);
    if (this.props.back) this.restore(this.props.back);
  }

  componentDidMount() {
    if (this.props.handle) (this.props.handle as { current: Transcript | null }).current = this;
    this.observer = new ResizeObserver((entries) => this.resized(entries));
    this.settle();
    this.props.onSee(this.anchor.at);
    if (this.box.current) new ResizeObserver(() => this.draw()).observe(this.box.current);
  }

  componentWillUnmount() {
    highlight([]);
    this.stop.abort();
    this.observer?.disconnect();
    cancelAnimationFrame(this.frame);
  }

  componentWillReceiveProps(next: Props) {
    const was = this.props.path;
    this.look();
    if (next.path === was) return;
    if (next.session === this.props.session && isGrown(was, next.path)) this.grow(next);
    else this.begin(next, next.start ?? this.anchor.at, false);
  }

  componentDidUpdate() {
    this.settle();
    this.markWords();
  }

  /** The reader's position, to be restored later. */
  place(): Place {
    this.look();
    return { at: this.anchor.at, offset: this.anchor.offset, end: this.following };
  }

  /** Restores a position. */
  back(place: Place) {
    this.restore(place);
    this.draw();
    this.props.onSee(this.anchor.at);
  }

  restore({ at = 0, offset = 0, end = false }: Place) {
    cancelAnimationFrame(this.frame);
    this.settled = this.box.current?.scrollTop ?? -1;
    this.anchor = { at: clampRow(at, this.heights.length), offset };
    this.following = end;
  }

  /** The highlight that the window was scrolled to. */
  shown?: Mark;

  /** Highlights the search words, and scrolls to them once. */
  markWords() {
    const { mark } = this.props;
    const [box, row] = [this.box.current, mark && this.box.current?.querySelector(`.row[data-at="${mark.at}"]`)];
    const found = box && row && mark ? findWords(row, mark.text) : [];
    highlight(found);
    if (!box || !row || !mark || found.length === 0 || this.shown === mark) return;
    if (!mark.seen) reveal(found[0], row);
    const [words, drawn, window] = [
      found[0].getBoundingClientRect(),
      row.getBoundingClientRect(),
      box.getBoundingClientRect(),
    ];
    // A row that has just grown must be measured before its words can be located.
    if (Math.abs(drawn.height - this.heights[mark.at]) > 1) return;
    this.shown = mark;
    if (mark.seen || (words.top >= window.top && words.bottom <= window.bottom)) return;
    this.following = false;
    this.anchor = anchorAt(this.tops, Math.max(0, this.tops[mark.at] + words.top - drawn.top - window.height / 3));
    this.settled = box.scrollTop;
    this.draw();
  }

  /** Forgets everything except the reader's position. */
  begin(props: Props, at: number, atEnd: boolean) {
    this.stop.abort();
    this.stop = new AbortController();
    this.begun += 1;
    const { count } = props.path;
    this.heights = guessHeights(props.path);
    this.loaded = new Uint8Array(count);
    this.asked.clear();
    this.views.clear();
    this.anchor = { at: clampRow(at, count), offset: 0 };
    this.following = atEnd;
    this.unread = 0;
    this.sum();
  }

  /** Messages were appended; the last ones may have changed, and fork points may have more branches. */
  grow(props: Props) {
    if (!this.following)
      this.unread += [...props.path.shape.slice(this.props.path.count)].filter((letter) => letter !== "d").length;
    this.heights = grownHeights(this.heights, props.path);
    this.loaded = grownLoaded(this.loaded, this.props.path, props.path);
    this.asked.clear();
    this.sum();
  }

  sum() {
    this.tops = sumTops(this.heights);
    this.anchor = heldAnchor(this.tops, this.anchor);
  }

  get total() {
    return totalHeight(this.tops);
  }

  get height() {
    return this.box.current?.clientHeight ?? 800;
  }

  get top() {
    return windowTop(this.tops, this.anchor, this.following, this.height);
  }

  /** Measures the rendered rows and scrolls to the anchor. */
  settle() {
    const [box, long] = [this.box.current, this.long.current];
    if (!box || !long) return;
    this.measure();
    // Rows keep their position while others are added and removed, so they are not painted again.
    long.style.blockSize = `${this.total}px`;
    long.style.paddingBlockStart = `${this.tops[this.first] ?? 0}px`;
    if (Math.abs(box.scrollTop - this.top) > 1) box.scrollTop = this.top;
    // Steps of less than a pixel add up until they are one.
    if (Math.abs(box.scrollTop - this.settled) > 1) this.settled = box.scrollTop;
    this.ask();
  }

  /** Follows the reader's scrolling, if the window is not where we put it. */
  look = () => {
    const box = this.box.current;
    if (!box) return;
    const top = box.scrollTop;
    if (Math.abs(top - this.settled) <= 1) return;
    this.settled = top;
    this.anchor = anchorAt(this.tops, top);
    this.following = top + box.clientHeight >= this.total - 4;
    if (this.following && this.unread > 0) {
      this.unread = 0;
      this.draw();
    }
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      this.look();
      if (!this.isDrawn()) this.draw();
      this.ask();
      this.props.onSee(rowAt(this.tops, this.settled + 24));
    });
  };

  draw(then?: () => void) {
    this.setState((was) => ({ tick: was.tick + 1 }), then);
  }

  range(beyond: number): [number, number] {
    return rowsWithin(this.tops, this.top, this.height, beyond);
  }

  /** Whether the rows that may be seen next are rendered. */
  isDrawn(): boolean {
    const [first, last] = this.range(NEAR);
    return first >= this.first && last <= this.last;
  }

  /** Measures new rows. */
  measure() {
    let changed = false;
    for (const row of this.fresh) changed = this.take(row, row.getBoundingClientRect().height) || changed;
    for (const row of this.fresh) this.observer?.observe(row);
    this.fresh = [];
    if (!changed) return;
    this.sum();
    if (!this.isDrawn()) this.draw();
  }

  resized(entries: ResizeObserverEntry[]) {
    this.look();
    let changed = false;
    for (const entry of entries)
      changed = this.take(entry.target as HTMLElement, entry.borderBoxSize[0].blockSize) || changed;
    // Expanded content has arrived; its position is known once all heights are.
    if (!changed) {
      this.markWords();
      return;
    }
    this.sum();
    this.draw();
  }

  /** Records the height of a row. Returns whether it changed. */
  take(row: HTMLElement, height: number): boolean {
    const at = Number(row.dataset.at);
    // A detached or hidden row has no meaningful height.
    if (!this.views.has(at) || height === 0 || Math.abs(height - this.heights[at]) <= 0.01) return false;
    this.heights[at] = height;
    return true;
  }

  /** Requests the missing rows near the window. */
  ask() {
    const [first, last] = this.range(AHEAD);
    const { session, path } = this.props;
    for (const chunk of missingChunks(this.loaded, first, last, CHUNK)) {
      if (this.asked.has(chunk)) continue;
      const from = chunk * CHUNK;
      const to = Math.min(path.count, from + CHUNK);
      this.asked.add(chunk);
      get<Turns>(
        `sessions/${encodeURIComponent(session)}/turns${query({ leaf: path.leaf, from, to })}`,
        this.stop.signal,
      ).then(
        (told) => this.took(told),
        () => this.asked.delete(chunk),
      );
    }
  }

  took({ from, to, turns }: Turns) {
    this.look();
    // Unchanged turns keep their object, so they are not rendered again.
    const before = new Map<string, View>();
    for (let at = from; at < to; at++) {
      for (const view of this.views.get(at) ?? []) before.set(JSON.stringify(view), view);
      this.loaded[at] = 1;
      this.views.delete(at);
    }
    for (const told of turns) {
      const view = before.get(JSON.stringify(told)) ?? told;
      const here = this.views.get(view.at);
      if (here) here.push(view);
      else this.views.set(view.at, [view]);
    }
    // A message that shows nothing has no height.
    for (let at = from; at < to; at++) if (!this.views.has(at)) this.heights[at] = 0;
    this.sum();
    this.draw(this.props.onLoad);
  }

  /** Returns whether a position is loaded; if not, requests it. */
  has(at: number): boolean {
    if (this.loaded[at]) return true;
    this.put(at);
    return false;
  }

  /** Whether a position is loaded and shows nothing. */
  showsNothing(at: number): boolean {
    return Boolean(this.loaded[at]) && !this.views.has(at);
  }

  /** Goes to a position. */
  jump(at: number) {
    this.put(clampRow(at, this.heights.length));
    this.props.onSee(this.anchor.at);
  }

  end() {
    this.unread = 0;
    this.put(this.heights.length - 1, true);
    this.props.onSee(this.heights.length - 1);
  }

  /** Moves the window, and forgets earlier scrolling. */
  put(at: number, following = false) {
    cancelAnimationFrame(this.frame);
    this.settled = this.box.current?.scrollTop ?? -1;
    this.anchor = { at, offset: 0 };
    this.following = following;
    this.draw();
  }

  keep = (row: HTMLElement | null) => {
    if (!row) return;
    this.fresh.push(row);
    return () => this.observer?.unobserve(row);
  };

  render({ session, path, doing, selected, mark, live }: Props) {
    const [first, last] = this.range(BEYOND);
    this.first = first;
    this.last = last;
    // The same object for the same value, so that turns are not rendered again.
    if (this.where.session !== session || this.where.leaf !== path.leaf) this.where = { session, leaf: path.leaf };
    const { where } = this;
    const rows = [];
    let before = this.views.get(first - 1)?.at(-1);
    for (let at = first; at < last; at++) {
      const views = this.views.get(at);
      if (this.loaded[at] && !views) continue;
      const since = views?.map((view, index) => {
        const earlier = index > 0 ? views[index - 1] : before;
        return view.usage ? (earlier?.ended ?? earlier?.timestamp) : undefined;
      });
      const goesOn = views?.map((view) => {
        const same = view.kind === "answer" && before?.kind === "answer" && before.detail === view.detail;
        before = view;
        return same;
      });
      if (!views) before = undefined;
      const left = path.left_at !== null && at > path.left_at;
      rows.push(
        <div
          key={`${this.begun}-${at}-${views ? "" : "ghost"}`}
          ref={this.keep}
          class={`row${left ? " left" : ""}${selected === at ? " selected" : ""}${mark?.at === at ? " hit" : ""}${at === path.count - 1 ? " last" : ""}`}
          data-at={at}
          style={views ? undefined : { blockSize: `${this.heights[at]}px` }}
        >
          {views ? (
            views.map((view, index) => (
              <Turn
                key={view.i}
                view={view}
                where={where}
                doing={doing}
                goesOn={goesOn?.[index]}
                since={since?.[index]}
              />
            ))
          ) : (
            <div class="ghost" />
          )}
        </div>,
      );
    }
    return (
      <div class={`reading${live ? " live-now" : ""}`}>
        <div class="scroll" ref={this.box} onScroll={this.look} tabIndex={0} role="region" aria-label="Transcript">
          <div class="long" ref={this.long}>
            {rows}
          </div>
        </div>
        {this.unread > 0 && !this.following && (
          <button type="button" class="primary unread" onClick={() => this.end()}>
            {several(this.unread, "new message")} <Icon name="arrowDown" />
          </button>
        )}
      </div>
    );
  }
}
