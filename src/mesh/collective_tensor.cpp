#include "mesh/collective_tensor.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include "base/check.hpp"

namespace goban::mesh {
namespace {

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

}  // namespace

base::Result<at::Tensor> all_reduced(const at::Tensor& x, const comm::Group& group,
                                     comm::Reduction reduction, comm::Communicator& end,
                                     const std::string& what) {
  // The reduction is in place: a value others may hold is copied first.
  at::Tensor data = x.is_contiguous() && x.use_count() == 1 && x.storage().use_count() == 1
                        ? x
                        : x.clone(at::MemoryFormat::Contiguous);
  const auto status = end.all_reduce(group, bytes_of(data), element_of(data), reduction, what);
  if (!status) return base::failure(status.error());
  return data;
}

base::Result<at::Tensor> all_concatenated(const at::Tensor& x, int64_t axis,
                                          const comm::Group& group, comm::Communicator& end,
                                          const std::string& what) {
  const at::Tensor mine = x.contiguous();
  std::vector<int64_t> sizes = {static_cast<int64_t>(group.size())};
  sizes.insert(sizes.end(), mine.sizes().begin(), mine.sizes().end());
  const at::Tensor all = at::empty(sizes, mine.options());
  if (const auto status = end.all_gather(group, bytes_of(mine), bytes_of(all), what); !status) {
    return base::failure(status.error());
  }
  std::vector<int64_t> joined = mine.sizes().vec();
  joined[static_cast<size_t>(axis)] *= static_cast<int64_t>(group.size());
  return all.movedim(0, axis).reshape(joined);
}

base::Result<at::Tensor> all_to_all(const at::Tensor& x, int64_t split_axis, int64_t concat_axis,
                                    const comm::Group& group, comm::Communicator& end,
                                    const std::string& what) {
  const auto n = static_cast<int64_t>(group.size());
  const at::Tensor send = at::stack(x.chunk(n, split_axis));
  const at::Tensor received = at::empty_like(send);
  if (const auto status = end.all_to_all(group, bytes_of(send), bytes_of(received), what);
      !status) {
    return base::failure(status.error());
  }
  return at::cat(received.unbind(0), concat_axis);
}

base::Result<at::Tensor> exchanged(const at::Tensor& x, int64_t to, int64_t from,
                                   const comm::Group& group, comm::Communicator& end,
                                   const std::string& what) {
  const at::Tensor send = x.contiguous();
  const at::Tensor received =
      from < 0 ? at::zeros(send.sizes(), send.options()) : at::empty(send.sizes(), send.options());
  const auto index = [](int64_t member) {
    return member < 0 ? std::nullopt : std::optional(static_cast<size_t>(member));
  };
  const auto status =
      end.exchange(group, index(to), bytes_of(send), index(from), bytes_of(received), what);
  if (!status) return base::failure(status.error());
  return received;
}

}  // namespace goban::mesh
