// A model with its gradients and updates, laid out over a mesh and ready to run. Used by the
// trainer, find_largest, and the benchmarks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/comm/async_reducer.hpp"
#include "train/comm/communicator.hpp"
#include "train/mesh/device_memory.hpp"
#include "train/mesh/graph.hpp"
#include "train/mesh/layout.hpp"
#include "train/mesh/program.hpp"
#include "train/mesh/variables.hpp"
#include "train/trainer/options.hpp"

namespace goban::train::trainer {

/// Builds the model of the options for batches of `batch` samples.
[[nodiscard]] Model build_model(const TrainOptions& options, mesh::Layers& layers, int64_t batch);

/// The optimiser's scale times that of the batch size (lr_scale).
[[nodiscard]] double batch_scale(const TrainOptions& options);

/// The graph of one step, before any layout.
struct StepGraph {
  mesh::Graph graph;
  mesh::Tensor loss, correct;  ///< mean loss and number of correct predictions of the whole batch
  int64_t micro_batch = 0;     ///< samples of one micro-batch
  std::vector<mesh::ScalarSummary> summaries;  ///< of the whole batch: the mean over micro-batches
  std::vector<mesh::NodeId> gradients;         ///< in the order of the parameters
  mesh::NodeId gate = -1;  ///< 0 in a step whose gradients are not finite; -1: no loss scaling
  [[nodiscard]] std::vector<mesh::NodeId> roots() const;
};

/// The values of a step.
struct StepValues {
  double loss = 0;
  double correct = 0;             ///< number of correct predictions
  std::vector<double> summaries;  ///< in the order of StepGraph::summaries
  bool is_skipped = false;        ///< its gradients were not finite: nothing was learned
};

/// Errors: Usage, for a batch that is not divisible by the number of micro-batches, and for invalid
/// sizes of the model.
[[nodiscard]] base::Result<std::unique_ptr<StepGraph>> build_step(const TrainOptions& options);

struct ChosenLayout {
  mesh::MeshShape mesh;
  mesh::LayoutRules rules;
  double predicted_step_s = 0;  ///< 0 if the layout was given
  std::string said;             ///< the planner's message
  bool stopped = false;         ///< by a signal, before a layout was chosen
};

/// The rules of `options.layout`, which must not be "auto". In image models "hidden" is an alias of
/// "hidden1", the first of the two hidden layers.
[[nodiscard]] base::Result<mesh::LayoutRules> layout_rules(const TrainOptions& options);
/// Parses mesh and layout of the options; without both, the batch is split over all ranks. "auto"
/// measures the machine and searches. Then the call is collective, and a signal (stop_requested) to
/// any rank ends the search on all.
[[nodiscard]] base::Result<ChosenLayout> choose(const TrainOptions& options, const StepGraph& step,
                                                comm::Communicator& end);

/// The meshes that the planner considers: that of the options, or all meshes of `ranks` devices.
[[nodiscard]] base::Result<std::vector<mesh::MeshShape>> planner_meshes(const TrainOptions& options,
                                                                        int ranks);

/// Memory of a device according to the plan, in bytes: variables and the values alive at once.
[[nodiscard]] int64_t needed_bytes(const mesh::Plan& plan);
/// A warning if the plan exceeds the memory limit of the options; empty if it fits. The plan counts
/// values, but neither copies made by kernels nor reused memory, so it may be too high or too low.
[[nodiscard]] std::string memory_warning(const TrainOptions& options, const mesh::Plan& plan);
/// Errors: Usage, if the variables alone exceed the limit. The allocator enforces the limit for
/// everything else.
[[nodiscard]] base::Status check_memory(const TrainOptions& options, const mesh::Plan& plan);

/// One rank's part of a step. Its tensors are on the device of `memory`, to which they are charged
/// and which must outlive it.
class TrainingStep {
 public:
  /// Creates initialised variables and a checked program. Errors: those of the layout and of
  /// memory.
  [[nodiscard]] static base::Result<std::unique_ptr<TrainingStep>> create(
      const TrainOptions& options, std::unique_ptr<StepGraph> step, const ChosenLayout& layout,
      comm::Communicator& end, mesh::DeviceMemory& memory);
  /// The same for another batch size, with the variables of `of`.
  [[nodiscard]] static base::Result<std::unique_ptr<TrainingStep>> sharing(
      const TrainOptions& options, TrainingStep& of);

  /// `feeds`: one per micro-batch.
  [[nodiscard]] base::Result<StepValues> run(const std::vector<mesh::Feeds>& feeds, int64_t number);
  [[nodiscard]] const StepGraph& step() const { return *step_; }
  [[nodiscard]] mesh::Variables& variables() { return *variables_; }
  [[nodiscard]] const mesh::Plan& plan() const { return program_->plan(); }
  [[nodiscard]] int micro_batches() const { return micro_batches_; }
  /// Sums that run while the step computes; nullptr without overlap.
  [[nodiscard]] const comm::AsyncReducer* reducer() const { return reducer_.get(); }
  /// Inputs of the correct shapes, all zero (including labels and tokens).
  [[nodiscard]] std::vector<mesh::Feeds> zero_feeds() const;

 private:
  TrainingStep() = default;
  static base::Result<std::unique_ptr<TrainingStep>> finish(
      const TrainOptions& options, std::unique_ptr<StepGraph> step,
      std::unique_ptr<mesh::Variables> variables, mesh::DeviceMemory& memory,
      std::shared_ptr<comm::AsyncReducer> reducer);
  std::shared_ptr<comm::AsyncReducer> reducer_;  // ends after the program
  std::unique_ptr<StepGraph> step_;
  std::unique_ptr<mesh::Variables> variables_;
  std::unique_ptr<mesh::Program> program_;
  mesh::DeviceMemory* memory_ = nullptr;
  int micro_batches_ = 1;
};

}  // namespace goban::train::trainer
