#include "study/simulator/sim_staging.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/units.hpp"

namespace goban::study::simulator {

using core::staging::DataItem;
using core::staging::FastTier;

SimStaging::SimStaging(const core::model::JobHistory& history, double bytes_per_s,
                       int64_t fast_bytes)
    : history_(&history), bytes_per_s_(bytes_per_s), tier_(fast_bytes) {}

base::Result<SimStaging> SimStaging::make(const core::model::JobHistory& history,
                                          const core::model::StorageTiers& tiers) {
  const double bytes_per_s = tiers.copy_bytes_per_s();
  if (!tiers.fast || bytes_per_s <= 0) {
    return base::usage_error(
        "the jobs have data to stage, and the cluster has no fast storage tier with a bandwidth",
        "add [[tier]] with kind = \"fast\", size and bandwidth to the cluster file, or remove the "
        "columns stage_in_bytes and stage_out_bytes");
  }
  std::map<std::string, size_t> first_of;
  for (size_t i = 0; i < history.staging.size(); ++i) {
    const core::model::StagedData& data = history.staging[i];
    const std::string set(data.in_bytes > 0 ? history.data_sets[data.set] : std::string_view());
    if (!set.empty()) {
      const size_t first = first_of.try_emplace(set, i).first->second;
      if (history.staging[first].in_bytes != data.in_bytes) {
        return base::bad_data(
            {},
            fmt::format("jobs {} and {} stage the data set {} with different sizes: {} and {}",
                        history.job_names[first], history.job_names[i], base::printable(set),
                        base::bytes_text(history.staging[first].in_bytes),
                        base::bytes_text(data.in_bytes)),
            "a data set has one size: give different data different names");
      }
    }
    if (history.staging[i].in_bytes <= tiers.fast->size_bytes) continue;
    return base::bad_data(
        {},
        fmt::format("job {} stages {} in, and the fast tier {} holds {}", history.job_names[i],
                    base::bytes_text(history.staging[i].in_bytes), tiers.fast->name,
                    base::bytes_text(tiers.fast->size_bytes)),
        "enlarge the tier in the cluster file, or leave the job out");
  }
  return SimStaging(history, bytes_per_s, tiers.fast->size_bytes);
}

std::string SimStaging::key_of(JobId id) const {
  const core::model::StagedData& data = data_of(id);
  const std::string_view name = history_->data_sets[data.set];
  // A data set without a name is the job's own.
  return name.empty() ? fmt::format("\n{}", id.value) : std::string(name);
}

bool SimStaging::submitted(JobId id, TimeNs now) {
  if (id.index() >= history_->staging.size() || data_of(id).in_bytes == 0) return true;
  ++figures_.jobs;
  open_[id] = {.submit_ns = now};
  bool is_full = !waiting_.empty();
  if (admit(id, now, is_full)) return true;
  if (!open_.at(id).is_admitted) waiting_.push_back(id);
  return false;
}

bool SimStaging::admit(JobId id, TimeNs now, bool& is_full) {
  const DataItem item{.key = key_of(id), .bytes = data_of(id).in_bytes};
  // While one waits for room, others only use what is there.
  if (is_full && !tier_.entries().contains(item.key)) return false;
  const FastTier::Verdict verdict = tier_.admit({&item, 1}, now);
  if (verdict.admission != FastTier::Admission::Admitted) {
    is_full = true;
    return false;
  }
  for (const std::string& key : verdict.leaving) {
    tier_.left(key);
    ++figures_.evictions;
  }
  open_.at(id).is_admitted = true;
  figures_.full_s_sum += base::to_seconds(now - open_.at(id).submit_ns);
  const auto coming = coming_.find(item.key);
  if (verdict.missing_bytes == 0 || coming != coming_.end()) {
    ++figures_.hits;
    figures_.hit_bytes = base::add_saturating(figures_.hit_bytes, item.bytes);
  }
  if (verdict.missing_bytes == 0) {
    count_ready(id, now);
    return true;
  }
  if (coming == coming_.end()) {
    figures_.in_bytes = base::add_saturating(figures_.in_bytes, item.bytes);
    copy(item.bytes, item.key, now);
  }
  coming_[item.key].push_back(id);
  return false;
}

TimeNs SimStaging::copy(int64_t bytes, std::string key, TimeNs now) {
  const double seconds = static_cast<double>(bytes) / bytes_per_s_;
  figures_.link_busy_s += seconds;
  link_free_ns_ =
      base::add_saturating(std::max(link_free_ns_, now), base::from_seconds_up(seconds));
  copies_.push_back({.end_ns = link_free_ns_, .key = std::move(key)});
  return link_free_ns_;
}

void SimStaging::count_ready(JobId id, TimeNs now) {
  const double staged_s = base::to_seconds(now - open_.at(id).submit_ns);
  figures_.stage_s_sum += staged_s;
  figures_.stage_s_max = std::max(figures_.stage_s_max, staged_s);
  open_.erase(id);
}

bool SimStaging::ended(JobId id, TimeNs now, bool ran) {
  if (id.index() >= history_->staging.size()) return false;
  const core::model::StagedData& data = data_of(id);
  const auto open = open_.find(id);
  const bool was_open = open != open_.end();
  if (data.in_bytes > 0 && (!was_open || open->second.is_admitted)) {
    tier_.release(key_of(id), now);
  }
  if (was_open) {
    // What is being copied for it arrives all the same.
    for (auto& [key, jobs] : coming_) std::erase(jobs, id);
    std::erase(waiting_, id);
    open_.erase(open);
  }
  if (ran && data.out_bytes > 0) {
    figures_.out_bytes = base::add_saturating(figures_.out_bytes, data.out_bytes);
    figures_.out_s_sum += base::to_seconds(copy(data.out_bytes, {}, now) - now);
  }
  bool is_full = false;
  std::deque<JobId> still;
  for (const JobId each : waiting_) {
    if (admit(each, now, is_full)) {
      ready_.push_back(each);
    } else if (!open_.at(each).is_admitted) {
      still.push_back(each);
    }
  }
  waiting_ = std::move(still);
  return was_open;
}

std::vector<JobId> SimStaging::take_ready(TimeNs now) {
  while (!copies_.empty() && copies_.front().end_ns <= now) {
    const std::string key = std::move(copies_.front().key);
    copies_.pop_front();
    if (key.empty()) continue;
    tier_.arrived(key);
    const auto coming = coming_.extract(key);
    if (coming.empty()) continue;
    for (const JobId id : coming.mapped()) {
      count_ready(id, now);
      ready_.push_back(id);
    }
  }
  return std::exchange(ready_, {});
}

}  // namespace goban::study::simulator
