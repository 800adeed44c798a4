import { expect, test } from "vitest";

import { makeBadge } from "../src/badge";
import { formatMs } from "../src/format";
import { makeBadgeData } from "./fakes";

test.each([
  [null, "–"],
  [0, "0.0 ms"],
  [8.14, "8.1 ms"],
  [92.4, "92 ms"],
  [1_234, "1.23 s"],
  [12_345, "12.3 s"],
  [59_960, "60.0 s"],
  [119_900, "2 min 0 s"],
  [125_000, "2 min 5 s"],
])("%s milliseconds are read as %s", (ms, told) => {
  expect(formatMs(ms)).toBe(told);
});

test("a badge says where the answer came from and how fast it was", () => {
  const badge = makeBadge(makeBadgeData());
  const parts = Array.from(badge.querySelectorAll("summary > *"), (part) => part.textContent);
  expect(parts).toEqual(["Local", "first 92 ms", "total 431 ms", "24 tokens/s"]);
  expect(badge.textContent).toContain("Easy enough for the local model.");
  expect(badge.querySelectorAll("table tr")).toHaveLength(2);
});

test("a cached badge says to which question and when", () => {
  const cached = {
    question: "What is <b>France</b>?",
    answered_at: "2026-11-30T09:00:00Z",
    similarity: 0.953,
    scope: "private",
  };
  const badge = makeBadge(makeBadgeData({ source: "cache", cached, tokens_per_s: null }));
  expect(badge.querySelector(".source")?.textContent).toBe("Cache");
  expect(badge.textContent).toContain("“What is <b>France</b>?” (95.3\u00a0% alike)");
  expect(badge.textContent).toContain("2026");
  expect(badge.querySelector("b")).toBeNull();
});

test("an answer that an admin wrote is called curated", () => {
  const cached = { question: "Q?", answered_at: "2026-11-30T09:00:00Z", similarity: 1, scope: "curated" };
  expect(makeBadge(makeBadgeData({ source: "cache", cached })).textContent).toContain("Curated");
});
