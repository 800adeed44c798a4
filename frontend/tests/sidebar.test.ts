import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { Sidebar } from "../src/sidebar";
import { trackListeners } from "./fakes";
import { find, findAll, loadPage, press } from "./page";

const LIST = [
  { id: "one", title: "First", updated_at: "2026-01-02T00:00:00Z" },
  { id: "two", title: "Second", updated_at: "2026-01-01T00:00:00Z" },
];
const actions = {
  start: vi.fn(),
  open: vi.fn(),
  rename: vi.fn(),
  remove: vi.fn(),
  fail: vi.fn(),
};
let sidebar: Sidebar;
let removeListeners: () => void;

beforeEach(() => {
  vi.resetAllMocks();
  removeListeners = trackListeners();
  loadPage();
  sidebar = new Sidebar(LIST, actions);
});

afterEach(() => removeListeners());

const titles = (): string[] => findAll("#conversations li > a").map((link) => link.textContent!);
const tool = (label: string): HTMLElement => find(`[aria-label="${label}"]`);

test("the conversation that is shown is marked", () => {
  sidebar.select("two");
  expect(find("[aria-current='page']").textContent).toBe("Second");
});

test("a click opens here, a click with Ctrl is the browser's", () => {
  const link = find("#conversations a");
  const click = (init: MouseEventInit): boolean =>
    link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ...init }));
  // What a browser would do: this page goes nowhere.
  document.addEventListener("click", (event) => event.ctrlKey && event.preventDefault());
  click({ ctrlKey: true });
  expect(actions.open).not.toHaveBeenCalled();
  click({});
  expect(actions.open).toHaveBeenCalledExactlyOnceWith("one");
});

test("a title is changed in place, and its link has the focus afterwards", async () => {
  actions.rename.mockResolvedValue({ ...LIST[0], title: "New" });
  tool("Rename “First”").click();
  const field = find<HTMLInputElement>(".rename input");
  expect([document.activeElement, field.value]).toEqual([field, "First"]);
  field.value = "New";
  find<HTMLFormElement>(".rename").requestSubmit();
  await vi.waitFor(() => expect(titles()).toEqual(["New", "Second"]));
  expect(actions.rename).toHaveBeenCalledExactlyOnceWith("one", "New");
  expect(document.activeElement?.textContent).toBe("New");
});

test("Esc leaves the title as it was, and stops nothing else", () => {
  const elsewhere = vi.fn();
  document.addEventListener("keydown", (event) => elsewhere(event.defaultPrevented));
  tool("Rename “First”").click();
  press(find(".rename input"), "Escape");
  expect(titles()).toEqual(["First", "Second"]);
  expect(document.activeElement?.textContent).toBe("First");
  expect(elsewhere).toHaveBeenCalledExactlyOnceWith(true);
  expect(actions.rename).not.toHaveBeenCalled();
});

test("a title that the server refuses stays, and the reason is told", async () => {
  actions.rename.mockRejectedValue(new Error("A conversation needs a title."));
  tool("Rename “First”").click();
  find<HTMLFormElement>(".rename").requestSubmit();
  await vi.waitFor(() => expect(actions.fail).toHaveBeenCalledWith("A conversation needs a title."));
  expect(titles()).toEqual(["First", "Second"]);
});

test("an answer that arrives does not take the field from who types in it", () => {
  tool("Rename “First”").click();
  sidebar.lift({ id: "three", title: "Third", updated_at: "2026-01-03T00:00:00Z" });
  expect(document.activeElement).toBe(find(".rename input"));
  press(find(".rename input"), "Escape");
  expect(titles()).toEqual(["Third", "First", "Second"]);
});

test("a conversation goes only after a second click", async () => {
  tool("Delete “First”").click();
  expect(actions.remove).not.toHaveBeenCalled();
  find(".danger").click();
  await vi.waitFor(() => expect(titles()).toEqual(["Second"]));
  expect(actions.remove).toHaveBeenCalledExactlyOnceWith("one");
});

test("Keep keeps it", () => {
  tool("Delete “First”").click();
  findAll("#conversations .tool")
    .find((button) => button.textContent === "Keep")!
    .click();
  expect(titles()).toEqual(["First", "Second"]);
});

test("going elsewhere in the middle leaves things as they are", () => {
  tool("Rename “First”").click();
  const second = find('a[data-id="two"]');
  find("#question").focus();
  expect(titles()).toEqual(["First", "Second"]);
  expect(find('a[data-id="two"]')).toBe(second);
});

test("on a phone the list opens and closes, and says so", () => {
  const toggle = find("#sidebar-toggle");
  toggle.click();
  expect([document.body.classList.contains("sidebar-open"), toggle.getAttribute("aria-expanded")]).toEqual([
    true,
    "true",
  ]);
  press(find("#conversations a"), "Escape");
  expect([document.body.classList.contains("sidebar-open"), toggle.getAttribute("aria-expanded")]).toEqual([
    false,
    "false",
  ]);
});

test("without conversations it says so", () => {
  loadPage();
  new Sidebar([], actions);
  expect(find("#conversations").textContent).toBe("No conversations yet.");
});
