// The badge under an answer: where it came from and how long it took; it opens to show where the time went.

import { make } from "./dom";
import { formatMs, formatWhen } from "./format";
import type { Badge, Source } from "./protocol";

const NAMES: Record<Source, string> = {
  cache: "Cache",
  local: "Local",
  flagship: "Flagship",
  none: "No answer",
};
const STAGES: Record<string, string> = {
  queue_ms: "save the question",
  embed_ms: "embed",
  cache_ms: "look into the cache",
  route_ms: "choose the route",
  wait_ms: "wait for the model to load",
  compress_ms: "fit the prompt",
  engine_first_token_ms: "model's first token",
};

export function makeBadge(badge: Badge): HTMLElement {
  const summary = make(
    "summary",
    {},
    make("span", { class: `source source-${badge.source}` }, NAMES[badge.source]),
    make("span", { title: "Time to first token" }, `first ${formatMs(badge.ttft_ms)}`),
    make("span", { title: "Total time" }, `total ${formatMs(badge.total_ms)}`),
  );
  if (badge.tokens_per_s !== null)
    summary.append(make("span", {}, `${badge.tokens_per_s.toFixed(0)} tokens/s`));
  return make("details", { class: "badge" }, summary, makeDetails(badge));
}

function makeDetails(badge: Badge): HTMLElement {
  const details = make("div", { class: "badge-details" });
  if (badge.cached) {
    const { question, answered_at, similarity, scope } = badge.cached;
    const when = scope === "curated" ? "Curated" : `Answered before, ${formatWhen(answered_at)},`;
    const told = `${when} to “${question}” (${(similarity * 100).toFixed(1)}\u00a0% alike).`;
    details.append(make("p", { dir: "auto" }, told));
  } else if (badge.reason) {
    details.append(make("p", {}, badge.reason));
  }
  if (badge.model) details.append(make("p", {}, `Model ${badge.model}, route ${badge.route}.`));
  const rows = Object.entries(badge.stages).map(([stage, ms]) =>
    make("tr", {}, make("th", { scope: "row" }, STAGES[stage] ?? stage), make("td", {}, formatMs(ms))),
  );
  if (rows.length) details.append(make("table", {}, make("tbody", {}, ...rows)));
  return details;
}
