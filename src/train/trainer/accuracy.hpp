// What a precision costs in accuracy: the same runs in fp32 and in other precisions.
#pragma once

#include <string>
#include <vector>

#include "train/trainer/trials.hpp"

namespace goban::train::trainer {

/// A precision to compare.
struct PrecisionChoice {
  std::string name;  ///< "bf16"
  mesh::DType activation = mesh::DType::F32;
  bool tf32 = false;
  std::vector<mesh::TypeRule> layers = {};
};

struct PrecisionRow {
  PrecisionChoice precision;
  std::vector<Trial> trials;  ///< by seed
  std::string refused;        ///< error of a run whose values were not finite; then no trials
};

/// Runs every precision with the same seeds, after a warm-up; the first one must be fp32, and its
/// layers have no other types, whatever the options say. Errors: those of the first
/// precision's runs; the failure of another is its row's.
[[nodiscard]] base::Result<std::vector<PrecisionRow>> compare_precisions(
    const TrialRunner& run, const TrainOptions& options, int ranks,
    const std::vector<PrecisionChoice>& precisions, int seeds);

/// Mean accuracy, difference from fp32 in percentage points with its 95 % interval (paired by
/// seed), and speed.
[[nodiscard]] std::string precision_text(const std::vector<PrecisionRow>& rows);
[[nodiscard]] std::string precision_json(const std::vector<PrecisionRow>& rows);

}  // namespace goban::train::trainer
