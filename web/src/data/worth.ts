// What a policy is worth a year against the reference: the member "worth" of the document.

/** A value of the recorded history; low and high are its 95 % interval, null if it is unknown. */
export interface Estimate {
  value: number;
  low: number | null;
  high: number | null;
}

export interface Pilot {
  effect: number;
  sd_reference: number;
  sd_policy: number;
  /** In all; null: no effect to show. */
  days: number | null;
}

/** Everything a year, except waits, JCT and misses. The reference has no savings. */
export interface PolicyWorth {
  policy: string;
  cost: number;
  electricity?: number;
  gpu_cost: number;
  kwh?: number;
  carbon_kg?: number;
  gpu_hours: number;
  avg_wait_s: number;
  p99_jct_s: number;
  deadline_misses: number;
  saving?: Estimate;
  electricity_saving?: Estimate;
  gpu_saving?: Estimate;
  kwh_saved?: Estimate;
  carbon_kg_saved?: Estimate;
  gpu_hours_freed?: Estimate;
  gpus_freed?: number;
  wait_change_s?: Estimate;
  p99_jct_change_s?: Estimate;
  worst_seed?: { seed: number; saving: number };
  worst_account?: { name: string; jobs: number; reference_wait_s: number; wait_s: number };
  pilot?: { cost: Pilot; wait: Pilot };
}

export interface Worth {
  currency: string;
  pue: number;
  gpu_hour_rate: number;
  gpu_price: number | null;
  span_s: number;
  year_factor: number;
  resamples: number;
  history_days: number;
  pilot_days: number;
  deadline_jobs: number;
  uncovered_share: number;
  policies: PolicyWorth[];
}

/** The policy other than the reference with the largest saving; undefined if there is none. */
export function mostSaving(worth: Worth): PolicyWorth | undefined {
  const others = worth.policies.filter(({ saving }) => saving !== undefined);
  return others.reduce<PolicyWorth | undefined>(
    (best, each) => (!best || each.saving!.value > best.saving!.value ? each : best), undefined,
  );
}

export type Finding = 'saves' | 'costs' | 'not shown' | 'no interval';

/** What can be said of a value: its interval lies on one side of 0, or does not, or is unknown. */
export function findingOf({ low, high }: Estimate): Finding {
  if (low === null || high === null) return 'no interval';
  return low > 0 ? 'saves' : high < 0 ? 'costs' : 'not shown';
}
