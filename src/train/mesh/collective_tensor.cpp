#include "train/mesh/collective_tensor.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <optional>

#include "base/check.hpp"
#include "train/mesh/device.hpp"

namespace goban::train::mesh {
std::span<std::byte> bytes_of(const at::Tensor& x) {
  return {static_cast<std::byte*>(x.data_ptr()), x.nbytes()};
}

comm::Element element_of(const at::Tensor& x) {
  switch (x.scalar_type()) {
    case at::kFloat:
      return comm::Element::F32;
    case at::kDouble:
      return comm::Element::F64;
    case at::kBFloat16:
      return comm::Element::BF16;
    case at::kLong:
      return comm::Element::I64;
    default:
      GOBAN_CHECK(false, "type of a tensor in a collective");
  }
}

namespace {

/// Chooses how the data of one call travel: in place, or copied through the host.
class Route {
 public:
  /// `x` is the contiguous tensor that the call sends.
  Route(const at::Tensor& x, size_t members, comm::Communicator& end)
      : device_(x.device()), staged_(!x.is_cpu() && (members == 1 || !end.takes_device_data())) {
    if (x.is_cpu() || staged_) return;
    finish_work(device_);
    direct_.emplace(end);
  }
  [[nodiscard]] at::Tensor out(const at::Tensor& x) const { return staged_ ? x.cpu() : x; }
  [[nodiscard]] at::Tensor back(const at::Tensor& x) const { return staged_ ? x.to(device_) : x; }

 private:
  c10::Device device_;
  bool staged_;
  std::optional<comm::Communicator::DeviceData> direct_;
};

}  // namespace

base::Result<at::Tensor> all_reduced(const at::Tensor& x, const comm::Group& group,
                                     comm::Reduction reduction, comm::Communicator& end,
                                     const std::string& what) {
  if (x.scalar_type() == at::kHalf) {  // summed in fp32, and rounded once
    auto wide = all_reduced(x.to(at::kFloat), group, reduction, end, what);
    if (!wide) return wide;
    return wide->to(at::kHalf);
  }
  // The reduction is in place, so a tensor that is shared is copied first.
  at::Tensor data = x.is_contiguous() && x.use_count() == 1 && x.storage().use_count() == 1
                        ? x
                        : x.clone(at::MemoryFormat::Contiguous);
  const Route route(data, group.size(), end);
  data = route.out(data);
  const auto status = end.all_reduce(group, bytes_of(data), element_of(data), reduction, what);
  if (!status) return base::failure(status.error());
  return route.back(data);
}

base::Result<at::Tensor> all_concatenated(const at::Tensor& x, int64_t axis,
                                          const comm::Group& group, comm::Communicator& end,
                                          const std::string& what) {
  at::Tensor mine = x.contiguous();
  std::vector<int64_t> sizes = {static_cast<int64_t>(group.size())};
  sizes.insert(sizes.end(), mine.sizes().begin(), mine.sizes().end());
  std::vector<int64_t> joined = mine.sizes().vec();
  joined[static_cast<size_t>(axis)] *= static_cast<int64_t>(group.size());
  const Route route(mine, group.size(), end);
  mine = route.out(mine);
  const at::Tensor all = at::empty(sizes, mine.options());
  if (const auto status = end.all_gather(group, bytes_of(mine), bytes_of(all), what); !status) {
    return base::failure(status.error());
  }
  return route.back(all).movedim(0, axis).reshape(joined);
}

base::Result<at::Tensor> all_to_all(const at::Tensor& x, int64_t split_axis, int64_t concat_axis,
                                    const comm::Group& group, comm::Communicator& end,
                                    const std::string& what) {
  const auto n = static_cast<int64_t>(group.size());
  at::Tensor send = at::stack(x.chunk(n, split_axis));
  const Route route(send, group.size(), end);
  send = route.out(send);
  const at::Tensor received = at::empty_like(send);
  if (const auto status = end.all_to_all(group, bytes_of(send), bytes_of(received), what);
      !status) {
    return base::failure(status.error());
  }
  return at::cat(route.back(received).unbind(0), concat_axis);
}

base::Result<at::Tensor> exchanged(const at::Tensor& x, int64_t to, int64_t from,
                                   const comm::Group& group, comm::Communicator& end,
                                   const std::string& what) {
  at::Tensor send = x.contiguous();
  const Route route(send, group.size(), end);
  send = route.out(send);
  const at::Tensor received =
      from < 0 ? at::zeros(send.sizes(), send.options()) : at::empty(send.sizes(), send.options());
  const auto index = [](int64_t member) {
    return member < 0 ? std::nullopt : std::optional(static_cast<size_t>(member));
  };
  // The GPU must have written the zeros before another writer uses the buffer.
  if (from < 0) finish_work(received.device());
  const auto status =
      end.exchange(group, index(to), bytes_of(send), index(from), bytes_of(received), what);
  if (!status) return base::failure(status.error());
  return route.back(received);
}

}  // namespace goban::train::mesh
