// The chat: what a person does becomes frames, and frames become what is shown.

import { deleteConversation, getConversation, renameConversation, type ConversationSummary } from "./api";
import { Composer } from "./composer";
import { Connection, type Line } from "./connection";
import { byId } from "./dom";
import { isEnding, isRecord, makeId, type EngineState, type RecordFrame, type ServerFrame } from "./protocol";
import type { AcceptedFrame, ClientFrame } from "./protocol";
import { Sidebar } from "./sidebar";
import { TurnStream } from "./stream";
import { Transcript, type ConversationData, type Message } from "./transcript";
import { TranscriptView } from "./transcript_view";

export type Boot = {
  user: { name: string; is_staff: boolean; is_admin: boolean };
  conversations: ConversationSummary[];
  conversation: ConversationData | null;
  limits: { question_characters: number };
};

// The server learns how far the page has got: every so many records, and at the end.
const ACK_EVERY = 25;
const ANNOUNCED_CHARACTERS = 500;

export class ChatPage {
  private transcript: Transcript;
  private streams = new Map<string, TurnStream>();
  /** Questions that the server has not accepted yet: sent again, under the same id, when the line comes back. */
  private unaccepted = new Map<string, ClientFrame>();
  private askedAt = new Map<string, number>();
  private readonly view: TranscriptView;
  private readonly sidebar: Sidebar;
  private readonly composer: Composer;
  private readonly connection: Connection;

  constructor(boot: Boot) {
    this.transcript = new Transcript(boot.conversation);
    this.view = new TranscriptView({
      askAgain: (message) => this.askAgain(message),
      rate: (message, value) => this.rate(message, value),
      step: (message, by) => this.step(message, by),
    });
    this.sidebar = new Sidebar(byId("conversations"), boot.conversations, {
      open: (id) => void this.open(id),
      rename: renameConversation,
      remove: (id) => this.remove(id),
      fail: (message) => this.tell(message),
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
  }

  start(): void {
    byId("new-chat").addEventListener("click", (event) => {
      event.preventDefault();
      this.show(new Transcript(null), "/");
    });
    for (const example of document.querySelectorAll<HTMLElement>("[data-example]")) {
      example.addEventListener("click", () => this.ask(example.dataset["example"] ?? ""));
    }
    window.addEventListener("popstate", () => void this.onPopState());
    this.adopt(this.transcript);
    this.connection.start();
  }

  // What a person does

  private ask(text: string): boolean {
    if (!text.trim() || this.runningTurn()) return false;
    const turn = makeId();
    const parent = this.transcript.path().at(-1)?.id;
    this.transcript.addQuestion(turn, text);
    const frame = {
      type: "ask" as const,
      turn,
      conversation: this.transcript.id,
      text,
      cache: "use" as const,
    };
    this.launch(turn, parent === undefined ? frame : { ...frame, parent });
    return true;
  }

  private askAgain(message: Message): void {
    const earlier = message.turn?.id;
    if (!earlier || !message.parent || this.runningTurn()) return;
    const turn = makeId();
    this.transcript.addAnswer(turn, message.parent);
    // A failed question may well be answered by the cache; "ask again" asks for something new.
    const cache = message.turn?.status === "failed" ? "use" : "bypass";
    this.launch(turn, { type: "ask", turn, conversation: this.transcript.id, again: earlier, cache });
  }

  private launch(turn: string, frame: ClientFrame): void {
    this.streams.set(turn, new TurnStream(turn));
    this.unaccepted.set(turn, frame);
    this.askedAt.set(turn, performance.now());
    this.tell("");
    this.connection.send(frame);
    this.redraw();
    this.view.scrollToEnd();
  }

  private stop(): void {
    const turn = this.runningTurn();
    if (turn) this.connection.send({ type: "stop", turn });
  }

  private rate(message: Message, value: "up" | "down" | "none"): void {
    if (!message.turn) return;
    if (this.connection.send({ type: "feedback", turn: message.turn.id, value }))
      message.turn.feedback = value;
    else this.tell("You are offline: your judgement was not kept.");
  }

  private step(message: Message, by: number): void {
    const siblings = this.transcript.siblings(message);
    const other = siblings[siblings.indexOf(message) + by];
    if (!other) return;
    this.transcript.show(other);
    this.redraw();
  }

  private async open(id: string): Promise<void> {
    try {
      this.show(new Transcript(await getConversation(id)), `/c/${id}/`);
    } catch (error) {
      this.tell((error as Error).message);
    }
  }

  private async remove(id: string): Promise<void> {
    await deleteConversation(id);
    if (id === this.transcript.id) this.show(new Transcript(null), "/");
  }

  private async onPopState(): Promise<void> {
    const id = /^\/c\/([0-9a-f-]{36})\/$/.exec(location.pathname)?.[1];
    try {
      this.adopt(new Transcript(id ? await getConversation(id) : null));
    } catch (error) {
      this.tell((error as Error).message);
    }
  }

  // What is shown

  private show(transcript: Transcript, path: string): void {
    history.pushState(null, "", path);
    this.adopt(transcript);
    document.body.classList.remove("sidebar-open");
    this.composer.focus();
  }

  /** Make a transcript the one shown, and follow the answer that still runs in it. */
  private adopt(transcript: Transcript): void {
    this.transcript = transcript;
    for (const message of transcript.messages) {
      const turn = message.turn;
      if (!turn || turn.status !== "running" || message.id.startsWith("a:")) continue;
      this.streams.set(turn.id, new TurnStream(turn.id, "running"));
      this.connection.send({ type: "resume", turn: turn.id, after: -1 });
    }
    this.tell("");
    this.redraw();
    this.view.scrollToEnd();
  }

  private redraw(): void {
    document.title = this.transcript.title ? `${this.transcript.title} · chatapp` : "chatapp";
    this.sidebar.select(this.transcript.id);
    this.view.draw(this.transcript, this.streams);
    this.composer.setRunning(this.runningTurn() !== null);
  }

  private runningTurn(): string | null {
    for (const message of this.transcript.messages) {
      if (message.turn && this.streams.get(message.turn.id)?.isOpen) return message.turn.id;
    }
    return null;
  }

  /** One quiet line above the field; blank hides it. */
  private tell(message: string): void {
    const notice = byId("notice");
    notice.textContent = message;
    notice.hidden = !message;
  }

  // What the server says

  private onLine(line: Line): void {
    const told = byId("line");
    told.hidden = line === "open" || line === "connecting";
    told.replaceChildren(line === "signed-out" ? "You are signed out. " : "Reconnecting…");
    if (line === "signed-out") {
      const link = document.createElement("a");
      link.href = `/accounts/login/?next=${encodeURIComponent(location.pathname)}`;
      link.textContent = "Log in again";
      told.append(link, ".");
    }
    document.body.dataset["line"] = line;
  }

  private onFrame(frame: ServerFrame): void {
    if (isRecord(frame)) this.onRecord(frame);
    else if (frame.type === "ready") this.onReady(frame.engine);
    else if (frame.type === "notice") this.showEngine(frame.engine);
    else if (frame.type === "accepted") this.onAccepted(frame);
    else if (frame.type === "gap") void this.refetch();
    else if (frame.type === "error") this.onError(frame.code, frame.message, frame.turn);
  }

  /** The line is there, again: ask what was not accepted, and go on with what was running. */
  private onReady(engine: EngineState): void {
    this.showEngine(engine);
    for (const frame of this.unaccepted.values()) this.connection.send(frame);
    for (const [turn, stream] of this.streams) {
      if (stream.isOpen && !this.unaccepted.has(turn)) {
        this.connection.send({ type: "resume", turn, after: stream.nextSeq - 1 });
      }
    }
  }

  private onAccepted(frame: AcceptedFrame): void {
    this.unaccepted.delete(frame.turn);
    const summary = { id: frame.conversation, title: frame.title, updated_at: new Date().toISOString() };
    this.sidebar.lift(summary);
    if (!this.transcript.answerOf(frame.turn)) return;
    const isNew = this.transcript.id === null;
    this.transcript.accept(frame);
    const stream = this.streams.get(frame.turn);
    if (stream && stream.status === "sending") stream.status = "running";
    if (isNew) history.replaceState(null, "", `/c/${frame.conversation}/`);
    this.redraw();
  }

  private onRecord(frame: RecordFrame): void {
    const stream = this.streams.get(frame.turn);
    const message = this.transcript.answerOf(frame.turn);
    if (!stream || !message) return;
    const taken = stream.take(frame);
    if (taken === "gap")
      this.connection.send({ type: "resume", turn: frame.turn, after: stream.nextSeq - 1 });
    if (taken !== "applied") return;
    if (stream.nextSeq % ACK_EVERY === 0 || !stream.isOpen) {
      this.connection.send({ type: "ack", turn: frame.turn, seq: stream.nextSeq - 1 });
    }
    if (stream.isOpen) {
      const isFirst = frame.type === "delta" && this.askedAt.has(frame.turn);
      this.view.update(
        message,
        this.transcript,
        stream,
        isFirst ? () => this.reportPaint(frame.turn) : undefined,
      );
    } else if (isEnding(frame)) {
      this.onEnded(message, stream);
    }
  }

  private onEnded(message: Message, stream: TurnStream): void {
    message.text = stream.text;
    message.status = stream.status === "finished" ? "complete" : (stream.status as "stopped" | "failed");
    message.turn = {
      id: stream.turn,
      status: stream.status as "finished" | "stopped" | "failed",
      finish_reason: stream.finishReason,
      error_code: stream.failure?.code ?? "",
      error_message: stream.failure?.message ?? "",
      feedback: message.turn?.feedback ?? "none",
      badge: stream.badge,
    };
    this.view.update(message, this.transcript, stream);
    requestAnimationFrame(() => this.reportPaint(stream.turn));
    this.streams.delete(stream.turn);
    this.composer.setRunning(this.runningTurn() !== null);
    this.view.announce(stream.failure?.message ?? `Answer: ${stream.text.slice(0, ANNOUNCED_CHARACTERS)}`);
    if (!stream.isIntact) void this.refetch();
  }

  /** How long after sending the first text was on the screen; told once per turn, and only by the tab that asked. */
  private reportPaint(turn: string): void {
    const askedAt = this.askedAt.get(turn);
    if (askedAt === undefined) return;
    this.askedAt.delete(turn);
    this.connection.send({ type: "painted", turn, ms: Math.round((performance.now() - askedAt) * 10) / 10 });
  }

  /** What is here does not match the server's: take the conversation as the server has it. */
  private async refetch(): Promise<void> {
    const id = this.transcript.id;
    if (!id) return;
    try {
      const data = await getConversation(id);
      for (const message of data.messages) if (message.turn) this.streams.delete(message.turn.id);
      if (this.transcript.id === id) this.adopt(new Transcript(data));
    } catch (error) {
      this.tell((error as Error).message);
    }
  }

  private onError(code: string, message: string, turn: string | undefined): void {
    this.tell(message);
    if (!turn || !this.unaccepted.has(turn) || code === "too_many_frames") return;
    this.unaccepted.delete(turn);
    this.streams.delete(turn);
    this.askedAt.delete(turn);
    // The question goes back where it was written: nothing is lost.
    const text = this.transcript.refuse(turn);
    if (text !== null && !this.composer.text) this.composer.text = text;
    this.redraw();
  }

  private showEngine(engine: EngineState): void {
    const line = byId("engine");
    const percent = engine.progress === null ? "" : ` ${Math.round(engine.progress * 100)} %`;
    const told = {
      up: "",
      off: "",
      loading: `The local model is warming up…${percent} ${engine.message}`,
      down: `The local model is not there. ${engine.message}`,
    }[engine.state];
    line.hidden = !told;
    byId("engine-text").textContent = told ?? "";
    const bar = byId<HTMLProgressElement>("engine-progress");
    bar.hidden = engine.state !== "loading";
    if (engine.progress === null) bar.removeAttribute("value");
    else bar.value = engine.progress;
  }
}
