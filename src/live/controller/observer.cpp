#include "live/controller/observer.hpp"

#include <algorithm>

namespace goban::live::controller {
namespace {

/// Minimum part of an epoch from which its time is extrapolated.
constexpr double kEpochShareMin = 0.02;
/// The same for busy minutes, which come in steps of the meter's samples.
constexpr double kBusyMinutesMin = 0.05;
constexpr double kMinute_s = 60;

/// Seconds per epoch since restarted(); negative = not enough is known.
double stretch_epoch_s(const ProgressObserver::Track& track) {
  const double epochs = track.epochs - track.base_epochs;
  const double least = track.unit == PaceUnit::Epochs ? kEpochShareMin : kBusyMinutesMin;
  if (track.base_epochs < 0 || epochs < least) return -1;
  return base::to_seconds(track.at_ns - track.base_ns) / epochs;
}

}  // namespace

void ProgressObserver::restarted(JobId job, TimeNs now) {
  Track& track = jobs_[job];
  track.base_epochs = -1;
  track.base_ns = now;
}

void ProgressObserver::progressed(JobId job, const ProgressReport& progress,
                                  const Standing& standing, TimeNs now) {
  const bool says_epochs = progress.epoch >= 0;
  if (!says_epochs && !(progress.busy_s >= 0)) return;
  Track& track = jobs_[job];
  const PaceUnit unit = says_epochs ? PaceUnit::Epochs : PaceUnit::BusyMinutes;
  if (track.epochs >= 0 && track.unit == PaceUnit::Epochs && unit != track.unit) return;
  const double done = says_epochs ? progress.epoch : progress.busy_s / kMinute_s;
  if (unit != track.unit) {
    track.unit = unit;
    track.alone_epoch_s = -1;
    track.base_epochs = -1;
  }
  if (track.base_epochs < 0 || done < track.epochs) {
    track.base_epochs = done;
    track.base_ns = now;
  }
  track.epochs = done;
  track.at_ns = now;
  const double epoch_s = stretch_epoch_s(track);
  if (!standing.alone || epoch_s <= 0) return;
  track.alone_epoch_s = epoch_s / standing.slowdown;
  if (standing.app.valid()) {
    paces_[{standing.app, standing.num_gpus, unit}] = track.alone_epoch_s;
  }
}

double ProgressObserver::epoch_s(JobId job) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.unit != PaceUnit::Epochs) return -1;
  return found->second.alone_epoch_s;
}

double ProgressObserver::epochs_done(JobId job) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.unit != PaceUnit::Epochs) return -1;
  return found->second.epochs;
}

void ProgressObserver::observe(JobId job, TimeNs until) {
  Track track = jobs_[job];
  track.until_ns = until;
  put(job, track);
}

void ProgressObserver::give_up(JobId job, TimeNs now) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || now < found->second.until_ns) return;
  found->second.until_ns = -1;
  watched_.erase(job);
}

std::optional<double> ProgressObserver::observed(JobId job, const Standing& standing, TimeNs now) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.until_ns < 0) return std::nullopt;
  Track& track = found->second;
  const bool whole = track.base_epochs >= 0 && track.epochs - track.base_epochs >= 1;
  if (!whole && now < track.until_ns) return std::nullopt;
  track.until_ns = -1;
  watched_.erase(job);
  const double epoch_s = stretch_epoch_s(track);
  double alone_s = track.alone_epoch_s;
  if (const auto pace = paces_.find({standing.app, standing.num_gpus, track.unit});
      alone_s <= 0 && standing.app.valid() && pace != paces_.end()) {
    alone_s = pace->second;
  }
  if (epoch_s <= 0 || alone_s <= 0) return std::nullopt;
  return epoch_s / (alone_s * standing.slowdown);
}

TimeNs ProgressObserver::next_ns() const {
  TimeNs next = base::kNever;
  for (const JobId job : watched_) next = std::min(next, jobs_.at(job).until_ns);
  return next;
}

void ProgressObserver::ended(JobId job) {
  jobs_.erase(job);
  watched_.erase(job);
}

void ProgressObserver::put(JobId job, const Track& track) {
  ended(job);
  jobs_[job] = track;
  if (track.until_ns >= 0) watched_.insert(job);
}

}  // namespace goban::live::controller
