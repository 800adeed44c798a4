// The transcript on the page: one view per message, in the order of the path, and the scroll that follows the end.

import { byId } from "./dom";
import { AnswerView, QuestionView, type MessageActions, type MessageView } from "./message_view";
import type { TurnStream } from "./stream";
import type { Message, Transcript } from "./transcript";

// So near to the end, in pixels, the page counts as read to the end and follows.
const NEAR_END = 80;

export class TranscriptView {
  private readonly list = byId("messages");
  private readonly scroller = byId("transcript");
  private readonly empty = byId("empty");
  private readonly jump = byId<HTMLButtonElement>("jump");
  private readonly announcer = byId("announcer");
  private views = new Map<Message, MessageView>();
  private follows = true;

  constructor(private readonly actions: MessageActions) {
    this.scroller.addEventListener("scroll", () => this.onScroll(), { passive: true });
    // A badge that is opened at the end would open out of sight. The event does not bubble: it is caught on its way down.
    this.list.addEventListener("toggle", () => this.followEnd(), { capture: true });
    this.jump.addEventListener("click", () => this.scrollToEnd());
  }

  /** Show the transcript's path; views of messages that stay on it are kept as they are. */
  draw(transcript: Transcript, streamOf: (turn: string) => TurnStream | undefined): void {
    const path = transcript.path();
    this.empty.hidden = path.length > 0;
    const views = new Map<Message, MessageView>();
    for (const message of path) views.set(message, this.views.get(message) ?? this.makeView(message));
    this.views = views;
    this.list.replaceChildren(...Array.from(views.values(), (view) => view.root));
    for (const message of path) this.update(message, transcript, streamOf(message.turn?.id ?? ""));
    this.followEnd();
  }

  /** Show what is new in one answer. */
  update(
    message: Message,
    transcript: Transcript,
    stream: TurnStream | undefined,
    afterPaint?: () => void,
  ): void {
    const view = this.views.get(message);
    if (!(view instanceof AnswerView)) return;
    if (stream?.isOpen) {
      view.showStream(stream, () => {
        this.followEnd();
        // A timer set while a frame is drawn runs once that frame is on the screen.
        if (afterPaint) window.setTimeout(afterPaint);
      });
    } else {
      const siblings = transcript.siblings(message);
      view.showEnded({ index: siblings.indexOf(message), count: siblings.length });
    }
    this.followEnd();
  }

  scrollToEnd(): void {
    this.follows = true;
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  /** Stepping from answer to answer replaces the buttons: the one that was used keeps the focus. */
  focusPager(message: Message, by: -1 | 1): void {
    const pager = this.views.get(message)?.root.querySelectorAll<HTMLButtonElement>("[data-step]");
    const same = Array.from(pager ?? []).filter((button) => !button.disabled);
    (same.find((button) => button.dataset["step"] === String(by)) ?? same[0])?.focus();
  }

  /** Said to a screen reader, once the answer is whole: word by word it would be noise. */
  announce(text: string): void {
    this.announcer.textContent = text;
  }

  private makeView(message: Message): MessageView {
    return message.role === "user" ? new QuestionView(message) : new AnswerView(message, this.actions);
  }

  private followEnd(): void {
    if (this.follows) this.scroller.scrollTop = this.scroller.scrollHeight;
    else this.jump.hidden = this.distanceToEnd() <= NEAR_END;
  }

  private onScroll(): void {
    this.follows = this.distanceToEnd() <= NEAR_END;
    this.jump.hidden = this.follows;
  }

  private distanceToEnd(): number {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
  }
}
