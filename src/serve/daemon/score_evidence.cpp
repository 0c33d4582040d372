#include "serve/daemon/score_evidence.hpp"

#include <algorithm>

namespace goban::serve::daemon {

namespace {

using core::knowledge::RunEvidence;
using core::knowledge::TimeSource;

/// Seconds per step by rank; empty if the times are incomplete or implausible.
std::vector<double> rank_steps_s(const live::controller::PastRun& run, const EvidenceRules& rules) {
  const double wall_s = base::to_seconds(run.end_ns - run.start_ns);
  std::vector<double> out;
  for (size_t i = 0; i < run.ranks.size(); ++i) {
    const live::RankTimes& rank = run.ranks[i];
    const bool in_place =
        std::cmp_equal(rank.rank, i) && std::cmp_equal(rank.ranks, run.gpus.size());
    const bool enough = rank.busy_s >= rules.busy_s_min && rank.steps >= rules.steps_min;
    const bool possible = rank.busy_s + rank.wait_s <= rules.wall_share * wall_s;
    if (!in_place || !enough || !possible) return {};
    out.push_back(rank.busy_s / static_cast<double>(rank.steps));
  }
  if (out.size() != run.gpus.size()) return {};
  return out;
}

/// From the ranks' times if there are any; otherwise, for a completed job, from its progress.
RunEvidence evidence_of_run(const live::controller::LiveJob& job,
                            const live::controller::PastRun& run, const EvidenceRules& rules) {
  RunEvidence out{.user = job.spec.owner.uid,
                  .app_class = live::job::class_of(job.spec),
                  .shared = run.shared || job.shares || run.suspended_ns > 0,
                  .gpus = run.gpus};
  // Evidence is counted by uid: users of other realms have none.
  if (!job.spec.owner.realm.empty()) return out;
  out.step_s = rank_steps_s(run, rules);
  if (!out.step_s.empty()) {
    out.source = TimeSource::RankCompute;
    return out;
  }
  const bool whole = job.result == live::controller::JobResult::Completed && job.past.size() == 1;
  const double wall_s = base::to_seconds(run.end_ns - run.start_ns);
  if (!whole || !run.ranks.empty() || run.gpus.size() != 1 || wall_s < rules.busy_s_min ||
      job.progress.step < rules.steps_min) {
    return out;
  }
  out.step_s = {wall_s / static_cast<double>(job.progress.step)};
  return out;
}

}  // namespace

std::vector<RunEvidence> evidence_of(const live::controller::LiveJob& job, uint32_t application,
                                     const EvidenceRules& rules) {
  std::vector<RunEvidence> out;
  if (application == 0 || !job.spec.resource_type.empty()) return out;
  for (const live::controller::PastRun& run : job.past) {
    if (run.start_ns < 0 || run.end_ns <= run.start_ns || run.gpus.empty()) continue;
    RunEvidence evidence = evidence_of_run(job, run, rules);
    if (evidence.step_s.empty()) continue;
    // Step times by progress include time that ranks do not count: they are compared only with each
    // other, so they get an application number of their own.
    evidence.application = evidence.source == TimeSource::RankCompute ? application : ~application;
    out.push_back(std::move(evidence));
  }
  return out;
}

}  // namespace goban::serve::daemon
