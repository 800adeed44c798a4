// The quiet lines that say how things are: the local model, the connection, what went wrong.

import type { Line } from "./connection";
import { byId, make } from "./dom";
import type { EngineState } from "./protocol";

/** What is said about the local model; blank while there is nothing to say. */
export function describeEngine(engine: EngineState): string {
  if (engine.state === "loading") {
    const percent = engine.progress === null ? "" : ` ${Math.round(engine.progress * 100)} %`;
    return `The local model is warming up…${percent} ${engine.message}`.trim();
  }
  if (engine.state === "down") return engine.message || "The local model is not there right now.";
  return "";
}

export function showEngine(engine: EngineState): void {
  const told = describeEngine(engine);
  byId("engine").hidden = !told;
  byId("engine-text").textContent = told;
  const bar = byId<HTMLProgressElement>("engine-progress");
  bar.hidden = engine.state !== "loading";
  if (engine.progress === null) bar.removeAttribute("value");
  else bar.value = engine.progress;
}

export function showLine(line: Line): void {
  // While it tries again the line goes on saying so: a banner that blinks with each try would be worse than none.
  if (line === "connecting") return;
  const told = byId("line");
  told.hidden = line === "open";
  if (line === "waiting") told.replaceChildren("Reconnecting…");
  if (line === "signed-out") told.replaceChildren("You are signed out. ", makeLoginLink(), ".");
}

function makeLoginLink(): HTMLElement {
  return make(
    "a",
    { href: `/accounts/login/?next=${encodeURIComponent(location.pathname)}` },
    "Log in again",
  );
}

/** One line above the field; blank hides it. */
export function tell(message: string): void {
  const notice = byId("notice");
  notice.textContent = message;
  notice.hidden = !message;
}
