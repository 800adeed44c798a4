// The chat page's own markup, taken from its template: what the script looks for must be there.

import { readFileSync } from "node:fs";

const template = readFileSync("../templates/chat/chat.html", "utf8");
const blocks = Object.fromEntries(
  ["bar_start", "content"].map((name) => {
    const found = new RegExp(`{% block ${name} %}(.*?){% endblock %}`, "s").exec(template);
    return [name, found![1]!.replace(/{%.*?%}|{{.*?}}/gs, "")];
  }),
);

export function loadPage(path = "/"): void {
  history.replaceState(null, "", path);
  document.body.className = "chat";
  document.body.innerHTML = `<header>${blocks["bar_start"]}</header>${blocks["content"]}`;
}

export function find<T extends HTMLElement = HTMLElement>(selector: string): T {
  const node = document.querySelector<T>(selector);
  if (!node) throw new Error(`nothing is ${selector}`);
  return node;
}

export const findAll = (selector: string): HTMLElement[] => [
  ...document.querySelectorAll<HTMLElement>(selector),
];

export function press(target: HTMLElement, key: string): void {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}
