// Replays the presets of rivals: reads their files once, and runs the policies over them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "study/rivals/elasticflow.hpp"
#include "study/rivals/presets.hpp"
#include "study/rivals/shockwave.hpp"

namespace goban::study::rivals {

/// What became of a job. Times in seconds; its number is its position.
struct RivalJob {
  double submit_s = 0;
  int32_t gpus = 1;  ///< that it asked for
  double finish_s = 0;
  double start_s = 0;
  double held_s = 0;  ///< time with GPUs
  int32_t preemptions = 0;
  double alone_s = 0;  ///< run time on the GPUs that it asked for, without restarts
};

struct RivalReplay {
  RivalSummary summary{};
  std::vector<RivalJob> jobs{};
  std::vector<Decision> decisions{};
  std::string rows{};  ///< elasticflow: the published form of its job log, as CSV
};

/// The files of a replay.
class RivalInputs {
 public:
  /// Errors: Usage for a cluster or options that do not fit the format; those of the readers.
  [[nodiscard]] static base::Result<RivalInputs> read(const RivalOptions& options);

  /// `preset`: of the format of the files. Errors: those of the policy, such as a rate that is not
  /// known, naming the file. `real`: for shockwave, what real GPUs do otherwise.
  [[nodiscard]] base::Result<RivalReplay> replay(const RivalPreset& preset,
                                                 const RealGpus& real = {}) const;

  [[nodiscard]] size_t num_jobs() const {
    return std::visit([](const auto& inputs) { return inputs.jobs.size(); }, inputs_);
  }

 private:
  std::string jobs_file_;
  std::variant<ShockwaveInputs, ElasticInputs> inputs_;
};

/// Restarts as the options say. Errors: Usage for elasticflow, whose programs have costs of their
/// own.
[[nodiscard]] base::Result<RealGpus> real_gpus(const RivalOptions& options);
/// The preset of this name and format. Errors: Usage naming those of the format.
[[nodiscard]] base::Result<const RivalPreset*> find_rival(const std::string& name,
                                                          RivalFormat format);
[[nodiscard]] RivalFormat rival_format_of(const RivalOptions& options);

}  // namespace goban::study::rivals
