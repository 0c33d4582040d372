// What-if replays: the jobs of the last days, read from a history store, simulated under other
// policies on the same cluster. Serves POST /v1/whatif of the daemon.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "study/inputs.hpp"

namespace goban::study {

/// The site whose jobs are replayed. Empty strings: not given.
struct WhatIfSite {
  std::string store{};                 ///< history store
  std::string energy{};                ///< as in InputFiles
  std::string colocation{};            ///< as in InputFiles
  std::string accounts{};              ///< as in InputFiles
  std::vector<std::string> sharing{};  ///< settings that differ from core::policy::kLiveSharing
  uint64_t seed = 1;
};

struct WhatIfLimits {
  double time_s = 25;  ///< time limit of one request, all policies together
  double days_max = 366;
  size_t policies_max = 8;
};

class WhatIf {
 public:
  explicit WhatIf(WhatIfSite site, WhatIfLimits limits = {});
  virtual ~WhatIf() = default;
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  /// Returns the metrics of each policy of `{"policies": ["fifo", ...], "days": 7}`, next to those
  /// that were recorded. `cluster` and `scores`: the present ones. Callable from any
  /// thread, for one request at a time. Errors: BadData and Usage if the request is invalid, no job
  /// falls into that period or a policy cannot run here; Failed if it takes too long.
  [[nodiscard]] virtual base::Result<std::string> answer(const std::string& question,
                                                         const core::model::Cluster& cluster,
                                                         const core::knowledge::PmScores& scores);
  /// Makes the request in progress end soon with Failed. Callable from any thread.
  void end() { ending_ = true; }

  /// The time at which "the last days" end; the system clock unless a test sets another.
  std::function<base::TimeNs()> wall_clock{};

 private:
  struct Question {
    std::vector<std::string> policies{};
    double days = 7;
  };
  [[nodiscard]] base::Result<Question> parse(const std::string& text) const;
  [[nodiscard]] base::Result<Inputs> load(const Question& question,
                                          const core::model::Cluster& cluster,
                                          const core::knowledge::PmScores& scores) const;
  [[nodiscard]] base::Result<std::string> simulate(const Question& question,
                                                   const core::model::Cluster& cluster,
                                                   const core::knowledge::PmScores& scores,
                                                   const std::atomic<bool>& cancel) const;

  WhatIfSite site_;
  WhatIfLimits limits_;
  std::atomic<bool> ending_ = false;
};

}  // namespace goban::study
