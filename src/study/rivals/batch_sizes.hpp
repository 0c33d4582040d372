// How batch sizes of Shockwave's jobs change while they train: Accordion and gradient noise scale
// (Shockwave: artifact, docs/studies/rivals.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "study/rivals/rival_files.hpp"

namespace goban::study::rivals {

/// A model of Shockwave's trace.
struct TrainedModel {
  enum class Kind : uint8_t { ResNet18, ResNet50, Transformer, LM, Recommendation };
  Kind kind;
  const char* name;
  int64_t samples;  ///< an epoch
  int32_t batch_max;
  int32_t batch_min;

  /// Steps of an epoch.
  [[nodiscard]] int64_t epoch_steps(int32_t batch) const { return (samples + batch - 1) / batch; }
};

/// Null if the trace's artifact has no such model.
[[nodiscard]] const TrainedModel* find_trained_model(std::string_view name);

/// A pending change of the batch size.
enum class BatchFlag : uint8_t { None, Up, Down };

/// What a job trains: its part of the trace, and the batch sizes that it may take.
struct Training {
  const TrainedModel* model = nullptr;
  BatchMode mode = BatchMode::Static;
  int32_t first_batch = 1;
  int32_t gpus = 1;
  int64_t steps = 1;                                ///< with the first batch size
  const std::vector<BatchPhase>* phases = nullptr;  ///< of gns; null: none

  /// Time alone with the profile's batch sizes. Errors: BadData if a rate is not known.
  [[nodiscard]] base::Result<double> alone_s(const RateTable& rates, size_t job) const;
};

/// The progress of a job.
struct BatchState {
  int32_t batch = 1;
  int64_t steps = 1;  ///< in all, with this batch size
  int64_t done = 0;
  double rate = 1;  ///< steps per second
  BatchFlag flag = BatchFlag::None;
};

/// Sets the flag if the job's epoch asks for another batch size; else leaves it.
void set_batch_flag(const Training& training, BatchState& state);
/// Changes the batch size as flagged, with steps and progress in its epochs; clears the flag.
void apply_batch_flag(const Training& training, const RateTable& rates, BatchState& state);

}  // namespace goban::study::rivals
