#include "live/controller/observer.hpp"

#include <algorithm>

namespace goban::live {
namespace {

/// Less of an epoch says nothing of its time.
constexpr double kEpochShareMin = 0.02;

/// Seconds of an epoch in this stretch; negative = not enough is known.
double stretch_epoch_s(const ProgressObserver::Track& track) {
  const double epochs = track.epochs - track.base_epochs;
  if (track.base_epochs < 0 || epochs < kEpochShareMin) return -1;
  return base::to_seconds(track.at_ns - track.base_ns) / epochs;
}

}  // namespace

void ProgressObserver::restarted(JobId job, TimeNs now) {
  Track& track = jobs_[job];
  track.base_epochs = -1;
  track.base_ns = now;
}

void ProgressObserver::progressed(JobId job, double epochs, double slowdown, bool alone,
                                  TimeNs now) {
  if (!(epochs >= 0)) return;
  Track& track = jobs_[job];
  if (track.base_epochs < 0 || epochs < track.epochs) {
    track.base_epochs = epochs;
    track.base_ns = now;
  }
  track.epochs = epochs;
  track.at_ns = now;
  const double epoch_s = stretch_epoch_s(track);
  if (alone && epoch_s > 0) track.alone_epoch_s = epoch_s / slowdown;
}

double ProgressObserver::epoch_s(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? -1 : found->second.alone_epoch_s;
}

double ProgressObserver::epochs_done(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? -1 : found->second.epochs;
}

void ProgressObserver::observe(JobId job, TimeNs until) {
  Track& track = jobs_[job];
  track.until_ns = until;
}

std::optional<double> ProgressObserver::observed(JobId job, double slowdown, TimeNs now) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.until_ns < 0) return std::nullopt;
  Track& track = found->second;
  const bool whole = track.base_epochs >= 0 && track.epochs - track.base_epochs >= 1;
  if (!whole && now < track.until_ns) return std::nullopt;
  track.until_ns = -1;
  const double epoch_s = stretch_epoch_s(track);
  if (epoch_s <= 0 || track.alone_epoch_s <= 0) return std::nullopt;
  return epoch_s / (track.alone_epoch_s * slowdown);
}

TimeNs ProgressObserver::next_ns() const {
  TimeNs next = base::kNever;
  for (const auto& [job, track] : jobs_) {
    if (track.until_ns >= 0) next = std::min(next, track.until_ns);
  }
  return next;
}

std::vector<JobId> ProgressObserver::watched() const {
  std::vector<JobId> found;
  for (const auto& [job, track] : jobs_) {
    if (track.until_ns >= 0) found.push_back(job);
  }
  return found;
}

}  // namespace goban::live
