#include "live/machine/cuda_driver.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>

namespace goban::live::machine {
namespace {

/// Loads all functions. Returns the name of a missing function, or null.
const char* find_all(void* file, CudaFunctions& f) {
  const char* missing = nullptr;
  const auto find = [&]<typename Function>(Function*& out, const char* name) {
    out = reinterpret_cast<Function*>(dlsym(file, name));
    if (out == nullptr) missing = name;
  };
  find(f.init, "cuInit");
  find(f.error_string, "cuGetErrorString");
  find(f.device_get, "cuDeviceGet");
  find(f.ctx_create, "cuCtxCreate_v2");
  find(f.ctx_destroy, "cuCtxDestroy_v2");
  find(f.module_load, "cuModuleLoadData");
  find(f.module_function, "cuModuleGetFunction");
  find(f.mem_alloc, "cuMemAlloc_v2");
  find(f.mem_set, "cuMemsetD32_v2");
  find(f.launch, "cuLaunchKernel");
  find(f.event_create, "cuEventCreate");
  find(f.event_record, "cuEventRecord");
  find(f.event_wait, "cuEventSynchronize");
  find(f.event_elapsed_ms, "cuEventElapsedTime");
  return missing;
}

}  // namespace

base::Result<std::unique_ptr<CudaDriver>> CudaDriver::load(const std::string& path) {
  std::string name = path;
  if (name.empty()) {
    const char* set = std::getenv("GOBAN_CUDA");
    name = set != nullptr && *set != '\0' ? set : "libcuda.so.1";
  }
  std::unique_ptr<CudaDriver> out(new CudaDriver);
  out->file_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (out->file_ == nullptr) {
    return base::failed(fmt::format("cannot load CUDA's driver library: {}", dlerror()),
                        "install NVIDIA's complete driver, which includes libcuda.so.1");
  }
  if (const char* missing = find_all(out->file_, out->f_); missing != nullptr) {
    return base::failed(fmt::format("'{}' has no function '{}'", name, missing),
                        "install driver 450 or later");
  }
  int device = 0;
  for (const auto& status : {out->check(out->f_.init(0), "cuInit"),
                             out->check(out->f_.device_get(&device, 0), "cuDeviceGet")}) {
    if (!status) return base::failure(status.error());
  }
  const base::Status made =
      out->check(out->f_.ctx_create(&out->context_, 0, device), "cuCtxCreate");
  if (!made) return base::failure(made.error());
  return out;
}

CudaDriver::~CudaDriver() {
  if (context_ != nullptr) f_.ctx_destroy(context_);
  if (file_ != nullptr) dlclose(file_);
}

base::Status CudaDriver::check(int code, const char* what) const {
  if (code == 0) return {};
  const char* text = nullptr;
  if (f_.error_string(code, &text) != 0 || text == nullptr) text = "unknown error";
  return base::failed(fmt::format("{}: {} (code {})", what, text, code),
                      "check the GPU with nvidia-smi");
}

}  // namespace goban::live::machine
