#include "live/machine/session.hpp"

#include <chrono>
#include <ctime>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/knowledge/median.hpp"

namespace goban::live::machine {
namespace {

using Clock = std::chrono::steady_clock;
using core::knowledge::GpuSession;

/// The condition of a virtual GPU is its set of cores.
core::knowledge::GpuCondition condition_of(const base::gpus::MachineGpus& machine,
                                           const base::gpus::LocalGpu& gpu) {
  if (machine.nvml == nullptr) {
    return {.firmware = fmt::format("cores {}", fmt::join(gpu.cpus, ","))};
  }
  const std::string driver = machine.nvml->driver_version();
  return {.driver = driver.empty() ? machine.driver : driver,
          .firmware = machine.nvml->firmware(gpu.uuid)};
}

class Session {
 public:
  Session(const base::gpus::MachineGpus& machine, const SessionPlan& plan,
          const std::atomic<bool>& interrupted)
      : machine_(machine), plan_(plan), interrupted_(interrupted) {
    result_.sessions.resize(plan.gpus.size());
    result_.problems.resize(plan.gpus.size());
    failures_.resize(plan.gpus.size(), 0);
  }

  /// Gives up GPUs that are no longer idle and discards their blocks.
  void give_up(const BusyGpus& busy) {
    if (plan_.forced) return;
    for (size_t i = 0; i < plan_.gpus.size(); ++i) {
      const auto found = busy.find(gpu(i).index);
      if (found == busy.end() || !result_.problems[i].empty()) continue;
      result_.problems[i] = fmt::format("GPU {} is in use: {}", gpu(i).index, found->second);
      result_.sessions[i] = {};
    }
  }

  void run_one(size_t i) {
    if (!result_.problems[i].empty()) return;
    const auto begin = Clock::now();
    const auto runs = run_block(gpu(i), plan_.block, interrupted_);
    result_.spent_s += std::chrono::duration<double>(Clock::now() - begin).count();
    if (!runs) {
      constexpr int kFailuresMax = 2;
      if (++failures_[i] < kFailuresMax) return;
      result_.problems[i] = runs.error().text();
      result_.sessions[i] = {};
      return;
    }
    for (size_t k = 0; k < runs->size(); ++k) {
      result_.sessions[i].block_s[k].push_back(core::knowledge::median((*runs)[k]));
    }
  }

  SessionResult finish(const BusyGpus& busy) {
    for (size_t i = 0; i < plan_.gpus.size(); ++i) {
      GpuSession& session = result_.sessions[i];
      if (session.block_s[0].empty()) {
        if (result_.problems[i].empty()) {
          result_.problems[i] = fmt::format("GPU {}: no block was measured", gpu(i).index);
        }
        continue;
      }
      session.unix_s = std::time(nullptr);
      session.condition = condition_of(machine_, gpu(i));
      if (machine_.nvml != nullptr) {
        session.temperature_c = machine_.nvml->read(gpu(i).uuid).temperature_c;
      }
      const bool own = busy.contains(gpu(i).index);
      session.forced = plan_.forced && own;
      session.neighbours = static_cast<int64_t>(busy.size() - (own ? 1 : 0));
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] const base::gpus::LocalGpu& gpu(size_t i) const {
    return machine_.gpus[plan_.gpus[i]];
  }
  const base::gpus::MachineGpus& machine_;
  const SessionPlan& plan_;
  const std::atomic<bool>& interrupted_;
  SessionResult result_{};
  std::vector<int> failures_{};
};

}  // namespace

SessionResult measure_gpus(const base::gpus::MachineGpus& machine, const SessionPlan& plan,
                           const std::function<BusyGpus()>& busy, const std::function<void()>& step,
                           const std::atomic<bool>& interrupted) {
  Session session(machine, plan, interrupted);
  BusyGpus now = busy();
  const auto begin = Clock::now();
  const auto late = [&] {
    const std::chrono::duration<double> passed = Clock::now() - begin;
    return plan.seconds > 0 && passed.count() >= plan.seconds;
  };
  for (int block = 0; block < plan.blocks && !(block > 0 && late()); ++block) {
    session.give_up(now);
    for (size_t i = 0; i < plan.gpus.size() && !interrupted; ++i) {
      if (block > 0 && late()) break;
      session.run_one(i);
      step();
    }
    now = busy();
  }
  session.give_up(now);
  return session.finish(now);
}

std::vector<core::knowledge::GpuNow> gpus_now(const base::gpus::MachineGpus& machine) {
  std::vector<core::knowledge::GpuNow> out;
  for (const auto& gpu : machine.gpus) out.push_back({gpu.uuid, condition_of(machine, gpu)});
  return out;
}

}  // namespace goban::live::machine
