#include "study/results/energy_recorder.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace goban::study::results {
namespace {

using core::knowledge::GpuResident;
using core::model::ActionKind;
using core::model::GpuId;
using core::model::JobId;
using core::model::NodeId;

constexpr size_t kBinsMax = 2048;
constexpr double kFullUtil_pct = 100;

TimeNs origin_of(const core::model::JobHistory& history) {
  return history.jobs.empty() ? 0 : history.jobs.front().request.submit_ns;
}

std::vector<core::knowledge::MeteredNode> metered_nodes(
    const core::model::Cluster& cluster, const core::policy::SiteKnowledge& knowledge) {
  GOBAN_CHECK(knowledge.power.size() == cluster.gpu_models().size());
  std::vector<core::knowledge::MeteredNode> nodes;
  for (const core::model::Node& node : cluster.nodes()) {
    nodes.push_back({&knowledge.power[node.gpu_model], node.num_gpus});
  }
  return nodes;
}

}  // namespace

EnergyRecorder::EnergyRecorder(const core::model::JobHistory& history,
                               const core::model::Cluster& cluster,
                               std::shared_ptr<const core::policy::SiteKnowledge> knowledge,
                               bool orders_rests, simulator::Observer* next)
    : history_(history),
      cluster_(cluster),
      knowledge_(std::move(knowledge)),
      predictor_(knowledge_->colocation, knowledge_->predictor),
      next_(next),
      power_(1, kBinsMax, origin_of(history)),
      meter_(metered_nodes(cluster, *knowledge_), history.jobs.size() + 1, origin_of(history),
             {.sleeps_in_c = orders_rests,
              .recorded_rests = orders_rests,
              .power_sink =
                  [this](NodeId, TimeNs from, TimeNs to, double power_w) {
                    power_.add(0, from, to, power_w);
                    if (hours_) hours_->add(from, to, power_w);
                  }}),
      begin_ns_(origin_of(history)),
      gpus_(cluster.num_gpus()),
      is_touched_(cluster.nodes().size()),
      rests_(cluster.nodes().size()),
      residents_(cluster.node_gpus_max()) {}

void EnergyRecorder::decided(const core::scheduler::Decision& decision,
                             const core::scheduler::Core& core) {
  if (next_ != nullptr) next_->decided(decision, core);
}

void EnergyRecorder::acted(TimeNs now, const core::model::Action& action,
                           const core::scheduler::Core& core) {
  if (next_ != nullptr) next_->acted(now, action, core);
  now = std::max(now, begin_ns_);
  advance(now);
  switch (action.kind) {
    case ActionKind::Start:
      start(action.job, core);
      return;
    case ActionKind::Preempt:
    case ActionKind::Abandon:
      stop(action.job);
      return;
    case ActionKind::Rest:
      if (is_touched_[action.node.index()]) flush_node(action.node);
      meter_.set_rest(action.node, now, core::knowledge::PowerState::Sleep);
      rests_[action.node.index()] = true;
      return;
    case ActionKind::Cap:
      gpus_[action.gpu.index()].cap = action.cap;
      touch(cluster_.node_of(action.gpu));
      return;
    case ActionKind::Wake:
    case ActionKind::Observe:
      return;
  }
}

void EnergyRecorder::awake(TimeNs now, NodeId node) {
  if (next_ != nullptr) next_->awake(now, node);
  now = std::max(now, begin_ns_);
  advance(now);
  if (!rests_[node.index()]) return;
  rests_[node.index()] = false;
  meter_.set_loads(node, now, {});
}

void EnergyRecorder::job_ended(TimeNs now, JobId job, simulator::JobEnd end) {
  if (next_ != nullptr) next_->job_ended(now, job, end);
  advance(std::max(now, begin_ns_));
  stop(job);
}

void EnergyRecorder::ended(TimeNs now) {
  if (next_ != nullptr) next_->ended(now);
  now = std::max(now, begin_ns_);
  advance(now);
  flush();
  account_ = meter_.finish(now);
}

void EnergyRecorder::start(JobId job, const core::scheduler::Core& core) {
  const core::scheduler::State& state = core.state();
  const core::model::JobState& known = state.job(state.slot_of(job));
  const bool counted = job.index() < history_.jobs.size();
  uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<uint32_t>(running_.size());
    running_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  Running& running = running_[slot];
  running.meter_job = counted ? job : JobId(history_.jobs.size());
  running.app = known.request.app;
  running.util_pct = known.training.gpu_util_pct;
  if (counted && !history_.training.empty()) {
    running.util_pct = history_.training[job.index()].gpu_util_pct;
  }
  running.gpus = core.allocation(job).gpus;
  GOBAN_CHECK(slot_of_.emplace(job, slot).second, "a running job starts");
  for (const GpuId gpu : running.gpus) {
    OnGpu& on = gpus_[gpu.index()];
    GOBAN_CHECK(on.count < on.jobs.size(), "more jobs on a GPU than kSetMax");
    on.jobs[on.count++] = slot;
    touch(cluster_.node_of(gpu));
  }
}

void EnergyRecorder::stop(JobId job) {
  const auto found = slot_of_.find(job);
  if (found == slot_of_.end()) return;
  const uint32_t slot = found->second;
  slot_of_.erase(found);
  for (const GpuId gpu : running_[slot].gpus) {
    OnGpu& on = gpus_[gpu.index()];
    auto* const end = on.jobs.begin() + on.count;
    auto* const place = std::find(on.jobs.begin(), end, slot);
    GOBAN_CHECK(place != end);
    std::copy(place + 1, end, place);
    on.jobs[--on.count] = 0;
    if (on.count == 0) on.cap = -1;
    touch(cluster_.node_of(gpu));
  }
  free_slots_.push_back(slot);
}

void EnergyRecorder::touch(NodeId node) {
  if (is_touched_[node.index()]) return;
  is_touched_[node.index()] = true;
  touched_.push_back(node);
}

void EnergyRecorder::advance(TimeNs now) {
  if (now > touched_at_ns_) flush();
  touched_at_ns_ = now;
}

void EnergyRecorder::flush() {
  for (const NodeId node : touched_) {
    if (is_touched_[node.index()]) flush_node(node);
  }
  touched_.clear();
}

void EnergyRecorder::flush_node(NodeId id) {
  is_touched_[id.index()] = false;
  rests_[id.index()] = false;
  const core::model::Node& node = cluster_.node(id);
  loads_.clear();
  const OnGpu* last = nullptr;
  for (uint32_t gpu = node.first_gpu; gpu < node.end_gpu(); ++gpu) {
    const OnGpu& on = gpus_[gpu];
    if (on.count == 0) continue;
    if (last != nullptr && on == *last) {  // the same jobs as on the previous GPU
      loads_.push_back(loads_.back());
      continue;
    }
    last = &on;
    std::vector<GpuResident>& residents = residents_[gpu - node.first_gpu];
    const double power_w = load_of(on, node.gpu_model, residents);
    loads_.push_back({power_w, residents});
  }
  meter_.set_loads(id, touched_at_ns_, loads_);
}

double EnergyRecorder::load_of(const OnGpu& on, size_t gpu_model,
                               std::vector<GpuResident>& residents) const {
  const core::knowledge::PowerModel& model = knowledge_->power[gpu_model];
  const core::knowledge::GpuTypeId type = knowledge_->gpu_types[gpu_model];
  const core::knowledge::ColocationHistory& known = knowledge_->colocation;
  std::array<core::knowledge::AppId, core::knowledge::kSetMax> apps;
  std::array<double, core::knowledge::kSetMax> declared_pct{};
  residents.clear();
  bool all_declared = true;
  for (size_t i = 0; i < on.count; ++i) {
    const Running& job = running_[on.jobs[i]];
    apps[i] = job.app;
    declared_pct[i] = job.util_pct;
    all_declared = all_declared && job.util_pct >= 0;
    const core::knowledge::MeasuredSet* alone = known.find_alone(type, job.app);
    const double measured_pct = alone == nullptr ? -1 : alone->util_pct;
    const double util_pct = measured_pct >= 0 ? measured_pct : job.util_pct;
    residents.push_back({job.meter_job, util_pct >= 0 ? util_pct : kFullUtil_pct});
  }
  const std::span<const core::knowledge::AppId> members(apps.data(), on.count);
  const core::knowledge::SetPrediction prediction = predictor_.predict(type, members);
  for (size_t i = 0; i < on.count; ++i) residents[i].activity /= prediction.mean[i];
  const auto power = core::knowledge::set_power(model, known, type, members, prediction);
  double power_w = power.gpu_w;
  if (power.level == core::knowledge::PowerLevel::Unknown && all_declared) {
    power_w = model.gpu_busy_w(core::knowledge::joint_util_pct({declared_pct.data(), on.count}));
  }
  if (on.cap >= 0) {
    const core::knowledge::PowerCap& cap = model.caps[static_cast<size_t>(on.cap)];
    power_w = std::max(model.gpu_idle_w, power_w * cap.energy_factor / cap.time_factor);
  }
  return power_w;
}

}  // namespace goban::study::results
