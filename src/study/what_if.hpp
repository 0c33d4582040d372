// What-if questions: the jobs of the last days, as a history store has them, simulated under other
// policies on the same cluster. Answers POST /v1/whatif of the daemon.
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

/// The cluster that is asked about. Empty texts: not given.
struct WhatIfSite {
  core::model::Cluster cluster{};
  std::string store{};                 ///< history store
  std::string energy{};                ///< as in InputFiles
  std::string colocation{};            ///< likewise
  std::string accounts{};              ///< likewise
  std::vector<std::string> sharing{};  ///< settings that differ from core::policy::kLiveSharing
  uint64_t seed = 1;
};

struct WhatIfLimits {
  double time_s = 25;  ///< of one answer, all policies together
  double days_max = 366;
  size_t policies_max = 8;
};

class WhatIf {
 public:
  explicit WhatIf(WhatIfSite site, WhatIfLimits limits = {});
  virtual ~WhatIf() = default;
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  /// `{"policies": ["fifo", ...], "days": 7}` to the figures of each, beside those that were
  /// recorded. `scores`: of the cluster's GPUs now. One question at a time; from any thread.
  /// Errors: BadData and Usage if the question is wrong, no job is in that time or a policy cannot
  /// run here; Failed if it takes too long.
  [[nodiscard]] virtual base::Result<std::string> answer(const std::string& question,
                                                         const core::knowledge::PmScores& scores);
  /// The answer in progress ends soon, as Failed. From any thread.
  void end() { ending_ = true; }

  /// When "the last days" end; the system's clock unless tests set another.
  std::function<base::TimeNs()> wall_clock{};

 private:
  struct Question {
    std::vector<std::string> policies{};
    double days = 7;
  };
  [[nodiscard]] base::Result<Question> parse(const std::string& text) const;
  [[nodiscard]] base::Result<Inputs> load(const Question& question,
                                          const core::knowledge::PmScores& scores) const;
  [[nodiscard]] base::Result<std::string> simulate(const Question& question,
                                                   const core::knowledge::PmScores& scores,
                                                   const std::atomic<bool>& cancel) const;

  WhatIfSite site_;
  WhatIfLimits limits_;
  std::atomic<bool> ending_ = false;
};

}  // namespace goban::study
