// One message on the page.

import { AnswerText } from "./answer_text";
import { makeBadge } from "./badge";
import { copyText } from "./clipboard";
import { button, iconButton, make } from "./dom";
import type { TurnStream } from "./stream";
import type { Message } from "./transcript";

export type MessageActions = {
  askAgain(message: Message): void;
  rate(message: Message, value: "up" | "down" | "none"): void;
  step(message: Message, by: -1 | 1): void;
};

export interface MessageView {
  readonly root: HTMLElement;
}

export class QuestionView implements MessageView {
  readonly root: HTMLElement;

  constructor(message: Message) {
    const text = make("div", { class: "question-text", dir: "auto" }, message.text);
    this.root = make("article", { class: "message question", "aria-label": "You asked" }, text);
  }
}

export class AnswerView implements MessageView {
  readonly root: HTMLElement;
  private readonly body = make("div", { class: "answer-body" });
  private readonly note = make("p", { class: "answer-note" });
  private readonly foot = make("div", { class: "answer-foot" });
  private readonly text: AnswerText;

  constructor(
    private readonly message: Message,
    private readonly actions: MessageActions,
  ) {
    this.text = new AnswerText(this.body);
    this.root = make(
      "article",
      { class: "message answer", "aria-label": "Answer" },
      this.body,
      this.note,
      this.foot,
    );
    this.root.addEventListener("click", (event) => this.onClick(event));
  }

  /** While the answer is on its way. */
  showStream(stream: TurnStream, afterPaint?: () => void): void {
    this.root.setAttribute("aria-busy", "true");
    this.root.classList.toggle("is-thinking", !stream.text);
    this.showNote(stream.waiting ?? "", "waiting");
    if (stream.text) this.text.grow(stream.text, afterPaint);
  }

  /** Once the answer has ended, or as a reload shows it. */
  showEnded(position: { index: number; count: number }): void {
    const { turn, text } = this.message;
    this.root.removeAttribute("aria-busy");
    this.root.classList.remove("is-thinking");
    this.text.finish(text);
    this.showNote(...describeEnd(this.message));
    this.foot.replaceChildren();
    if (turn?.badge && turn.status !== "failed") this.foot.append(makeBadge(turn.badge));
    this.foot.append(this.makeTools(position));
  }

  private showNote(text: string, kind: string): void {
    this.note.textContent = text;
    this.note.dataset["kind"] = kind;
    this.note.hidden = !text;
  }

  private makeTools({ index, count }: { index: number; count: number }): HTMLElement {
    const { message, actions } = this;
    const failed = message.turn?.status === "failed";
    const tools = make("div", { class: "tools", role: "group", "aria-label": "For this answer" });
    if (count > 1) {
      tools.append(
        this.makeStep("‹", -1, index === 0),
        make("span", { class: "count" }, `${index + 1} of ${count}`),
        this.makeStep("›", 1, index === count - 1),
      );
    }
    if (message.text) {
      const copy = button("Copy", "tool", () => void copyText(message.text, copy), "Copy as Markdown");
      tools.append(copy);
    }
    tools.append(
      button(failed ? "Try again" : "Ask again", failed ? "tool strong" : "tool", () =>
        actions.askAgain(message),
      ),
    );
    if (!failed) tools.append(this.makeThumb("up", "Good answer"), this.makeThumb("down", "Bad answer"));
    return tools;
  }

  private makeStep(sign: string, by: -1 | 1, isLast: boolean): HTMLElement {
    const label = by < 0 ? "Earlier answer" : "Later answer";
    const step = button(sign, "tool", () => this.actions.step(this.message, by), label);
    step.dataset["step"] = String(by);
    step.disabled = isLast;
    return step;
  }

  private makeThumb(value: "up" | "down", label: string): HTMLElement {
    const { message, actions } = this;
    const isPressed = (): boolean => message.turn?.feedback === value;
    const thumb = iconButton(value, label, () => {
      actions.rate(message, isPressed() ? "none" : value);
      for (const other of thumb.parentElement?.querySelectorAll("[aria-pressed]") ?? []) {
        other.setAttribute("aria-pressed", String(other === thumb && isPressed()));
      }
    });
    thumb.setAttribute("aria-pressed", String(isPressed()));
    return thumb;
  }

  private onClick(event: Event): void {
    const target = event.target as HTMLElement;
    if (!target.classList.contains("copy-code")) return;
    const code = target.closest(".code-block")?.querySelector("code")?.textContent ?? "";
    void copyText(code, target);
  }
}

function describeEnd(message: Message): [string, string] {
  const turn = message.turn;
  if (turn?.status === "failed")
    return [turn.error_message || "This question could not be answered. Try again.", "failed"];
  if (turn?.status === "stopped") return ["Stopped.", "stopped"];
  if (turn?.finish_reason === "length")
    return ["The answer reached the longest length and was cut off.", "cut"];
  if (turn?.finish_reason === "content_filter") return ["The provider's filter ended this answer.", "cut"];
  return ["", ""];
}
