// The chat: what a person does becomes turns, and what the server says of them is shown.

import { deleteConversation, getConversation, renameConversation, type ConversationSummary } from "./api";
import { Composer } from "./composer";
import { Connection, type Line } from "./connection";
import { byId } from "./dom";
import { OpenTurns } from "./open_turns";
import { makeId, type AcceptedFrame, type AskFrame, type ServerFrame } from "./protocol";
import { Sidebar } from "./sidebar";
import { showEngine, showLine, tell } from "./status_lines";
import type { TurnStream } from "./stream";
import { Transcript, type ConversationData, type Message } from "./transcript";
import { TranscriptView } from "./transcript_view";

export type Boot = {
  user: { name: string; is_staff: boolean; is_admin: boolean };
  conversations: ConversationSummary[];
  conversation: ConversationData | null;
  limits: { question_characters: number };
};

const ANNOUNCED_CHARACTERS = 500;

export class ChatPage {
  private transcript: Transcript;
  /** Counts what was opened: an answer to an earlier click must not replace what was opened after it. */
  private opened = 0;
  private readonly view: TranscriptView;
  private readonly sidebar: Sidebar;
  private readonly composer: Composer;
  private readonly connection: Connection;
  private readonly turns: OpenTurns;

  constructor(boot: Boot) {
    this.transcript = new Transcript(boot.conversation);
    this.view = new TranscriptView({
      askAgain: (message) => this.askAgain(message),
      rate: (message, value) => this.rate(message, value),
      step: (message, by) => this.step(message, by),
    });
    this.sidebar = new Sidebar(boot.conversations, {
      start: () => this.show(new Transcript(null), "/"),
      open: (id) => void this.open(id, `/c/${id}/`),
      rename: (id, title) => this.rename(id, title),
      remove: (id) => this.remove(id),
      fail: tell,
    });
    this.composer = new Composer(byId<HTMLFormElement>("composer"), boot.limits.question_characters, {
      send: (text) => this.ask(text),
      stop: () => this.stop(),
    });
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.connection = new Connection(`${scheme}://${location.host}/ws/chat/`, {
      onFrame: (frame) => this.onFrame(frame),
      onLine: (line) => this.onLine(line),
    });
    this.turns = new OpenTurns(this.connection, {
      onAccepted: (frame) => this.onAccepted(frame),
      onGrown: (stream, afterPaint) => this.onGrown(stream, afterPaint),
      onEnded: (stream) => this.onEnded(stream),
      onRefused: (frame) => this.onRefused(frame),
      onLost: (turn) => void this.onLost(turn),
    });
  }

  start(): void {
    for (const example of document.querySelectorAll<HTMLElement>("[data-example]")) {
      example.addEventListener("click", () => {
        if (this.ask(example.dataset["example"] ?? "")) this.composer.focus();
      });
    }
    window.addEventListener("popstate", () => {
      const id = /^\/c\/([0-9a-f-]{36})\/$/.exec(location.pathname)?.[1];
      if (id) void this.open(id, null);
      else this.show(new Transcript(null), null);
    });
    this.adopt(this.transcript);
    // Not by `autofocus`, which acts at the first rendering: that may be later than the first key.
    if (document.activeElement === document.body) this.composer.focus();
    this.connection.start();
  }

  // What a person does

  private ask(text: string): boolean {
    if (!text.trim() || this.runningTurn()) return false;
    const turn = makeId();
    const parent = this.transcript.path().at(-1)?.id;
    this.transcript.addQuestion(turn, text);
    const frame: AskFrame = { type: "ask", turn, conversation: this.transcript.id, text, cache: "use" };
    this.launch(parent === undefined ? frame : { ...frame, parent });
    return true;
  }

  private askAgain(message: Message): void {
    const earlier = message.turn?.id;
    if (!earlier || !message.parent || this.runningTurn()) return;
    const turn = makeId();
    this.transcript.addAnswer(turn, message.parent);
    // A failed question may well be answered by the cache; "ask again" asks for something new.
    const cache = message.turn?.status === "failed" ? "use" : "bypass";
    this.launch({ type: "ask", turn, conversation: this.transcript.id, again: earlier, cache });
    this.composer.focus();
  }

  private launch(frame: AskFrame): void {
    tell("");
    this.turns.ask(frame);
    this.redraw();
    this.view.scrollToEnd();
  }

  private stop(): void {
    const turn = this.runningTurn();
    if (turn) this.turns.stop(turn);
  }

  private rate(message: Message, value: "up" | "down" | "none"): void {
    if (!message.turn) return;
    if (this.connection.send({ type: "feedback", turn: message.turn.id, value }))
      message.turn.feedback = value;
    else tell("You are offline: your judgement was not kept.");
  }

  private step(message: Message, by: -1 | 1): void {
    const siblings = this.transcript.siblings(message);
    const other = siblings[siblings.indexOf(message) + by];
    if (!other) return;
    this.transcript.show(other);
    this.redraw();
    this.view.focusPager(other, by);
  }

  private async rename(id: string, title: string): Promise<ConversationSummary> {
    const renamed = await renameConversation(id, title);
    if (id === this.transcript.id) {
      this.transcript.title = renamed.title;
      this.showTitle();
    }
    return renamed;
  }

  private async remove(id: string): Promise<void> {
    await deleteConversation(id);
    if (id === this.transcript.id) this.show(new Transcript(null), "/");
  }

  // What is shown

  /** Show a conversation as the server has it; `path` becomes a new entry of the history, null is none. */
  private async open(id: string, path: string | null): Promise<void> {
    const opened = (this.opened += 1);
    try {
      const data = await getConversation(id);
      if (opened === this.opened) this.show(new Transcript(data), path);
    } catch (error) {
      tell((error as Error).message);
    }
  }

  private show(transcript: Transcript, path: string | null): void {
    this.opened += 1;
    if (path !== null) history.pushState(null, "", path);
    this.adopt(transcript);
    this.sidebar.close();
    this.composer.focus();
  }

  /** Make a transcript the one shown, and follow the answer that still runs in it. */
  private adopt(transcript: Transcript): void {
    this.transcript = transcript;
    const running = transcript.messages.filter((message) => message.turn?.status === "running");
    this.turns.followOnly(running.map((message) => message.turn!.id));
    tell("");
    this.redraw();
    this.view.scrollToEnd();
  }

  private redraw(): void {
    this.showTitle();
    this.sidebar.select(this.transcript.id);
    this.view.draw(this.transcript, (turn) => this.turns.get(turn));
    this.composer.setRunning(this.runningTurn() !== null);
  }

  private showTitle(): void {
    document.title = this.transcript.title ? `${this.transcript.title} · chatapp` : "chatapp";
  }

  private runningTurn(): string | null {
    const running = this.transcript.messages.find(
      (message) => message.turn && this.turns.get(message.turn.id)?.isOpen,
    );
    return running?.turn?.id ?? null;
  }

  // What the server says

  private onLine(line: Line): void {
    showLine(line);
    document.body.dataset["line"] = line;
  }

  private onFrame(frame: ServerFrame): void {
    if (frame.type === "ready" || frame.type === "notice") showEngine(frame.engine);
    if (frame.type === "ready") this.turns.onReady();
    if (frame.type === "error") tell(frame.message);
    this.turns.onFrame(frame);
  }

  private onAccepted(frame: AcceptedFrame): void {
    const { conversation: id, title } = frame;
    this.sidebar.lift({ id, title, updated_at: new Date().toISOString() });
    if (!this.transcript.answerOf(frame.turn)) return;
    const isNew = this.transcript.id === null;
    this.transcript.accept(frame);
    if (isNew) history.replaceState(null, "", `/c/${id}/`);
    this.redraw();
  }

  private onGrown(stream: TurnStream, afterPaint?: () => void): void {
    const message = this.transcript.answerOf(stream.turn);
    if (message) this.view.update(message, this.transcript, stream, afterPaint);
  }

  private onEnded(stream: TurnStream): void {
    const message = this.transcript.endAnswer(stream);
    if (!message) return;
    this.view.update(message, this.transcript, undefined);
    this.composer.setRunning(this.runningTurn() !== null);
    this.view.announce(stream.failure?.message ?? `Answer: ${stream.text.slice(0, ANNOUNCED_CHARACTERS)}`);
  }

  private onRefused(frame: AskFrame): void {
    this.transcript.refuse(frame.turn);
    // The question goes back where it was written: nothing is lost.
    if ("text" in frame && !this.composer.text) this.composer.text = frame.text;
    this.redraw();
  }

  /** What is here does not match the server's: take the conversation as the server has it. */
  private async onLost(turn: string): Promise<void> {
    const { id } = this.transcript;
    if (!id || !this.transcript.answerOf(turn)) return;
    try {
      const data = await getConversation(id);
      if (this.transcript.id === id) this.adopt(new Transcript(data));
    } catch (error) {
      tell((error as Error).message);
    }
  }
}
