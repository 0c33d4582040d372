#include "train/mesh/device.hpp"

#include <ATen/Context.h>
#include <algorithm>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <thread>
#include <torch/version.h>

#include "train/mesh/cuda_memory.hpp"

namespace goban::train::mesh {
namespace {

int gpu_count() {
  if (!c10::impl::hasDeviceGuardImpl(c10::kCUDA) || !at::hasCUDA()) return 0;
  return c10::impl::VirtualGuardImpl(c10::kCUDA).deviceCount();
}

c10::Device gpu(int index) { return {c10::kCUDA, static_cast<c10::DeviceIndex>(index)}; }

std::optional<c10::Device> parsed(const std::string& text) {
  try {
    return c10::Device(text);
  } catch (const c10::Error&) {
    return std::nullopt;
  }
}

}  // namespace

base::Result<c10::Device> resolve_device(const std::string& text, int local_rank) {
  const c10::Device cpu(c10::kCPU);
  const int gpus = gpu_count();
  if (text == "cpu" || (text == "auto" && gpus == 0)) return cpu;
  const bool any_gpu = text == "auto" || text == "cuda";
  if (any_gpu && gpus > 0) return gpu(local_rank % gpus);
  const auto device = any_gpu ? gpu(0) : parsed(text);
  if (!device) {
    return base::usage_error(fmt::format("unknown device '{}'", text),
                             "use --device auto, cpu, cuda (by local rank) or cuda:N");
  }
  if (device->is_cuda()) {
    if (device->index() < gpus) return *device;
    return base::usage_error(
        fmt::format("device '{}' was requested, but LibTorch {} ({}) sees {} GPUs", text,
                    TORCH_VERSION, built_with_cuda() ? "built with CUDA" : "built without CUDA",
                    gpus),
        built_with_cuda()
            ? "use --device cpu, or check that nvidia-smi lists the GPU and CUDA_VISIBLE_DEVICES "
              "has it"
            : "use --device cpu, or build against a LibTorch with CUDA (docs/mesh.md, GPUs)");
  }
  if (device->is_cpu()) return cpu;
  if (c10::impl::hasDeviceGuardImpl(device->type())) {
    return c10::Device(device->type(), std::max<c10::DeviceIndex>(device->index(), 0));
  }
  return base::usage_error(fmt::format("LibTorch {} has no device '{}'", TORCH_VERSION, text),
                           "use --device auto, cpu, cuda (by local rank) or cuda:N");
}

std::string device_name(c10::Device device) {
  return device.is_cuda()  ? cuda_device_name(device.index())
         : device.is_cpu() ? "cpu"
                           : device.str();
}

void finish_work(c10::Device device) {
  if (device.is_cpu()) return;
  c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
}

void repeat_bits_on_gpus() { at::globalContext().setDeterministicCuDNN(true); }

void use_own_stream(c10::Device device) {
  if (!device.is_cuda()) return;
  const c10::impl::VirtualGuardImpl gpu(device.type());
  gpu.exchangeStream(gpu.getStreamFromGlobalPool(device));
}

std::function<void()> work_so_far(c10::Device device) {
  if (!device.is_cuda()) {
    finish_work(device);
    return [] {};
  }
  auto mark = std::make_shared<c10::Event>(device.type());
  mark->record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
  return [mark] {
    while (!mark->query()) std::this_thread::yield();
  };
}

void allow_tf32(bool allow) {
  at::globalContext().setFloat32MatmulPrecision(std::string(allow ? "high" : "highest"));
  at::globalContext().setAllowTF32CuDNN(allow);
}

}  // namespace goban::train::mesh
