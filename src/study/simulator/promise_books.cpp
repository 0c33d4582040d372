#include "study/simulator/promise_books.hpp"

#include <algorithm>
#include <cmath>

namespace goban::study::simulator {

using core::model::JobId;

void PromiseBooks::look(const core::scheduler::State& state) {
  const core::scheduler::HeadPromise& promise = state.head_promise();
  if (!promise.job.valid() || !state.is_active(promise.job)) return;
  if (state.job(state.slot_of(promise.job)).phase != core::model::JobPhase::Waiting) return;
  const size_t index = promise.job.index();
  if (index >= promised_ns_.size()) promised_ns_.resize(index + 1, base::kNever);
  promised_ns_[index] = std::min(promised_ns_[index], promise.at_ns);
}

void PromiseBooks::started(JobId job, base::TimeNs now) {
  if (job.index() >= promised_ns_.size() || promised_ns_[job.index()] == base::kNever) return;
  const base::TimeNs late_ns = now - promised_ns_[job.index()];
  promised_ns_[job.index()] = base::kNever;
  ++made_;
  if (late_ns > 0) late_s_.push_back(base::to_seconds(late_ns));
}

PromiseFigures PromiseBooks::figures() const {
  PromiseFigures out{.made = made_, .late = static_cast<int64_t>(late_s_.size())};
  if (late_s_.empty()) return out;
  std::vector<double> sorted = late_s_;
  std::ranges::sort(sorted);
  const double rank = std::ceil(0.95 * static_cast<double>(sorted.size()));
  out.late_p95_s = sorted[static_cast<size_t>(rank) - 1];
  return out;
}

}  // namespace goban::study::simulator
