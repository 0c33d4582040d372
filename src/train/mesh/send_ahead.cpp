#include "train/mesh/send_ahead.hpp"

#ifdef GOBAN_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace goban::train::mesh {

at::Tensor sent_ahead(const at::Tensor& host, c10::Device device) {
#ifdef GOBAN_CUDA
  if (device.is_cuda()) {
    const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool(false, device.index());
    const c10::cuda::CUDAStreamGuard guard(stream);
    const at::Tensor pinned = host.pin_memory();
    const at::Tensor sent = pinned.to(device, pinned.scalar_type(), /*non_blocking=*/true);
    stream.synchronize();
    return sent;
  }
#endif
  return host.to(device);
}

void begin_use(const at::Tensor& sent) {
#ifdef GOBAN_CUDA
  if (sent.is_cuda()) sent.record_stream(c10::cuda::getCurrentCUDAStream(sent.get_device()));
#else
  static_cast<void>(sent);
#endif
}

}  // namespace goban::train::mesh
