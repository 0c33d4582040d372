// What a cluster's own software says at one moment: its nodes and the jobs of its queue. Engines
// ask again and again; the difference of two answers is what happened. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "live/engine.hpp"

namespace goban::live::engine::cluster {

struct Picture {
  ClusterSeen cluster{};                   ///< nodes by name
  std::map<std::string, JobSeen> jobs{};   ///< that wait or run, by their id
  std::map<std::string, JobGone> ended{};  ///< how jobs ended, where that is still known
};

/// Equal in all fields.
[[nodiscard]] bool same_job(const JobSeen& a, const JobSeen& b);

/// What happened in between: the list of nodes if anything of it differs, then jobs that are gone,
/// then jobs that appeared or differ. How a job ended is taken from `after`.
[[nodiscard]] std::vector<EngineEvent> diff(const Picture& before, const Picture& after);

/// What a receiver of events knows after one more. A Report changes nothing.
void apply(Picture& picture, const EngineEvent& event);

}  // namespace goban::live::engine::cluster
