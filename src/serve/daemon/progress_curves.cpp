#include "serve/daemon/progress_curves.hpp"

#include <chrono>
#include <utility>

namespace goban::serve::daemon {

using api::ProgressPoint;

void ProgressCurve::add(const ProgressPoint& point) {
  if (!points_.empty()) {
    const ProgressPoint& last = points_.back();
    if (point.at_s < last.at_s + gap_s_ || point.at_s <= last.at_s) return;
    if (point.report == last.report) return;
  }
  points_.push_back(point);
  if (points_.size() < kMost) return;
  for (size_t i = 1; 2 * i < points_.size(); ++i) points_[i] = points_[2 * i];
  points_.resize(points_.size() / 2);
  gap_s_ = 2 * (points_.back().at_s - points_.front().at_s) / kMost;
}

ProgressCurves::ProgressCurves(const live::loop::SchedulerClient& scheduler, base::TimeNs every_ns)
    : scheduler_(scheduler), every_ns_(every_ns) {
  thread_ = std::thread([this] { work(); });
}

ProgressCurves::~ProgressCurves() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::vector<ProgressPoint> ProgressCurves::of(core::model::JobId job) const {
  const std::scoped_lock lock(mutex_);
  const auto found = curves_.find(job);
  return found == curves_.end() ? std::vector<ProgressPoint>{} : found->second.points();
}

void ProgressCurves::look() {
  std::map<core::model::JobId, ProgressPoint> now;
  scheduler_.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    for (const auto& [id, job] : snapshot.book.jobs) {
      if (job.progress_ns < 0) continue;
      now.emplace(id,
                  ProgressPoint{.at_s = base::to_seconds(job.progress_ns), .report = job.progress});
    }
  });
  const std::scoped_lock lock(mutex_);
  std::erase_if(curves_, [&](const auto& each) { return !now.contains(each.first); });
  for (const auto& [id, point] : now) curves_[id].add(point);
}

void ProgressCurves::work() {
  while (true) {
    look();
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, std::chrono::nanoseconds(every_ns_), [this] { return ending_; })) {
      return;
    }
  }
}

}  // namespace goban::serve::daemon
