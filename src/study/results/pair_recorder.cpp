#include "study/results/pair_recorder.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace goban::study::results {

PairRecorder::PairRecorder(const core::model::Cluster& cluster, simulator::Observer* next)
    : cluster_(cluster), next_(next), tenants_(cluster.num_gpus()) {}

void PairRecorder::decided(const core::scheduler::Decision& decision,
                           const core::scheduler::Core& core) {
  if (next_ != nullptr) next_->decided(decision, core);
}

void PairRecorder::acted(base::TimeNs now, const core::model::Action& action,
                         const core::scheduler::Core& core) {
  if (next_ != nullptr) next_->acted(now, action, core);
  if (action.kind == core::model::ActionKind::Preempt ||
      action.kind == core::model::ActionKind::Abandon) {
    return stop(now, action.job);
  }
  if (action.kind != core::model::ActionKind::Start) return;
  const core::scheduler::State& state = core.state();
  const core::model::AppId app = state.job(state.slot_of(action.job)).request.app;
  if (!app.valid()) return;
  const std::vector<core::model::GpuId>& gpus = core.allocation(action.job).gpus;
  for (const core::model::GpuId gpu : gpus) tenants_[gpu.index()].push_back({action.job, app, now});
  gpus_of_[action.job] = gpus;
}

void PairRecorder::awake(base::TimeNs now, core::model::NodeId node) {
  if (next_ != nullptr) next_->awake(now, node);
}

void PairRecorder::job_ended(base::TimeNs now, core::model::JobId job, simulator::JobEnd end) {
  if (next_ != nullptr) next_->job_ended(now, job, end);
  stop(now, job);
}

void PairRecorder::ended(base::TimeNs now) {
  if (next_ != nullptr) next_->ended(now);
  while (!gpus_of_.empty()) stop(now, gpus_of_.begin()->first);
}

void PairRecorder::stop(base::TimeNs now, core::model::JobId job) {
  const auto found = gpus_of_.find(job);
  if (found == gpus_of_.end()) return;
  for (const core::model::GpuId gpu : found->second) {
    std::vector<Tenant>& tenants = tenants_[gpu.index()];
    const auto place = std::ranges::find(tenants, job, &Tenant::job);
    GOBAN_CHECK(place != tenants.end());
    const Tenant leaving = *place;
    tenants.erase(place);
    for (const Tenant& other : tenants) add(gpu, leaving, other, now);
  }
  gpus_of_.erase(found);
}

void PairRecorder::add(core::model::GpuId gpu, const Tenant& one, const Tenant& other,
                       base::TimeNs now) {
  const base::TimeNs span_ns = now - std::max(one.since_ns, other.since_ns);
  if (span_ns <= 0) return;
  const size_t gpu_model = cluster_.node(cluster_.node_of(gpu)).gpu_model;
  const auto [first, second] = std::minmax(one.app, other.app);
  together_s_[{gpu_model, first, second}] += base::to_seconds(span_ns);
}

}  // namespace goban::study::results
