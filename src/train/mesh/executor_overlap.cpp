// Sums over devices that are formed while later steps are computed.
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>
#include <algorithm>
#include <fmt/format.h>

#include "train/mesh/collective_tensor.hpp"
#include "train/mesh/device.hpp"
#include "train/mesh/executor.hpp"

namespace goban::train::mesh {
base::Status Executor::overlap(const ProgramOptions& options) {
  reducer_ = options.reducer;
  bf16_buckets_ = options.bf16_buckets;
  const bool delayed = options.overlap == Overlap::Delayed;
  std::vector<Bucket> buckets = buckets_of(graph_, plan_, options.bucket_bytes,
                                           delayed ? options.gradients : std::vector<NodeId>{});
  std::erase_if(buckets, [&](const Bucket& bucket) {
    return plan_.mesh.group(plan_.rank, bucket.axes).size() == 1;
  });
  awaited_ = awaited_at(graph_, plan_, buckets);
  for (Bucket& bucket : buckets) {
    comm::Group group = plan_.mesh.group(plan_.rank, bucket.axes);
    for (const NodeId id : bucket.values) bucket_of_[id] = sending_.size();
    sending_.push_back({std::move(bucket), std::move(group), delayed, {}, {}, {}, 0, 0});
  }
  if (!delayed) return {};
  for (const NodeId id : options.gradients) {
    if (bucket_of_.contains(id)) continue;
    return base::usage_error(
        fmt::format("--overlap delayed: the gradient '{}' is not a sum over devices of its own",
                    node(id).name),
        "split only the batch, without micro-batches; or use --overlap buckets");
  }
  return {};
}

void Executor::send_after(size_t at) {
  for (; next_sending_ < sending_.size(); ++next_sending_) {
    Sending& each = sending_[next_sending_];
    if (each.bucket.ready_after > at) return;
    std::vector<const at::Tensor*> values;
    int64_t elements = 0;
    for (const NodeId id : each.bucket.values) {
      values.push_back(&value(id));
      elements += values.back()->numel();
    }
    if (each.delayed) {
      each.last_message = std::move(each.message);
      each.last_ticket = each.ticket;
    }
    at::TensorOptions kind = values[0]->options();
    if (bf16_buckets_ && values[0]->scalar_type() == at::kFloat) kind = kind.dtype(at::kBFloat16);
    each.message = at::empty({elements}, kind);
    each.offsets.clear();
    int64_t begin = 0;
    for (const at::Tensor* x : values) {
      each.offsets.push_back(begin);
      each.message.narrow(0, begin, x->numel()).view(x->sizes()).copy_(*x);
      begin += x->numel();
    }
    comm::AsyncReducer::Data data = {bytes_of(each.message), element_of(each.message),
                                     std::make_shared<at::Tensor>(each.message)};
    if (!each.message.is_cpu()) data.written = work_so_far(each.message.device());
    each.ticket = reducer_->begin(
        each.group, std::move(data), comm::Reduction::Sum,
        fmt::format("{} (bucket {})", node(each.bucket.values[0]).name, next_sending_));
  }
}

void Executor::receive(const Sending& sending, NodeId id) {
  const at::Tensor& message = sending.delayed ? sending.last_message : sending.message;
  if (!message.defined()) {  // the first step of a delayed run
    value(id) = at::zeros_like(value(id));
    return;
  }
  const base::Status done = reducer_->wait(sending.delayed ? sending.last_ticket : sending.ticket);
  if (!done) throw ExecutionStopped{done.error()};
  // Other values of the bucket may be freed by now.
  const auto& values = sending.bucket.values;
  const auto number = static_cast<size_t>(std::ranges::find(values, id) - values.begin());
  at::Tensor& x = value(id);
  x = message.narrow(0, sending.offsets[number], x.numel()).view(x.sizes()).to(x.scalar_type());
}

void Executor::receive_before(size_t at) {
  if (awaited_.empty()) return;
  for (const NodeId id : awaited_[at]) receive(sending_[bucket_of_.at(id)], id);
}

std::vector<NodeId> Executor::not_sent(NodeId id, const std::vector<NodeId>& together) const {
  std::vector<NodeId> out;
  if (!bucket_of_.contains(id)) out.push_back(id);
  for (const NodeId each : together) {
    if (!bucket_of_.contains(each)) out.push_back(each);
  }
  return out;
}

}  // namespace goban::train::mesh
