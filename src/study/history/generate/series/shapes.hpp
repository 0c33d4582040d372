// How busy the GPUs of a synthetic job are, minute by minute: a function of seed, job, GPU and
// minute, so that any sample can be had at any time. Shares are those of the ABCI paper's Figures 5
// to 7 (used GPUs, mean utilisation, spread between GPUs); shapes over time are ours.
#pragma once

#include <cstdint>
#include <vector>

namespace goban::study::history {

/// What happens at one sampling of a GPU within a job.
struct ShapedSample {
  bool missing = false;  ///< nobody sampled
  bool stale = false;    ///< an older value was served again
  uint16_t percent = 0;
};

/// One GPU of a job.
class GpuShape {
 public:
  enum class Kind : uint8_t { Idle, Spike, Steady, Epochs, Rough };

  GpuShape() = default;
  GpuShape(uint64_t key, Kind kind, double level);
  /// Minutes count from the start of the year.
  [[nodiscard]] ShapedSample at(int64_t minute) const;
  [[nodiscard]] Kind kind() const { return kind_; }

 private:
  uint64_t key_ = 0;
  double level_ = 0;
  int64_t period_ = 1;
  int64_t on_ = 1;  ///< minutes of a period that are busy
  double on_level_ = 0;
  int64_t spike_ = 0;  ///< minute of the one busy sample, of 64
  Kind kind_ = Kind::Idle;
};

/// What kind of job it is, as far as its use of GPUs goes.
enum class JobUse : uint8_t { OneGpu, OneNode, ManyNodes, NoLearning };

/// Shapes of all GPUs of a job.
[[nodiscard]] std::vector<GpuShape> shapes_of_job(uint64_t seed, int64_t job, JobUse use,
                                                  int32_t gpus);

}  // namespace goban::study::history
