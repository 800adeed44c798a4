// An answer's text on the page while it grows: finished blocks stay as they are, only the open one is drawn again.

import { isTooLongForMarkdown, lastBlockStart, renderMarkdown } from "./markdown";

// A block is only looked for when the open part has grown by this much: parsing is what costs.
const LOOK_AFTER_CHARACTERS = 200;
// After drawing, the page rests this many times as long: a huge open block must not hold up typing and scrolling.
const REST_SHARE = 4;
// Drawing that takes no longer than half a frame needs no rest.
const FREE_MS = 8;

export class AnswerText {
  private readonly done = document.createElement("div");
  private readonly open = document.createElement("div");
  private text = "";
  /** Characters that `done` shows. */
  private frozen = 0;
  private lookAt = LOOK_AFTER_CHARACTERS;
  private frame = 0;
  private restUntil = 0;
  private afterDraw: (() => void) | undefined;

  constructor(root: HTMLElement) {
    root.replaceChildren(this.done, this.open);
    this.done.className = this.open.className = "prose";
  }

  /** Show the text so far; drawn at most once per animation frame, however often it is called. */
  grow(text: string, afterDraw?: () => void): void {
    this.text = text;
    this.afterDraw = afterDraw;
    this.frame ||= requestAnimationFrame(() => this.onFrame());
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

  private onFrame(): void {
    const startedAt = performance.now();
    if (startedAt < this.restUntil) {
      this.frame = requestAnimationFrame(() => this.onFrame());
      return;
    }
    this.frame = 0;
    this.draw();
    this.afterDraw?.();
    const tookMs = performance.now() - startedAt;
    this.restUntil = tookMs > FREE_MS ? startedAt + tookMs * (1 + REST_SHARE) : 0;
  }

  private draw(): void {
    if (isTooLongForMarkdown(this.text)) {
      this.done.replaceChildren();
      this.frozen = 0;
    } else this.freezeBlocks();
    this.open.replaceChildren(renderMarkdown(this.text.slice(this.frozen)));
  }

  private freezeBlocks(): void {
    const tail = this.text.slice(this.frozen);
    if (tail.length < this.lookAt) return;
    const start = lastBlockStart(tail);
    if (start > 0) {
      this.done.append(renderMarkdown(tail.slice(0, start)));
      this.frozen += start;
    }
    this.lookAt = this.text.length - this.frozen + LOOK_AFTER_CHARACTERS;
  }
}
