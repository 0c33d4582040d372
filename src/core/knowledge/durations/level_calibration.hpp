// Corrects the levels of predicted quantiles by how often earlier predictions held: a streaming
// form of split conformal prediction on probability integral transforms. The transform of a run is
// the share of its predicted distribution that lies below its run time; if predictions were
// perfect, transforms would be uniform.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "base/bytes.hpp"

namespace goban::core::knowledge {

class LevelCalibration {
 public:
  LevelCalibration();
  /// Adds the transform, in [0, 1], of a run that has ended.
  void learn(double transform);
  /// The level to read from a distribution so that the share `wanted` of run times lies below.
  [[nodiscard]] double level(double wanted) const;

  void write(std::string& out) const;
  [[nodiscard]] bool read(base::ByteReader& in);

 private:
  static constexpr size_t kBins = 64;

  std::array<double, kBins> counts_{};
  double total_ = 0;
};

}  // namespace goban::core::knowledge
