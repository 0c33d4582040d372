#include "live/engine/local/usage_watch.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <sys/resource.h>

#include "base/clock.hpp"
#include "live/machine/process_tree.hpp"

namespace goban::live::engine::local {
namespace {

using base::kSecond;
using base::TimeNs;

constexpr TimeNs kMemoryEvery = kSecond / 10;  ///< if the supervisor enforces a memory limit
constexpr TimeNs kMeterEvery = kSecond;
constexpr TimeNs kBusyEvery = 5 * kSecond;  ///< for jobs that report no epochs

/// The job's memory limit on its virtual GPUs while they are shared; 0 = no limit.
int64_t virtual_gpu_limit(const RunOrder& order) {
  const bool is_virtual = !order.gpus.empty() && order.gpus.front().is_virtual;
  return is_virtual ? order.spec.training.gpu_mem_bytes * static_cast<int64_t>(order.gpus.size())
                    : 0;
}

std::string excess_of(const char* what) {
  return fmt::format("it used more {} than it requested", what);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

UsageWatch::UsageWatch(const RunOrder& order, const RunFolder& folder,
                       const RunProcesses& processes)
    : order_(order),
      processes_(processes),
      meter_(make_gpu_meter(order.gpus, folder)),
      shares_(order.shares) {}

const char* UsageWatch::above_limit(const std::vector<pid_t>& processes) {
  const int64_t gpu_limit = shares_ ? order_.spec.training.gpu_mem_bytes : 0;
  const int64_t virtual_limit = shares_ ? virtual_gpu_limit(order_) : 0;
  int64_t used = machine::resident_bytes(processes);
  // Forked processes share pages that resident_bytes() counts for each.
  const auto above = [&](int64_t bound) {
    if (bound <= 0 || used <= bound) return false;
    used = std::min(used, machine::proportional_bytes(processes));
    return used > bound;
  };
  const char* what = nullptr;
  if (above(memory_limit(order_))) what = "memory";
  if (above(virtual_limit)) what = "memory of its virtual GPUs";
  if (virtual_limit == 0 && gpu_limit > 0 && meter_->gpu_mem_bytes() > gpu_limit) {
    what = "memory of a GPU";
  }
  mem_bytes_max_ = std::max(mem_bytes_max_, used);
  return what;
}

bool UsageWatch::sample(ProgressReport& latest) {
  const TimeNs now = base::steady_ns();
  if (now < next_sample_ns_) return false;
  const bool limited = (order_.spec.mem_bytes > 0 && !processes_.kernel_limits_memory()) ||
                       (shares_ && order_.spec.training.gpu_mem_bytes > 0);
  next_sample_ns_ = now + (limited ? kMemoryEvery : kMeterEvery);
  const std::vector<pid_t> all = processes_.all();
  if (now >= next_meter_ns_) {
    next_meter_ns_ = now + kMeterEvery;
    const double cpu_s = processes_.cpu_s();
    meter_->sample(all, cpu_s);
    if (latest.epoch < 0 && now >= next_busy_ns_) {
      next_busy_ns_ = now + kBusyEvery;
      const double busy_s = meter_->busy_s(cpu_s);
      if (busy_s >= 0) latest.busy_s = busy_s;
    }
  }
  const char* what = above_limit(all);
  if (what == nullptr || !excess_.empty()) return false;
  excess_ = excess_of(what);
  return true;
}

RunUsage UsageWatch::finish(TimeNs ran_ns) {
  rusage waited{};
  ::getrusage(RUSAGE_CHILDREN, &waited);
  const RunProcesses::Measured measured = processes_.measured();
  RunUsage usage;
  usage.cpu_s = std::max(seconds(waited.ru_utime) + seconds(waited.ru_stime), measured.cpu_s);
  usage.mem_bytes_max =
      std::max({mem_bytes_max_, int64_t{waited.ru_maxrss} * 1024, measured.mem_bytes_max});
  if (measured.out_of_memory && excess_.empty()) excess_ = excess_of("memory");
  meter_->finish(usage, base::to_seconds(ran_ns));
  return usage;
}

}  // namespace goban::live::engine::local
