// What the answers to orders of staging mean for jobs and for the fast tier.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "live/controller/staging.hpp"

namespace goban::live::controller {

using core::staging::DataItem;
using Stage = JobStaging::Stage;

namespace {

/// Longer waits differ by nothing that anybody notices.
constexpr uint32_t kDoublingsMax = 20;

}  // namespace

void Staging::fail(LiveJob& job, const std::string& problem, bool is_final, TimeNs at,
                   Outcome& out) {
  JobStaging& staging = job.staging;
  staging.problem = problem;
  staging.is_ordered = false;
  const bool is_out = staging.stage == Stage::Out;
  if (!is_out) {
    release(job, at);
    staging.items.clear();
    staging.stage = Stage::Measuring;
    // A job of the engine's own queue is its user's to end.
    if (is_final && job.engine_id.empty()) {
      active_.erase(job.job);
      out.failed.push_back(job.job);
      return;
    }
  }
  const uint32_t doublings = std::min(staging.failures, kDoublingsMax);
  ++staging.failures;
  TimeNs wait_ns = makes_.rules().retry_ns;
  for (uint32_t i = 0; i < doublings && wait_ns < makes_.rules().retry_max_ns; ++i) wait_ns *= 2;
  // Results are copied as soon as somebody has made room for them, or a folder.
  if (is_final && !is_out) wait_ns = makes_.rules().retry_max_ns;
  staging.retry_ns = base::add_saturating(at, std::min(wait_ns, makes_.rules().retry_max_ns));
}

Staging::Outcome Staging::take(const StageReport& report, TimeNs at) {
  Outcome out;
  if (report.task == StageTask::Remove) {
    const auto found = tier_.entries().find(report.key);
    if (!report.is_over || found == tier_.entries().end() || !found->second.is_leaving) return out;
    if (report.problem.empty()) {
      tier_.left(report.key);
      actors_.erase(report.key);
    } else {
      tier_.stays(report.key, at);
    }
    proceed(at, out);
    return out;
  }
  const auto found = book_.jobs.find(report.job);
  if (found == book_.jobs.end() || !active_.contains(report.job)) return out;
  LiveJob& job = found->second;
  if (!job.staging.is_ordered || makes_.next_of(job).task != report.task) return out;
  take_answer(job, report, at, out);
  if (report.is_over) proceed(at, out);
  return out;
}

void Staging::take_answer(LiveJob& job, const StageReport& report, TimeNs at, Outcome& out) {
  JobStaging& staging = job.staging;
  if (!report.is_over) {
    if (report.task == StageTask::Look) return;
    staging.all_bytes = report.all_bytes;
    staging.done_bytes = std::min(report.done_bytes, report.all_bytes);
    return;
  }
  if (report.task == StageTask::Measure) return measured(job, report, at, out);
  if (report.task == StageTask::Look) return looked(job, report.problem, at, out);
  if (report.task == StageTask::In) staging.copied_bytes += report.copied_bytes;
  if (!report.problem.empty()) return fail(job, report.problem, report.is_final, at, out);
  staging.is_ordered = false;
  staging.failures = 0;
  staging.problem.clear();
  staging.all_bytes = report.all_bytes;
  staging.done_bytes = report.all_bytes;
  active_.erase(job.job);
  if (report.task == StageTask::In) {
    staging.stage = Stage::Ready;
    staging.ready_ns = at;
    staging.sha256 = report.sha256;
    for (const DataItem& item : staging.items) tier_.arrived(item.key);
    out.ready.push_back(job.job);
  } else {
    staging.stage = Stage::OutDone;
    staging.out_done_ns = at;
    staging.out_sha256 = report.sha256;
    orders_.emplace_back(makes_.clean_up_of(job));
    out.settled.push_back(job.job);
  }
}

void Staging::looked(LiveJob& job, const std::string& problem, TimeNs at, Outcome& out) {
  job.staging.is_ordered = false;
  active_.erase(job.job);
  if (problem.empty()) {
    job.staging.seen_run = job.runs;
    return;
  }
  begin(job, at);
  job.staging.problem = problem;
  out.lost.push_back(job.job);
}

void Staging::measured(LiveJob& job, const StageReport& report, TimeNs at, Outcome& out) {
  const auto sources = StagingOrders::sources_of(job);
  std::vector<JobId> same;
  for (const JobId id : active_) {
    const LiveJob& other = book_.jobs.at(id);
    if (other.staging.stage != Stage::Measuring || StagingOrders::sources_of(other) != sources)
      continue;
    if (id == job.job || is_due(other.staging, at)) same.push_back(id);
  }
  for (const JobId id : same) {
    LiveJob& each = book_.jobs.at(id);
    JobStaging& staging = each.staging;
    staging.is_ordered = false;
    const bool fits = report.found.size() == staging.sources.size();
    if (!report.problem.empty() || !fits) {
      fail(each, report.problem.empty() ? "the answer is incomplete" : report.problem,
           report.is_final, at, out);
      continue;
    }
    staging.retry_ns = -1;
    staging.problem.clear();
    staging.stage = Stage::NeedsRoom;
    staging.items.clear();
    staging.all_bytes = staging.done_bytes = 0;
    for (size_t i = 0; i < report.found.size(); ++i) {
      const std::string name =
          std::filesystem::path(StagingOrders::source_of(each, staging.sources[i]))
              .filename()
              .string();
      staging.items.push_back(
          {.key = fmt::format("{}/in/{}/{}", makes_.folder_of(*makes_.actor_of(each)),
                              report.found[i].version, name.empty() ? "data" : name),
           .bytes = report.found[i].bytes});
      staging.all_bytes += report.found[i].bytes;
    }
  }
}

}  // namespace goban::live::controller
