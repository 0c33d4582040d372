// A device that is not the processor, for machines without a GPU: LibTorch's PrivateUse1, whose
// operations are carried out by the processor's code on copies. What it checks is what a GPU would
// punish: tensors of two devices in one operation are an error, and its memory is mapped without
// access, so that whoever reads it as the host's dies. Linking it registers the device; the
// stand-in of NCCL (tests/fake_nccl) finds the memory behind a pointer by goban_standin_memory.
#include <ATen/EmptyTensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/view_native.h>
#include <array>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <torch/library.h>
#include <unistd.h>

namespace {

constexpr auto kDevice = c10::DeviceType::PrivateUse1;
constexpr size_t kBytes = size_t{1} << 28;
constexpr size_t kUnit = 64;

/// The device's memory, mapped twice: where pointers point, and where its operations find it.
class Memory {
 public:
  static Memory& only() {
    static Memory memory;
    return memory;
  }
  void* take(size_t bytes) {
    const std::scoped_lock lock(mutex_);
    const size_t wanted = (bytes + kUnit) / kUnit * kUnit;
    for (auto& [begin, size] : free_) {
      if (size < wanted) continue;
      const size_t at = begin, rest = size - wanted;
      free_.erase(begin);
      if (rest > 0) free_[at + wanted] = rest;
      used_[at] = wanted;
      return outside_ + at;
    }
    TORCH_CHECK(false, "the stand-in device's memory is used up");
  }
  void give(void* data) {
    if (data == nullptr) return;
    const std::scoped_lock lock(mutex_);
    const auto found = used_.find(static_cast<size_t>(static_cast<char*>(data) - outside_));
    auto [at, inserted] = free_.insert(*found);
    used_.erase(found);
    if (const auto next = std::next(at);
        next != free_.end() && at->first + at->second == next->first) {
      at->second += next->second;
      free_.erase(next);
    }
    if (at != free_.begin()) {
      const auto before = std::prev(at);
      if (before->first + before->second == at->first) {
        before->second += at->second;
        free_.erase(at);
      }
    }
  }
  /// Null if the pointer is not into it.
  void* inside(const void* data) const {
    const auto* at = static_cast<const char*>(data);
    return at >= outside_ && at < outside_ + kBytes ? inside_ + (at - outside_) : nullptr;
  }

 private:
  Memory() {
    const int file = memfd_create("standin", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, kBytes) != 0) std::abort();
    outside_ = static_cast<char*>(mmap(nullptr, kBytes, PROT_NONE, MAP_SHARED, file, 0));
    inside_ =
        static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    close(file);
    free_[0] = kBytes;
  }
  char *outside_ = nullptr, *inside_ = nullptr;
  std::mutex mutex_;
  std::map<size_t, size_t> free_, used_;
};

void release(void* data) { Memory::only().give(data); }

struct DeviceAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) const override {
    void* data = bytes == 0 ? nullptr : Memory::only().take(bytes);
    return {data, data, &release, c10::Device(kDevice, 0)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
};
DeviceAllocator allocator;

bool ours(const at::Tensor& x) { return x.device().type() == kDevice; }

/// The tensor as one of the host over the same memory.
at::Tensor as_host(const at::Tensor& x) {
  if (!ours(x)) return x;
  void* data = Memory::only().inside(x.storage().data());
  const auto bytes = static_cast<int64_t>(x.storage().nbytes());
  const c10::Storage storage(c10::Storage::use_byte_size_t{}, bytes,
                             c10::DataPtr(data, c10::Device(c10::kCPU)), nullptr, false);
  return at::detail::make_tensor<c10::TensorImpl>(
             c10::Storage(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), x.dtype())
      .as_strided_(x.sizes(), x.strides(), x.storage_offset());
}

at::Tensor empty(at::IntArrayRef sizes, c10::optional<at::ScalarType> type,
                 c10::optional<at::Layout>, c10::optional<at::Device>, c10::optional<bool>,
                 c10::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, &allocator,
                                   c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   type.value_or(at::kFloat), format);
}

at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides,
                         c10::optional<at::ScalarType> type, c10::optional<at::Layout>,
                         c10::optional<at::Device>, c10::optional<bool>) {
  return at::detail::empty_strided_generic(sizes, strides, &allocator,
                                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                           type.value_or(at::kFloat));
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  as_host(to).copy_(as_host(from));
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (from.sizes() != to.sizes()) {
    at::TensorImpl* impl = to.unsafeGetTensorImpl();
    impl->set_storage_keep_dtype(empty(from.sizes(), to.scalar_type(), {}, {}, {}, {}).storage());
    impl->set_sizes_and_strides(from.sizes(), at::empty(from.sizes(), at::kByte).strides());
  }
  return copy_from(from, to, false);
}

at::Scalar local_scalar(const at::Tensor& x) { return as_host(x).item(); }

at::Tensor on_device(const at::Tensor& x) {
  return x.defined() ? x.to(c10::Device(kDevice, 0)) : x;
}

at::Tensor convolution(const at::Tensor& x, const at::Tensor& filter,
                       const c10::optional<at::Tensor>&, at::IntArrayRef stride,
                       at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                       at::IntArrayRef output_padding, int64_t groups) {
  TORCH_CHECK(ours(x) && ours(filter),
              "Expected all tensors to be on the same device: convolution");
  return on_device(at::convolution(as_host(x), as_host(filter), {}, stride, padding, dilation,
                                   transposed, output_padding, groups));
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& dy, const at::Tensor& x, const at::Tensor& filter, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
    at::IntArrayRef output_padding, int64_t groups, std::array<bool, 3> wanted) {
  TORCH_CHECK(ours(dy) && ours(x) && ours(filter),
              "Expected all tensors to be on the same device: convolution_backward");
  const auto [dx, df, db] =
      at::convolution_backward(as_host(dy), as_host(x), as_host(filter), c10::nullopt, stride,
                               padding, dilation, transposed, output_padding, groups, wanted);
  return {on_device(dx), on_device(df), on_device(db)};
}

/// Operations on tensors of both devices fail, as between a GPU and the host; a host's scalar may
/// take part. The rest is done by the processor.
void by_processor(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const size_t count = op.schema().arguments().size();
  for (const c10::IValue& each : torch::jit::last(*stack, count)) {
    if (!each.isTensor()) continue;
    const at::Tensor& x = each.toTensor();
    TORCH_CHECK(!x.defined() || ours(x) || x.dim() == 0,
                "Expected all tensors to be on the same device: ", op.schema().name(),
                " was given one of the host");
  }
  at::native::cpu_fallback(op, stack);
}

}  // namespace

extern "C" void* goban_standin_memory(const void* data) { return Memory::only().inside(data); }

C10_REGISTER_GUARD_IMPL(PrivateUse1, c10::impl::NoOpDeviceGuardImpl<kDevice>);

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&by_processor>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("_local_scalar_dense", &local_scalar);
  library.impl("convolution_overrideable", &convolution);
  library.impl("convolution_backward_overrideable", &convolution_backward);
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("view",
               static_cast<at::Tensor (*)(const at::Tensor&, at::IntArrayRef)>(&at::native::view));
  library.impl("_reshape_alias", &at::native::_reshape_alias);
}
