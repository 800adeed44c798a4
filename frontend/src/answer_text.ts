// An answer's text on the page while it grows: finished blocks stay as they are, only the open one is drawn again.

import { lastBlockStart, renderMarkdown } from "./markdown";

// A block is only looked for when the open part has grown by this much: parsing is what costs.
const LOOK_AFTER_CHARACTERS = 200;

export class AnswerText {
  private readonly done = document.createElement("div");
  private readonly open = document.createElement("div");
  private text = "";
  /** Characters that `done` shows. */
  private frozen = 0;
  private lookAt = LOOK_AFTER_CHARACTERS;
  private frame = 0;

  constructor(root: HTMLElement) {
    root.replaceChildren(this.done, this.open);
    this.done.className = this.open.className = "prose";
  }

  /** Show the text so far; drawn once per animation frame, however often it is called. */
  grow(text: string, afterPaint?: () => void): void {
    this.text = text;
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
      afterPaint?.();
    });
  }

  /** The text is whole: drawn once more in one piece, as a reload would show it. */
  finish(text: string): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.text = text;
    this.open.replaceChildren();
    this.done.replaceChildren(renderMarkdown(text));
    this.frozen = text.length;
  }

  private draw(): void {
    const tail = this.text.slice(this.frozen);
    if (tail.length >= this.lookAt) {
      const start = lastBlockStart(tail);
      if (start > 0) {
        this.done.append(renderMarkdown(tail.slice(0, start)));
        this.frozen += start;
      }
      this.lookAt = this.text.length - this.frozen + LOOK_AFTER_CHARACTERS;
    }
    this.open.replaceChildren(renderMarkdown(this.text.slice(this.frozen)));
  }
}
