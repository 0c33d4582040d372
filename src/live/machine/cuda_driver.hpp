// CUDA's driver library, loaded on demand: it is required neither for building nor for starting.
// Declared by hand after cuda.h of CUDA 11 and 12; the functions used here are stable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace goban::live::machine {

using CudaPointer = unsigned long long;
using CudaHandle = void*;  ///< of a context, module, function or event

/// The functions used; each returns 0 for success.
struct CudaFunctions {
  int (*init)(unsigned) = nullptr;
  int (*error_string)(int, const char**) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*ctx_create)(CudaHandle*, unsigned, int) = nullptr;
  int (*ctx_destroy)(CudaHandle) = nullptr;
  int (*module_load)(CudaHandle*, const void*) = nullptr;
  int (*module_function)(CudaHandle*, CudaHandle, const char*) = nullptr;
  int (*mem_alloc)(CudaPointer*, size_t) = nullptr;
  int (*mem_set)(CudaPointer, unsigned, size_t) = nullptr;
  int (*launch)(CudaHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                CudaHandle, void**, void**) = nullptr;
  int (*event_create)(CudaHandle*, unsigned) = nullptr;
  int (*event_record)(CudaHandle, CudaHandle) = nullptr;
  int (*event_wait)(CudaHandle) = nullptr;
  int (*event_elapsed_ms)(float*, CudaHandle, CudaHandle) = nullptr;
};

/// The loaded library with a context on device 0. For use by one thread. Memory is freed with the
/// context.
class CudaDriver {
 public:
  /// `path`: empty = $GOBAN_CUDA, then libcuda.so.1. Errors: Failed naming the file or function,
  /// the message of the loader or driver, and the remedy.
  [[nodiscard]] static base::Result<std::unique_ptr<CudaDriver>> load(const std::string& path = {});
  ~CudaDriver();
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  [[nodiscard]] const CudaFunctions& functions() const { return f_; }
  /// Errors: Failed with `what` and the driver's text, if `code` is not 0.
  [[nodiscard]] base::Status check(int code, const char* what) const;

 private:
  CudaDriver() = default;

  void* file_ = nullptr;
  CudaHandle context_ = nullptr;
  CudaFunctions f_{};
};

}  // namespace goban::live::machine
