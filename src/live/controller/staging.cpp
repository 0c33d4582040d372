#include "live/controller/staging.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/units.hpp"
#include "live/controller/staging_checks.hpp"

namespace goban::live::controller {

using core::staging::DataItem;
using core::staging::FastTier;
using Stage = JobStaging::Stage;

namespace {

/// Data that was copied so recently is not looked for again before a start.
constexpr TimeNs kFreshNs = 5 * base::kSecond;

int64_t capacity_of(const StagingRules& rules) { return rules.fast ? rules.fast->size_bytes : 0; }

/// One of the paths is one of `others`, or one lies in the other.
bool meet(const std::vector<std::string>& paths, const std::set<std::string>& others) {
  return std::ranges::any_of(paths, [&](const std::string& path) {
    const auto below = others.lower_bound(path + "/");
    if (below != others.end() && below->starts_with(path + "/")) return true;
    for (size_t end = path.size(); end != path.npos && end > 0; end = path.rfind('/', end - 1)) {
      if (others.contains(path.substr(0, end))) return true;
    }
    return false;
  });
}

}  // namespace

Staging::Staging(JobBook& book, StagingRules rules, std::vector<Order>& orders)
    : book_(book), makes_(std::move(rules)), orders_(orders), tier_(capacity_of(makes_.rules())) {}

bool Staging::prepare(LiveJob& job, TimeNs at) {
  if (!stages(job.spec)) {
    if (job.staging.stage != Stage::None) ended(job, at);
    return true;
  }
  if (job.staging.stage == Stage::Ready && job.staging.sources == job.spec.stage_in) return true;
  if (job.staging.stage != Stage::None && job.staging.sources == job.spec.stage_in) return false;
  begin(job, at);
  return false;
}

void Staging::begin(LiveJob& job, TimeNs at) {
  if (job.staging.is_ordered) orders_.emplace_back(makes_.withdrawal_of(job));
  release(job, at);
  job.staging = {.stage = job.spec.stage_in.empty() ? Stage::NeedsRoom : Stage::Measuring,
                 .has_folder = job.staging.has_folder,
                 .sources = job.spec.stage_in,
                 .begun_ns = at};
  active_.insert(job.job);
  proceed(at, late_);
}

void Staging::release(LiveJob& job, TimeNs at) {
  if (!std::exchange(job.staging.keeps, false)) return;
  std::set<std::string> keys;
  for (const DataItem& item : job.staging.items) keys.insert(item.key);
  for (const std::string& key : keys) tier_.release(key, at);
}

void Staging::ended(LiveJob& job, TimeNs at) {
  JobStaging& staging = job.staging;
  if (staging.stage == Stage::None) return;
  if (staging.stage != Stage::Out && staging.is_ordered) {
    orders_.emplace_back(makes_.withdrawal_of(job));
  }
  release(job, at);
  active_.erase(job.job);
  const bool has_results = staging.stage == Stage::Ready && job.first_start_ns >= 0 &&
                           !job.spec.stage_out.empty() &&
                           (job.result == JobResult::Completed || job.spec.stage_out_always);
  staging.is_ordered = false;
  staging.failures = 0;
  staging.retry_ns = -1;
  if (has_results) {
    staging.stage = Stage::Out;
    staging.problem.clear();
    staging.done_bytes = staging.all_bytes = 0;
    active_.insert(job.job);
  } else if (staging.is_staging_in()) {
    staging.stage = Stage::None;
    if (staging.has_folder) orders_.emplace_back(makes_.clean_up_of(job));
  } else if (staging.stage == Stage::Ready) {
    staging.stage = Stage::OutDone;
    orders_.emplace_back(makes_.clean_up_of(job));
  }
  proceed(at, late_);
}

void Staging::give_up_results(LiveJob& job, const std::string& who, TimeNs at) {
  JobStaging& staging = job.staging;
  if (staging.stage != Stage::Out) return;
  if (staging.is_ordered) orders_.emplace_back(makes_.withdrawal_of(job));
  orders_.emplace_back(makes_.giving_up_of(job));
  const std::string before = staging.problem.empty() ? "" : ": " + staging.problem;
  staging.problem = fmt::format("given up{}{}{}", who.empty() ? "" : " by ", who, before);
  staging.stage = Stage::OutDone;
  staging.gave_up = true;
  staging.is_ordered = false;
  staging.retry_ns = -1;
  active_.erase(job.job);
  proceed(at, late_);
}

bool Staging::is_seen(LiveJob& job, TimeNs at) {
  JobStaging& staging = job.staging;
  if (staging.stage != Stage::Ready || staging.seen_run == job.runs) return true;
  if (staging.ready_ns >= 0 && at - staging.ready_ns < kFreshNs) return true;
  if (staging.is_ordered) return false;
  active_.insert(job.job);
  give(job);
  return false;
}

void Staging::proceed(TimeNs at, Outcome& out) {
  measure_all(at);
  admit_all(at, out);
  copy_all(at);
}

void Staging::measure_all(TimeNs at) {
  std::set<StagingOrders::Sources> asked;
  for (const bool ordered : {true, false}) {
    for (const JobId id : active_) {
      LiveJob& job = book_.jobs.at(id);
      JobStaging& staging = job.staging;
      if (staging.stage != Stage::Measuring || staging.is_ordered != ordered) continue;
      if (!ordered && !is_due(staging, at)) continue;
      if (!asked.insert(StagingOrders::sources_of(job)).second || ordered) continue;
      const bool has_relative = std::ranges::any_of(
          job.spec.stage_in, [](const std::string& path) { return !path.starts_with('/'); });
      if (!makes_.rules().fast) {
        staging.problem = "this site has no fast storage tier";
      } else if (makes_.actor_of(job) == nullptr) {
        staging.problem = "its user is unknown on this machine, and no other is set for such jobs";
      } else if (has_relative && job.spec.work_folder.empty()) {
        staging.problem = "a relative path to stage needs a work folder; write an absolute one";
      } else {
        give(job);
      }
    }
  }
}

void Staging::admit_all(TimeNs at, Outcome& out) {
  std::vector<LiveJob*> waiting;
  for (const JobId id : active_) {
    LiveJob& job = book_.jobs.at(id);
    if (job.staging.stage == Stage::NeedsRoom) waiting.push_back(&job);
  }
  std::ranges::stable_sort(waiting, [](const LiveJob* one, const LiveJob* other) {
    return one->spec.priority > other->spec.priority;
  });
  bool is_full = false;
  for (LiveJob* job : waiting) {
    if (!makes_.rules().fast || makes_.actor_of(*job) == nullptr) continue;
    JobStaging& staging = job->staging;
    // While one waits for room, others only use what is there.
    const bool adds = std::ranges::any_of(
        staging.items, [&](const DataItem& item) { return !tier_.entries().contains(item.key); });
    if (is_full && adds) continue;
    const FastTier::Verdict verdict = tier_.admit(staging.items, at);
    if (verdict.admission == FastTier::Admission::Waits) {
      is_full = true;
      continue;
    }
    if (verdict.admission == FastTier::Admission::TooLarge) {
      fail(*job,
           fmt::format("it is {}, and the fast tier {} holds {}",
                       base::bytes_text(staging.all_bytes), makes_.rules().fast->name,
                       base::bytes_text(tier_.capacity_bytes())),
           true, at, out);
      continue;
    }
    staging.keeps = true;
    staging.stage = Stage::Copying;
    for (const DataItem& item : staging.items)
      actors_.try_emplace(item.key, *makes_.actor_of(*job));
    for (const std::string& key : verdict.leaving) orders_.emplace_back(removal_of(key));
  }
}

void Staging::copy_all(TimeNs at) {
  // What one process copies, the others will find there; two do not copy to one
  // place.
  std::set<std::string> copied;
  std::set<std::string> targets;
  const auto mark = [&](const LiveJob& job) {
    if (job.staging.stage == Stage::Copying) {
      for (const DataItem& item : job.staging.items) copied.insert(item.key);
    } else if (job.staging.stage == Stage::Out) {
      for (std::string& path : StagingOrders::targets_of(job)) targets.insert(std::move(path));
    }
  };
  for (const JobId id : active_) {
    const LiveJob& job = book_.jobs.at(id);
    if (job.staging.is_ordered) mark(job);
  }
  for (const JobId id : active_) {
    LiveJob& job = book_.jobs.at(id);
    JobStaging& staging = job.staging;
    if (staging.is_ordered || !is_due(staging, at)) continue;
    bool may_copy = false;
    if (staging.stage == Stage::Copying) {
      may_copy = tier_.has_room() && std::ranges::none_of(staging.items, [&](const DataItem& item) {
                   return copied.contains(item.key);
                 });
      staging.has_folder = staging.has_folder || may_copy;
    } else if (staging.stage == Stage::Out) {
      may_copy = !meet(StagingOrders::targets_of(job), targets);
    }
    if (!may_copy) continue;
    mark(job);
    give(job);
  }
}

void Staging::give(LiveJob& job) {
  job.staging.is_ordered = true;
  job.staging.retry_ns = -1;
  orders_.emplace_back(makes_.next_of(job));
}

StageOrder Staging::removal_of(const std::string& key) const {
  const auto actor = actors_.find(key);
  return makes_.removal_of(key, actor == actors_.end() ? nullptr : &actor->second);
}

Staging::Outcome Staging::follow(TimeNs at) {
  Outcome out = std::exchange(late_, {});
  const TimeNs next = next_ns();
  if (next <= at) proceed(at, out);
  return out;
}

TimeNs Staging::next_ns() const {
  if (!late_.failed.empty()) return 0;
  TimeNs next = base::kNever;
  for (const JobId id : active_) {
    const JobStaging& staging = book_.jobs.at(id).staging;
    if (!staging.is_ordered && staging.retry_ns >= 0) next = std::min(next, staging.retry_ns);
  }
  return next;
}

std::vector<Order> Staging::unanswered() const {
  std::vector<Order> out;
  for (const JobId id : active_) {
    const LiveJob& job = book_.jobs.at(id);
    if (job.staging.is_ordered) out.emplace_back(makes_.next_of(job));
  }
  for (const auto& [key, entry] : tier_.entries()) {
    if (entry.is_leaving) out.emplace_back(removal_of(key));
  }
  return out;
}

void Staging::add_places(const LiveJob& job, LaunchOrder& order) const {
  if (job.staging.stage != Stage::Ready) return;
  for (const DataItem& item : job.staging.items) order.staged.push_back(item.key);
  order.fast_folder = makes_.job_folder_of(job);
}

}  // namespace goban::live::controller
