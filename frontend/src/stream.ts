// One turn's stream as this page has received it: in order, each record once.

import { checksum } from "./checksum";
import { isEnding, type Badge, type RecordFrame, type Source } from "./protocol";

// Records that came before an earlier one; more than these and it is quicker to ask again.
const EARLY_MAX = 64;

export type StreamStatus = "sending" | "running" | "finished" | "stopped" | "failed";
export type Taken = "applied" | "known" | "early" | "gap";

export class TurnStream {
  text = "";
  nextSeq = 0;
  status: StreamStatus;
  waiting: string | null = null;
  source: Source = "none";
  badge: Badge | null = null;
  failure: { code: string; message: string } | null = null;
  finishReason = "";
  /** Whether the server's length and CRC-32 are those of the text here; true until the end says otherwise. */
  isIntact = true;
  private early = new Map<number, RecordFrame>();

  constructor(
    readonly turn: string,
    status: StreamStatus = "sending",
  ) {
    this.status = status;
  }

  get isOpen(): boolean {
    return this.status === "sending" || this.status === "running";
  }

  /** What was done with a record: "gap" means that one is missing and the stream is to be resumed. */
  take(frame: RecordFrame): Taken {
    if (frame.seq < this.nextSeq) return "known";
    if (frame.seq > this.nextSeq) return this.keepEarly(frame);
    let next: RecordFrame | undefined = frame;
    while (next) {
      this.apply(next);
      this.nextSeq = next.seq + 1;
      next = this.early.get(this.nextSeq);
      this.early.delete(this.nextSeq);
    }
    return "applied";
  }

  private keepEarly(frame: RecordFrame): Taken {
    this.early.set(frame.seq, frame);
    // Nothing follows an ending: what is missing before it will not come by itself.
    if (this.early.size <= EARLY_MAX && !isEnding(frame)) return "early";
    this.early.clear();
    return "gap";
  }

  private apply(frame: RecordFrame): void {
    if (this.status === "sending") this.status = "running";
    if (frame.type === "waiting") this.waiting = frame.message;
    if (frame.type === "routed") {
      this.waiting = null;
      this.source = frame.source;
    }
    if (frame.type === "delta") {
      this.waiting = null;
      this.text += frame.text;
    }
    if (isEnding(frame)) this.end(frame);
  }

  private end(frame: Extract<RecordFrame, { badge: Badge }>): void {
    this.waiting = null;
    this.status = frame.type;
    this.badge = frame.badge;
    this.source = frame.badge.source;
    this.finishReason = frame.finish_reason;
    this.failure = frame.type === "failed" ? { code: frame.code, message: frame.message } : null;
    const own = checksum(this.text);
    this.isIntact = own.bytes === frame.bytes && own.crc32 === frame.crc32;
  }
}
