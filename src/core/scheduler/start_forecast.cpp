#include "core/scheduler/start_forecast.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "base/random.hpp"
#include "core/policy/run_luck.hpp"

namespace goban::core::scheduler {

using model::ActionKind;
using model::EventKind;
using model::StartInterval;

namespace {

/// Events this share of the time looked ahead apart are handled together: decisions far ahead need
/// no precision, and their number is bounded by the logarithm of the horizon.
constexpr int64_t kCoarseness = 100;

/// One run of the core into the future.
class Ahead {
 public:
  Ahead(const AheadSite& site, const AheadOptions& options, uint64_t seed, TimeNs now)
      : site_(site),
        options_(options),
        context_{.knowledge = site.knowledge},
        core_(site.speed, site.composition->make(context_), context_, site.seed),
        luck_(seed),
        begin_(now),
        now_(now) {}

  /// Start times of jobs that waited; false if it was stopped.
  [[nodiscard]] bool run(const CoreImage& image, std::unordered_map<JobId, TimeNs>& starts) {
    starts_ = &starts;
    if (!core_.restore(image)) return false;
    for (const CoreImage::Job& job : image.jobs) {
      if (job.state.phase == model::JobPhase::Running) schedule_end(job.state.job);
      const bool is_asked = job.state.phase != model::JobPhase::Running && !options_.extra;
      if (is_asked) starts.emplace(job.state.job, base::kNever);
    }
    if (options_.extra) submit(*options_.extra, extra_id(image), starts);
    left_ = starts.size();
    decide();
    while (left_ > 0) {
      const TimeNs next = next_ns();
      if (next == base::kNever || next - begin_ > options_.horizon_ns) return true;
      if (options_.decisions_max > 0 && ++decisions_ > options_.decisions_max) return true;
      if (options_.stop && options_.stop()) return false;
      now_ = std::max(next, now_ + (now_ - begin_) / kCoarseness);
      end_jobs();
      wake_nodes();
      decide();
    }
    return true;
  }

  /// An id that no job of the image has.
  [[nodiscard]] static JobId extra_id(const CoreImage& image) {
    uint32_t next = 0;
    for (const CoreImage::Job& job : image.jobs) next = std::max(next, job.state.job.value + 1);
    return JobId(next);
  }

 private:
  struct End {
    TimeNs at_ns = 0;
    JobId job{};
    uint32_t start = 0;  ///< JobState::starts; another start of the job has another end
    friend bool operator>(const End& a, const End& b) {
      return std::tie(a.at_ns, a.job) > std::tie(b.at_ns, b.job);
    }
  };

  [[nodiscard]] const model::JobState& job(JobId id) const {
    return core_.state().job(core_.state().slot_of(id));
  }

  void submit(const AheadJob& extra, JobId id, std::unordered_map<JobId, TimeNs>& starts) {
    model::JobRequest request = extra.request;
    request.submit_ns = now_;
    core_.apply({.kind = EventKind::JobSubmitted,
                 .at_ns = now_,
                 .job = id,
                 .request = &request,
                 .forecast = extra.forecast});
    starts.emplace(id, base::kNever);
  }

  void schedule_end(JobId id) {
    const model::JobState& state = job(id);
    auto drawn = runs_.find(id);
    if (drawn == runs_.end()) drawn = runs_.emplace(id, luck_.run_ns(state, now_)).first;
    if (drawn->second == base::kNever) return;
    const TimeNs left = std::max<TimeNs>(drawn->second - state.attained_ns(now_), base::kSecond);
    ends_.push({.at_ns = base::add_saturating(now_, left), .job = id, .start = state.starts});
  }

  [[nodiscard]] bool is_void(const End& end) const {
    if (!core_.state().is_active(end.job)) return true;
    const model::JobState& state = job(end.job);
    return state.phase != model::JobPhase::Running || state.starts != end.start;
  }

  [[nodiscard]] TimeNs next_ns() {
    while (!ends_.empty() && is_void(ends_.top())) ends_.pop();
    TimeNs next = ends_.empty() ? base::kNever : ends_.top().at_ns;
    if (!wakes_.empty()) next = std::min(next, wakes_.top().first);
    const TimeNs wake = core_.wake_ns();
    return wake == base::kNever ? next : std::min(next, std::max(wake, now_ + 1));
  }

  void end_jobs() {
    for (; !ends_.empty() && ends_.top().at_ns <= now_; ends_.pop()) {
      const End end = ends_.top();
      if (is_void(end)) continue;
      core_.apply({.kind = EventKind::JobFinished, .at_ns = now_, .job = end.job});
    }
  }

  void wake_nodes() {
    for (; !wakes_.empty() && wakes_.top().first <= now_; wakes_.pop()) {
      const model::NodeId node(wakes_.top().second);
      if (!core_.state().node_power().is_waking(node)) continue;
      core_.apply({.kind = EventKind::NodeAwake, .at_ns = now_, .node = node});
    }
  }

  void decide() {
    for (const Action& action : core_.decide(now_).actions) {
      if (action.kind == ActionKind::Wake) wake(action.node);
      if (action.kind != ActionKind::Start) continue;
      const auto waited = starts_->find(action.job);
      if (waited != starts_->end() && waited->second == base::kNever) {
        waited->second = now_;
        --left_;
      }
      schedule_end(action.job);
    }
    (void)core_.take_disturbed();
  }

  void wake(model::NodeId node) {
    double wake_s = 0;
    const uint32_t gpu_model = site_.speed.cluster->node(node).gpu_model;
    if (site_.knowledge != nullptr && gpu_model < site_.knowledge->power.size()) {
      wake_s = site_.knowledge->power[gpu_model].sleep.wake_s;
    }
    wakes_.emplace(now_ + base::from_seconds(wake_s), node.value);
  }

  const AheadSite& site_;
  const AheadOptions& options_;
  policy::RunContext context_;
  Core core_;
  policy::RunLuck luck_;
  TimeNs begin_;
  TimeNs now_;
  std::unordered_map<JobId, TimeNs>* starts_ = nullptr;
  int64_t decisions_ = 0;
  size_t left_ = 0;                         ///< jobs that have not started
  std::unordered_map<JobId, TimeNs> runs_;  ///< drawn run times
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  using NodeWake = std::pair<TimeNs, uint32_t>;
  std::priority_queue<NodeWake, std::vector<NodeWake>, std::greater<>> wakes_;
};

/// The second of 20 values to the last but one.
StartInterval interval_of(std::vector<TimeNs>& values) {
  std::ranges::sort(values);
  const size_t outside = (values.size() - 1) / 10;
  return {.p10_ns = values[outside],
          .p50_ns = values[values.size() / 2],
          .p90_ns = values[values.size() - 1 - outside]};
}

}  // namespace

StartForecasts forecast_starts(const AheadSite& site, const CoreImage& image, TimeNs now,
                               const AheadOptions& options) {
  StartForecasts out;
  if (site.composition->settings.round_s > 0) return out;
  std::map<JobId, std::vector<TimeNs>> values;
  for (int i = 0; i < options.runs; ++i) {
    std::unordered_map<JobId, TimeNs> starts;
    const uint64_t seed = base::Random(options.seed + static_cast<uint64_t>(i))();
    if (!Ahead(site, options, seed, now).run(image, starts)) break;
    for (const auto& [job, start_ns] : starts) values[job].push_back(start_ns);
    ++out.runs;
  }
  if (out.runs < 2) return out;
  for (auto& [job, of_job] : values) out.starts.emplace(job, interval_of(of_job));
  if (options.extra) out.extra = out.starts.extract(Ahead::extra_id(image)).mapped();
  return out;
}

}  // namespace goban::core::scheduler
