// Copies of feeds in the memory of a device, made by a thread beside the one that computes.
#pragma once

#include <ATen/core/Tensor.h>

namespace goban::train::mesh {

/// The values of `host` in the memory of `device`, complete when it returns. To a GPU they go from
/// pinned memory and on a stream of the calling thread, so that other threads' work continues.
[[nodiscard]] at::Tensor sent_ahead(const at::Tensor& host, c10::Device device);

/// Called by the thread that computes before it uses a tensor of sent_ahead: the memory is not
/// given away before that work has ended.
void begin_use(const at::Tensor& sent);

}  // namespace goban::train::mesh
