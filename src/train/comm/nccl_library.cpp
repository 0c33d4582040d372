#include "train/comm/nccl_library.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace goban::train::comm {
namespace {

std::vector<std::string> names(const std::string& given, const char* variable,
                               std::vector<std::string> usual) {
  if (!given.empty()) return {given};
  if (const char* set = std::getenv(variable); set != nullptr && *set != '\0') return {set};
  return usual;
}

base::Result<void*> open_first(const char* what, const std::vector<std::string>& candidates,
                               const char* variable) {
  std::vector<std::string> said;
  for (const std::string& name : candidates) {
    if (void* file = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); file != nullptr) return file;
    said.emplace_back(dlerror());
  }
  return base::failed(fmt::format("{} cannot be loaded: {}", what, fmt::join(said, "; ")),
                      fmt::format("install it, or set {} to its file; without a GPU use "
                                  "--collectives host",
                                  variable));
}

/// Looks up functions and records the first one that is missing.
class Symbols {
 public:
  explicit Symbols(void* file) : file_(file) {}
  template <typename Function>
  void find(Function*& out, const char* name) {
    out = reinterpret_cast<Function*>(dlsym(file_, name));
    if (out == nullptr && missing_.empty()) missing_ = name;
  }
  [[nodiscard]] base::Status status(const char* what) const {
    if (missing_.empty()) return {};
    return base::failed(fmt::format("{} has no function '{}'", what, missing_),
                        "NCCL 2.7 or later and CUDA 11 or later are required");
  }

 private:
  void* file_;
  std::string missing_;
};

base::Status find_nccl(void* file, NcclFunctions& f) {
  Symbols symbols(file);
  symbols.find(f.get_version, "ncclGetVersion");
  symbols.find(f.get_unique_id, "ncclGetUniqueId");
  symbols.find(f.comm_init_rank, "ncclCommInitRank");
  symbols.find(f.comm_destroy, "ncclCommDestroy");
  symbols.find(f.comm_abort, "ncclCommAbort");
  symbols.find(f.comm_get_async_error, "ncclCommGetAsyncError");
  symbols.find(f.get_error_string, "ncclGetErrorString");
  symbols.find(f.all_reduce, "ncclAllReduce");
  symbols.find(f.all_gather, "ncclAllGather");
  symbols.find(f.reduce_scatter, "ncclReduceScatter");
  symbols.find(f.broadcast, "ncclBroadcast");
  symbols.find(f.send, "ncclSend");
  symbols.find(f.receive, "ncclRecv");
  symbols.find(f.group_start, "ncclGroupStart");
  symbols.find(f.group_end, "ncclGroupEnd");
  return symbols.status("NCCL");
}

base::Status find_cuda(void* file, CudaFunctions& f) {
  Symbols symbols(file);
  symbols.find(f.get_device_count, "cudaGetDeviceCount");
  symbols.find(f.set_device, "cudaSetDevice");
  symbols.find(f.allocate, "cudaMalloc");
  symbols.find(f.free, "cudaFree");
  symbols.find(f.copy, "cudaMemcpy");
  symbols.find(f.stream_create, "cudaStreamCreate");
  symbols.find(f.stream_destroy, "cudaStreamDestroy");
  symbols.find(f.stream_query, "cudaStreamQuery");
  symbols.find(f.get_error_string, "cudaGetErrorString");
  return symbols.status("the CUDA runtime");
}

}  // namespace

base::Result<std::shared_ptr<const NcclLibrary>> NcclLibrary::load(const NcclPaths& paths) {
  const std::shared_ptr<NcclLibrary> out(new NcclLibrary);
  const auto cuda =
      open_first("the CUDA runtime",
                 names(paths.cudart, "GOBAN_CUDART",
                       {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so"}),
                 "GOBAN_CUDART");
  if (!cuda) return base::failure(cuda.error());
  out->cuda_file_ = *cuda;
  const auto nccl = open_first(
      "NCCL", names(paths.nccl, "GOBAN_NCCL", {"libnccl.so.2", "libnccl.so"}), "GOBAN_NCCL");
  if (!nccl) return base::failure(nccl.error());
  out->nccl_file_ = *nccl;
  if (auto s = find_cuda(out->cuda_file_, out->cuda); !s) return base::failure(s.error());
  if (auto s = find_nccl(out->nccl_file_, out->nccl); !s) return base::failure(s.error());
  int code = 0;
  out->nccl.get_version(&code);
  // 2.9 and later: major * 10000 + minor * 100 + patch.
  out->version_ = fmt::format("{}.{}.{}", code / 10'000, code / 100 % 100, code % 100);
  return std::shared_ptr<const NcclLibrary>(out);
}

NcclLibrary::~NcclLibrary() {
  if (nccl_file_ != nullptr) dlclose(nccl_file_);
  if (cuda_file_ != nullptr) dlclose(cuda_file_);
}

}  // namespace goban::train::comm
