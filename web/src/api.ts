// What the server answers, and how it is asked.

import { headers, noteLink } from "./link";

export interface Session {
  id: string;
  file: string;
  project: string;
  title: string | null;
  version: string | null;
  messages: number;
  conversations: number;
  forks: number;
  compactions: number;
  agents: number;
  defects: number;
  bytes: number;
  started: string | null;
  last_active: string | null;
  cwd: string | null;
  git_branch: string | null;
  flow: string[];
  links: { kind: string; session: string }[];
  origins: { kind: string }[];
  deleted_after: string | null;
  pull_requests: { number: number | null; url: string; repository: string | null }[];
}
/** A session that another one came from, or that came out of it. */
export interface Relative {
  kind: string;
  session: string | null;
  found: boolean;
  words: string;
  title: string | null;
  address: string | null;
}
export interface Lineage {
  origins: Relative[];
  offspring: Relative[];
}
export interface LostAgent {
  agent: string;
  session: string;
  project: string;
  title: string | null;
  messages: number;
  last_active: string | null;
}
export interface Project {
  name: string;
  path: string | null;
  repository: string | null;
  sessions: number;
  conversations: number;
  agents: number;
  bytes: number;
  last_active: string | null;
}
export interface Overview {
  projects: number;
  sessions: number;
  conversations: number;
  bytes: number;
  recent: Session[];
  live: string[];
  retention_days: number;
  retention_set: boolean;
  due: string | null;
  leaving: { id: string; project: string; title: string | null; at: string }[];
  activity: Record<string, number>;
}
export interface Conversation {
  session: string;
  n: number;
  leaf: string;
  status: string;
  resumes: boolean;
  draft: boolean;
  why: string;
  title: string | null;
  prompt: string | null;
  fork_point: string | null;
  fork_kind: string | null;
  messages: number;
  records: number;
  last_active: string | null;
}
export interface Detail {
  id: string;
  project: string;
  title: string | null;
  cwd: string | null;
  git_branch: string | null;
  version: string | null;
  bytes: number;
  records: number;
  messages: number;
  forks: number;
  compactions: number;
  started: string | null;
  last_active: string | null;
  resume: {
    point: string;
    leaf: string;
    rule: string;
    why: string;
    line: number;
    otherwise: { rule: string; leaf: string }[];
  } | null;
  conversations: Conversation[];
  parent: string | null;
  forked_from: [string, string] | null;
  stamp: string;
}
export interface Row {
  lane: number;
  edge: string;
  kind: string;
  node: string;
  first: string;
  agent: string | null;
  words: string | null;
  timestamp: string | null;
  until: string | null;
  status: string;
  draft: boolean;
  resumes: boolean;
  messages: number;
  records: number;
  fork: string | null;
  ways: number;
  files: string | null;
  commands: string[];
  interrupts: number;
  errors: number;
}
export interface PathView {
  session: string;
  leaf: string;
  status: string;
  resumes: boolean;
  conversation: number | null;
  count: number;
  shape: string;
  sizes: string;
  last: string[];
  forks: number[];
  at: number | null;
  left_at: number | null;
  sessions: string[];
}
export interface Way {
  node: string;
  leaf: string;
  words: string;
  timestamp: string | null;
  messages: number;
  draft: boolean;
  current: boolean;
  taken: boolean;
}
export interface Call {
  t: "call";
  n: number;
  tool: string;
  name: string;
  subject: string;
  outcome: string;
  failed: boolean;
  running: boolean;
  agent?: string;
}
export type Piece =
  | { t: "html"; html: string; cut?: number }
  | { t: "text"; text: string; cut?: number }
  | { t: "note"; text: string; bad: boolean }
  | { t: "fold"; title: string; html: string }
  | { t: "thinking"; html: string | null }
  | { t: "picture"; n: number; name: string; shown: boolean }
  | Call;
export interface View {
  at: number;
  i: number;
  kind: string;
  uuid?: string;
  timestamp?: string;
  detail?: string;
  recovered?: boolean;
  parts: Piece[];
  fork?: { kind: string; ways: Way[] };
  usage?: ReplyUsage;
}
export interface ReplyUsage {
  input: number;
  output: number;
  cache_read: number;
  cache_write_5m: number;
  cache_write_1h: number;
  thinking: number;
  context: number;
  cost_usd: number | null;
}
export interface Hit {
  schema: string;
  session: string;
  title: string | null;
  project: string | null;
  agent: string | null;
  address: string;
  uuid: string | null;
  role: string;
  kind: string;
  class?: string;
  conversation: number | null;
  status: string | null;
  resumes: boolean;
  timestamp: string | null;
  snippet: string;
  match: [number, number];
  places: { file: string; line: number }[];
}
export interface Progress {
  schema: string;
  bytes: number;
  of: number;
  found: number;
  shown: number;
}
export interface Side {
  session: string;
  leaf: string;
  status: string;
  address: string;
  title: string | null;
  messages: number;
  prompts: number;
  answers: number;
  started: string | null;
  ended: string | null;
  duration_ms: number | null;
}
export interface Spent {
  messages: number;
  input: number;
  output: number;
  cache_read: number;
  cache_write_5m: number;
  cache_write_1h: number;
  cost_usd: number | null;
}
export interface DiffSpent extends Spent {
  unpriced: Record<string, number>;
}
export interface Amounts extends Spent {
  unpriced_tokens: number;
  thinking: number;
}
export interface Usage {
  zone: string;
  totals: Amounts;
  prices: { date: string; file: string | null; file_date: string | null };
  by_day: (Amounts & { day: string })[];
  undated?: Amounts;
  by_model: (Amounts & { model: string })[];
  by_project: (Amounts & { project: string; path: string | null })[];
  by_session: (Amounts & { session: string; project: string; title: string | null })[];
  by_branch: { active: Amounts; abandoned: Amounts };
  by_line: { main: Amounts; agents: Amounts };
  unpriced: { model: string; tokens: number }[];
}
export interface Diff {
  same: boolean;
  a: Side;
  b: Side;
  common: { messages: number; node: string | null; timestamp: string | null };
  files: { path: string; a: Change; b: Change; differs: boolean | null }[];
  tools: Record<string, { a: number; b: number; failed_a: number; failed_b: number }>;
  usage: { a: DiffSpent; b: DiffSpent };
  views_a: View[];
  views_b: View[];
  changes: string[];
}
export interface Change {
  changed: boolean;
  added: number;
  removed: number;
  known: boolean;
}
export type Stats = Record<string, unknown> & {
  sessions: number;
  projects: number;
  files: number;
  bytes: number;
  records: number;
  messages: number;
  lines: number;
  damaged: number;
  unknown: number;
  forks: number;
  conversations: number;
  active: number;
  abandoned: number;
  unique_paths: number;
  compactions: number;
  drafts: number;
  by_type: Record<string, number>;
  forks_by_kind: Record<string, number>;
  by_class: Record<string, number>;
  artefacts: Record<string, number>;
  agents: Record<string, number>;
  flow: Record<string, number>;
  most_complex: { session: string; title: string | null; score: number } | null;
  raw: { forks: number; leaves: number };
};

export class Refused extends Error {
  constructor(
    message: string,
    readonly hint: string,
    readonly status: number,
    readonly candidates: string[] = [],
  ) {
    super(message);
  }
}

/** Whatever went wrong, as something that can be shown. */
export function asRefused(error: unknown): Refused {
  if (error instanceof Refused) return error;
  return new Refused("Something went wrong on this page", String(error), 0);
}

export function query(values: Record<string, string | number | boolean | undefined | null>): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return pairs.length === 0 ? "" : "?" + new URLSearchParams(pairs.map(([key, value]) => [key, String(value)]));
}

const SILENT = () =>
  new Refused(
    "The server does not answer",
    "It may have been stopped: `ramus serve` starts it again. This page goes on by itself then.",
    0,
  );

/** Sends a request with the token, and notes whether the server is there. */
async function send(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`/api/${path}`, { ...init, headers: { ...headers(), ...init.headers } });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    noteLink("down");
    throw SILENT();
  }
  noteLink(response.status === 401 ? "locked" : "up");
  if (!response.ok) throw await refused(response);
  return response;
}

async function refused(response: Response): Promise<Refused> {
  const told = await response.json().catch(() => ({}));
  return new Refused(
    told.error ?? `The server answered with status ${response.status}`,
    told.hint ?? "",
    response.status,
    told.candidates ?? [],
  );
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await send(path, { signal })).json();
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  return (
    await send(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
  ).json();
}

/** Reads a picture; its address must be given back. */
export async function picture(path: string, signal: AbortSignal): Promise<string> {
  return URL.createObjectURL(await (await send(path, { signal })).blob());
}

/** Reads at once, while everything waits: printing does not wait for an answer. */
export function getNow<T>(path: string): T {
  const request = new XMLHttpRequest();
  request.open("GET", `/api/${path}`, false);
  for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
  request.send();
  if (request.status !== 200)
    throw new Refused(`The server answered with status ${request.status}`, "", request.status);
  return JSON.parse(request.responseText) as T;
}

/** Downloads something: the browser asks for it with a ticket, since it cannot send our header. */
export async function download(path: string): Promise<void> {
  const address = `/api/${path}`;
  const { ticket } = await post<{ ticket: string }>("ticket", { path: address });
  const link = document.createElement("a");
  link.href = `${address}${address.includes("?") ? "&" : "?"}ticket=${ticket}`;
  link.download = "";
  link.click();
}

/** Reads an answer that comes one object a line. */
export async function stream<T>(path: string, signal: AbortSignal, each: (line: T) => void): Promise<void> {
  const response = await send(path, { signal });
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line) each(JSON.parse(line) as T);
  }
}
