// The tables of the dashboard.

import { make } from "../dom";
import { formatMs } from "../format";
import type { Percentiles, Report, SourceSummary } from "./report";

const NAMES = { all: "All", cache: "Cache", local: "Local", flagship: "Flagship" };

export function drawSources(body: HTMLElement, sources: SourceSummary[]): void {
  const all = sources[0]?.turns ?? 0;
  body.replaceChildren(...sources.map((source) => makeSourceRow(source, all)));
}

function makeSourceRow(source: SourceSummary, allTurns: number): HTMLElement {
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, make("span", { class: `dot dot-${source.name}` }), NAMES[source.name]),
    make("td", {}, allTurns ? `${Math.round((100 * source.turns) / allTurns)} %` : "–"),
    make("td", {}, String(source.finished)),
    make("td", {}, String(source.stopped)),
    make("td", {}, String(source.failed)),
    ...makePercentiles(source.ttft),
    ...makePercentiles(source.total),
    make("td", {}, source.tokens_per_s === null ? "–" : source.tokens_per_s.toFixed(0)),
    make("td", {}, source.cost_usd === null ? "–" : `$${source.cost_usd.toFixed(4)}`),
  );
}

function makePercentiles(values: Percentiles): HTMLElement[] {
  return [
    makePercentile(values.p50, true, ""),
    makePercentile(values.p95, values.enough_for_p95, "Fewer than 20 turns"),
    makePercentile(values.p99, values.enough_for_p99, "Fewer than 100 turns"),
  ];
}

function makePercentile(ms: number | null, isEnough: boolean, whyNot: string): HTMLElement {
  const isFew = ms !== null && !isEnough;
  return make("td", isFew ? { class: "few", title: whyNot } : {}, formatMs(ms));
}

export function drawConversations(body: HTMLElement, report: Report): void {
  body.replaceChildren(
    ...report.conversations.rows.map((row) =>
      make(
        "tr",
        {},
        make(
          "th",
          { scope: "row" },
          make("a", { href: `/latency/conversations/${row.id}/` }, row.id.slice(0, 8)),
        ),
        make("td", {}, make("bdi", {}, row.user ?? "deleted")),
        make("td", {}, String(row.turns)),
        ...makePercentiles(row.ttft),
        ...makePercentiles(row.total),
        make(
          "td",
          {},
          new Date(row.latest * 1_000).toLocaleString(undefined, { dateStyle: "short", timeStyle: "medium" }),
        ),
      ),
    ),
  );
}

export function drawFailures(list: HTMLElement, failures: Report["failures"]): void {
  list.replaceChildren(
    ...failures.map((failure) =>
      make("li", {}, make("code", {}, failure.code || "unknown"), ` ${failure.turns}`),
    ),
  );
  if (!failures.length) list.append(make("li", { class: "muted" }, "None in this range."));
}
