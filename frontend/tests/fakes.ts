// A socket and a server made of a list: tests open it, say frames, and read what the page sent.

import { vi } from "vitest";

import type { Badge, ClientFrame } from "../src/protocol";

export class FakeSocket extends EventTarget {
  static readonly OPEN = 1;
  static all: FakeSocket[] = [];
  static get latest(): FakeSocket {
    return FakeSocket.all.at(-1)!;
  }

  readyState = 0;
  readonly sent: ClientFrame[] = [];

  constructor(readonly url: string) {
    super();
    FakeSocket.all.push(this);
  }

  send(data: string): void {
    this.sent.push(JSON.parse(data) as ClientFrame);
  }

  close(): void {
    this.readyState = 3;
  }

  /** The line stands and the server says so. */
  ready(): void {
    this.readyState = FakeSocket.OPEN;
    this.say({ type: "ready", protocol: 1, engine: { state: "up", progress: null, message: "" } });
  }

  say(frame: object): void {
    this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(frame) }));
  }

  fall(code = 1006): void {
    this.readyState = 3;
    this.dispatchEvent(new CloseEvent("close", { code }));
  }

  sentOf<T extends ClientFrame["type"]>(type: T): Extract<ClientFrame, { type: T }>[] {
    return this.sent.filter((frame): frame is Extract<ClientFrame, { type: T }> => frame.type === type);
  }
}

/** From here on the page's sockets are fakes. */
export function fakeSockets(): void {
  FakeSocket.all = [];
  vi.stubGlobal("WebSocket", FakeSocket);
}

/** Listeners that are put on the window and the document from here on; call what is returned to take them off again. */
export function trackListeners(): () => void {
  const added: [EventTarget, Parameters<EventTarget["addEventListener"]>][] = [];
  const spies = [window, document].map((target: EventTarget) => {
    const add = target.addEventListener.bind(target);
    return vi.spyOn(target, "addEventListener").mockImplementation((...call) => {
      added.push([target, call]);
      add(...call);
    });
  });
  return () => {
    for (const [target, [type, listener]] of added) target.removeEventListener(type, listener);
    for (const spy of spies) spy.mockRestore();
  };
}

export function makeBadgeData(fields: Partial<Badge> = {}): Badge {
  return {
    source: "local",
    route: "local",
    model: "smollm2-135m",
    ttft_ms: 92.4,
    total_ms: 431,
    tokens: 8,
    tokens_per_s: 23.6,
    reason: "Easy enough for the local model.",
    cached: null,
    stages: { embed_ms: 4.9, route_ms: 0.1 },
    ...fields,
  };
}
