// The frames of docs/protocol.md as types, and the one place where a frame from the server is read.

export type Source = "cache" | "local" | "flagship" | "none";
export type EngineState = {
  state: "up" | "loading" | "down" | "off";
  progress: number | null;
  message: string;
};

export type Badge = {
  source: Source;
  route: string;
  model: string;
  ttft_ms: number | null;
  total_ms: number | null;
  tokens: number | null;
  tokens_per_s: number | null;
  reason: string;
  cached: { question: string; answered_at: string; similarity: number; scope: string } | null;
  stages: Record<string, number>;
};

type Ending = {
  turn: string;
  seq: number;
  finish_reason: string;
  bytes: number;
  crc32: number;
  badge: Badge;
};

export type RecordFrame =
  | { type: "waiting"; turn: string; seq: number; code: string; message: string }
  | { type: "routed"; turn: string; seq: number; source: Source; route: string; model: string }
  | { type: "delta"; turn: string; seq: number; text: string; batch_ms: number }
  | ({ type: "finished" } & Ending)
  | ({ type: "stopped" } & Ending)
  | ({ type: "failed"; code: string; message: string } & Ending);

export type AcceptedFrame = {
  type: "accepted";
  turn: string;
  conversation: string;
  title: string;
  question: string;
  answer: string;
  repeated: boolean;
};

export type ErrorFrame = { type: "error"; code: string; message: string; turn?: string };

export type ServerFrame =
  | { type: "ready"; protocol: number; engine: EngineState }
  | { type: "notice"; engine: EngineState }
  | AcceptedFrame
  | RecordFrame
  | { type: "gap"; turn: string; url: string }
  | ErrorFrame
  | { type: "heartbeat" }
  | { type: "pong" };

type Asking = { type: "ask"; turn: string; conversation: string | null; cache: "use" | "bypass" };
export type AskFrame = Asking & ({ text: string; parent?: string } | { again: string });

export type ClientFrame =
  | AskFrame
  | { type: "stop"; turn: string }
  | { type: "resume"; turn: string; after: number }
  | { type: "ack"; turn: string; seq: number }
  | { type: "painted"; turn: string; ms: number }
  | { type: "feedback"; turn: string; value: "up" | "down" | "none"; reason?: string }
  | { type: "ping" };

const RECORDS = new Set(["waiting", "routed", "delta", "finished", "stopped", "failed"]);
const OTHERS = new Set(["ready", "notice", "accepted", "gap", "error", "heartbeat", "pong"]);

/** A frame from the server, or null for what is none: a newer server may say more than this page knows. */
export function readFrame(data: unknown): ServerFrame | null {
  if (typeof data !== "string") return null;
  let frame: unknown;
  try {
    frame = JSON.parse(data);
  } catch {
    return null;
  }
  if (typeof frame !== "object" || frame === null || !("type" in frame)) return null;
  const type = frame.type as string;
  if (RECORDS.has(type) && !("seq" in frame && Number.isInteger(frame.seq))) return null;
  return RECORDS.has(type) || OTHERS.has(type) ? (frame as ServerFrame) : null;
}

export function isRecord(frame: ServerFrame): frame is RecordFrame {
  return RECORDS.has(frame.type);
}

export function isEnding(frame: RecordFrame): frame is Extract<RecordFrame, Ending> {
  return frame.type === "finished" || frame.type === "stopped" || frame.type === "failed";
}

/** A random UUID (version 4); `crypto.randomUUID` is missing on pages that came over plain HTTP. */
export function makeId(): string {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
