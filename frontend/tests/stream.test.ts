import { expect, test } from "vitest";

import { checksum } from "../src/checksum";
import type { RecordFrame } from "../src/protocol";
import { TurnStream } from "../src/stream";
import { makeBadgeData } from "./fakes";

const turn = "t1";

function delta(seq: number, text: string): RecordFrame {
  return { type: "delta", turn, seq, text, batch_ms: 0 };
}

function finished(seq: number, answer: string): RecordFrame {
  return {
    type: "finished",
    turn,
    seq,
    finish_reason: "stop",
    ...checksum(answer),
    badge: makeBadgeData(),
  };
}

function takeAll(records: RecordFrame[]): TurnStream {
  const stream = new TurnStream(turn);
  for (const record of records) stream.take(record);
  return stream;
}

test("length and CRC-32 are of the answer in UTF-8", () => {
  // The check value of CRC-32 (its polynomial's catalogue entry).
  expect(checksum("123456789")).toEqual({ bytes: 9, crc32: 0xcbf43926 });
  expect(checksum("")).toEqual({ bytes: 0, crc32: 0 });
  expect(checksum("🙂é").bytes).toBe(6);
});

test("records in order become the answer", () => {
  const stream = takeAll([
    { type: "waiting", turn, seq: 0, code: "engine_loading", message: "Still loading." },
    { type: "routed", turn, seq: 1, source: "local", route: "local", model: "m" },
    delta(2, "Hel"),
    delta(3, "lo"),
    finished(4, "Hello"),
  ]);
  expect(stream).toMatchObject({ text: "Hello", status: "finished", source: "local", waiting: null });
  expect(stream.isIntact).toBe(true);
  expect(stream.isOpen).toBe(false);
});

test("a question that waits says why until it is routed", () => {
  const stream = takeAll([
    { type: "waiting", turn, seq: 0, code: "engine_loading", message: "Still loading." },
  ]);
  expect(stream.waiting).toBe("Still loading.");
  stream.take({ type: "routed", turn, seq: 1, source: "local", route: "local", model: "m" });
  expect(stream.waiting).toBeNull();
});

test("a replay that overlaps doubles nothing", () => {
  const stream = takeAll([delta(0, "a"), delta(1, "b")]);
  expect([delta(0, "a"), delta(1, "b"), delta(2, "c")].map((record) => stream.take(record))).toEqual([
    "known",
    "known",
    "applied",
  ]);
  expect(stream.text).toBe("abc");
});

test("records that came early wait for the one before them", () => {
  const stream = takeAll([delta(0, "a")]);
  expect(stream.take(delta(2, "c"))).toBe("early");
  expect(stream.text).toBe("a");
  expect(stream.take(delta(1, "b"))).toBe("applied");
  expect(stream.text).toBe("abc");
  expect(stream.nextSeq).toBe(3);
});

test("any order of the same records gives the same answer", () => {
  const records = [delta(0, "a"), delta(1, "b"), delta(2, "c"), delta(3, "d")];
  for (const order of permutations(records)) expect(takeAll(order).text).toBe("abcd");
});

test("too many early records are a gap", () => {
  const stream = new TurnStream(turn);
  const taken = Array.from({ length: 65 }, (_, index) => stream.take(delta(index + 1, "x")));
  expect(taken.slice(0, 64).every((what) => what === "early")).toBe(true);
  expect(taken.at(-1)).toBe("gap");
});

test("an ending that came early is a gap, since nothing will follow it", () => {
  const stream = takeAll([delta(0, "a")]);
  expect(stream.take(finished(2, "ab"))).toBe("gap");
  expect(stream.isOpen).toBe(true);
});

test.each(["other", "Hello!", ""])("an answer that is not the server's is noticed: %j", (sent) => {
  expect(takeAll([delta(0, "Hello"), finished(1, sent)]).isIntact).toBe(false);
});

test("a stopped turn keeps what was said", () => {
  const stream = takeAll([
    delta(0, "Once"),
    {
      type: "stopped",
      turn,
      seq: 1,
      finish_reason: "cancelled",
      ...checksum("Once"),
      badge: makeBadgeData(),
    },
  ]);
  expect(stream).toMatchObject({ status: "stopped", text: "Once", isIntact: true, failure: null });
});

test("a failed turn says why", () => {
  const failure = { code: "no_engine", message: "No model can answer right now." };
  const badge = makeBadgeData({ source: "none" });
  const stream = takeAll([
    { type: "failed", turn, seq: 0, finish_reason: "error", ...failure, bytes: 0, crc32: 0, badge },
  ]);
  expect(stream).toMatchObject({ status: "failed", failure, source: "none" });
});

function permutations<T>(items: T[]): T[][] {
  if (items.length < 2) return [items];
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  );
}
