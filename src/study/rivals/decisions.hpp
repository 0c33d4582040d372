// What a replayed rival decided: the GPUs of every job, decision by decision.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace goban::study::rivals {

/// A job and the GPUs that it holds, in the order in which the rival assigned them.
struct Holding {
  int32_t job = 0;
  std::vector<int32_t> gpus;

  friend bool operator==(const Holding&, const Holding&) = default;
};

/// A round or a map: all jobs that hold GPUs from `now_s` on.
struct Decision {
  double now_s = 0;
  std::vector<Holding> holdings;
  std::vector<int32_t> ended;  ///< jobs that left since the decision before
};

/// The shares of time that a policy computed at one moment, or that a file recorded.
struct ShareSet {
  double now_s = 0;
  std::vector<int32_t> jobs;
  std::vector<double> shares;  ///< one for each job, from 0 to 1
};

/// Appends `[now, [[job, [gpu ids]], ...], [ended jobs]]` and a line end.
void append_decision(std::string& out, const Decision& decision);

}  // namespace goban::study::rivals
