#include "serve/daemon/agent_box.hpp"

#include <algorithm>

namespace goban::serve::daemon {

using base::reports::RankTimes;
using base::reports::RunProgress;
using live::Report;

namespace {

/// Names of one job's software that are kept.
constexpr size_t kSoftwareMax = 512;
/// Of one run, as far as agents are believed. The journal has a bound, too.
constexpr double kEnergyMax_j = 1e15;

Report report_of(live::RunId run, const RunProgress& said) {
  Report out{.kind = live::ReportKind::Progress, .run = run, .progress = said.latest};
  out.progress.checkpointed = said.checkpoint_step >= 0 && said.checkpoint_step >= said.latest.step;
  return out;
}

/// The ranks of all nodes; none if they are of different trainings.
std::vector<RankTimes> ranks_of(const std::map<std::string, RunProgress>& progress) {
  std::map<int32_t, RankTimes> all;
  int32_t ranks = -1;
  for (const auto& [node, said] : progress) {
    for (const RankTimes& each : said.ranks) {
      if (ranks >= 0 && each.ranks != ranks) return {};
      ranks = each.ranks;
      all[each.rank] = each;
    }
  }
  std::vector<RankTimes> out;
  for (const auto& [rank, times] : all) out.push_back(times);
  return out;
}

}  // namespace

void AgentBox::put_progress(live::RunId run, const std::string& node, const RunProgress& progress) {
  const std::scoped_lock lock(mutex_);
  // An agent repeats the last words of an ended run for a while, and engines number no runs.
  for (auto each = runs_.lower_bound({.job = run.job, .run = 0});
       each != runs_.end() && each->first < run; ++each) {
    const auto said = each->second.progress.find(node);
    if (said != each->second.progress.end() && said->second == progress) return;
  }
  RunProgress& known = runs_[run].progress[node];
  if (known == progress) return;
  known = progress;
  fresh_.insert({run, node});
}

void AgentBox::put_reading(live::RunId run, const base::gpus::GpuReading& reading, double over_s) {
  const std::scoped_lock lock(mutex_);
  RunMeans& means = runs_[run].means;
  if (reading.util_pct >= 0) {
    means.util_pct_sum += reading.util_pct;
    ++means.num_util;
  }
  means.gpu_mem_bytes_max = std::max(means.gpu_mem_bytes_max, reading.mem_used_bytes);
  if (reading.power_w < 0) return;
  means.energy_j = std::min(means.energy_j + reading.power_w * over_s, kEnergyMax_j);
  means.has_energy = true;
}

void AgentBox::put_software(core::model::JobId job, const std::vector<std::string>& names) {
  const std::scoped_lock lock(mutex_);
  std::set<std::string>& known = software_[job];
  for (const std::string& name : names) {
    if (known.size() < kSoftwareMax) known.insert(name);
  }
}

std::vector<Report> AgentBox::take_progress() {
  const std::scoped_lock lock(mutex_);
  std::vector<Report> out;
  for (const auto& [run, node] : fresh_) {
    const auto found = runs_.find(run);
    if (found != runs_.end()) out.push_back(report_of(run, found->second.progress[node]));
  }
  fresh_.clear();
  return out;
}

void AgentBox::complete(Report& ended) const {
  const std::scoped_lock lock(mutex_);
  const auto found = runs_.find(ended.run);
  if (found == runs_.end()) return;
  const RunMeans& means = found->second.means;
  base::reports::RunUsage& usage = ended.usage;
  if (usage.gpu_util_pct < 0 && means.num_util > 0) {
    usage.gpu_util_pct =
        static_cast<float>(means.util_pct_sum / static_cast<double>(means.num_util));
  }
  if (usage.gpu_mem_bytes_max < 0) usage.gpu_mem_bytes_max = means.gpu_mem_bytes_max;
  if (usage.energy_j < 0 && means.has_energy) usage.energy_j = means.energy_j;
  if (ended.ranks.empty()) ended.ranks = ranks_of(found->second.progress);
  for (const auto& [node, said] : found->second.progress) {
    if (ended.pace == base::reports::RunPace{}) ended.pace = said.pace;
  }
}

std::vector<std::string> AgentBox::software_of(core::model::JobId job) const {
  const std::scoped_lock lock(mutex_);
  const auto found = software_.find(job);
  if (found == software_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

void AgentBox::keep(const std::set<core::model::JobId>& jobs) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(runs_, [&](const auto& each) { return !jobs.contains(each.first.job); });
  std::erase_if(software_, [&](const auto& each) { return !jobs.contains(each.first); });
  std::erase_if(fresh_, [&](const auto& each) { return !jobs.contains(each.first.job); });
}

std::vector<live::EngineEvent> AgentEngine::take_events() {
  std::vector<live::EngineEvent> out;
  // Before what the engine says: a run's progress comes before its end.
  for (Report& report : box_->take_progress()) out.emplace_back(std::move(report));
  for (live::EngineEvent& event : FrontEngine::take_events()) {
    if (auto* report = std::get_if<Report>(&event);
        report != nullptr && report->kind == live::ReportKind::Ended) {
      box_->complete(*report);
    }
    out.push_back(std::move(event));
  }
  return out;
}

}  // namespace goban::serve::daemon
