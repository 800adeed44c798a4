// The turns on their way: asked until accepted, taken in record by record, gone on with when the line comes back.

import type { Connection } from "./connection";
import { FirstPaints } from "./first_paint";
import { isRecord } from "./protocol";
import type { AcceptedFrame, AskFrame, ErrorFrame, RecordFrame, ServerFrame } from "./protocol";
import { TurnStream } from "./stream";

// The server learns how far the page has got: every so many records, and at the end.
const ACK_EVERY = 25;
// After "too many messages" or "busy": how long until what was refused is sent again.
const AGAIN_AFTER_MS = 2_000;

export type TurnListener = {
  onAccepted(frame: AcceptedFrame): void;
  /** `afterPaint` is to be called once what is new is on the screen. */
  onGrown(stream: TurnStream, afterPaint?: () => void): void;
  onEnded(stream: TurnStream): void;
  /** The server did not take the question. */
  onRefused(ask: AskFrame): void;
  /** The stream cannot be had, or is not what the server sent: the conversation is to be read over HTTP. */
  onLost(turn: string): void;
};

export class OpenTurns {
  private readonly streams = new Map<string, TurnStream>();
  /** Questions that the server has not accepted yet: sent again, under the same id, when the line comes back. */
  private readonly unaccepted = new Map<string, AskFrame>();
  /** Turns that a person stopped and that have not ended: the stop too is sent again. */
  private readonly stopping = new Set<string>();
  private readonly paints = new FirstPaints();

  constructor(
    private readonly connection: Pick<Connection, "send">,
    private readonly listener: TurnListener,
  ) {}

  get(turn: string): TurnStream | undefined {
    return this.streams.get(turn);
  }

  ask(frame: AskFrame): void {
    this.streams.set(frame.turn, new TurnStream(frame.turn));
    this.unaccepted.set(frame.turn, frame);
    this.paints.start(frame.turn);
    this.connection.send(frame);
  }

  stop(turn: string): void {
    this.stopping.add(turn);
    this.connection.send({ type: "stop", turn });
  }

  /** Go on with these running turns from their beginning; any other is another conversation's and is let go. */
  followOnly(turns: string[]): void {
    for (const turn of this.streams.keys()) if (!this.unaccepted.has(turn)) this.streams.delete(turn);
    for (const turn of turns) {
      if (this.unaccepted.has(turn)) continue;
      this.streams.set(turn, new TurnStream(turn, "running"));
      this.resume(turn);
    }
  }

  /** The line is there, again: ask what was not accepted, and go on with what was running. */
  onReady(): void {
    this.sendUnaccepted();
    for (const turn of this.streams.keys()) if (!this.unaccepted.has(turn)) this.resume(turn);
    for (const turn of this.stopping) this.connection.send({ type: "stop", turn });
  }

  onFrame(frame: ServerFrame): void {
    if (isRecord(frame)) this.onRecord(frame);
    else if (frame.type === "accepted") this.onAccepted(frame);
    else if (frame.type === "gap") this.lose(frame.turn);
    else if (frame.type === "error") this.onError(frame);
  }

  private onAccepted(frame: AcceptedFrame): void {
    this.unaccepted.delete(frame.turn);
    const stream = this.streams.get(frame.turn);
    if (stream?.status === "sending") stream.status = "running";
    this.listener.onAccepted(frame);
  }

  private onRecord(frame: RecordFrame): void {
    const stream = this.streams.get(frame.turn);
    if (!stream) return;
    const taken = stream.take(frame);
    if (taken === "gap") this.resume(frame.turn);
    if (taken !== "applied") return;
    if (stream.nextSeq % ACK_EVERY === 0 || !stream.isOpen) {
      this.connection.send({ type: "ack", turn: frame.turn, seq: stream.nextSeq - 1 });
    }
    if (!stream.isOpen) this.end(stream);
    else if (stream.text && this.paints.isAwaited(frame.turn)) {
      this.listener.onGrown(stream, () => this.reportPaint(frame.turn));
    } else this.listener.onGrown(stream);
  }

  private end(stream: TurnStream): void {
    this.streams.delete(stream.turn);
    this.stopping.delete(stream.turn);
    this.listener.onEnded(stream);
    // An answer that came all at once is drawn as a whole: this is its first paint.
    if (stream.text) requestAnimationFrame(() => window.setTimeout(() => this.reportPaint(stream.turn)));
    else this.paints.forget(stream.turn);
    if (!stream.isIntact) this.listener.onLost(stream.turn);
  }

  private onError(frame: ErrorFrame): void {
    const { turn, code } = frame;
    if (code === "too_many_frames") window.setTimeout(() => this.sendUnaccepted(), AGAIN_AFTER_MS);
    if (turn === undefined) return;
    const ask = this.unaccepted.get(turn);
    if (ask) {
      this.forget(turn);
      this.listener.onRefused(ask);
    } else if (this.streams.has(turn)) {
      if (code === "turn_not_found") this.lose(turn);
      if (code === "busy") window.setTimeout(() => this.resume(turn), AGAIN_AFTER_MS);
    }
  }

  private lose(turn: string): void {
    if (!this.streams.has(turn)) return;
    this.forget(turn);
    this.listener.onLost(turn);
  }

  private forget(turn: string): void {
    this.streams.delete(turn);
    this.unaccepted.delete(turn);
    this.stopping.delete(turn);
    this.paints.forget(turn);
  }

  private sendUnaccepted(): void {
    for (const frame of this.unaccepted.values()) this.connection.send(frame);
  }

  private resume(turn: string): void {
    const stream = this.streams.get(turn);
    if (stream) this.connection.send({ type: "resume", turn, after: stream.nextSeq - 1 });
  }

  private reportPaint(turn: string): void {
    const ms = this.paints.take(turn);
    if (ms !== null) this.connection.send({ type: "painted", turn, ms });
  }
}
