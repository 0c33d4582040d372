#include "live/engine/local/gpu_watch.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "live/engine/local/run_status.hpp"
#include "live/machine/cgroup.hpp"
#include "live/machine/process_tree.hpp"

namespace goban::live::engine::local {

double virtual_power_w(const base::gpus::LocalGpu& gpu, double busy) {
  if (gpu.power_max_w <= 0) return -1;
  const double part = std::pow(std::clamp(busy, 0.0, 1.0), gpu.power_exponent);
  return gpu.power_idle_w + part * (gpu.power_max_w - gpu.power_idle_w);
}

GpuWatch::GpuWatch(std::string state, std::vector<base::gpus::LocalGpu> gpus,
                   std::shared_ptr<const base::gpus::NvmlLibrary> nvml)
    : state_(std::move(state)), gpus_(std::move(gpus)), nvml_(std::move(nvml)) {}

std::vector<base::gpus::GpuReading> GpuWatch::read(const std::vector<HoldingRun>& runs,
                                                   base::TimeNs now_ns) {
  if (nvml_ == nullptr) return read_virtual(runs, now_ns);
  std::vector<base::gpus::GpuReading> out;
  out.reserve(gpus_.size());
  for (const base::gpus::LocalGpu& gpu : gpus_) out.push_back(nvml_->read(gpu.uuid));
  return out;
}

std::vector<base::gpus::GpuReading> GpuWatch::read_virtual(const std::vector<HoldingRun>& runs,
                                                           base::TimeNs now_ns) {
  std::vector<base::gpus::GpuReading> out(gpus_.size(), {.util_pct = 0, .mem_used_bytes = 0});
  std::map<RunId, Seen> seen;
  for (const HoldingRun& held : runs) add_run(held, now_ns, out, seen);
  seen_ = std::move(seen);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].util_pct = std::min(out[i].util_pct, 100.0);
    if (out[i].util_pct >= 0) out[i].power_w = virtual_power_w(gpus_[i], out[i].util_pct / 100);
  }
  return out;
}

void GpuWatch::add_run(const HoldingRun& held, base::TimeNs now_ns,
                       std::vector<base::gpus::GpuReading>& out,
                       std::map<RunId, Seen>& seen) const {
  const RunFolder folder(state_, held.run);
  const auto text = base::read_small_file(folder.file("running"));
  if (!text) return;  // it is about to start or already removed
  const auto note = parse_note(*text, folder.file("running"));
  if (!note) return;
  const auto supervisor = static_cast<pid_t>(note->supervisor_pid);
  const double cpu_s = note->cgroup.empty() ? machine::tree_cpu_s(supervisor)
                                            : machine::Cgroup::at(note->cgroup).cpu_s();
  if (cpu_s < 0) return;  // it has ended
  std::set<int32_t> cores;
  std::vector<size_t> gpus;
  for (const core::model::GpuId gpu : held.gpus) {
    if (gpu.index() >= gpus_.size()) continue;
    gpus.push_back(gpu.index());
    cores.insert(gpus_[gpu.index()].cpus.begin(), gpus_[gpu.index()].cpus.end());
  }
  if (gpus.empty()) return;
  const auto before = seen_.find(held.run);
  const Seen last = before == seen_.end() ? Seen{.at_ns = note->started_ns} : before->second;
  seen[held.run] = {.cpu_s = cpu_s, .at_ns = now_ns};
  const double span_s = base::to_seconds(now_ns - last.at_ns) * static_cast<double>(cores.size());
  // CPU time can decrease when a process exits that no parent waits for.
  const double util_pct = span_s > 0 ? 100 * std::max(0.0, cpu_s - last.cpu_s) / span_s : 0;
  const int64_t mem_bytes = machine::resident_bytes(machine::descendants_of(supervisor)) /
                            static_cast<int64_t>(gpus.size());
  for (const size_t gpu : gpus) {
    out[gpu].util_pct += util_pct;
    out[gpu].mem_used_bytes += mem_bytes;
  }
}

}  // namespace goban::live::engine::local
