#include "live/machine/cpu_kernels.hpp"

#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <thread>

namespace goban::live::machine {
namespace {

using core::knowledge::Kernel;
using Clock = std::chrono::steady_clock;

constexpr size_t kMatrix = 96;  ///< 3 x 36 KiB: fits in a core's cache
constexpr size_t kStreamCount = (size_t{16} << 20) / sizeof(double);
constexpr size_t kStrips = 16;  ///< strips per pass over the arrays
constexpr int kProducts = 60;   ///< products per compute-bound run
constexpr int kStripsRun = 32;  ///< strips per memory-bound run: two passes
constexpr int kMixedProducts = 30;
constexpr int kMixedStrips = 16;

/// The data of one core.
class Workspace {
 public:
  Workspace()
      : left_(kMatrix * kMatrix, 0.5F),
        right_(kMatrix * kMatrix, 0.25F),
        product_(kMatrix * kMatrix),
        a_(kStreamCount),
        b_(kStreamCount, 1),
        c_(kStreamCount, 2) {}

  void run(Kernel kernel, double slowness) {
    const auto times = [&](int count) { return std::lround(count * slowness); };
    switch (kernel) {
      case Kernel::Compute:
        for (long i = 0; i < times(kProducts); ++i) multiply();
        return;
      case Kernel::Memory:
        for (long i = 0; i < times(kStripsRun); ++i) stream();
        return;
      case Kernel::Mixed:
        for (long i = 0; i < times(kMixedStrips); ++i) stream();
        for (long i = 0; i < times(kMixedProducts); ++i) multiply();
        return;
    }
  }
  /// Depends on all results, so that the compiler cannot remove the computation.
  [[nodiscard]] double sum() const { return product_[7] + a_[strip_ * 11]; }

 private:
  void multiply() {
    for (size_t i = 0; i < kMatrix; ++i) {
      float* row = &product_[i * kMatrix];
      for (size_t j = 0; j < kMatrix; ++j) row[j] *= 0.5F;
      for (size_t k = 0; k < kMatrix; ++k) {
        const float factor = left_[i * kMatrix + k];
        const float* from = &right_[k * kMatrix];
        for (size_t j = 0; j < kMatrix; ++j) row[j] += factor * from[j];
      }
    }
  }
  void stream() {
    constexpr size_t kCount = kStreamCount / kStrips;
    const size_t begin = strip_ * kCount;
    for (size_t i = begin; i < begin + kCount; ++i) a_[i] = b_[i] + 3 * c_[i];
    strip_ = (strip_ + 1) % kStrips;
  }

  std::vector<float> left_, right_, product_;
  std::vector<double> a_, b_, c_;
  size_t strip_ = 0;
};

bool pin_to(int32_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

}  // namespace

base::Result<KernelRuns> run_cpu_kernels(const std::vector<int32_t>& cpus, double slowness,
                                         int runs) {
  KernelRuns out;
  std::atomic<int32_t> refused = -1;
  std::atomic<double> sink = 0;
  std::barrier together(static_cast<std::ptrdiff_t>(cpus.size()));
  // All threads run in lockstep; the first one measures the time.
  const auto work = [&](size_t me) {
    if (!pin_to(cpus[me])) refused = cpus[me];
    Workspace space;
    for (const Kernel kernel : core::knowledge::kKernels) {
      for (int run = 0; run <= runs; ++run) {
        together.arrive_and_wait();
        const auto begin = Clock::now();
        space.run(kernel, slowness);
        together.arrive_and_wait();
        const std::chrono::duration<double> passed = Clock::now() - begin;
        if (me == 0 && run > 0) out[static_cast<size_t>(kernel)].push_back(passed.count());
      }
    }
    sink.store(space.sum());
  };
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < cpus.size(); ++i) threads.emplace_back(work, i);
  }
  if (refused >= 0) {
    return base::failed(fmt::format("cannot run a thread on core {}", refused.load()),
                        "taskset -p shows which cores are allowed");
  }
  return out;
}

}  // namespace goban::live::machine
