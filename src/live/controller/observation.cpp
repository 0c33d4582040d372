#include "live/controller/observation.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "live/controller/book_json.hpp"

namespace goban::live::controller {

void Observation::progressed(const LiveJob& job, const ProgressReport& progress, TimeNs at) {
  observer_.progressed(job.job, progress, core_.standing_of(job), at);
}

bool Observation::awaits_neighbours(JobId job, TimeNs at) const {
  const auto track = observer_.tracks().find(job);
  if (track == observer_.tracks().end() || at >= track->second.until_ns) return false;
  return std::ranges::any_of(core_.neighbours_of(job), [&](JobId other) {
    const LiveJob* neighbour = book_.find(other);
    return neighbour != nullptr && neighbour->stage == JobStage::Starting;
  });
}

std::optional<double> Observation::slowdown_of(JobId job, TimeNs at) {
  if (awaits_neighbours(job, at)) return std::nullopt;
  return observer_.observed(job, core_.standing_of(book_.jobs.at(job)), at);
}

double Observation::epoch_s(JobId job) const {
  const double own_s = observer_.epoch_s(job);
  if (own_s > 0 || !core_.knows(job)) return own_s;
  const core::model::JobRequest& request = core_.request_of(job);
  const auto pace = observer_.paces().find({request.app, request.num_gpus, PaceUnit::Epochs});
  return request.app.valid() && pace != observer_.paces().end() ? pace->second : own_s;
}

double Observation::total_s(JobId id) const {
  const LiveJob* job = book_.find(id);
  const double epoch = epoch_s(id);
  if (job == nullptr || epoch <= 0) return -1;
  const double epochs = job->progress.epochs > 0 ? job->progress.epochs
                                                 : static_cast<double>(job->spec.training.epochs);
  return epochs > 0 ? epochs * epoch : -1;
}

double Observation::left_s(JobId job) const {
  const double total = total_s(job);
  const double done = observer_.epochs_done(job);
  if (total < 0 || done < 0) return total;
  return std::max(total - done * epoch_s(job), 0.0);
}

void Observation::write(nlohmann::json& snapshot) const {
  snapshot["observer"] = to_json(observer_);
  snapshot["paces"] = paces_json(observer_);
}

void Observation::read(base::FieldReader& snapshot, std::span<const core::model::AppId> apps) {
  read_observer(snapshot, "observer", observer_);
  read_paces(snapshot, "paces", apps, observer_);
}

}  // namespace goban::live::controller
