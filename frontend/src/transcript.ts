// A conversation as a tree of messages, and the path through it that is shown.

import type { AcceptedFrame, Badge } from "./protocol";

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
  /** Which child of a message is shown, where it is not the latest. */
  private chosen = new Map<string | null, string>();

  constructor(data: ConversationData | null) {
    this.id = data?.id ?? null;
    this.title = data?.title ?? "";
    this.messages = data ? [...data.messages] : [];
  }

  /** The messages shown, from the first to the last. */
  path(): Message[] {
    const path: Message[] = [];
    let current = this.shownChild(null);
    while (current) {
      path.push(current);
      current = this.shownChild(current.id);
    }
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

  /** The server did not take it: what was added for the turn goes. Returns the question's text if it was new. */
  refuse(turn: string): string | null {
    const question = this.messages.find((message) => message.id === `q:${turn}`);
    for (const id of [`a:${turn}`, `q:${turn}`]) {
      const index = this.messages.findIndex((message) => message.id === id);
      if (index >= 0) this.chosen.delete(this.messages[index]!.parent);
      if (index >= 0) this.messages.splice(index, 1);
    }
    return question ? question.text : null;
  }

  answerOf(turn: string): Message | undefined {
    return this.messages.find((message) => message.turn?.id === turn);
  }

  private shownChild(parent: string | null): Message | undefined {
    const children = this.messages.filter((message) => message.parent === parent);
    return children.find((child) => child.id === this.chosen.get(parent)) ?? children.at(-1);
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
