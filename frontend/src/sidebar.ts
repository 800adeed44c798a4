// The list of conversations: open, rename, delete.

import type { ConversationSummary } from "./api";
import { button, iconButton, make } from "./dom";

export type SidebarActions = {
  open(id: string): void;
  rename(id: string, title: string): Promise<ConversationSummary>;
  remove(id: string): Promise<void>;
  fail(message: string): void;
};

export class Sidebar {
  private current: string | null = null;

  constructor(
    private readonly list: HTMLElement,
    private conversations: ConversationSummary[],
    private readonly actions: SidebarActions,
  ) {
    this.draw();
  }

  /** Put a conversation at the top, as a new question in it does. */
  lift(summary: ConversationSummary): void {
    this.conversations = [summary, ...this.conversations.filter((other) => other.id !== summary.id)];
    this.draw();
  }

  select(id: string | null): void {
    this.current = id;
    this.draw();
  }

  private draw(): void {
    this.list.replaceChildren(...this.conversations.map((summary) => this.makeItem(summary)));
    if (!this.conversations.length) this.list.append(make("li", { class: "empty" }, "No conversations yet."));
  }

  private makeItem(summary: ConversationSummary): HTMLElement {
    const link = make("a", { href: `/c/${summary.id}/`, dir: "auto", title: summary.title }, summary.title);
    if (summary.id === this.current) link.setAttribute("aria-current", "page");
    link.addEventListener("click", (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      this.actions.open(summary.id);
    });
    const item = make("li", {}, link);
    item.append(
      make(
        "span",
        { class: "item-tools" },
        iconButton("pencil", `Rename “${summary.title}”`, () => this.startRename(item, summary)),
        iconButton("bin", `Delete “${summary.title}”`, () => this.startDelete(item, summary)),
      ),
    );
    return item;
  }

  private startRename(item: HTMLElement, summary: ConversationSummary): void {
    const field = make("input", { type: "text", maxlength: "200", "aria-label": "New title" });
    field.value = summary.title;
    const form = make("form", { class: "rename" }, field);
    const leave = (): void => this.draw();
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      field.removeEventListener("blur", leave);
      void this.rename(summary, field.value);
    });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      this.draw();
    });
    field.addEventListener("blur", leave);
    item.replaceChildren(form);
    field.focus();
    field.select();
  }

  private async rename(summary: ConversationSummary, title: string): Promise<void> {
    try {
      const renamed = await this.actions.rename(summary.id, title);
      this.conversations = this.conversations.map((other) => (other.id === renamed.id ? renamed : other));
    } catch (error) {
      this.actions.fail((error as Error).message);
    }
    this.draw();
  }

  private startDelete(item: HTMLElement, summary: ConversationSummary): void {
    const yes = button("Delete", "tool danger", () => void this.remove(summary), "Delete for good");
    const no = button("Keep", "tool", () => this.draw());
    item.replaceChildren(make("span", { class: "confirm" }, "Delete for good?"), yes, no);
    yes.focus();
  }

  private async remove(summary: ConversationSummary): Promise<void> {
    try {
      await this.actions.remove(summary.id);
      this.conversations = this.conversations.filter((other) => other.id !== summary.id);
    } catch (error) {
      this.actions.fail((error as Error).message);
    }
    this.draw();
  }
}
