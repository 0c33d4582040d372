// A model with its gradients and updates, laid out over a mesh and ready to step: what the trainer
// repeats, what find_largest tries once, and what the benchmarks time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"
#include "train/mesh/device_memory.hpp"
#include "train/mesh/graph.hpp"
#include "train/mesh/layout.hpp"
#include "train/mesh/program.hpp"
#include "train/mesh/variables.hpp"
#include "train/trainer/options.hpp"

namespace goban::train::trainer {

/// The model of the options for batches of `batch`.
[[nodiscard]] Model build_model(const TrainOptions& options, mesh::Layers& layers, int64_t batch);

/// The optimiser's scale with that of the batch size (lr_scale).
[[nodiscard]] double batch_scale(const TrainOptions& options);

/// The graph of one step, before any layout.
struct StepGraph {
  mesh::Graph graph;
  mesh::Tensor loss, correct;  ///< mean loss and number of right predictions of the whole batch
  int64_t micro_batch = 0;     ///< samples of one micro-batch
  std::vector<mesh::Summary> summaries;  ///< of the whole batch: the mean over micro-batches
  [[nodiscard]] std::vector<mesh::NodeId> roots() const;
};

/// What a step gives.
struct StepValues {
  double loss = 0;
  double correct = 0;             ///< number of right predictions
  std::vector<double> summaries;  ///< in the order of StepGraph::summaries
};

/// Errors: Usage, for a batch that micro-batches do not divide, and for sizes no model can have.
[[nodiscard]] base::Result<std::unique_ptr<StepGraph>> build_step(const TrainOptions& options);

struct ChosenLayout {
  mesh::MeshShape mesh;
  mesh::LayoutRules rules;
  double predicted_step_s = 0;  ///< 0 if the layout was given
  std::string said;             ///< what the planner has to say
  bool stopped = false;         ///< by a signal, before it was chosen
};

/// The rules of `options.layout`, which is not "auto". In image models "hidden" is short for
/// "hidden1", the first of the two hidden layers.
[[nodiscard]] base::Result<mesh::LayoutRules> layout_rules(const TrainOptions& options);
/// Reads mesh and layout of the options; "auto" measures the machine and searches. Collective then;
/// a signal (stop_requested) to any rank ends the search on all.
[[nodiscard]] base::Result<ChosenLayout> choose(const TrainOptions& options, const StepGraph& step,
                                                comm::Communicator& end);

/// The meshes that the planner looks at: that of the options, or all of so many ranks.
[[nodiscard]] base::Result<std::vector<mesh::MeshShape>> planner_meshes(const TrainOptions& options,
                                                                        int ranks);

/// Bytes a device needs by the plan: variables and the values alive at once.
[[nodiscard]] int64_t needed_bytes(const mesh::Plan& plan);
/// What the plan expects against the limit of the options: it counts values, not the copies that
/// kernels make nor memory that is used again, so it may be too high or too low. Empty if it fits.
[[nodiscard]] std::string memory_warning(const TrainOptions& options, const mesh::Plan& plan);
/// Errors: Usage, if the variables alone are beyond the limit. The allocator enforces the rest.
[[nodiscard]] base::Status check_memory(const TrainOptions& options, const mesh::Plan& plan);

/// One rank's part. Its tensors lie on the device of `memory`, which they are charged to and which
/// must outlive it.
class TrainingStep {
 public:
  /// Initialised variables and a checked program. Errors: those of the layout and of memory.
  [[nodiscard]] static base::Result<std::unique_ptr<TrainingStep>> create(
      const TrainOptions& options, std::unique_ptr<StepGraph> step, const ChosenLayout& layout,
      comm::Communicator& end, mesh::DeviceMemory& memory);
  /// The same for another batch size; variables are those of `of`.
  [[nodiscard]] static base::Result<std::unique_ptr<TrainingStep>> sharing(
      const TrainOptions& options, TrainingStep& of);

  /// Feeds: one a micro-batch.
  [[nodiscard]] base::Result<StepValues> run(const std::vector<mesh::Feeds>& feeds, int64_t number);
  [[nodiscard]] const StepGraph& step() const { return *step_; }
  [[nodiscard]] mesh::Variables& variables() { return *variables_; }
  [[nodiscard]] const mesh::Plan& plan() const { return program_->plan(); }
  [[nodiscard]] int micro_batches() const { return micro_batches_; }
  /// Inputs of the right shapes, all zero (labels and tokens too).
  [[nodiscard]] std::vector<mesh::Feeds> zero_feeds() const;

 private:
  TrainingStep() = default;
  static base::Result<std::unique_ptr<TrainingStep>> finish(
      const TrainOptions& options, std::unique_ptr<StepGraph> step,
      std::unique_ptr<mesh::Variables> variables, mesh::DeviceMemory& memory);
  std::unique_ptr<StepGraph> step_;
  std::unique_ptr<mesh::Variables> variables_;
  std::unique_ptr<mesh::Program> program_;
  mesh::DeviceMemory* memory_ = nullptr;
  int micro_batches_ = 1;
};

}  // namespace goban::train::trainer
