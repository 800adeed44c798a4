import { expect, test } from "vitest";

import { checksum } from "../src/checksum";
import { TurnStream } from "../src/stream";
import { Transcript, type Message } from "../src/transcript";
import { makeBadgeData } from "./fakes";

function message(id: string, parent: string | null): Message {
  const role = id.startsWith("q") ? "user" : "assistant";
  const turn = {
    id: `turn-${id}`,
    status: "finished" as const,
    finish_reason: "stop",
    error_code: "",
    error_message: "",
    feedback: "none" as const,
    badge: null,
  };
  return {
    id,
    parent,
    role,
    text: id,
    status: "complete",
    created_at: "2026-01-01T00:00:00Z",
    turn: role === "user" ? null : turn,
  };
}

function transcriptOf(...messages: [string, string | null][]): Transcript {
  return new Transcript({ id: "c1", title: "Title", messages: messages.map((pair) => message(...pair)) });
}

const shown = (transcript: Transcript): string[] => transcript.path().map(({ id }) => id);

test("an empty conversation shows nothing", () => {
  expect(shown(new Transcript(null))).toEqual([]);
});

test("of several answers to a question the latest is shown", () => {
  const transcript = transcriptOf(["q1", null], ["a1", "q1"], ["a2", "q1"]);
  expect(shown(transcript)).toEqual(["q1", "a2"]);
  expect(transcript.siblings(transcript.path()[1]!).map(({ id }) => id)).toEqual(["a1", "a2"]);
});

test("the branch that the conversation went on with is shown", () => {
  const transcript = transcriptOf(["q1", null], ["a1", "q1"], ["a2", "q1"], ["q2", "a1"], ["a3", "q2"]);
  expect(shown(transcript)).toEqual(["q1", "a1", "q2", "a3"]);
});

test("stepping to another answer shows what followed that one", () => {
  const transcript = transcriptOf(["q1", null], ["a1", "q1"], ["q2", "a1"], ["a2", "q2"], ["b1", "q1"]);
  expect(shown(transcript)).toEqual(["q1", "b1"]);
  transcript.show(transcript.messages[1]!);
  expect(shown(transcript)).toEqual(["q1", "a1", "q2", "a2"]);
});

test("a question is shown before the server names it, and keeps its place when it does", () => {
  const transcript = new Transcript(null);
  transcript.addQuestion("t1", "Why?");
  expect(shown(transcript)).toEqual(["q:t1", "a:t1"]);
  const names = { conversation: "c9", question: "q9", answer: "a9" };
  transcript.accept({ type: "accepted", turn: "t1", title: "Why?", repeated: false, ...names });
  expect(shown(transcript)).toEqual(["q9", "a9"]);
  expect(transcript).toMatchObject({ id: "c9", title: "Why?" });
  expect(transcript.answerOf("t1")?.parent).toBe("q9");
});

test("a question follows the last message shown", () => {
  const transcript = transcriptOf(["q1", null], ["a1", "q1"]);
  transcript.addQuestion("t2", "And?");
  expect(shown(transcript)).toEqual(["q1", "a1", "q:t2", "a:t2"]);
});

test("asking again adds an answer beside the earlier one", () => {
  const transcript = transcriptOf(["q1", null], ["a1", "q1"]);
  transcript.addAnswer("t2", "q1");
  expect(shown(transcript)).toEqual(["q1", "a:t2"]);
  expect(transcript.siblings(transcript.path()[1]!)).toHaveLength(2);
});

test("a refused question goes, and what was there stays", () => {
  const transcript = transcriptOf(["q1", null], ["a1", "q1"]);
  transcript.addQuestion("t2", "Now?");
  transcript.refuse("t2");
  expect(shown(transcript)).toEqual(["q1", "a1"]);
});

test("a refused second answer leaves the first", () => {
  const transcript = transcriptOf(["q1", null], ["a1", "q1"]);
  transcript.addAnswer("t2", "q1");
  transcript.refuse("t2");
  expect(shown(transcript)).toEqual(["q1", "a1"]);
});

test("what an ended stream said is kept, with the judgement given meanwhile", () => {
  const transcript = new Transcript(null);
  transcript.addQuestion("t1", "Why?").turn!.feedback = "up";
  const stream = new TurnStream("t1");
  stream.take({ type: "delta", turn: "t1", seq: 0, text: "So.", batch_ms: 0 });
  const badge = makeBadgeData();
  const end = { turn: "t1", seq: 1, finish_reason: "stop", ...checksum("So."), badge };
  expect(transcript.endAnswer(stream)).toBeUndefined();
  stream.take({ type: "finished", ...end });
  expect(transcript.endAnswer(stream)).toMatchObject({
    text: "So.",
    status: "complete",
    turn: { status: "finished", feedback: "up", badge },
  });
});

test("a stream of another conversation ends nothing here", () => {
  expect(new Transcript(null).endAnswer(new TurnStream("elsewhere", "finished"))).toBeUndefined();
});
