import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { delayBefore } from "../src/backoff";
import { Connection, type Line } from "../src/connection";
import type { ServerFrame } from "../src/protocol";
import { FakeSocket, fakeSockets, trackListeners } from "./fakes";

let lines: Line[];
let frames: ServerFrame[];
let connection: Connection;
let removeListeners: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  // The longest wait that the jitter allows.
  vi.spyOn(Math, "random").mockReturnValue(1);
  fakeSockets();
  removeListeners = trackListeners();
  [lines, frames] = [[], []];
  connection = new Connection("ws://chat/ws/chat/", {
    onLine: (line) => lines.push(line),
    onFrame: (frame) => frames.push(frame),
  });
  connection.start();
});

afterEach(() => {
  removeListeners();
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test("the wait before the next try doubles up to half a minute, fully jittered", () => {
  expect([0, 1, 2, 3].map((attempt) => delayBefore(attempt, () => 1))).toEqual([500, 1_000, 2_000, 4_000]);
  expect(delayBefore(50, () => 1)).toBe(30_000);
  expect(delayBefore(50, () => 0)).toBe(0);
});

test("the line is open once the server says that it is ready", () => {
  FakeSocket.latest.readyState = FakeSocket.OPEN;
  expect(lines).toEqual(["connecting"]);
  FakeSocket.latest.ready();
  expect(lines).toEqual(["connecting", "open"]);
  expect(frames).toHaveLength(1);
});

test("what cannot go out is said to the caller", () => {
  expect(connection.send({ type: "ping" })).toBe(false);
  FakeSocket.latest.ready();
  expect(connection.send({ type: "ping" })).toBe(true);
  expect(FakeSocket.latest.sent).toEqual([{ type: "ping" }]);
});

test("a message that is no frame is passed over", () => {
  FakeSocket.latest.ready();
  FakeSocket.latest.dispatchEvent(new MessageEvent("message", { data: "not json" }));
  expect(frames).toHaveLength(1);
});

test("a line that falls is tried again, later each time, and at once after it stood", () => {
  FakeSocket.latest.fall();
  vi.advanceTimersByTime(499);
  expect(FakeSocket.all).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(FakeSocket.all).toHaveLength(2);
  FakeSocket.latest.fall();
  vi.advanceTimersByTime(999);
  expect(FakeSocket.all).toHaveLength(2);
  vi.advanceTimersByTime(1);
  expect(FakeSocket.all).toHaveLength(3);
  FakeSocket.latest.ready();
  FakeSocket.latest.fall(1012);
  vi.advanceTimersByTime(500);
  expect(FakeSocket.all).toHaveLength(4);
});

test("forty seconds of silence mean that the line is dead", () => {
  FakeSocket.latest.ready();
  vi.advanceTimersByTime(39_000);
  FakeSocket.latest.say({ type: "heartbeat" });
  vi.advanceTimersByTime(39_000);
  expect(lines.at(-1)).toBe("open");
  vi.advanceTimersByTime(1_000);
  expect(lines.at(-1)).toBe("waiting");
  vi.advanceTimersByTime(500);
  expect(FakeSocket.all).toHaveLength(2);
});

test("the end of a line that was given up changes nothing", () => {
  const dead = FakeSocket.latest;
  dead.ready();
  window.dispatchEvent(new Event("offline"));
  window.dispatchEvent(new Event("online"));
  FakeSocket.latest.ready();
  dead.fall();
  expect(lines.at(-1)).toBe("open");
  expect(FakeSocket.all).toHaveLength(2);
});

test.each([
  ["the network is back", () => window.dispatchEvent(new Event("online"))],
  ["the page is looked at again", () => document.dispatchEvent(new Event("visibilitychange"))],
])("it connects at once when %s", (_name, happen) => {
  FakeSocket.latest.fall();
  happen();
  expect(FakeSocket.all).toHaveLength(2);
  vi.advanceTimersByTime(30_000);
  expect(FakeSocket.all.length).toBe(2);
});

test("a session that has ended is not tried again", () => {
  FakeSocket.latest.ready();
  FakeSocket.latest.fall(4401);
  vi.advanceTimersByTime(120_000);
  window.dispatchEvent(new Event("online"));
  expect(lines.at(-1)).toBe("signed-out");
  expect(FakeSocket.all).toHaveLength(1);
});
