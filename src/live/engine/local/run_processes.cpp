#include "live/engine/local/run_processes.hpp"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "live/machine/device_fence.hpp"
#include "live/machine/process_tree.hpp"

namespace goban::live::engine::local {

RunProcesses::~RunProcesses() {
  if (cgroup_) cgroup_->remove();
  if (device_cgroup_) device_cgroup_->remove();
}

base::Status RunProcesses::make_cgroups(const RunOrder& order, const std::string& key) {
  const std::string name = fmt::format("job-{}-run-{}-{}", job::job_number(order.run.job),
                                       order.run.run, key.substr(0, 8));
  cgroup_ = machine::Cgroup::make(order.cgroup_root, name);
  const int64_t limit = memory_limit(order);
  kernel_limits_ = cgroup_ && limit > 0 && cgroup_->limit_memory(limit);
  if (order.denied.empty()) return {};
  auto further = machine::fence_devices(cgroup_, name, order.denied);
  if (!further) return base::failure(further.error());
  device_cgroup_ = std::move(*further);
  return {};
}

void RunProcesses::limit_cores(const std::vector<int32_t>& cpus) const {
  if (cgroup_ && !cpus.empty()) static_cast<void>(cgroup_->limit_cores(cpus));
}

std::vector<std::string> RunProcesses::procs_files() const {
  std::vector<std::string> out;
  for (const auto* each : {&cgroup_, &device_cgroup_}) {
    if (*each) out.push_back((*each)->procs_file());
  }
  return out;
}

void RunProcesses::describe(RunningNote& note) const {
  if (cgroup_) note.cgroup = cgroup_->path();
  if (device_cgroup_) note.device_cgroup = device_cgroup_->path();
}

std::vector<pid_t> RunProcesses::all() const {
  return cgroup_ ? cgroup_->processes() : machine::descendants_of(::getpid());
}

void RunProcesses::signal(int signal) const {
  for (const pid_t process : all()) {
    ::kill(process, signal);
    if (signal == SIGTERM) ::kill(process, SIGCONT);  // so that stopped processes receive it
  }
}

size_t RunProcesses::ask(int signal) const {
  size_t asked = 0;
  for (const pid_t process : all()) {
    if (!machine::catches(process, signal)) continue;
    asked += ::kill(process, signal) == 0 ? 1 : 0;
  }
  return asked;
}

void RunProcesses::suspend(bool suspended) {
  if (suspended == is_suspended()) return;
  const base::TimeNs now = base::steady_ns();
  const bool frozen = cgroup_ && cgroup_->freeze(suspended);
  if (suspended) {
    if (!frozen) stop_each();
    suspended_since_ns_ = now;
  } else {
    if (!frozen) signal(SIGCONT);
    suspended_ns_ += now - suspended_since_ns_;
    suspended_since_ns_ = 0;
  }
}

void RunProcesses::stop_each() const {
  // One that was not stopped yet may have started others in the meantime.
  constexpr int kRoundsMax = 100;
  std::vector<pid_t> known;
  for (int round = 0; round < kRoundsMax; ++round) {
    std::vector<pid_t> found = all();
    std::sort(found.begin(), found.end());
    if (found == known) return;
    for (const pid_t process : found) ::kill(process, SIGSTOP);
    known = std::move(found);
  }
}

base::TimeNs RunProcesses::suspended_ns() const {
  return suspended_ns_ + (is_suspended() ? base::steady_ns() - suspended_since_ns_ : 0);
}

void RunProcesses::kill() {
  if (killed_ns_ == 0) killed_ns_ = base::steady_ns();
  if (cgroup_) cgroup_->kill();
  for (const pid_t process : machine::descendants_of(::getpid())) ::kill(process, SIGKILL);
}

double RunProcesses::cpu_s() const {
  return cgroup_ ? cgroup_->cpu_s() : machine::tree_cpu_s(::getpid());
}

RunProcesses::Measured RunProcesses::measured() const {
  if (!cgroup_) return {};
  return {.cpu_s = cgroup_->cpu_s(),
          .mem_bytes_max = cgroup_->memory_bytes_max(),
          .out_of_memory = kernel_limits_ && cgroup_->memory_kills() > 0};
}

}  // namespace goban::live::engine::local
