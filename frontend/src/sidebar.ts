// The list of a person's conversations: open, rename in place, delete after a second click; a drawer on a phone.

import type { ConversationSummary } from "./api";
import { button, byId, iconButton, make } from "./dom";

export type SidebarActions = {
  start(): void;
  open(id: string): void;
  rename(id: string, title: string): Promise<ConversationSummary>;
  remove(id: string): Promise<void>;
  fail(message: string): void;
};

export class Sidebar {
  private readonly list = byId("conversations");
  private readonly toggle = byId("sidebar-toggle");
  private current: string | null = null;
  /** The conversation whose item is being renamed or deleted: it is left alone when the list is drawn. */
  private edited: string | null = null;

  constructor(
    private conversations: ConversationSummary[],
    private readonly actions: SidebarActions,
  ) {
    onPlainClick(byId("new-chat"), () => actions.start());
    this.toggle.addEventListener("click", () => this.setOpen(!this.isOpen));
    byId("sidebar").addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || !this.isOpen) return;
      event.preventDefault();
      this.close();
      this.toggle.focus();
    });
    this.draw();
  }

  close(): void {
    this.setOpen(false);
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

  private get isOpen(): boolean {
    return document.body.classList.contains("sidebar-open");
  }

  private setOpen(isOpen: boolean): void {
    document.body.classList.toggle("sidebar-open", isOpen);
    this.toggle.setAttribute("aria-expanded", String(isOpen));
  }

  private draw(): void {
    // Drawing would take the field away from under the person who types in it; leaving it draws again.
    if (this.edited !== null) return;
    this.list.replaceChildren(...this.conversations.map((summary) => this.makeItem(summary)));
    if (!this.conversations.length) this.list.append(make("li", { class: "empty" }, "No conversations yet."));
  }

  private makeItem(summary: ConversationSummary): HTMLElement {
    const { id, title } = summary;
    const link = make("a", { href: `/c/${id}/`, dir: "auto", title, "data-id": id }, title);
    if (id === this.current) link.setAttribute("aria-current", "page");
    onPlainClick(link, () => this.actions.open(id));
    const item = make("li", {}, link);
    item.append(
      make(
        "span",
        { class: "item-tools" },
        iconButton("pencil", `Rename “${title}”`, () => this.startRename(item, summary)),
        iconButton("bin", `Delete “${title}”`, () => this.startDelete(item, summary)),
      ),
    );
    return item;
  }

  private startRename(item: HTMLElement, summary: ConversationSummary): void {
    const field = make("input", { type: "text", maxlength: "200", dir: "auto", "aria-label": "New title" });
    field.value = summary.title;
    const form = make("form", { class: "rename" }, field);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.finish(summary.id, async () => {
        const renamed = await this.actions.rename(summary.id, field.value);
        this.conversations = this.conversations.map((other) => (other.id === renamed.id ? renamed : other));
      });
    });
    this.startEdit(item, summary.id, form);
    field.select();
  }

  private startDelete(item: HTMLElement, summary: ConversationSummary): void {
    const remove = async (): Promise<void> => {
      await this.actions.remove(summary.id);
      this.conversations = this.conversations.filter((other) => other.id !== summary.id);
    };
    const told = make("span", { class: "confirm" }, "Delete for good?");
    const yes = button(
      "Delete",
      "tool danger",
      () => void this.finish(summary.id, remove),
      "Delete for good",
    );
    const no = button("Keep", "tool", () => this.endEdit(summary.id));
    this.startEdit(item, summary.id, told, yes, no);
  }

  private startEdit(item: HTMLElement, id: string, ...parts: HTMLElement[]): void {
    if (this.edited !== null) this.leaveEdit();
    this.edited = id;
    const place = this.list.contains(item) ? item : this.itemOf(id);
    place?.replaceChildren(...parts);
    place?.querySelector<HTMLElement>("input, button")?.focus();
    place?.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      this.endEdit(id);
    });
    // Some browsers take the focus away when a button is pressed: leaving would then come before the click.
    place?.addEventListener("mousedown", (event) => {
      if (event.target instanceof HTMLButtonElement) event.preventDefault();
    });
    place?.addEventListener("focusout", (event) => {
      if (!place.contains(event.relatedTarget as Node | null) && this.edited === id) this.abandonEdit(place);
    });
  }

  /** Do what was asked for one conversation, or say why not; then the list as it is now. */
  private async finish(id: string, change: () => Promise<void>): Promise<void> {
    this.endEdit(id);
    try {
      await change();
    } catch (error) {
      this.actions.fail((error as Error).message);
    }
    const hadFocus = this.list.contains(document.activeElement);
    this.draw();
    if (hadFocus) this.itemOf(id)?.querySelector("a")?.focus();
  }

  /** The item is a link again, and has the focus. */
  private endEdit(id: string): void {
    this.leaveEdit();
    this.itemOf(id)?.querySelector("a")?.focus();
  }

  /** The person went elsewhere: only this item is drawn, since another one may be about to be clicked. */
  private abandonEdit(place: HTMLElement): void {
    const summary = this.conversations.find((other) => other.id === this.edited);
    this.edited = null;
    if (summary) place.replaceWith(this.makeItem(summary));
  }

  private leaveEdit(): void {
    this.edited = null;
    this.draw();
  }

  private itemOf(id: string): HTMLElement | null {
    const links = Array.from(this.list.querySelectorAll("a"));
    return links.find((link) => link.dataset["id"] === id)?.closest("li") ?? null;
  }
}

/** A click that stays on this page; one that opens a tab or a window is the browser's. */
function onPlainClick(link: HTMLElement, act: () => void): void {
  link.addEventListener("click", (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    act();
  });
}
