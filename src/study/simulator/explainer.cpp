#include "study/simulator/explainer.hpp"

#include <algorithm>

namespace goban::study::simulator {
namespace {

using core::model::ActionKind;
using core::policy::PlacementRequest;
using core::policy::PlacementView;

constexpr size_t kNamesKept = 5;

/// Forwards to the policy, and reports each placement to the explainer.
class WatchedPlacement final : public core::policy::Placement {
 public:
  WatchedPlacement(std::unique_ptr<core::policy::Placement> policy, Explainer& explainer)
      : policy_(std::move(policy)), explainer_(&explainer) {}

  bool place(const PlacementView& view, const PlacementRequest& request,
             core::model::Allocation& out) const override {
    const bool placed = policy_->place(view, request, out);
    if (placed) explainer_->found(view, request);
    return placed;
  }
  [[nodiscard]] bool uses_bins() const override { return policy_->uses_bins(); }
  [[nodiscard]] bool class_first() const override { return policy_->class_first(); }
  [[nodiscard]] bool repeatable() const override { return policy_->repeatable(); }

 private:
  std::unique_ptr<core::policy::Placement> policy_;
  Explainer* explainer_;
};

/// Maximum number of free GPUs on one node.
int32_t fullest_node(const core::model::FreeGpus& free) {
  const core::model::CountBuckets& nodes = free.by_node();
  for (uint32_t count = nodes.count_max(); count > 0; --count) {
    if (nodes.with(count).first() != core::model::DomainSet::kNone)
      return static_cast<int32_t>(count);
  }
  return 0;
}

}  // namespace

Explainer::Explainer(const core::model::JobHistory& history, const core::policy::SpeedModel& speed,
                     JobId job, uint64_t seed, std::optional<core::policy::PalOptions> pal)
    : history_(history),
      speed_(speed),
      job_(job),
      seed_(seed),
      pal_(pal),
      waits_since_ns_(history.jobs[job.index()].request.submit_ns) {}

void Explainer::attach(SimulationOptions& options) {
  options.observer = this;
  options.cancel = &done_;
  options.watch_placement = [this](std::unique_ptr<core::policy::Placement> policy) {
    return std::make_unique<WatchedPlacement>(std::move(policy), *this);
  };
}

void Explainer::found(const PlacementView& view, const PlacementRequest& request) {
  const core::model::JobRequest& wanted = history_.jobs[job_.index()].request;
  if (request.job->submit_ns != wanted.submit_ns || request.job->user != wanted.user) return;
  Sight& sight = sights_.emplace_back();
  sight.seed = request.seed;
  sight.free_gpus = view.free->total();
  sight.one_node_free = fullest_node(*view.free);
  if (pal_) sight.entries = core::policy::pal_entries(view, request, *pal_);
}

void Explainer::acted(TimeNs now, const core::model::Action& action,
                      const core::scheduler::Core& core) {
  if (action.job != job_ || action.kind == ActionKind::Start) return;
  const auto last = core.state().last_gpus(core.state().slot_of(job_));
  lost_gpus_.assign(last.begin(), last.end());
  story_.stops.push_back({.at_ns = now,
                          .node_failed = action.kind == ActionKind::Abandon,
                          .resized = action.resize,
                          .takers = {}});
  waits_since_ns_ = now;
}

void Explainer::decided(const core::scheduler::Decision& decision,
                        const core::scheduler::Core& core) {
  const core::scheduler::State& state = core.state();
  if (state.is_active(job_)) {
    const bool runs = state.job(state.slot_of(job_)).phase == core::model::JobPhase::Running;
    const auto start =
        std::ranges::find_if(decision.actions, [&](const core::model::Action& action) {
          return action.kind == ActionKind::Start && action.job == job_;
        });
    if (!lost_gpus_.empty()) {
      for (const auto& running : state.running()) {
        const JobId taker = state.job(running.slot).job;
        const bool takes = std::ranges::any_of(running.allocation.gpus, [&](GpuId gpu) {
          return std::ranges::find(lost_gpus_, gpu) != lost_gpus_.end();
        });
        if (takes && taker != job_) story_.stops.back().takers.push_back(taker);
      }
      std::ranges::sort(story_.stops.back().takers);
      lost_gpus_.clear();
    }
    if (!runs) note_wait(decision.at_ns, core);
    if (runs) end_wait(decision.at_ns);
    if (start != decision.actions.end()) note_launch(decision, *start, core);
  }
  sights_.clear();
}

void Explainer::note_wait(TimeNs now, const core::scheduler::Core& core) {
  const core::scheduler::WaitReason why = core::scheduler::why_waiting(core, job_, now, seed_);
  const bool in_line = why.cause != core::scheduler::WaitCause::ArrayLimit &&
                       why.cause != core::scheduler::WaitCause::AccountLimit && !why.is_behind;
  if (in_line && !story_.first_in_line_ns) story_.first_in_line_ns = now;
  if (wait_is_open_ && story_.waits.back().why.same_as(why)) {
    WaitSpan& span = story_.waits.back();
    span.free_min = std::min(span.free_min, why.free_gpus);
    span.free_max = std::max(span.free_max, why.free_gpus);
    return;
  }
  const TimeNs from = wait_is_open_ ? now : waits_since_ns_;
  end_wait(now);
  WaitSpan span{.from_ns = from, .to_ns = from, .why = why, .first_ahead = {}};
  span.free_min = why.free_gpus;
  span.free_max = why.free_gpus;
  span.first_ahead = core::scheduler::waiting_before(core, job_, kNamesKept, span.ahead);
  story_.waits.push_back(std::move(span));
  wait_is_open_ = true;
}

void Explainer::end_wait(TimeNs now) {
  if (!wait_is_open_) return;
  story_.waits.back().to_ns = now;
  wait_is_open_ = false;
}

void Explainer::note_launch(const core::scheduler::Decision& decision,
                            const core::model::Action& action, const core::scheduler::Core& core) {
  const core::model::JobRequest& request = history_.jobs[job_.index()].request;
  const bool explained = !story_.waits.empty() && story_.waits.back().to_ns == decision.at_ns;
  if (waits_since_ns_ < decision.at_ns && !explained) {
    story_.waits.push_back({.from_ns = waits_since_ns_,
                            .to_ns = decision.at_ns,
                            .why = {.cause = core::scheduler::WaitCause::Round},
                            .first_ahead = {}});
  }
  Launch launch;
  launch.at_ns = decision.at_ns;
  launch.allocation = core.allocation(job_);
  launch.same_gpus = action.same_gpus;
  if (const auto& gpus = launch.allocation.gpus; !gpus.empty()) {
    launch.span_level = speed_.cluster->span_level(gpus);
    launch.score = speed_.scores->max_raw(request.app_class, gpus);
    launch.penalty = speed_.penalties->at(launch.span_level, request);
  }
  const uint64_t seed = core::scheduler::placement_seed(seed_, job_, decision.at_ns);
  // Of several placements in one decision the last one took effect.
  for (Sight& sight : sights_) {
    if (sight.seed != seed) continue;
    launch.free_gpus = sight.free_gpus;
    launch.one_node_free = sight.one_node_free;
    launch.entries = std::move(sight.entries);
  }
  bool seen = false;
  for (const JobId placed : decision.placed) {
    if (placed == job_) {
      seen = true;
    } else {
      (seen ? launch.after : launch.before).push_back(placed);
    }
  }
  story_.launches.push_back(std::move(launch));
}

void Explainer::job_ended(TimeNs now, JobId job, JobEnd end) {
  if (job != job_) return;
  story_.finish_ns = now;
  story_.end = end;
  done_ = true;
}

}  // namespace goban::study::simulator
