// PM scores: how slow each GPU is for each application class, raw and binned (PAL: PM scores;
// binning. docs/papers.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/ids.hpp"

namespace goban::core::knowledge {

using model::AppClass;
using model::GpuId;

/// Scores of one application class over all GPUs.
struct ClassScores {
  /// By GPU: measured time / median time; 1 = the median GPU, 2 = twice as slow.
  std::vector<double> raw;
  /// By GPU: index into bin_values.
  std::vector<uint8_t> bin;
  /// Binned score of each bin, ascending, distinct.
  std::vector<double> bin_values;
  /// Bins in order of first appearance by GPU id; breaks ties in PAL's L x V matrix.
  std::vector<uint8_t> bins_by_appearance;
};

/// PM scores of a cluster. A class beyond the last one uses the last one.
class PmScores {
 public:
  /// Every GPU at score 1 in one bin.
  static PmScores uniform(uint32_t num_gpus);
  /// All classes must have the same number of GPUs.
  explicit PmScores(std::vector<ClassScores> classes);

  [[nodiscard]] uint32_t num_gpus() const {
    return static_cast<uint32_t>(classes_.front().raw.size());
  }
  [[nodiscard]] size_t num_classes() const { return classes_.size(); }
  [[nodiscard]] const ClassScores& of(AppClass app_class) const {
    return classes_[index(app_class)];
  }
  [[nodiscard]] size_t index(AppClass app_class) const {
    return app_class.value < classes_.size() ? app_class.value : classes_.size() - 1;
  }
  /// Largest raw score of the GPUs: a gang runs at the speed of its slowest GPU.
  [[nodiscard]] double max_raw(AppClass app_class, std::span<const GpuId> gpus) const;

 private:
  std::vector<ClassScores> classes_;
};

/// A class from raw scores and one bin value per GPU (as in a score table), of which at most 255
/// are distinct.
ClassScores class_from_values(std::vector<double> raw, std::span<const double> bin_value_of_gpu);

}  // namespace goban::core::knowledge
