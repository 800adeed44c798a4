// The dashboard: draws the report that came with the page, then fetches a new one while somebody looks.

import { byId } from "../dom";
import { LatencyChart } from "./chart";
import type { Measure, Report, SourceName } from "./report";
import { drawConversations, drawFailures, drawSources } from "./tables";

const REFRESH_MS = 5_000;

export function startDashboard(first: Report): void {
  const chart = new LatencyChart(byId("chart"));
  const source = byId<HTMLSelectElement>("chart-source");
  const measure = byId<HTMLSelectElement>("chart-measure");
  let report = first;
  let page = first.page;

  const drawChart = (): void => chart.draw(report, source.value as SourceName, measure.value as Measure);
  const draw = (): void => {
    byId("nothing").hidden = report.sources[0]!.turns > 0;
    drawSources(byId("sources"), report.sources);
    drawFailures(byId("failures"), report.failures);
    drawConversations(byId("conversations"), report);
    byId<HTMLButtonElement>("earlier").disabled = !report.conversations.has_more;
    byId<HTMLButtonElement>("later").disabled = page === 1;
    drawChart();
  };
  const refresh = async (): Promise<void> => {
    const wanted = page;
    try {
      const response = await fetch(`/latency/data/?range=${report.range}&page=${wanted}`);
      if (!response.ok) throw new Error(String(response.status));
      const found = (await response.json()) as Report;
      // Somebody turned the page meanwhile: its own answer is on the way.
      if (wanted !== page) return;
      report = found;
      byId("stale").hidden = true;
      draw();
    } catch {
      byId("stale").hidden = false;
    }
  };
  const turnPage = (by: number): void => {
    page += by;
    void refresh();
  };

  source.addEventListener("change", drawChart);
  measure.addEventListener("change", drawChart);
  byId("earlier").addEventListener("click", () => turnPage(1));
  byId("later").addEventListener("click", () => turnPage(-1));
  const recolor = (): void => {
    chart.forgetColors();
    drawChart();
  };
  window.addEventListener("themechange", recolor);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor);
  window.setInterval(() => {
    if (document.visibilityState === "visible") void refresh();
  }, REFRESH_MS);
  draw();
}
