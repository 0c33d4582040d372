#include "study/simulator/start_observer.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/knowledge/median.hpp"

namespace goban::study::simulator {

using core::scheduler::Core;

namespace {

/// Every n-th waiting job is forecast; the others would cost as much and say the same.
constexpr int64_t kEvery = 3;
constexpr size_t kCalibrated = 20;

bool waits(const Core& core, JobId job) {
  const core::scheduler::State& state = core.state();
  return state.is_active(job) &&
         state.job(state.slot_of(job)).phase == core::model::JobPhase::Waiting;
}

}  // namespace

StartObserver::StartObserver(const core::model::JobHistory& history,
                             core::scheduler::AheadSite site, Observer* next)
    : history_(history), site_(std::move(site)), next_observer_(next) {}

void StartObserver::decided(const core::scheduler::Decision& decision, const Core& core) {
  std::vector<JobId> asked;
  for (; next_job_ < history_.jobs.size(); ++next_job_) {
    const JobId job(next_job_);
    if (history_.jobs[next_job_].request.submit_ns > decision.at_ns) break;
    ++counts_.submitted;
    if (!waits(core, job)) continue;
    if (counts_.waited++ % kEvery == 0) asked.push_back(job);
  }
  if (!asked.empty()) forecast(decision.at_ns, core, asked);
  if (next_observer_ != nullptr) next_observer_->decided(decision, core);
}

void StartObserver::forecast(TimeNs now, const Core& core, const std::vector<JobId>& jobs) {
  constexpr int64_t kDecisionsMax = 4'000;
  const auto made = core::scheduler::forecast_starts(
      site_, core.image(), now, {.seed = next_job_, .decisions_max = kDecisionsMax});
  std::vector<core::knowledge::StartForecastAt> waiting;
  for (const auto& [job, open] : open_) waiting.push_back(open.raw);
  std::ranges::sort(waiting, std::greater(), &core::knowledge::StartForecastAt::made_ns);
  const auto calibration = calibration_.with_overdue(waiting, now);
  for (const JobId job : jobs) {
    const auto found = made.starts.find(job);
    if (found == made.starts.end()) continue;
    Open& open = open_[job];
    open.raw = {.made_ns = now, .interval = found->second};
    open.raw.moved = calibration.moved(open.raw);
    open.is_calibrated = calibration.known() >= kCalibrated;
    open.shown = calibration.shown(open.raw);
  }
}

void StartObserver::started(JobId job, TimeNs now) {
  const auto found = open_.find(job);
  if (found == open_.end()) return;
  const Open open = found->second;
  open_.erase(found);
  calibration_.learn(open.raw, now);
  starts_.push_back({job, open.raw, open.shown, open.is_calibrated, now});
  if (!open.is_calibrated) return;
  ++counts_.judged;
  if (open.raw.interval.holds(now)) ++counts_.inside_raw;
  if (open.shown.holds(now)) {
    ++counts_.inside;
  } else {
    ++(now < open.shown.p10_ns ? counts_.early : counts_.late);
  }
  const auto wait_s = [&](TimeNs at_ns) {
    constexpr TimeNs kLongest_ns = 60 * base::kDay;
    constexpr double kSlack_s = 60;
    const TimeNs wait = at_ns == base::kNever ? kLongest_ns : at_ns - open.raw.made_ns;
    return base::to_seconds(wait) + kSlack_s;
  };
  widths_s_.push_back(wait_s(open.shown.p90_ns) - wait_s(open.shown.p10_ns));
  errors_ln_.push_back(std::abs(std::log(wait_s(now) / wait_s(open.shown.p50_ns))));
}

void StartObserver::acted(TimeNs now, const core::model::Action& action, const Core& core) {
  if (action.kind == core::model::ActionKind::Start) started(action.job, now);
  if (next_observer_ != nullptr) next_observer_->acted(now, action, core);
}

void StartObserver::awake(TimeNs now, core::model::NodeId node) {
  if (next_observer_ != nullptr) next_observer_->awake(now, node);
}

void StartObserver::job_ended(TimeNs now, JobId job, JobEnd end) {
  open_.erase(job);
  if (next_observer_ != nullptr) next_observer_->job_ended(now, job, end);
}

void StartObserver::ended(TimeNs now) {
  if (next_observer_ != nullptr) next_observer_->ended(now);
}

StartCoverage StartObserver::coverage() const {
  StartCoverage out = counts_;
  if (widths_s_.empty()) return out;
  out.width_s = core::knowledge::median(widths_s_);
  out.error_ln = core::knowledge::median(errors_ln_);
  return out;
}

}  // namespace goban::study::simulator
