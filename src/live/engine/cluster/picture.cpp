#include "live/engine/cluster/picture.hpp"

namespace goban::live::engine::cluster {

bool same_job(const JobSeen& a, const JobSeen& b) {
  return a.id == b.id && a.managed == b.managed && a.state == b.state && a.run == b.run &&
         a.spec == b.spec && a.array == b.array && a.blocked == b.blocked &&
         a.submit_ns == b.submit_ns && a.start_ns == b.start_ns && a.parts == b.parts;
}

std::vector<EngineEvent> diff(const Picture& before, const Picture& after) {
  std::vector<EngineEvent> events;
  if (before.cluster != after.cluster) events.emplace_back(after.cluster);
  for (const auto& [id, job] : before.jobs) {
    if (after.jobs.contains(id)) continue;
    const auto how = after.ended.find(id);
    events.emplace_back(how == after.ended.end() ? JobGone{.id = id} : how->second);
  }
  for (const auto& [id, job] : after.jobs) {
    const auto old = before.jobs.find(id);
    if (old == before.jobs.end() || !same_job(old->second, job)) events.emplace_back(job);
  }
  return events;
}

void apply(Picture& picture, const EngineEvent& event) {
  if (const auto* cluster = std::get_if<ClusterSeen>(&event)) picture.cluster = *cluster;
  if (const auto* seen = std::get_if<JobSeen>(&event)) picture.jobs[seen->id] = *seen;
  if (const auto* gone = std::get_if<JobGone>(&event)) {
    picture.jobs.erase(gone->id);
    picture.ended[gone->id] = *gone;
  }
}

}  // namespace goban::live::engine::cluster
