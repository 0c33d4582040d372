// Accounting of a device's tensor memory, with an enforced limit. On the CPU each rank is a
// "device": the limit stands in for the memory of a GPU. On a GPU LibTorch's allocator counts and
// enforces, for all ranks of a process that share the GPU.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/DeviceGuard.h>
#include <cstdint>
#include <memory>

namespace goban::train::mesh {

/// The account of one rank. Tensors keep it alive: it exists as long as the last of them.
class DeviceMemory {
 public:
  /// `limit_bytes` 0: memory is counted but not limited.
  explicit DeviceMemory(int64_t limit_bytes, c10::Device device = c10::kCPU);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  [[nodiscard]] c10::Device device() const { return device_; }
  /// 0 on devices that are neither CPU nor GPU.
  [[nodiscard]] int64_t used_bytes() const;
  [[nodiscard]] int64_t peak_bytes() const;
  void forget_peak();

  /// During its lifetime, tensor allocations of the calling thread are charged to the account, and
  /// the account's device is the thread's current device. An allocation beyond the limit throws
  /// c10::Error, which Program::run returns as Failed. Scratch memory of kernels' threads and
  /// libraries is not counted.
  class Charge {
   public:
    explicit Charge(DeviceMemory& memory);
    ~Charge();
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;

   private:
    std::shared_ptr<void> before_;
    c10::OptionalDeviceGuard guard_;
  };

  /// True if the calling thread's allocations are limited. Fed tensors are then copied to the
  /// device, as a GPU requires; without a limit the batch is read in place.
  [[nodiscard]] static bool limits_this_thread();

  struct Account;  // defined in the source file

 private:
  c10::Device device_;
  std::shared_ptr<Account> account_;
};

}  // namespace goban::train::mesh
