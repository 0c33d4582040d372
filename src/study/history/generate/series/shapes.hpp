// The utilisation of the GPUs of a synthetic job, minute by minute: a function of seed, job, GPU
// and minute, so that any sample can be computed at any time. Shares are those of the ABCI paper's
// Figures 5 to 7 (used GPUs, mean utilisation, difference between GPUs); shapes over time are ours.
#pragma once

#include <cstdint>
#include <vector>

namespace goban::study::history {

/// One sample of a GPU within a job.
struct ShapedSample {
  bool missing = false;  ///< no sample was taken
  bool stale = false;    ///< an older value was reported again
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
  int64_t on_ = 1;  ///< busy minutes per period
  double on_level_ = 0;
  int64_t spike_ = 0;  ///< minute of the single busy sample, out of 64
  Kind kind_ = Kind::Idle;
};

/// The kind of a job with regard to its use of GPUs.
enum class JobUse : uint8_t { OneGpu, OneNode, ManyNodes, NoLearning };

/// Shapes of all GPUs of a job.
[[nodiscard]] std::vector<GpuShape> shapes_of_job(uint64_t seed, int64_t job, JobUse use,
                                                  int32_t gpus);

}  // namespace goban::study::history
