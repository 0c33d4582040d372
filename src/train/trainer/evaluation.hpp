// Evaluation on the test set: loss and accuracy of a model in training, under its layout.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "train/mesh/device_memory.hpp"
#include "train/mesh/program.hpp"
#include "train/trainer/batches.hpp"
#include "train/trainer/options.hpp"
#include "train/trainer/training_step.hpp"

namespace goban::train::trainer {

/// Over the whole test set; for a masked model, over its masked tokens.
struct TestValues {
  double loss = 0, accuracy = 0;
};

/// One rank's part of the evaluation.
class Evaluation {
 public:
  /// The graph reads the variables of `trained`, which must outlive the evaluation. The batch size
  /// divides the test set and the plan fits into memory, if such a batch is legal under the layout;
  /// otherwise the best one that is. Errors: those of the layout for the last batch size tried.
  [[nodiscard]] static base::Result<std::unique_ptr<Evaluation>> create(const TrainOptions& options,
                                                                        TrainingStep& trained,
                                                                        int64_t test_size);
  /// Number of test samples that are not evaluated.
  [[nodiscard]] int64_t left_out() const { return test_size_ % batch_; }
  /// Number of test samples that are.
  [[nodiscard]] int64_t evaluated() const { return test_size_ - left_out(); }
  /// Samples per second of the fastest batch so far, from the moment when its data was there; 0
  /// before the first one.
  [[nodiscard]] double fastest_per_s() const { return fastest_per_s_; }
  /// Collective.
  [[nodiscard]] base::Result<TestValues> run(Batches& batches, mesh::DeviceMemory& memory);

 private:
  Evaluation() = default;
  int64_t test_size_ = 0, batch_ = 1;
  double fastest_per_s_ = 0;
  std::unique_ptr<mesh::Graph> graph_;
  std::unique_ptr<mesh::Variables> variables_;
  std::unique_ptr<mesh::Program> program_;
};

}  // namespace goban::train::trainer
