// NCCL and the CUDA runtime, loaded at run time on request: neither is required to build or start.
// Declarations follow nccl.h 2.x and cuda_runtime_api.h 11 to 13, whose values used here are
// stable.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace goban::train::comm {

using NcclComm = void*;
using CudaStream = void*;
struct NcclUniqueId {
  std::array<char, 128> bytes;
};
/// ncclDataType_t and ncclRedOp_t.
enum class NcclType : int { U8 = 1, I64 = 4, F32 = 7, F64 = 8, BF16 = 9 };
enum class NcclOp : int { Sum = 0, Max = 2, Min = 3 };
inline constexpr int kNcclInProgress = 7;
inline constexpr int kCudaNotReady = 600;

/// The functions used; each returns 0 for success.
struct NcclFunctions {
  int (*get_version)(int*);
  int (*get_unique_id)(NcclUniqueId*);
  int (*comm_init_rank)(NcclComm*, int ranks, NcclUniqueId, int rank);
  int (*comm_destroy)(NcclComm);
  int (*comm_abort)(NcclComm);
  int (*comm_get_async_error)(NcclComm, int*);
  const char* (*get_error_string)(int);
  int (*all_reduce)(const void*, void*, size_t, NcclType, NcclOp, NcclComm, CudaStream);
  int (*all_gather)(const void*, void*, size_t sent, NcclType, NcclComm, CudaStream);
  int (*reduce_scatter)(const void*, void*, size_t received, NcclType, NcclOp, NcclComm,
                        CudaStream);
  int (*broadcast)(const void*, void*, size_t, NcclType, int root, NcclComm, CudaStream);
  int (*send)(const void*, size_t, NcclType, int peer, NcclComm, CudaStream);
  int (*receive)(void*, size_t, NcclType, int peer, NcclComm, CudaStream);
  int (*group_start)();
  int (*group_end)();
};
struct CudaFunctions {
  int (*get_device_count)(int*);
  int (*set_device)(int);
  int (*allocate)(void**, size_t);
  int (*free)(void*);
  /// `kind` is the direction; 4 lets the runtime infer it from the pointers.
  int (*copy)(void* to, const void* from, size_t, int kind);
  int (*stream_create)(CudaStream*);
  int (*stream_destroy)(CudaStream);
  int (*stream_query)(CudaStream);
  const char* (*get_error_string)(int);
};

/// File names of the libraries. Empty: $GOBAN_NCCL and $GOBAN_CUDART if set, otherwise the usual
/// names.
struct NcclPaths {
  std::string nccl, cudart;
};

/// Both libraries; closed by the destructor.
class NcclLibrary {
 public:
  /// Errors: Failed, with the missing library, every name tried, and the remedy.
  [[nodiscard]] static base::Result<std::shared_ptr<const NcclLibrary>> load(
      const NcclPaths& paths);
  ~NcclLibrary();
  NcclLibrary(const NcclLibrary&) = delete;
  NcclLibrary& operator=(const NcclLibrary&) = delete;

  NcclFunctions nccl{};
  CudaFunctions cuda{};
  [[nodiscard]] const std::string& version() const { return version_; }  ///< "2.30.7"

 private:
  NcclLibrary() = default;
  void *nccl_file_ = nullptr, *cuda_file_ = nullptr;
  std::string version_;
};

}  // namespace goban::train::comm
