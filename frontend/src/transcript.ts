// A conversation as a tree of messages, and the path through it that is shown.

import type { AcceptedFrame, Badge } from "./protocol";
import type { TurnStream } from "./stream";

export type TurnInfo = {
  id: string;
  status: "running" | "finished" | "stopped" | "failed";
  finish_reason: string;
  error_code: string;
  error_message: string;
  feedback: "none" | "up" | "down";
  badge: Badge | null;
};

export type Message = {
  id: string;
  parent: string | null;
  role: "user" | "assistant";
  text: string;
  status: "running" | "complete" | "stopped" | "failed";
  created_at: string;
  turn: TurnInfo | null;
};

export type ConversationData = { id: string; title: string; messages: Message[] };

export class Transcript {
  id: string | null;
  title: string;
  readonly messages: Message[];
  /** Which child of a message is shown, where it is not the one that leads to the latest message. */
  private chosen = new Map<string | null, string>();

  constructor(data: ConversationData | null) {
    this.id = data?.id ?? null;
    this.title = data?.title ?? "";
    this.messages = data ? [...data.messages] : [];
  }

  /** The messages shown, from the first to the last. */
  path(): Message[] {
    const path: Message[] = [];
    const shown = this.shownChildren();
    for (let next = shown.get(null); next; next = shown.get(next.id)) path.push(next);
    return path;
  }

  /** The message's siblings in the order of writing, itself included. */
  siblings(message: Message): Message[] {
    return this.messages.filter((other) => other.parent === message.parent);
  }

  show(message: Message): void {
    this.chosen.set(message.parent, message.id);
  }

  /** Add a question that is on its way, with its answer to come. Both are named by the turn until the server names them. */
  addQuestion(turn: string, text: string): Message {
    const parent = this.path().at(-1)?.id ?? null;
    const question = makeMessage({
      id: `q:${turn}`,
      parent,
      role: "user",
      text,
      status: "complete",
      turn: null,
    });
    this.messages.push(question);
    this.show(question);
    return this.addAnswer(turn, question.id);
  }

  /** Add the answer to come of a turn, beside the answers that its question has. */
  addAnswer(turn: string, question: string): Message {
    const answer = makeMessage({
      id: `a:${turn}`,
      parent: question,
      role: "assistant",
      text: "",
      status: "running",
      turn: {
        id: turn,
        status: "running",
        finish_reason: "",
        error_code: "",
        error_message: "",
        feedback: "none",
        badge: null,
      },
    });
    this.messages.push(answer);
    this.show(answer);
    return answer;
  }

  /** The server took the question: its names replace ours. */
  accept(frame: AcceptedFrame): void {
    this.id = frame.conversation;
    this.title ||= frame.title;
    this.rename(`q:${frame.turn}`, frame.question);
    this.rename(`a:${frame.turn}`, frame.answer);
  }

  /** The server did not take it: what was added for the turn goes. */
  refuse(turn: string): void {
    for (const id of [`a:${turn}`, `q:${turn}`]) {
      const index = this.messages.findIndex((message) => message.id === id);
      if (index < 0) continue;
      this.chosen.delete(this.messages[index]!.parent);
      this.messages.splice(index, 1);
    }
  }

  /** Keep what an ended stream said in its answer, which is returned; undefined when it is another conversation's. */
  endAnswer(stream: TurnStream): Message | undefined {
    const { status, turn } = stream;
    const message = this.answerOf(turn);
    if (!message?.turn || status === "sending" || status === "running") return undefined;
    message.text = stream.text;
    message.status = status === "finished" ? "complete" : status;
    message.turn = {
      ...message.turn,
      status,
      finish_reason: stream.finishReason,
      error_code: stream.failure?.code ?? "",
      error_message: stream.failure?.message ?? "",
      badge: stream.badge,
    };
    return message;
  }

  answerOf(turn: string): Message | undefined {
    return this.messages.find((message) => message.turn?.id === turn);
  }

  /** The child that is shown of each message: the chosen one, else the one that leads to the latest message. */
  private shownChildren(): Map<string | null, Message> {
    const shown = new Map<string | null, Message>();
    const latestUnder = new Map<string | null, number>();
    // Backwards, since a message is written after its parent: by then all that follows it has been seen.
    for (let index = this.messages.length - 1; index >= 0; index -= 1) {
      const message = this.messages[index]!;
      const latest = latestUnder.get(message.id) ?? index;
      if (latest > (latestUnder.get(message.parent) ?? -1)) {
        latestUnder.set(message.parent, latest);
        shown.set(message.parent, message);
      }
    }
    for (const message of this.messages) {
      if (this.chosen.get(message.parent) === message.id) shown.set(message.parent, message);
    }
    return shown;
  }

  private rename(from: string, to: string): void {
    for (const message of this.messages) {
      if (message.id === from) message.id = to;
      if (message.parent === from) message.parent = to;
    }
    for (const [parent, child] of [...this.chosen]) {
      if (child === from) this.chosen.set(parent, to);
      if (parent === from) {
        this.chosen.delete(parent);
        this.chosen.set(to, child);
      }
    }
  }
}

function makeMessage(fields: Omit<Message, "created_at">): Message {
  return { ...fields, created_at: new Date().toISOString() };
}
