// The report of /latency/data/, as types.

export type Percentiles = { p50: number | null; p95: number | null; p99: number | null };
export type Measure = "ttft" | "total";
export type SourceName = "all" | "cache" | "local" | "flagship";

export type SourceSummary = {
  name: SourceName;
  finished: number;
  stopped: number;
  failed: number;
  ttft: Percentiles;
  total: Percentiles;
  enough_for_p95: boolean;
  enough_for_p99: boolean;
  tokens_per_s: number | null;
  cost_usd: number | null;
};

export type Series = Record<keyof Percentiles, (number | null)[]>;

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
