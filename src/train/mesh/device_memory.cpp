#include "train/mesh/device_memory.hpp"

#include <ATen/ops/empty.h>
#include <atomic>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "train/mesh/cuda_memory.hpp"

namespace goban::train::mesh {

struct DeviceMemory::Account {
  int64_t limit_bytes = 0;
  std::atomic<int64_t> used_bytes = 0;  // tensors may be freed by other threads
  std::atomic<int64_t> peak_bytes = 0;

  void take(int64_t bytes) {
    const int64_t used = used_bytes.fetch_add(bytes) + bytes;
    if (limit_bytes > 0 && used > limit_bytes) {
      used_bytes -= bytes;
      TORCH_CHECK(false, "device memory exhausted: ", used - bytes, " bytes in use, ", bytes,
                  " more requested, the limit is ", limit_bytes);
    }
    int64_t peak = peak_bytes;
    while (used > peak && !peak_bytes.compare_exchange_weak(peak, used)) {
    }
  }
};

namespace {

std::shared_ptr<DeviceMemory::Account>& charged() {
  thread_local std::shared_ptr<DeviceMemory::Account> account;
  return account;
}

constexpr size_t kAlignment = 64;  // LibTorch's alignment

/// Stored before the data of each block.
struct alignas(kAlignment) Header {
  std::shared_ptr<DeviceMemory::Account> account;
  int64_t bytes = 0;
};
static_assert(sizeof(Header) == kAlignment);

void release(void* data) {
  if (data == nullptr) return;
  auto* header = static_cast<Header*>(data) - 1;
  if (header->account != nullptr) header->account->used_bytes -= header->bytes;
  header->~Header();
  std::free(header);
}

/// Like LibTorch's allocator, but charges the account of the calling thread, if it has one. oneDNN
/// frees by the data pointer alone, so the header of a block is stored before its data.
class CountingAllocator final : public at::Allocator {
 public:
  // LibTorch 2.3 dropped the const of allocate and asks for copy_data; both forms are defined.
  at::DataPtr allocate(size_t n) { return std::as_const(*this).allocate(n); }
  void copy_data(void* to, const void* from, size_t n) const { std::memcpy(to, from, n); }
  at::DataPtr allocate(size_t n) const {
    const at::Device cpu(at::DeviceType::CPU);
    if (n == 0) return {nullptr, nullptr, &release, cpu};
    const std::shared_ptr<DeviceMemory::Account>& account = charged();
    const auto bytes = static_cast<int64_t>(n);
    if (account != nullptr) account->take(bytes);
    const size_t whole = (n + 2 * kAlignment - 1) / kAlignment * kAlignment;
    void* block = std::aligned_alloc(kAlignment, whole);
    if (block == nullptr && account != nullptr) account->used_bytes -= bytes;
    TORCH_CHECK(block != nullptr, "out of memory: ", n, " bytes requested");
    auto* header = new (block) Header{account, bytes};
    void* data = header + 1;
    return {data, data, &release, cpu};
  }
  at::DeleterFnPtr raw_deleter() const override { return &release; }
};

void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    constexpr uint8_t kAboveDefault = 1;
    static CountingAllocator allocator;
    c10::SetCPUAllocator(&allocator, kAboveDefault);
  });
}

}  // namespace

DeviceMemory::DeviceMemory(int64_t limit_bytes, c10::Device device)
    : device_(device), account_(std::make_shared<Account>()) {
  if (device_.is_cpu()) {
    account_->limit_bytes = limit_bytes;
    install();
  } else if (device_.is_cuda()) {
    // LibTorch starts CUDA with the first tensor; its allocator answers nothing before.
    (void)at::empty({0}, at::TensorOptions(device_));
    limit_cuda_memory(device_.index(), limit_bytes);
    forget_cuda_peak(device_.index());
  }
}
DeviceMemory::~DeviceMemory() = default;

int64_t DeviceMemory::used_bytes() const {
  return device_.is_cuda() ? cuda_used_bytes(device_.index()) : account_->used_bytes.load();
}
int64_t DeviceMemory::peak_bytes() const {
  return device_.is_cuda() ? cuda_peak_bytes(device_.index()) : account_->peak_bytes.load();
}
void DeviceMemory::forget_peak() {
  if (device_.is_cuda()) return forget_cuda_peak(device_.index());
  account_->peak_bytes = account_->used_bytes.load();
}

bool DeviceMemory::limits_this_thread() {
  return charged() != nullptr && charged()->limit_bytes > 0;
}

DeviceMemory::Charge::Charge(DeviceMemory& memory)
    : before_(std::exchange(charged(), memory.device_.is_cpu() ? memory.account_ : nullptr)) {
  if (!memory.device_.is_cpu()) guard_.reset_device(memory.device_);
}
DeviceMemory::Charge::~Charge() {
  charged() = std::static_pointer_cast<DeviceMemory::Account>(before_);
}

}  // namespace goban::train::mesh
