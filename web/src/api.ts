// Requests to the server, and the types of its answers.

import type { Hit as Found, Piece, Ticket } from "./generated";
import { headers, noteLink } from "./link";

// The types of answers, by the names used here.
export type {
  Action,
  AgentSpan,
  AgentSpans,
  Annotated,
  AnnotatedTarget as Annotation,
  BlockRow,
  DailyRow,
  DailyUsage,
  ExchangeView as Exchange,
  Exchanges,
  TaskView as Task,
  Amounts,
  ArchivedView as Archived,
  ArchivingView as Archiving,
  Conversation,
  Detail,
  DiffSpent,
  DiffView as Diff,
  ByTime,
  DoneView as Done,
  File,
  FileShown,
  Files,
  FilesView,
  LineageView as Lineage,
  Log,
  MergedView as Merged,
  Outline,
  OutlineRow as Row,
  Overview,
  PathView,
  Piece,
  PlanView as Plan,
  Project,
  Projects,
  RelativeView as Relative,
  ReplyUsage,
  ResumeView as Resume,
  Session,
  Sessions,
  Stats,
  Turns,
  Usage,
  View,
  Wanted,
  WayView as Way,
} from "./generated";
export type Call = Extract<Piece, { t: "call" }>;
/** One line of a search: a hit, or its progress. */
export type Hit = Found & { schema: string };
export interface Progress {
  schema: string;
  bytes: number;
  of: number;
  found: number;
  shown: number;
  /** Notes for the user, at the end. */
  notes?: string[];
}
/** An error from the server. */
interface Trouble {
  error?: string;
  hint?: string;
  candidates?: string[];
}

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

/** Turns any error into one that can be shown. */
export function asRefused(error: unknown): Refused {
  if (error instanceof Refused) return error;
  return new Refused("Something went wrong in this view", String(error), 0);
}

export function query(values: Record<string, string | number | boolean | undefined | null>): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return pairs.length === 0
    ? ""
    : `?${new URLSearchParams(pairs.map(([key, value]) => [key, String(value)])).toString()}`;
}

const SILENT = () =>
  new Refused(
    "No answer from the server",
    "It may have stopped. Run `ramus serve` to start it again; this page then reconnects.",
    0,
  );

/** Sends a request with the token, and records whether the server answers. */
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
  const told = (await response.json().catch(() => ({}))) as Trouble;
  return new Refused(
    told.error ?? `The server answered with status ${response.status}`,
    told.hint ?? "",
    response.status,
    told.candidates ?? [],
  );
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await send(path, { signal })).json()) as T;
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return (await (await send(path, init)).json()) as T;
}

/** Loads a picture; the caller must revoke its URL. */
export async function picture(path: string, signal: AbortSignal): Promise<string> {
  return URL.createObjectURL(await (await send(path, { signal })).blob());
}

/** A synchronous request: printing does not wait for an asynchronous one. */
export function getNow<T>(path: string): T {
  const request = new XMLHttpRequest();
  request.open("GET", `/api/${path}`, false);
  for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
  request.send();
  if (request.status !== 200)
    throw new Refused(`The server answered with status ${request.status}`, "", request.status);
  return JSON.parse(request.responseText) as T;
}

/** Downloads a file. The browser authenticates with a ticket, because a link cannot send our header. */
export async function download(path: string): Promise<void> {
  const address = `/api/${path}`;
  const { ticket } = await post<Ticket>("ticket", { path: address });
  const link = document.createElement("a");
  link.href = `${address}${address.includes("?") ? "&" : "?"}ticket=${ticket}`;
  link.download = "";
  link.click();
}

/** Reads an answer with one JSON object per line. */
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
