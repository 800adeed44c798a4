import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";

import { isRecord, makeId, readFrame } from "../src/protocol";

const PAGE = readFileSync("../docs/protocol.md", "utf8");
const EXAMPLES = [...PAGE.matchAll(/```json server\n(.+?)\n```/gs)].map((match) => match[1]!);

afterEach(() => vi.unstubAllGlobals());

test("the documented frames are found", () => {
  expect(EXAMPLES.length).toBeGreaterThan(10);
});

test.each(EXAMPLES)("a documented frame is read: %s", (example) => {
  const frame = readFrame(example);
  expect(frame).toEqual(JSON.parse(example));
  expect(isRecord(frame!)).toBe("seq" in frame!);
});

test.each([
  ["a binary message", new ArrayBuffer(2)],
  ["no JSON", "{"],
  ["no object", "[1]"],
  ["null", "null"],
  ["no type", "{}"],
  ["a type of a newer server", '{"type": "dance"}'],
  ["a record without its number", '{"type": "delta", "turn": "t", "text": "x"}'],
])("%s is passed over", (_name, data) => {
  expect(readFrame(data)).toBeNull();
});

test("an id is a UUID of version 4 also where crypto.randomUUID is missing", () => {
  const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(makeId()).toMatch(form);
  vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) });
  const ids = Array.from({ length: 100 }, makeId);
  for (const id of ids) expect(id).toMatch(form);
  expect(new Set(ids).size).toBe(100);
});
