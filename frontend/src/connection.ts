// The socket: opens, listens, and comes back by itself. It knows frames, not what they mean.

import { delayBefore } from "./backoff";
import { readFrame, type ClientFrame, type ServerFrame } from "./protocol";

// The server sends something at least every 15 s: after this much silence the line is dead.
const SILENCE_MS = 40_000;
const SIGNED_OUT = 4401;

export type Line = "connecting" | "open" | "waiting" | "signed-out";

export type Listener = {
  onFrame(frame: ServerFrame): void;
  onLine(line: Line): void;
};

export class Connection {
  private socket: WebSocket | null = null;
  private attempt = 0;
  private retry = 0;
  private silence = 0;
  private line: Line = "waiting";

  constructor(
    private readonly url: string,
    private readonly listener: Listener,
  ) {}

  start(): void {
    window.addEventListener("online", () => this.connectNow());
    window.addEventListener("offline", () => this.drop());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.connectNow();
    });
    this.connect();
  }

  /** Whether it went out; what did not is sent again by whoever kept it, once the line is back. */
  send(frame: ClientFrame): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(frame));
    return true;
  }

  connectNow(): void {
    if (this.line !== "waiting") return;
    this.attempt = 0;
    this.connect();
  }

  private connect(): void {
    window.clearTimeout(this.retry);
    this.setLine("connecting");
    const socket = new WebSocket(this.url);
    this.socket = socket;
    this.listen();
    socket.addEventListener("message", (event) => {
      this.listen();
      const frame = readFrame(event.data);
      if (frame === null) return;
      if (frame.type === "ready") {
        this.attempt = 0;
        this.setLine("open");
      }
      this.listener.onFrame(frame);
    });
    socket.addEventListener("close", (event) => {
      if (socket === this.socket) this.onClose(event.code);
    });
  }

  private listen(): void {
    window.clearTimeout(this.silence);
    this.silence = window.setTimeout(() => this.drop(), SILENCE_MS);
  }

  private drop(): void {
    const socket = this.socket;
    if (!socket) return;
    // A dead line may take minutes to say that it is closed: it is given up here.
    this.onClose(0);
    socket.close();
  }

  private onClose(code: number): void {
    this.socket = null;
    window.clearTimeout(this.silence);
    if (code === SIGNED_OUT) {
      this.setLine("signed-out");
      return;
    }
    this.setLine("waiting");
    this.retry = window.setTimeout(() => this.connect(), delayBefore(this.attempt));
    this.attempt += 1;
  }

  private setLine(line: Line): void {
    if (line === this.line) return;
    this.line = line;
    this.listener.onLine(line);
  }
}
