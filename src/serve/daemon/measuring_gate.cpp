#include "serve/daemon/measuring_gate.hpp"

#include <algorithm>

namespace goban::serve::daemon {

bool MeasuringGate::begin(core::model::GpuId gpu) {
  const std::scoped_lock lock(mutex_);
  if (closed_) return false;
  gpu_ = gpu;
  interrupted_ = false;
  return true;
}

void MeasuringGate::end() {
  const std::scoped_lock lock(mutex_);
  gpu_.reset();
}

void MeasuringGate::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  interrupted_ = true;
}

bool MeasuringGate::must_wait(const std::vector<core::model::GpuId>& gpus) {
  const std::scoped_lock lock(mutex_);
  if (!gpu_ || std::ranges::find(gpus, *gpu_) == gpus.end()) return false;
  interrupted_ = true;
  return true;
}

void GatedEngine::launch(const live::LaunchOrder& order) {
  if (gate_->must_wait(order.gpus)) {
    waiting_[order.run] = order;
  } else {
    waiting_.erase(order.run);
    FrontEngine::launch(order);
  }
}

void GatedEngine::stop(live::RunId run, live::StopReason reason) {
  waiting_.erase(run);
  FrontEngine::stop(run, reason);  // if it was never launched, the engine reports it as lost
}

void GatedEngine::resume(const live::LaunchOrder& order) {
  if (!waiting_.contains(order.run)) FrontEngine::resume(order);
}

void GatedEngine::forget(core::model::JobId job, const std::string& payload) {
  std::erase_if(waiting_, [&](const auto& each) { return each.first.job == job; });
  FrontEngine::forget(job, payload);
  if (forgotten_ && !payload.empty()) forgotten_(payload);
}

std::vector<live::EngineEvent> GatedEngine::take_events() {
  std::erase_if(waiting_, [&](const auto& each) {
    if (gate_->must_wait(each.second.gpus)) return false;
    FrontEngine::launch(each.second);
    return true;
  });
  return FrontEngine::take_events();
}

}  // namespace goban::serve::daemon
