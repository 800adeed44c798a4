// The report of /latency/data/, as types.

/** Milliseconds of `n` finished turns; whether they are enough to trust is the server's to say. */
export type Percentiles = {
  p50: number | null;
  p95: number | null;
  p99: number | null;
  n: number;
  enough_for_p95: boolean;
  enough_for_p99: boolean;
};
export type Measure = "ttft" | "total";
export type SourceName = "all" | "cache" | "local" | "flagship";

export type SourceSummary = {
  name: SourceName;
  turns: number;
  finished: number;
  stopped: number;
  failed: number;
  ttft: Percentiles;
  total: Percentiles;
  tokens_per_s: number | null;
  cost_usd: number | null;
};

export type Series = Record<"p50" | "p95" | "p99", (number | null)[]>;

export type Report = {
  range: string;
  until: number;
  sources: SourceSummary[];
  series: { times: number[]; sources: Record<SourceName, { turns: number[]; ttft: Series; total: Series }> };
  failures: { code: string; turns: number }[];
  conversations: {
    rows: {
      id: string;
      user: string | null;
      turns: number;
      latest: number;
      ttft: Percentiles;
      total: Percentiles;
    }[];
    has_more: boolean;
  };
  page: number;
};
