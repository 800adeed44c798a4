import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { Composer, isSendKey } from "../src/composer";
import { trackListeners } from "./fakes";

const actions = { send: vi.fn<(text: string) => boolean>(), stop: vi.fn() };
let composer: Composer;
let removeListeners: () => void;

const find = <T extends HTMLElement>(selector: string): T => document.querySelector<T>(selector)!;
const field = (): HTMLTextAreaElement => find("textarea");

beforeEach(() => {
  removeListeners = trackListeners();
  actions.send.mockReset().mockReturnValue(true);
  actions.stop.mockReset();
  document.body.innerHTML = `<form><textarea></textarea><button class="send">Send</button>
    <button type="button" class="stop" hidden>Stop</button><span class="count" hidden></span></form>`;
  composer = new Composer(find("form"), 10, actions);
});

afterEach(() => removeListeners());

function write(text: string): void {
  field().value = text;
  field().dispatchEvent(new Event("input"));
}

function press(key: string, init: KeyboardEventInit = {}, target: EventTarget = field()): KeyboardEvent {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...init });
  target.dispatchEvent(event);
  return event;
}

test.each([
  ["Enter", {}, true],
  ["Shift+Enter", { shiftKey: true }, false],
  ["Enter that ends a composition", { isComposing: true }, false],
  ["Enter that ends a composition in Safari", { keyCode: 229 }, false],
])("%s", (_name, event, sends) => {
  expect(isSendKey({ key: "Enter", shiftKey: false, isComposing: false, keyCode: 13, ...event })).toBe(sends);
});

test("Enter sends what is written and empties the field", () => {
  write("Why?");
  expect(press("Enter").defaultPrevented).toBe(true);
  expect(actions.send).toHaveBeenCalledExactlyOnceWith("Why?");
  expect(field().value).toBe("");
});

test("what was not taken stays in the field", () => {
  actions.send.mockReturnValue(false);
  write("Why?");
  press("Enter");
  expect(field().value).toBe("Why?");
});

test.each(["", "   \n\t "])("nothing to say is not sent: %j", (text) => {
  write(text);
  press("Enter");
  expect(find<HTMLButtonElement>(".send").disabled).toBe(true);
  expect(actions.send).not.toHaveBeenCalled();
});

test("the limit is told when it comes near, and too long a question is not sent", () => {
  write("1234567");
  expect(find(".count").hidden).toBe(true);
  write("12345678");
  expect(find(".count").textContent).toBe("8 of 10 characters");
  write("12345678901");
  expect(find(".count").classList.contains("is-over")).toBe(true);
  press("Enter");
  expect(actions.send).not.toHaveBeenCalled();
});

test("characters are counted as the server counts them", () => {
  write("🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂");
  expect(find(".count").textContent).toBe("10 of 10 characters");
  press("Enter");
  expect(actions.send).toHaveBeenCalledOnce();
});

test("while an answer runs Stop takes the place of Send and Enter keeps the text", () => {
  composer.setRunning(true);
  expect([find(".send").hidden, find(".stop").hidden]).toEqual([true, false]);
  write("Next?");
  press("Enter");
  expect(actions.send).not.toHaveBeenCalled();
  expect(field().value).toBe("Next?");
  find(".stop").click();
  expect(actions.stop).toHaveBeenCalledOnce();
});

test("Esc stops a running answer only, from anywhere on the page", () => {
  press("Escape", {}, document.body);
  expect(actions.stop).not.toHaveBeenCalled();
  composer.setRunning(true);
  press("Escape", { isComposing: true });
  expect(actions.stop).not.toHaveBeenCalled();
  press("Escape", {}, document.body);
  expect(actions.stop).toHaveBeenCalledOnce();
});

test("when Stop goes away the focus is where the next question is written", () => {
  composer.setRunning(true);
  find(".stop").focus();
  composer.setRunning(false);
  expect(document.activeElement).toBe(field());
});
