// Answers POST /v1/whatif of the daemon: the jobs of the last days, as its store has them, replayed
// under other policies on its own cluster.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/study/simulate_inputs.hpp"
#include "live/controller/controller.hpp"
#include "serve/daemon/serve_config.hpp"

namespace goban::cli {

struct WhatIfLimits {
  double time_s = 25;  ///< of one answer, all policies together
  double days_max = 366;
  size_t policies_max = 8;
};

class WhatIf {
 public:
  /// `config` with its defaults filled in; of `site` only the cluster is kept. `scores` is asked
  /// for every answer: they may be measured while the daemon runs.
  WhatIf(const serve::daemon::ServeConfig& config, const live::controller::Site& site,
         std::function<core::knowledge::PmScores()> scores, WhatIfLimits limits = {});

  /// `{"policies": ["fifo", ...], "days": 7}` to the figures of each, beside those that were
  /// recorded. One question at a time; from any thread. Errors: BadData and Usage if the question
  /// is wrong, no job is in that time or a policy cannot run here; Failed if it takes too long.
  [[nodiscard]] base::Result<std::string> answer(const std::string& question);
  /// Whatever is being computed ends soon, as Failed. From any thread.
  void end() { ending_ = true; }

  /// When "the last days" end; the system's clock unless tests set another.
  std::function<base::TimeNs()> wall_clock{};

 private:
  struct Question {
    std::vector<std::string> policies{};
    double days = 7;
  };
  [[nodiscard]] base::Result<Question> parse(const std::string& text) const;
  [[nodiscard]] base::Result<SimulateInputs> load(const Question& question) const;
  [[nodiscard]] base::Result<std::string> replay(const Question& question,
                                                 const std::atomic<bool>& cancel) const;

  serve::daemon::ServeConfig config_;
  core::model::Cluster cluster_;
  std::function<core::knowledge::PmScores()> scores_;
  WhatIfLimits limits_;
  std::atomic<bool> ending_ = false;
};

}  // namespace goban::cli
