import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { ChatPage, type Boot } from "../src/chat_page";
import { checksum } from "../src/checksum";
import type { ConversationData } from "../src/transcript";
import { FakeSocket, fakeSockets, makeBadgeData, trackListeners } from "./fakes";
import { find, findAll, loadPage, press } from "./page";

const CONVERSATION = "9c1f8d3a-1f3c-4a4e-9d55-7b2f0a6c1e33";
let removeListeners: () => void;

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "cancelAnimationFrame"],
  });
  vi.spyOn(Math, "random").mockReturnValue(1);
  fakeSockets();
  removeListeners = trackListeners();
  loadPage();
});

afterEach(() => {
  removeListeners();
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function openPage(fields: Partial<Boot> = {}): FakeSocket {
  const boot: Boot = {
    user: { name: "ann", is_staff: false, is_admin: false },
    conversations: [],
    conversation: null,
    limits: { question_characters: 1_000 },
    ...fields,
  };
  new ChatPage(boot).start();
  FakeSocket.latest.ready();
  return FakeSocket.latest;
}

function ask(text: string): string {
  find<HTMLTextAreaElement>("#question").value = text;
  find("#question").dispatchEvent(new Event("input"));
  press(find("#question"), "Enter");
  return FakeSocket.latest.sentOf("ask").at(-1)!.turn;
}

function accept(turn: string, title = "Why?"): void {
  const names = { conversation: CONVERSATION, question: `question-${turn}`, answer: `answer-${turn}` };
  FakeSocket.latest.say({ type: "accepted", turn, title, repeated: false, ...names });
}

const delta = (turn: string, seq: number, text: string): object => ({
  type: "delta",
  turn,
  seq,
  text,
  batch_ms: 0,
});

function ending(type: string, turn: string, seq: number, answer: string, more: object = {}): object {
  const reason = { finished: "stop", stopped: "cancelled", failed: "error" }[type];
  return { type, turn, seq, finish_reason: reason, ...checksum(answer), badge: makeBadgeData(), ...more };
}

function paint(): void {
  vi.advanceTimersByTime(40);
}

const answers = (): string[] => findAll(".answer-body").map((body) => body.textContent!.trim());

function answeredConversation(): ConversationData {
  const message = { status: "complete" as const, created_at: "2026-01-01T00:00:00Z" };
  const turn = {
    id: "turn-1",
    status: "finished" as const,
    finish_reason: "stop",
    error_code: "",
    error_message: "",
    feedback: "none" as const,
    badge: makeBadgeData(),
  };
  return {
    id: CONVERSATION,
    title: "Why?",
    messages: [
      { ...message, id: "q1", parent: null, role: "user", text: "Why?", turn: null },
      { ...message, id: "a1", parent: "q1", role: "assistant", text: "Because.", turn },
    ],
  };
}

function runningConversation(): ConversationData {
  const conversation = answeredConversation();
  const answer = conversation.messages[1]!;
  answer.text = "";
  answer.status = "running";
  answer.turn = { ...answer.turn!, status: "running", badge: null };
  return conversation;
}

test("a question is asked, streams, and ends with its badge", () => {
  const socket = openPage();
  expect(find("#empty").hidden).toBe(false);
  const turn = ask("Why?");
  expect(socket.sentOf("ask")).toEqual([
    { type: "ask", turn, conversation: null, text: "Why?", cache: "use" },
  ]);
  expect(find("#empty").hidden).toBe(true);
  expect(find(".question").textContent).toBe("Why?");
  expect(find(".answer").getAttribute("aria-busy")).toBe("true");
  accept(turn);
  expect(location.pathname).toBe(`/c/${CONVERSATION}/`);
  expect(find("#conversations a[aria-current]").textContent).toBe("Why?");
  socket.say(delta(turn, 0, "Be"));
  paint();
  expect(answers()).toEqual(["Be"]);
  socket.say(delta(turn, 1, "cause."));
  socket.say(ending("finished", turn, 2, "Because."));
  expect(answers()).toEqual(["Because."]);
  expect(find(".answer").hasAttribute("aria-busy")).toBe(false);
  expect(find(".badge summary").textContent).toContain("Local");
  expect(find("#announcer").textContent).toBe("Answer: Because.");
  expect(find(".send").hidden).toBe(false);
});

test("the first paint is told once, and the end is acknowledged", () => {
  const socket = openPage();
  const turn = ask("Why?");
  accept(turn);
  socket.say(delta(turn, 0, "So"));
  paint();
  socket.say(delta(turn, 1, "."));
  socket.say(ending("finished", turn, 2, "So."));
  paint();
  expect(socket.sentOf("painted")).toEqual([{ type: "painted", turn, ms: expect.any(Number) }]);
  expect(socket.sentOf("ack").at(-1)).toEqual({ type: "ack", turn, seq: 2 });
});

test("a page that was hidden meanwhile tells no first paint", () => {
  const socket = openPage();
  const turn = ask("Why?");
  accept(turn);
  document.dispatchEvent(new Event("visibilitychange"));
  socket.say(delta(turn, 0, "So."));
  paint();
  expect(socket.sentOf("painted")).toEqual([]);
});

test("a second question follows the first", () => {
  const socket = openPage({ conversation: answeredConversation() });
  const turn = ask("And?");
  expect(socket.sentOf("ask")[0]).toMatchObject({ turn, conversation: CONVERSATION, parent: "a1" });
});

test("Stop asks the server, and what was said is kept", () => {
  const socket = openPage();
  const turn = ask("Why?");
  accept(turn);
  socket.say(delta(turn, 0, "Once"));
  find(".stop").click();
  expect(socket.sentOf("stop")).toEqual([{ type: "stop", turn }]);
  socket.say(ending("stopped", turn, 1, "Once"));
  expect(answers()).toEqual(["Once"]);
  expect(find(".answer-note").textContent).toBe("Stopped.");
});

test("a question that waits for the model says so", () => {
  const socket = openPage();
  const turn = ask("Why?");
  accept(turn);
  socket.say({ type: "waiting", turn, seq: 0, code: "engine_loading", message: "Still loading." });
  expect(find(".answer-note").textContent).toBe("Still loading.");
  socket.say({ type: "routed", turn, seq: 1, source: "local", route: "local", model: "m" });
  expect(find(".answer-note").hidden).toBe(true);
});

test("a failed question says why and one click asks it again", () => {
  const socket = openPage();
  const turn = ask("Why?");
  accept(turn);
  socket.say(ending("failed", turn, 0, "", { code: "no_engine", message: "No model can answer right now." }));
  expect(find(".answer-note").textContent).toBe("No model can answer right now.");
  find(".tool.strong").click();
  expect(socket.sentOf("ask")[1]).toMatchObject({ conversation: CONVERSATION, again: turn, cache: "use" });
});

test("asking again goes past the cache, and both answers can be looked at", () => {
  const socket = openPage({ conversation: answeredConversation() });
  findAll(".tools .tool")
    .find((tool) => tool.textContent === "Ask again")!
    .click();
  const { turn } = socket.sentOf("ask")[0]!;
  expect(socket.sentOf("ask")[0]).toMatchObject({ again: "turn-1", cache: "bypass" });
  accept(turn);
  socket.say(delta(turn, 0, "Therefore."));
  socket.say(ending("finished", turn, 1, "Therefore."));
  expect([answers(), find(".tools .count").textContent]).toEqual([["Therefore."], "2 of 2"]);
  find('[data-step="-1"]').click();
  expect([answers(), find(".tools .count").textContent]).toEqual([["Because."], "1 of 2"]);
  expect(document.activeElement?.getAttribute("data-step")).toBe("1");
});

test("a question the server never heard is asked again under the same id", () => {
  const first = openPage();
  first.fall();
  const question = "Still there?";
  find<HTMLTextAreaElement>("#question").value = question;
  find("#question").dispatchEvent(new Event("input"));
  press(find("#question"), "Enter");
  expect(first.sentOf("ask")).toEqual([]);
  vi.advanceTimersByTime(500);
  FakeSocket.latest.ready();
  const [asked] = FakeSocket.latest.sentOf("ask");
  expect(asked).toMatchObject({ text: question });
  FakeSocket.latest.fall();
  vi.advanceTimersByTime(500);
  FakeSocket.latest.ready();
  expect(FakeSocket.latest.sentOf("ask")).toEqual([asked]);
  expect(findAll(".question")).toHaveLength(1);
});

test("a line that falls in mid-answer loses and doubles nothing", () => {
  const first = openPage();
  const turn = ask("Why?");
  accept(turn);
  first.say(delta(turn, 0, "Be"));
  first.fall();
  expect(find("#line").textContent).toBe("Reconnecting…");
  vi.advanceTimersByTime(500);
  FakeSocket.latest.ready();
  expect(find("#line").hidden).toBe(true);
  expect(FakeSocket.latest.sentOf("resume")).toEqual([{ type: "resume", turn, after: 0 }]);
  FakeSocket.latest.say(delta(turn, 0, "Be"));
  FakeSocket.latest.say(delta(turn, 1, "cause."));
  FakeSocket.latest.say(ending("finished", turn, 2, "Because."));
  expect(answers()).toEqual(["Because."]);
});

test("a stop that nobody heard is said again when the line is back", () => {
  const first = openPage();
  const turn = ask("Why?");
  accept(turn);
  first.fall();
  press(document.body, "Escape");
  vi.advanceTimersByTime(500);
  FakeSocket.latest.ready();
  expect(FakeSocket.latest.sentOf("stop")).toEqual([{ type: "stop", turn }]);
  FakeSocket.latest.say(ending("stopped", turn, 0, ""));
  FakeSocket.latest.fall();
  vi.advanceTimersByTime(500);
  FakeSocket.latest.ready();
  expect(FakeSocket.latest.sentOf("stop")).toEqual([]);
});

test("a reload follows the answer that still runs, from its beginning", () => {
  const socket = openPage({ conversation: runningConversation() });
  expect(socket.sentOf("resume")).toEqual([{ type: "resume", turn: "turn-1", after: -1 }]);
  expect(find(".stop").hidden).toBe(false);
  socket.say(delta("turn-1", 0, "Because."));
  socket.say(ending("finished", "turn-1", 1, "Because."));
  expect(answers()).toEqual(["Because."]);
});

test("a record that is missing is asked for", () => {
  const socket = openPage();
  const turn = ask("Why?");
  accept(turn);
  socket.say(delta(turn, 0, "Be"));
  socket.say(ending("finished", turn, 2, "Because."));
  expect(socket.sentOf("resume")).toEqual([{ type: "resume", turn, after: 0 }]);
});

function serveConversation(conversation: ConversationData): ReturnType<typeof vi.fn> {
  const serve = vi.fn(() => Promise.resolve(Response.json(conversation)));
  vi.stubGlobal("fetch", serve);
  return serve;
}

test.each([
  ["the log is gone", { type: "gap", turn: "turn-1", url: `/api/conversations/${CONVERSATION}/` }],
  ["the turn is not known", { type: "error", code: "turn_not_found", message: "No.", turn: "turn-1" }],
  ["the text is not the server's", ending("finished", "turn-1", 0, "Because.")],
])("when %s the conversation is read over HTTP", async (_name, frame) => {
  const serve = serveConversation(answeredConversation());
  const socket = openPage({ conversation: runningConversation() });
  socket.say(frame);
  await vi.waitFor(() => expect(answers()).toEqual(["Because."]));
  expect(serve).toHaveBeenCalledOnce();
  expect(find(".stop").hidden).toBe(true);
});

test("a question that was not taken goes back where it was written", () => {
  const socket = openPage();
  const turn = ask("Why?");
  const refusal = { code: "too_many_turns", message: "You have too many answers running." };
  socket.say({ type: "error", turn, ...refusal });
  expect(find<HTMLTextAreaElement>("#question").value).toBe("Why?");
  expect(find("#notice").textContent).toBe(refusal.message);
  expect(findAll(".message")).toEqual([]);
});

test("what came too fast is sent again a little later", () => {
  const socket = openPage();
  ask("Why?");
  socket.say({ type: "error", code: "too_many_frames", message: "Wait a moment." });
  vi.advanceTimersByTime(2_000);
  expect(socket.sentOf("ask")).toHaveLength(2);
  expect(socket.sentOf("ask")[0]).toEqual(socket.sentOf("ask")[1]);
});

test("frames of another conversation change nothing here", () => {
  const socket = openPage({ conversation: answeredConversation() });
  const turn = ask("And?");
  accept(turn);
  find("#new-chat").click();
  socket.say(delta(turn, 0, "Elsewhere."));
  socket.say(ending("finished", turn, 1, "Elsewhere."));
  paint();
  expect(findAll(".message")).toEqual([]);
  expect(location.pathname).toBe("/");
  expect(find(".send").hidden).toBe(false);
});

test("a question of a conversation that was left is accepted into the list only", () => {
  openPage();
  const turn = ask("Why?");
  find("#new-chat").click();
  accept(turn);
  expect(findAll("#conversations a").map((link) => link.textContent)).toEqual(["Why?"]);
  expect(location.pathname).toBe("/");
});

test("the list opens a conversation, and Back returns", async () => {
  serveConversation(answeredConversation());
  openPage({ conversations: [{ id: CONVERSATION, title: "Why?", updated_at: "2026-01-01T00:00:00Z" }] });
  find("#conversations a").click();
  await vi.waitFor(() => expect(answers()).toEqual(["Because."]));
  expect(location.pathname).toBe(`/c/${CONVERSATION}/`);
  history.replaceState(null, "", "/");
  window.dispatchEvent(new PopStateEvent("popstate"));
  expect(findAll(".message")).toEqual([]);
});

test("the later of two clicks wins, whichever answer comes first", async () => {
  const resolvers: ((response: Response) => void)[] = [];
  vi.stubGlobal("fetch", () => new Promise<Response>((resolve) => resolvers.push(resolve)));
  const list = ["a", "b"].map((id) => ({ id, title: id, updated_at: "2026-01-01T00:00:00Z" }));
  openPage({ conversations: list });
  find('#conversations a[data-id="a"]').click();
  find('#conversations a[data-id="b"]').click();
  resolvers[1]!(Response.json({ id: "b", title: "b", messages: [] }));
  await vi.waitFor(() => expect(location.pathname).toBe("/c/b/"));
  resolvers[0]!(Response.json({ id: "a", title: "a", messages: [] }));
  // Long enough for the earlier answer to have been read and shown, were it to be.
  await new Promise((done) => setImmediate(done));
  expect([location.pathname, document.title]).toEqual(["/c/b/", "b · chatapp"]);
});

test("the state of the local model is told, with its progress", () => {
  const socket = openPage();
  expect(find("#engine").hidden).toBe(true);
  socket.say({ type: "notice", engine: { state: "loading", progress: 0.4, message: "Reading weights." } });
  expect(find("#engine-text").textContent).toBe("The local model is warming up… 40 % Reading weights.");
  expect(find<HTMLProgressElement>("#engine-progress").value).toBe(0.4);
  socket.say({ type: "notice", engine: { state: "up", progress: null, message: "" } });
  expect(find("#engine").hidden).toBe(true);
});

test("a session that has ended says so and leads to the log in page", () => {
  openPage().fall(4401);
  expect(find("#line").textContent).toBe("You are signed out. Log in again.");
  expect(find("#line a").getAttribute("href")).toBe("/accounts/login/?next=%2F");
});

test("a judgement is sent, and a second click takes it back", () => {
  const socket = openPage({ conversation: answeredConversation() });
  const [up] = findAll("[aria-pressed]");
  up!.click();
  expect(up!.getAttribute("aria-pressed")).toBe("true");
  up!.click();
  expect(up!.getAttribute("aria-pressed")).toBe("false");
  expect(socket.sentOf("feedback").map(({ value }) => value)).toEqual(["up", "none"]);
});

test("an example is asked at once", () => {
  const socket = openPage();
  find("[data-example]").click();
  expect(socket.sentOf("ask")[0]).toMatchObject({ text: "What can you do?" });
});

test("markup in a question, an answer and a title stays text", () => {
  const hostile = "<img src=x onerror=alert(1)>";
  const conversation = answeredConversation();
  conversation.title = conversation.messages[0]!.text = conversation.messages[1]!.text = hostile;
  openPage({
    conversation,
    conversations: [{ id: CONVERSATION, title: hostile, updated_at: "2026-01-01T00:00:00Z" }],
  });
  expect(findAll("img")).toEqual([]);
  for (const place of [".question-text", ".answer-body", "#conversations a"])
    expect(find(place).textContent?.trim()).toBe(hostile);
});
