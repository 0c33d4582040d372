#include "live/machine/cuda_kernels.hpp"

#include <array>
#include <cstdint>
#include <fmt/format.h>

namespace goban::live::machine {
namespace {

using core::knowledge::Kernel;

constexpr unsigned kThreads = 256;
constexpr unsigned kGroups = 1024;
constexpr uint32_t kRounds = 40000;                  ///< of 32 multiply-adds per thread: 0.67 TFLOP
constexpr uint32_t kQuads = 8 << 20;                 ///< groups of four floats in an array
constexpr size_t kArrayBytes = size_t{kQuads} * 16;  ///< larger than every cache
constexpr int kMemoryPasses = 128;                   ///< 52 GB
constexpr int kMixedPasses = 64;                     ///< 26 GB and 0.27 TFLOP
constexpr int kMixedDepth = 64;                      ///< multiply-adds per element

/// x = x * %f8 + %f9 on registers 0 to `chains` - 1, `depth` times. With 0.5 and 0.25, x converges
/// to 0.5: no subnormal numbers, and no constant for the compiler to fold.
std::string multiply_adds(int chains, int depth) {
  std::string out;
  for (int i = 0; i < depth; ++i) {
    for (int c = 0; c < chains; ++c)
      out += fmt::format("  fma.rn.f32 %f{0}, %f{0}, %f8, %f9;\n", c);
  }
  return out;
}

/// Eight independent chains per thread fill the pipelines of every GPU generation.
std::string compute_ptx() {
  return R"(
.visible .entry goban_compute(.param .u64 out, .param .u32 rounds)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .f32 %f<10>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [out];
  ld.param.u32 %r1, [rounds];
  cvta.to.global.u64 %d1, %d1;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mov.f32 %f8, 0f3F000000;
  mov.f32 %f9, 0f3E800000;
  cvt.rn.f32.u32 %f0, %r4;
  add.f32 %f1, %f0, %f8;
  add.f32 %f2, %f1, %f8;
  add.f32 %f3, %f2, %f8;
  add.f32 %f4, %f3, %f8;
  add.f32 %f5, %f4, %f8;
  add.f32 %f6, %f5, %f8;
  add.f32 %f7, %f6, %f8;
ROUND:
)" + multiply_adds(8, 4) +
         R"(  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p, %r1, 0;
  @%p bra ROUND;
  add.f32 %f0, %f0, %f1;
  add.f32 %f2, %f2, %f3;
  add.f32 %f4, %f4, %f5;
  add.f32 %f6, %f6, %f7;
  add.f32 %f0, %f0, %f2;
  add.f32 %f4, %f4, %f6;
  add.f32 %f0, %f0, %f4;
  mul.wide.u32 %d2, %r5, 4;
  add.u64 %d1, %d1, %d2;
  st.global.f32 [%d1], %f0;
  ret;
}
)";
}

/// a = b + 0.5 c, then `depth` multiply-adds per element; each thread processes four floats at a
/// time.
std::string stream_ptx(const char* name, int depth) {
  return fmt::format(
             ".visible .entry {}(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)",
             name) +
         R"(
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .f32 %f<10>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [a];
  ld.param.u64 %d2, [b];
  ld.param.u64 %d3, [c];
  ld.param.u32 %r1, [n];
  cvta.to.global.u64 %d1, %d1;
  cvta.to.global.u64 %d2, %d2;
  cvta.to.global.u64 %d3, %d3;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, %nctaid.x;
  mad.lo.u32 %r6, %r2, %r3, %r4;
  mul.lo.u32 %r7, %r3, %r5;
  mov.f32 %f8, 0f3F000000;
  mov.f32 %f9, 0f3E800000;
NEXT:
  setp.ge.u32 %p, %r6, %r1;
  @%p bra DONE;
  mul.wide.u32 %d4, %r6, 16;
  add.u64 %d5, %d1, %d4;
  add.u64 %d6, %d2, %d4;
  add.u64 %d7, %d3, %d4;
  ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%d6];
  ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%d7];
  fma.rn.f32 %f0, %f4, %f8, %f0;
  fma.rn.f32 %f1, %f5, %f8, %f1;
  fma.rn.f32 %f2, %f6, %f8, %f2;
  fma.rn.f32 %f3, %f7, %f8, %f3;
)" + multiply_adds(4, depth) +
         R"(  st.global.v4.f32 [%d5], {%f0, %f1, %f2, %f3};
  add.u32 %r6, %r6, %r7;
  bra NEXT;
DONE:
  ret;
}
)";
}

/// The kernel that a run launches, and the number of launches.
struct Launch {
  const char* name;
  int passes;
};
constexpr std::array<Launch, core::knowledge::kNumKernels> kLaunches{
    Launch{"goban_compute", 1}, Launch{"goban_mixed", kMixedPasses},
    Launch{"goban_memory", kMemoryPasses}};

/// The device side of a measurement. Errors name the failed driver call.
class Bench {
 public:
  explicit Bench(const CudaDriver& driver) : driver_(driver), f_(driver.functions()) {}

  base::Status prepare() {
    const std::string ptx = kernel_ptx();
    if (auto status = check(f_.module_load(&module_, ptx.c_str()), "cuModuleLoadData"); !status) {
      return status;
    }
    constexpr unsigned kOne = 0x3F800000;
    for (CudaPointer& array : arrays_) {
      if (auto status = check(f_.mem_alloc(&array, kArrayBytes), "cuMemAlloc"); !status) {
        return status;
      }
      if (auto status = check(f_.mem_set(array, kOne, kArrayBytes / 4), "cuMemsetD32"); !status) {
        return status;
      }
    }
    for (CudaHandle* event : {&begin_, &end_}) {
      if (auto status = check(f_.event_create(event, 0), "cuEventCreate"); !status) return status;
    }
    return {};
  }

  base::Result<double> run_s(Kernel kernel) {
    const Launch& launch = kLaunches[static_cast<size_t>(kernel)];
    CudaHandle function = nullptr;
    int code = f_.module_function(&function, module_, launch.name);
    if (code == 0) code = f_.event_record(begin_, nullptr);
    uint32_t count = kernel == Kernel::Compute ? kRounds : kQuads;
    std::array<void*, 4> stream{arrays_.data(), &arrays_[1], &arrays_[2], &count};
    std::array<void*, 2> compute{arrays_.data(), &count};
    void** arguments = kernel == Kernel::Compute ? compute.data() : stream.data();
    for (int pass = 0; pass < launch.passes && code == 0; ++pass) {
      code = f_.launch(function, kGroups, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr);
    }
    if (code == 0) code = f_.event_record(end_, nullptr);
    if (code == 0) code = f_.event_wait(end_);
    float passed_ms = 0;
    if (code == 0) code = f_.event_elapsed_ms(&passed_ms, begin_, end_);
    if (auto status = check(code, launch.name); !status) return base::failure(status.error());
    return passed_ms / 1000.0;
  }

 private:
  [[nodiscard]] base::Status check(int code, const char* what) const {
    return driver_.check(code, what);
  }

  const CudaDriver& driver_;
  const CudaFunctions& f_;
  CudaHandle module_ = nullptr;
  std::array<CudaPointer, 3> arrays_{};
  CudaHandle begin_ = nullptr;
  CudaHandle end_ = nullptr;
};

}  // namespace

std::string kernel_ptx() {
  return ".version 6.0\n.target sm_50\n.address_size 64\n" + compute_ptx() +
         stream_ptx("goban_memory", 0) + stream_ptx("goban_mixed", kMixedDepth);
}

base::Result<KernelRuns> run_cuda_kernels(const CudaDriver& driver, int runs) {
  Bench bench(driver);
  if (auto status = bench.prepare(); !status) return base::failure(status.error());
  KernelRuns out;
  for (const Kernel kernel : core::knowledge::kKernels) {
    for (int run = 0; run <= runs; ++run) {
      const auto passed_s = bench.run_s(kernel);
      if (!passed_s) return base::failure(passed_s.error());
      if (run > 0) out[static_cast<size_t>(kernel)].push_back(*passed_s);
    }
  }
  return out;
}

}  // namespace goban::live::machine
