#include "study/lab/episode.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "core/policy/policy_set.hpp"

namespace goban::study::lab {

using core::policy::Board;

constexpr uint32_t kNotHeld = UINT32_MAX;

/// The selection of an episode: the agent's.
class Episode::Choice final : public core::policy::Select {
 public:
  explicit Choice(Episode& episode) : episode_(episode) {}
  void run(Board& board) const override { episode_.select(board); }

 private:
  Episode& episode_;
};

/// A placement whose last result the episode sees.
class Episode::Watched final : public core::policy::Placement {
 public:
  Watched(Episode& episode, std::unique_ptr<core::policy::Placement> watched)
      : episode_(episode), watched_(std::move(watched)) {}
  bool place(const core::policy::PlacementView& view, const core::policy::PlacementRequest& request,
             core::model::Allocation& out) const override {
    const bool placed = watched_->place(view, request, out);
    if (placed) episode_.placed_ = out.gpus;
    return placed;
  }
  bool uses_bins() const override { return watched_->uses_bins(); }
  bool class_first() const override { return watched_->class_first(); }
  bool repeatable() const override { return false; }

 private:
  Episode& episode_;
  std::unique_ptr<core::policy::Placement> watched_;
};

base::Result<std::unique_ptr<Episode>> Episode::make(
    std::shared_ptr<const core::model::JobHistory> history, const core::model::Cluster& cluster,
    const EpisodeOptions& options) {
  const auto composition = core::policy::compose(options.parts);
  if (!composition) return base::failure(composition.error());
  if (composition->preemption() != core::policy::Preemption::None) {
    return base::usage_error(
        "parts '" + options.parts + "' preempt, and an episode only starts jobs",
        "give an order and a placement, such as fifo+packed");
  }
  return std::unique_ptr<Episode>(new Episode(std::move(history), cluster, options));
}

Episode::Episode(std::shared_ptr<const core::model::JobHistory> history,
                 const core::model::Cluster& cluster, const EpisodeOptions& options)
    : history_(std::move(history)),
      cluster_(cluster),
      options_(options),
      estimates_(*history_, false, this),
      waiting_(options_.slots),
      held_at_(history_->jobs.size(), kNotHeld),
      fiber_([this] { run(); }) {
  for (const auto& node : cluster_.nodes()) free_.push_back(static_cast<int32_t>(node.num_gpus));
}

Episode::~Episode() {
  if (!fiber_.started() || fiber_.ended()) return;
  stops_ = true;
  fiber_.resume();
}

void Episode::run() {
  RunOptions options = options_.run;
  options.observer = &estimates_;
  const auto adapt = [this](core::policy::PolicySet& set, core::policy::RunContext& context) {
    estimates_.stand_in_for(context.oracle);
    context.oracle = &estimates_;
    set.select = std::make_unique<Choice>(*this);
    set.placement = std::make_unique<Watched>(*this, std::move(set.placement));
  };
  try {
    const auto result = run_adapted(*history_, cluster_, options_.parts, adapt, options);
    if (!result) {
      status_ = base::failure(result.error());
      return;
    }
    now_ = result->end_ns;
    count_to(now_);
  } catch (const Stopped&) {
    status_ = base::failed("the episode was given up");  // its stack is unwound by now
  }
}

base::Status Episode::proceed() {
  fiber_.resume();
  return status_;
}

base::Status Episode::step(size_t action) {
  GOBAN_CHECK(!over());
  action_ = action;
  return proceed();
}

bool Episode::fits(size_t slot) const {
  return slot < slots_.size() && !slots_[slot].refused && slots_[slot].gpus <= free_gpus_;
}

bool Episode::must_start() const { return running_ == 0 && submitted_ == history_->jobs.size(); }

void Episode::select(Board& board) {
  count_to(board.now());
  now_ = board.now();
  for (Slot& each : slots_) each.refused = false;
  while (!board.full()) {
    fill_slots(board);
    free_gpus_ = board.free_gpus();
    size_t first = 0;
    while (first < slots_.size() && !fits(first)) ++first;
    if (first == slots_.size()) return;
    fiber_.pause();
    if (stops_) throw Stopped{};
    size_t slot = action_;
    if (!fits(slot)) {
      if (!must_start()) return;
      slot = first;
    }
    const JobState* job = slots_[slot].job;
    const JobId id = job->job;
    if (board.start(job)) {
      hold(id);
      slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(slot));
    } else {
      slots_[slot].refused = true;
    }
  }
}

void Episode::fill_slots(Board& board) {
  const size_t count = board.leading(waiting_);
  spare_.clear();
  // Jobs keep their order for the most part, so each is found where the one before was.
  size_t expected = 0;
  for (size_t i = 0; i < count; ++i) {
    const Board::Waiting& each = waiting_[i];
    const auto known = [&](const Slot& slot) { return slot.arrival == each.arrival; };
    auto at =
        std::find_if(slots_.begin() + static_cast<std::ptrdiff_t>(expected), slots_.end(), known);
    if (at == slots_.end()) at = std::ranges::find_if(slots_, known);
    if (at != slots_.end()) {
      expected = static_cast<size_t>(at - slots_.begin()) + 1;
      spare_.push_back(*at);
    } else {
      const core::model::JobRequest& request = each.job->request;
      const TimeNs limit = request.walltime_limit_ns;
      const double estimate_s = limit > 0 ? base::to_seconds(limit) : estimates_.of(each.job->job);
      spare_.push_back({.arrival = each.arrival,
                        .gpus = each.gpus,
                        .estimate_s = static_cast<float>(estimate_s),
                        .since = each.job->waiting_since_ns});
    }
    spare_.back().job = each.job;
  }
  std::swap(slots_, spare_);
}

void Episode::hold(JobId job) {
  const auto at = static_cast<size_t>(running_++);
  if (at == held_.size()) held_.emplace_back();
  held_[at].job = job;
  held_[at].gpus.assign(placed_.begin(), placed_.end());
  held_at_[job.index()] = static_cast<uint32_t>(at);
  for (const core::model::GpuId gpu : placed_) --free_[cluster_.node_of(gpu).index()];
}

void Episode::job_ended(TimeNs now, JobId job, simulator::JobEnd /*end*/) {
  count_to(now);
  --in_system_;
  const uint32_t at = std::exchange(held_at_[job.index()], kNotHeld);
  if (at == kNotHeld) return;
  for (const core::model::GpuId gpu : held_[at].gpus) ++free_[cluster_.node_of(gpu).index()];
  const auto last = static_cast<size_t>(--running_);
  if (at == last) return;
  std::swap(held_[at], held_[last]);
  held_at_[held_[at].job.index()] = at;
}

void Episode::count_to(TimeNs now) {
  const auto count = [this](TimeNs until) {
    job_s_ += base::to_seconds(until - counted_) * static_cast<double>(in_system_);
    counted_ = until;
  };
  for (; submitted_ < history_->jobs.size(); ++submitted_) {
    const core::model::JobRequest request = history_->jobs[submitted_].request;
    if (request.submit_ns > now) break;
    count(request.submit_ns);
    (void)estimates_.of(JobId(submitted_));  // fixed at the submission
    ++in_system_;
  }
  count(now);
}

void Episode::observe_slots(std::span<float> out) const {
  GOBAN_CHECK(out.size() == options_.slots * kFeatures);
  std::ranges::fill(out, 0.0F);
  if (over()) return;
  float* row = out.data();
  for (const Slot& slot : slots_) {
    row[kGpus] = static_cast<float>(slot.gpus);
    row[kEstimate_s] = slot.estimate_s;
    row[kWait_s] = static_cast<float>(base::to_seconds(now_ - slot.since));
    row += kFeatures;
  }
}

void Episode::observe_free(std::span<float> out) const {
  GOBAN_CHECK(out.size() == free_.size());
  std::ranges::transform(free_, out.begin(), [](int32_t gpus) { return static_cast<float>(gpus); });
}

void Episode::observe_mask(std::span<int8_t> out) const {
  GOBAN_CHECK(out.size() == options_.slots + 1);
  for (size_t slot = 0; slot < options_.slots; ++slot) out[slot] = !over() && fits(slot) ? 1 : 0;
  out.back() = over() || !must_start() ? 1 : 0;
}

}  // namespace goban::study::lab
