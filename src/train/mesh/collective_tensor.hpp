// Collectives on tensors. GPU tensors are sent from GPU memory if the communicator takes it;
// otherwise they are copied through the host.
#pragma once

#include <ATen/core/Tensor.h>
#include <span>
#include <string>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"
#include "train/mesh/graph.hpp"

namespace goban::train::mesh {

/// The bytes of a contiguous tensor, and the type of its elements.
[[nodiscard]] std::span<std::byte> bytes_of(const at::Tensor& x);
[[nodiscard]] comm::Element element_of(const at::Tensor& x);

[[nodiscard]] base::Result<at::Tensor> all_reduced(const at::Tensor& x, const comm::Group& group,
                                                   comm::Reduction reduction,
                                                   comm::Communicator& end,
                                                   const std::string& what);
/// The tensors of all members, concatenated along `axis`.
[[nodiscard]] base::Result<at::Tensor> all_concatenated(const at::Tensor& x, int64_t axis,
                                                        const comm::Group& group,
                                                        comm::Communicator& end,
                                                        const std::string& what);
/// Splits `split_axis` over the group and makes `concat_axis` complete.
[[nodiscard]] base::Result<at::Tensor> all_to_all(const at::Tensor& x, int64_t split_axis,
                                                  int64_t concat_axis, const comm::Group& group,
                                                  comm::Communicator& end, const std::string& what);
/// Sends x to member `to` and returns what member `from` sends; zeros if `from` is -1. `to` may be
/// -1, too.
[[nodiscard]] base::Result<at::Tensor> exchanged(const at::Tensor& x, int64_t to, int64_t from,
                                                 const comm::Group& group, comm::Communicator& end,
                                                 const std::string& what);

}  // namespace goban::train::mesh
