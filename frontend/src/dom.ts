// Small makers of nodes: text is always set as text.

import { makeIcon, type IconName } from "./icons";

type Attributes = Record<string, string | boolean>;

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

export function button(
  label: string,
  className: string,
  onClick: () => void,
  title = label,
): HTMLButtonElement {
  const node = make("button", { type: "button", class: className, title }, label);
  if (title !== label) node.setAttribute("aria-label", title);
  node.addEventListener("click", onClick);
  return node;
}

/** A button that is a picture: its label is read out and shown on hover. */
export function iconButton(icon: IconName, label: string, onClick: () => void): HTMLButtonElement {
  const node = make(
    "button",
    { type: "button", class: "tool", title: label, "aria-label": label },
    makeIcon(icon),
  );
  node.addEventListener("click", onClick);
  return node;
}

export function byId<T extends HTMLElement>(id: string): T {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no #${id}`);
  return node as T;
}
