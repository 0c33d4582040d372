// A device's memory for tensors: what a rank uses is counted, and more than its limit is refused.
// On the CPU "a device" is a rank: the limit stands in for the memory of a GPU. On a GPU LibTorch's
// own allocator counts and refuses, for all ranks of a process that share the GPU together.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/DeviceGuard.h>
#include <cstdint>
#include <memory>

namespace goban::train::mesh {

/// The account of one rank. Tensors hold on to it: it lives as long as the last of them.
class DeviceMemory {
 public:
  /// `limit_bytes` 0: counted, never refused.
  explicit DeviceMemory(int64_t limit_bytes, c10::Device device = c10::kCPU);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  [[nodiscard]] c10::Device device() const { return device_; }
  /// 0 on devices that are neither CPU nor GPU.
  [[nodiscard]] int64_t used_bytes() const;
  [[nodiscard]] int64_t peak_bytes() const;
  void forget_peak();

  /// While it lives, what the calling thread allocates for tensors is charged to the account, and
  /// the account's device is the thread's current one.
  /// An allocation beyond the limit throws c10::Error, which Program::run returns as Failed.
  /// Scratch of the kernels' own threads and libraries is not counted.
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

  /// Whether the calling thread's allocations are limited. What is fed then has to be copied to
  /// the device, as a GPU needs it; without a limit the batch on the host is read in place.
  [[nodiscard]] static bool limits_this_thread();

  struct Account;  // known to the source file only

 private:
  c10::Device device_;
  std::shared_ptr<Account> account_;
};

}  // namespace goban::train::mesh
