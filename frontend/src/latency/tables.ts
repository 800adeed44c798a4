// The tables of the dashboard.

import { make } from "../dom";
import { formatMs } from "../format";
import type { Percentiles, Report, SourceSummary } from "./report";

const NAMES = { all: "All", cache: "Cache", local: "Local", flagship: "Flagship" };

export function drawSources(body: HTMLElement, sources: SourceSummary[]): void {
  body.replaceChildren(...sources.map(makeSourceRow));
}

function makeSourceRow(source: SourceSummary): HTMLElement {
  const few = { p50: false, p95: !source.enough_for_p95, p99: !source.enough_for_p99 };
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, make("span", { class: `dot dot-${source.name}` }), NAMES[source.name]),
    make("td", {}, String(source.finished)),
    ...makePercentiles(source.ttft, few),
    ...makePercentiles(source.total, few),
    make("td", {}, source.tokens_per_s === null ? "–" : source.tokens_per_s.toFixed(0)),
    make("td", {}, source.cost_usd === null ? "–" : `$${source.cost_usd.toFixed(4)}`),
    make("td", {}, String(source.stopped)),
    make("td", {}, String(source.failed)),
  );
}

function makePercentiles(values: Percentiles, few: Record<keyof Percentiles, boolean>): HTMLElement[] {
  return (["p50", "p95", "p99"] as const).map((name) => {
    const isFew = few[name] && values[name] !== null;
    const cell = make("td", { class: isFew ? "few" : "" }, formatMs(values[name]));
    if (isFew) cell.title = name === "p95" ? "Fewer than 20 turns" : "Fewer than 100 turns";
    return cell;
  });
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
        make("td", { dir: "auto" }, row.user ?? "deleted"),
        make("td", {}, String(row.turns)),
        ...makePercentiles(row.ttft, NONE_FEW),
        ...makePercentiles(row.total, NONE_FEW),
        make(
          "td",
          {},
          new Date(row.latest * 1_000).toLocaleString(undefined, { dateStyle: "short", timeStyle: "medium" }),
        ),
      ),
    ),
  );
}

const NONE_FEW = { p50: false, p95: false, p99: false };

export function drawFailures(list: HTMLElement, failures: Report["failures"]): void {
  list.replaceChildren(
    ...failures.map((failure) =>
      make("li", {}, make("code", {}, failure.code || "unknown"), ` ${failure.turns}`),
    ),
  );
  if (!failures.length) list.append(make("li", { class: "muted" }, "None in this range."));
}
