// Percentiles over time, by uPlot.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatMs } from "../format";
import type { Measure, Report, SourceName } from "./report";

const HEIGHT = 280;
// Lines differ by dash as well as by colour.
const LINES = [
  { name: "p50", label: "P50", color: "--c-stream", dash: [] },
  { name: "p95", label: "P95", color: "--c-engine", dash: [8, 4] },
  { name: "p99", label: "P99", color: "--c-route", dash: [2, 3] },
] as const;

export class LatencyChart {
  private plot: uPlot | null = null;

  constructor(private readonly root: HTMLElement) {
    new ResizeObserver(() => this.plot?.setSize({ width: root.clientWidth, height: HEIGHT })).observe(root);
  }

  draw(report: Report, source: SourceName, measure: Measure): void {
    const series = report.series.sources[source][measure];
    const data: uPlot.AlignedData = [report.series.times, series.p50, series.p95, series.p99];
    // Kept while it can be: who points at a moment keeps pointing at it when new numbers come.
    if (this.plot) this.plot.setData(data);
    else this.plot = new uPlot(this.options(), data, this.root);
  }

  /** Before the next `draw`: the colours of a plot are read when it is made. */
  forgetColors(): void {
    this.plot?.destroy();
    this.plot = null;
  }

  private options(): uPlot.Options {
    const style = getComputedStyle(document.documentElement);
    const color = (name: string): string => style.getPropertyValue(name).trim();
    const axis = {
      stroke: color("--muted"),
      grid: { stroke: color("--line"), width: 1 },
      ticks: { show: false },
    };
    return {
      width: this.root.clientWidth,
      height: HEIGHT,
      legend: { live: true },
      scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max || 1) * 1.1] } },
      axes: [axis, { ...axis, size: 70, values: (_plot, ticks) => ticks.map((tick) => formatMs(tick)) }],
      series: [
        {},
        ...LINES.map((line) => ({
          label: line.label,
          stroke: color(line.color),
          width: 2,
          dash: [...line.dash],
          spanGaps: false,
          points: { size: 6 },
          value: (_plot: uPlot, value: number | null) => formatMs(value),
        })),
      ],
    };
  }
}
