#include "study/results/run_recorder.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::study::results {

namespace {

TimeNs origin_of(const core::model::JobHistory& history) {
  return history.jobs.empty() ? 0 : history.jobs.front().request.submit_ns;
}

}  // namespace

HeatRows heat_rows(const core::model::Cluster& cluster, size_t rows_max) {
  HeatRows rows;
  const auto nodes = cluster.nodes();
  if (cluster.num_gpus() <= rows_max) {
    rows.kind = "gpu";
    for (const core::model::Node& node : nodes) {
      for (uint32_t gpu = 0; gpu < node.num_gpus; ++gpu) {
        rows.of_gpu.push_back(static_cast<uint32_t>(rows.labels.size()));
        rows.labels.push_back(fmt::format("{} GPU {}", node.name, gpu));
        rows.gpus.push_back(1);
      }
    }
    return rows;
  }
  const size_t group = (nodes.size() + rows_max - 1) / rows_max;
  rows.kind = group == 1 ? "node" : "nodes";
  for (size_t first = 0; first < nodes.size(); first += group) {
    const size_t last = std::min(first + group, nodes.size()) - 1;
    const uint32_t gpus = nodes[last].end_gpu() - nodes[first].first_gpu;
    rows.of_gpu.insert(rows.of_gpu.end(), gpus, static_cast<uint32_t>(rows.labels.size()));
    rows.labels.push_back(first == last
                              ? nodes[first].name
                              : fmt::format("{} to {}", nodes[first].name, nodes[last].name));
    rows.gpus.push_back(gpus);
  }
  return rows;
}

RunRecorder::RunRecorder(const core::model::JobHistory& history, const HeatRows& rows,
                         simulator::Observer* next)
    : history_(history),
      rows_(rows),
      next_(next),
      curves_(2, kBinsMax, origin_of(history)),
      heat_(rows.labels.size(), kBinsMax, origin_of(history)),
      row_held_(rows.labels.size()),
      jobs_on_(rows.of_gpu.size()) {}

void RunRecorder::change(Level& level, TimeNs now, int64_t by, TimeBins& bins, size_t row) {
  if (level.value != 0) bins.add(row, level.since_ns, now, static_cast<double>(level.value));
  level.since_ns = now;
  level.value += by;
}

void RunRecorder::submit_until(TimeNs now) {
  for (; next_submit_ < history_.jobs.size(); ++next_submit_) {
    const TimeNs submit_ns = history_.jobs[next_submit_].request.submit_ns;
    if (submit_ns > now) return;
    change(waiting_, submit_ns, 1, curves_, kWaiting);
  }
}

void RunRecorder::hold(TimeNs now, core::model::JobId job, std::vector<core::model::GpuId> gpus) {
  if (job.index() < history_.jobs.size()) change(waiting_, now, -1, curves_, kWaiting);
  for (const core::model::GpuId gpu : gpus) {
    if (jobs_on_[gpu.index()]++ > 0) continue;
    change(held_, now, 1, curves_, kHeld);
    const uint32_t row = rows_.of_gpu[gpu.index()];
    change(row_held_[row], now, 1, heat_, row);
  }
  gpus_of_[job] = std::move(gpus);
}

void RunRecorder::release(TimeNs now, core::model::JobId job, bool waits_again) {
  const auto held = gpus_of_.find(job);
  if (held == gpus_of_.end()) return;
  if (waits_again && job.index() < history_.jobs.size()) {
    change(waiting_, now, 1, curves_, kWaiting);
  }
  for (const core::model::GpuId gpu : held->second) {
    if (--jobs_on_[gpu.index()] > 0) continue;
    change(held_, now, -1, curves_, kHeld);
    const uint32_t row = rows_.of_gpu[gpu.index()];
    change(row_held_[row], now, -1, heat_, row);
  }
  gpus_of_.erase(held);
}

void RunRecorder::decided(const core::scheduler::Decision& decision,
                          const core::scheduler::Core& core) {
  if (next_ != nullptr) next_->decided(decision, core);
}

void RunRecorder::acted(TimeNs now, const core::model::Action& action,
                        const core::scheduler::Core& core) {
  if (next_ != nullptr) next_->acted(now, action, core);
  submit_until(now);
  switch (action.kind) {
    case core::model::ActionKind::Start:
      hold(now, action.job, core.allocation(action.job).gpus);
      return;
    case core::model::ActionKind::Preempt:
    case core::model::ActionKind::Abandon:
      release(now, action.job, true);
      return;
    case core::model::ActionKind::Observe:
    case core::model::ActionKind::Cap:
    case core::model::ActionKind::Rest:
    case core::model::ActionKind::Wake:
      return;
  }
}

void RunRecorder::awake(TimeNs now, core::model::NodeId node) {
  if (next_ != nullptr) next_->awake(now, node);
}

void RunRecorder::job_ended(TimeNs now, core::model::JobId job, simulator::JobEnd end) {
  if (next_ != nullptr) next_->job_ended(now, job, end);
  submit_until(now);
  release(now, job, false);
}

void RunRecorder::ended(TimeNs now) {
  if (next_ != nullptr) next_->ended(now);
  submit_until(now);
  change(waiting_, now, 0, curves_, kWaiting);
  change(held_, now, 0, curves_, kHeld);
  for (size_t row = 0; row < row_held_.size(); ++row) change(row_held_[row], now, 0, heat_, row);
  end_ns_ = now;
}

void RunRecorder::widen(TimeNs curves_ns, TimeNs heat_ns) {
  curves_.widen(curves_ns);
  heat_.widen(heat_ns);
}

}  // namespace goban::study::results
