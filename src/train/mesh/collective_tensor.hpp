// Collectives on tensors: where the communicator takes a GPU's memory, tensors of a GPU are moved
// from there; elsewhere by way of the host.
#pragma once

#include <ATen/core/Tensor.h>
#include <string>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"
#include "train/mesh/graph.hpp"

namespace goban::train::mesh {

[[nodiscard]] base::Result<at::Tensor> all_reduced(const at::Tensor& x, const comm::Group& group,
                                                   comm::Reduction reduction,
                                                   comm::Communicator& end,
                                                   const std::string& what);
/// Members' tensors one after the other along `axis`.
[[nodiscard]] base::Result<at::Tensor> all_concatenated(const at::Tensor& x, int64_t axis,
                                                        const comm::Group& group,
                                                        comm::Communicator& end,
                                                        const std::string& what);
/// `split_axis` is cut over the group, `concat_axis` becomes whole.
[[nodiscard]] base::Result<at::Tensor> all_to_all(const at::Tensor& x, int64_t split_axis,
                                                  int64_t concat_axis, const comm::Group& group,
                                                  comm::Communicator& end, const std::string& what);
/// What member `from` sends; zeros if there is none (-1). `to` may be -1 too.
[[nodiscard]] base::Result<at::Tensor> exchanged(const at::Tensor& x, int64_t to, int64_t from,
                                                 const comm::Group& group, comm::Communicator& end,
                                                 const std::string& what);

}  // namespace goban::train::mesh
