// The field at the bottom: Enter sends, Shift+Enter breaks the line, Esc stops.

/** Whether a key press sends. Enter that ends an IME composition does not; Safari says so by key code 229 only. */
export function isSendKey(
  event: Pick<KeyboardEvent, "key" | "shiftKey" | "isComposing" | "keyCode">,
): boolean {
  return event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229;
}

/** Characters as the server counts them: an emoji of two code units is one. */
function countCharacters(text: string): number {
  let count = text.length;
  for (const unit of text) count -= unit.length - 1;
  return count;
}

// The limit is told when it comes near: from this share of it.
const TELL_FROM_SHARE = 0.8;

export type ComposerActions = { send(text: string): boolean; stop(): void };

export class Composer {
  private readonly field: HTMLTextAreaElement;
  private readonly sendButton: HTMLButtonElement;
  private readonly stopButton: HTMLButtonElement;
  private readonly count: HTMLElement;
  private isRunning = false;

  constructor(
    form: HTMLFormElement,
    private readonly maxCharacters: number,
    private readonly actions: ComposerActions,
  ) {
    this.field = form.querySelector("textarea")!;
    this.sendButton = form.querySelector(".send")!;
    this.stopButton = form.querySelector(".stop")!;
    this.count = form.querySelector(".count")!;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.field.addEventListener("keydown", (event) => {
      if (!isSendKey(event)) return;
      event.preventDefault();
      this.send();
    });
    this.field.addEventListener("input", () => this.update());
    this.stopButton.addEventListener("click", () => actions.stop());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
      if (this.isRunning) actions.stop();
    });
    this.update();
  }

  focus(): void {
    this.field.focus();
  }

  get text(): string {
    return this.field.value;
  }

  set text(value: string) {
    this.field.value = value;
    this.update();
  }

  setRunning(isRunning: boolean): void {
    this.isRunning = isRunning;
    // A hidden button cannot keep the focus: it goes where the next question is written.
    if (!isRunning && document.activeElement === this.stopButton) this.focus();
    this.stopButton.hidden = !isRunning;
    this.sendButton.hidden = isRunning;
    this.update();
  }

  private send(): void {
    if (this.sendButton.disabled || this.isRunning) return;
    if (this.actions.send(this.field.value)) this.text = "";
  }

  private update(): void {
    const length = countCharacters(this.field.value);
    const isTooLong = length > this.maxCharacters;
    this.sendButton.disabled = isTooLong || !this.field.value.trim();
    this.count.hidden = length < this.maxCharacters * TELL_FROM_SHARE;
    this.count.textContent = `${length.toLocaleString()} of ${this.maxCharacters.toLocaleString()} characters`;
    this.count.classList.toggle("is-over", isTooLong);
    this.field.style.height = "auto";
    this.field.style.height = `${this.field.scrollHeight}px`;
  }
}
