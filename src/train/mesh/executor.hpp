// Runs a Plan on this device. Internal to train/mesh; Program is the public interface.
#pragma once

#include <ATen/core/Tensor.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/mesh/buckets.hpp"
#include "train/mesh/local_einsum.hpp"
#include "train/mesh/plan.hpp"
#include "train/mesh/program.hpp"
#include "train/mesh/variables.hpp"

namespace goban::train::mesh {

/// Thrown inside a step and caught by Program::run.
struct ExecutionStopped {
  base::Error error;
};

/// Returns the tensor, or throws ExecutionStopped.
[[nodiscard]] at::Tensor or_stop(base::Result<at::Tensor> result);

class Executor {
 public:
  /// `graph` is the variables' graph, or that of a loop.
  Executor(Variables& variables, const Graph& graph, const Plan& plan);

  /// From now on, sums are formed while later steps are computed. Errors: Usage, for
  /// Overlap::Delayed if a gradient is in no bucket.
  [[nodiscard]] base::Status overlap(const ProgramOptions& options);

  /// Runs the steps before Accumulate for the micro-batch with this index.
  void run_inner(const Feeds& feeds, uint64_t step, size_t index);
  /// Runs the remaining steps and completes fetched and assigned values.
  void run_outer(const Feeds& feeds, uint64_t step);
  /// Runs all steps with this device's `slices` as the values of the nodes `inputs`; returns this
  /// device's slices of `wanted`.
  [[nodiscard]] std::vector<at::Tensor> pass(const std::vector<NodeId>& inputs,
                                             const std::vector<at::Tensor>& slices,
                                             const std::vector<NodeId>& wanted, uint64_t step);
  /// A fetched value, gathered from all devices.
  [[nodiscard]] at::Tensor whole(NodeId id);
  /// `open`: the step's gate; if it is closed, variables keep their values, apart from those that
  /// are assigned always.
  void assign(const std::vector<Assignment>& assignments, bool open = true);
  /// Drops all values of the step.
  void clear();
  [[nodiscard]] const std::string& current_operation() const;

 private:
  /// Data that do not change between steps.
  struct Prepared {
    std::vector<Labels> input_labels;
    Labels labels;
    std::vector<int64_t> reduced_axes;        // Reduce
    std::vector<int64_t> begin;               // of this device's slice in the output
    std::vector<comm::Group> groups;          // of Step::complete
    comm::Group group;                        // of reduce_now, shift or top_k
    std::vector<comm::Group> reshape_groups;  // of a reshape's moves, or of Halo's rows and columns
    int64_t parts = 1, coordinate = 0;        // along the dimension acted on
    bool reuse_first = false;  // the first input is freed here and has the result's shape
    std::shared_ptr<Executor> going, body;  // While
  };

  /// A bucket with the message of this step, and of the one before it.
  struct Sending {
    Bucket bucket;
    comm::Group group;
    bool delayed = false;
    std::vector<int64_t> offsets;  // of the values in a message, in elements
    at::Tensor message, last_message;
    comm::AsyncReducer::Ticket ticket = 0, last_ticket = 0;
  };

  Prepared prepare(const Step& step) const;
  /// Begins the sums of the buckets that are complete after this step.
  void send_after(size_t at);
  /// Replaces a value of a bucket by its sum.
  void receive(const Sending& sending, NodeId id);
  /// Receives the sums that a step is the first to use.
  void receive_before(size_t at);
  /// Of these values, those that are not in buckets.
  [[nodiscard]] std::vector<NodeId> not_sent(NodeId id, const std::vector<NodeId>& together) const;
  void run_step(size_t at, const Feeds& feeds, uint64_t step_number);
  /// Forms the pending sum of a value, and of others in the same message.
  void complete(NodeId id, const std::vector<NodeId>& together, const comm::Group& group);
  at::Tensor compute(size_t at, const Feeds& feeds, uint64_t step_number);
  at::Tensor feed(const Step& step, const Feeds& feeds) const;
  at::Tensor reshaped(const Step& step, const Prepared& prepared, at::Tensor x) const;
  at::Tensor shifted(const Step& step, const Prepared& prepared, const at::Tensor& x) const;
  /// Blocks [..., row_blocks, col_blocks, rows, cols, c] as images [n, height, width, c], with
  /// margins.
  at::Tensor with_halo(const Step& step, const Prepared& prepared, const at::Tensor& x) const;
  at::Tensor block_conv(const Step& step, const at::Tensor& images, const at::Tensor& filter) const;
  at::Tensor block_conv_filter(const Step& step, const at::Tensor& dy,
                               const at::Tensor& images) const;
  at::Tensor top_k(const Step& step, const Prepared& prepared, const at::Tensor& x) const;
  at::Tensor one_hot(const Step& step, const Prepared& prepared, const at::Tensor& indices) const;
  at::Tensor gather(const Step& step, const Prepared& prepared, const at::Tensor& table,
                    const at::Tensor& indices) const;
  at::Tensor scatter_add(const Step& step, const Prepared& prepared, const at::Tensor& dy,
                         const at::Tensor& indices) const;
  at::Tensor slicewise(const Step& step, const std::vector<at::Tensor>& slices) const;
  void print(const Step& step, const Prepared& prepared, const at::Tensor& x) const;
  at::Tensor run_loop(const Step& step, const Prepared& prepared, std::vector<at::Tensor> states,
                      uint64_t step_number);
  [[nodiscard]] bool only_here(const at::Tensor& x) const;

  const Node& node(NodeId id) const { return graph_.node(id); }
  at::Tensor& value(NodeId id) { return values_[static_cast<size_t>(id)]; }
  comm::Communicator& end() const { return variables_.end(); }

  Variables& variables_;
  const Graph& graph_;
  const Plan& plan_;
  std::vector<Prepared> prepared_;
  std::vector<comm::Group> last_groups_;
  std::vector<at::Tensor> values_;
  std::map<NodeId, std::vector<at::Tensor>> loop_values_;  // last states of each While
  bool fed_slices_ = false;                                // inputs are given by pass()
  comm::AsyncReducer* reducer_ = nullptr;
  bool bf16_buckets_ = false;
  std::vector<Sending> sending_;              // in the order in which they become ready
  std::map<NodeId, size_t> bucket_of_;        // number in sending_
  std::vector<std::vector<NodeId>> awaited_;  // awaited_at(); empty: nothing is overlapped
  size_t next_sending_ = 0;
  size_t current_ = 0;
  size_t micro_batch_ = 0;
};

}  // namespace goban::train::mesh
