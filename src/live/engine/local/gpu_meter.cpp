#include "live/engine/local/gpu_meter.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "base/clock.hpp"
#include "base/gpus/nvml.hpp"
#include "base/gpus/unit_counters.hpp"
#include "live/engine/local/energy_ledger.hpp"
#include "live/engine/local/gpu_watch.hpp"

namespace goban::live::engine::local {
namespace {

/// The run's energy shares of all its GPUs.
class EnergyShares {
 public:
  explicit EnergyShares(const RunFolder& run) {
    if (run.path().empty()) return;
    state_ = run.state();
    run_ = std::filesystem::path(run.path()).lexically_relative(state_).string();
  }
  void add(std::string gpu, EnergyShare::Since since) {
    if (run_.empty()) return;
    std::ranges::replace(gpu, '/', '_');
    shares_.push_back(std::make_unique<EnergyShare>(state_, gpu, run_, std::move(since)));
  }
  void look() {
    for (const auto& share : shares_) share->look();
  }
  /// Total joules; negative if the energy of any GPU is unknown, as a partial sum would be
  /// misleading.
  double leave() {
    double sum_j = 0;
    bool known = !shares_.empty();
    for (const auto& share : shares_) {
      const double energy_j = share->leave();
      known = known && energy_j >= 0;
      sum_j += energy_j;
    }
    return known ? sum_j : -1;
  }
  [[nodiscard]] bool were_alone() const {
    return std::ranges::all_of(shares_, [](const auto& share) { return share->was_alone(); });
  }

 private:
  std::string state_;
  std::string run_;
  std::vector<std::unique_ptr<EnergyShare>> shares_;
};

class NoMeter final : public GpuMeter {
 public:
  void sample(const std::vector<pid_t>& /*processes*/, double /*cpu_s*/) override {}
  [[nodiscard]] int64_t gpu_mem_bytes() const override { return -1; }
  [[nodiscard]] double busy_s(double /*cpu_s*/) const override { return -1; }
  void finish(RunUsage& /*usage*/, double /*wall_s*/) override {}
};

/// Virtual GPUs: utilisation is that of their cores, memory is the run's.
class VirtualMeter final : public GpuMeter {
 public:
  VirtualMeter(std::vector<base::gpus::LocalGpu> gpus, const RunFolder& run)
      : gpus_(std::move(gpus)), energy_(run), sampled_ns_(base::steady_ns()) {
    std::set<int32_t> cores;
    for (const base::gpus::LocalGpu& gpu : gpus_) cores.insert(gpu.cpus.begin(), gpu.cpus.end());
    num_cores_ = static_cast<double>(cores.size());
    for (const base::gpus::LocalGpu& gpu : gpus_) {
      energy_.add(fmt::format("virtual-{}", gpu.index),
                  [this, &gpu](EnergyBook& book, EnergyBook::Holder* own) {
                    return energy_since(gpu, book, own);
                  });
    }
  }
  void sample(const std::vector<pid_t>& /*processes*/, double cpu_s) override {
    look_at(cpu_s);
    energy_.look();
  }
  [[nodiscard]] int64_t gpu_mem_bytes() const override { return -1; }
  [[nodiscard]] double busy_s(double cpu_s) const override {
    return num_cores_ > 0 && cpu_s >= 0 ? cpu_s / num_cores_ : -1;
  }

  void finish(RunUsage& usage, double wall_s) override {
    const double busy_s = this->busy_s(usage.cpu_s);
    if (wall_s <= 0 || busy_s < 0) return;
    const double busy = std::clamp(busy_s / wall_s, 0.0, 1.0);
    usage.gpu_util_pct = static_cast<float>(100 * busy);
    if (usage.mem_bytes_max >= 0) {
      usage.gpu_mem_bytes_max = usage.mem_bytes_max / static_cast<int64_t>(gpus_.size());
    }
    look_at(usage.cpu_s);
    const double shared_j = energy_.leave();
    if (!energy_.were_alone()) {
      usage.energy_j = shared_j;
      return;
    }
    double energy_j = 0;
    for (const base::gpus::LocalGpu& gpu : gpus_) {
      const double power_w = virtual_power_w(gpu, busy);
      if (power_w < 0) return;  // a partial sum would be misleading
      energy_j += power_w * wall_s;
    }
    usage.energy_j = energy_j;
  }

 private:
  /// Updates the run's utilisation of the GPUs since the last sample.
  void look_at(double cpu_s) {
    const base::TimeNs now_ns = base::steady_ns();
    const double span_s = base::to_seconds(now_ns - sampled_ns_) * num_cores_;
    if (span_s <= 0 || cpu_s < 0) return;
    busy_ = std::clamp((cpu_s - cpu_s_) / span_s, 0.0, 1.0);
    cpu_s_ = std::max(cpu_s, cpu_s_);
    sampled_ns_ = now_ns;
  }
  /// Energy since the last poll, from the sum of the holders' utilisations.
  double energy_since(const base::gpus::LocalGpu& gpu, EnergyBook& book,
                      EnergyBook::Holder* own) const {
    if (own != nullptr) own->busy = busy_;
    double busy = 0;
    for (const EnergyBook::Holder& each : book.holders) busy += each.busy;
    const base::TimeNs now_ns = base::steady_ns();
    const base::TimeNs since_ns = book.at_ns > 0 ? now_ns - book.at_ns : 0;
    book.at_ns = now_ns;
    const double power_w = virtual_power_w(gpu, std::min(busy, 1.0));
    return power_w < 0 ? -1 : power_w * base::to_seconds(std::max<base::TimeNs>(0, since_ns));
  }

  std::vector<base::gpus::LocalGpu> gpus_;
  EnergyShares energy_;
  double num_cores_ = 0;
  double busy_ = 0;
  double cpu_s_ = 0;
  base::TimeNs sampled_ns_ = 0;
};

/// By the driver's counters. Utilisation is that of the whole GPU, including co-runners.
class NvmlMeter final : public GpuMeter {
 public:
  NvmlMeter(std::vector<base::gpus::LocalGpu> gpus,
            std::shared_ptr<const base::gpus::NvmlLibrary> nvml, const RunFolder& run)
      : gpus_(std::move(gpus)), nvml_(std::move(nvml)), energy_(run) {
    for (const base::gpus::LocalGpu& gpu : gpus_) {
      units_.emplace_back(nvml_, gpu.uuid);
      energy_.add(gpu.uuid, [this, &gpu](EnergyBook& book, EnergyBook::Holder* /*own*/) {
        const double now_j = nvml_->read(gpu.uuid).energy_j;
        if (now_j < 0) return -1.0;
        // The counter restarts when the driver is reloaded.
        const double rise_j = book.counter_j < 0 ? 0 : std::max(0.0, now_j - book.counter_j);
        book.counter_j = now_j;
        return rise_j;
      });
    }
  }

  void sample(const std::vector<pid_t>& processes, double /*cpu_s*/) override {
    energy_.look();
    mem_bytes_ = -1;
    const base::TimeNs now_ns = base::steady_ns();
    const double span_s = sampled_ns_ == 0 ? 0 : base::to_seconds(now_ns - sampled_ns_);
    sampled_ns_ = now_ns;
    for (base::gpus::UnitCounters& each : units_) each.look(span_s, unit_use_);
    for (const base::gpus::LocalGpu& gpu : gpus_) {
      const double share = nvml_->busy_share(gpu.uuid, processes);
      if (share < 0) busy_known_ = false;
      busy_s_ += share * span_s / static_cast<double>(gpus_.size());
      const base::gpus::GpuReading now = nvml_->read(gpu.uuid);
      if (now.util_pct >= 0) {
        util_pct_sum_ += now.util_pct;
        memory_busy_pct_sum_ += now.memory_busy_pct;
        ++util_count_;
      }
      mem_bytes_ = std::max(mem_bytes_, nvml_->memory_of(gpu.uuid, processes));
    }
    mem_bytes_max_ = std::max(mem_bytes_max_, mem_bytes_);
  }
  [[nodiscard]] int64_t gpu_mem_bytes() const override { return mem_bytes_; }
  [[nodiscard]] double busy_s(double /*cpu_s*/) const override {
    return busy_known_ ? busy_s_ : -1;
  }

  void finish(RunUsage& usage, double /*wall_s*/) override {
    usage.gpu_mem_bytes_max = mem_bytes_max_;
    if (util_count_ > 0) {
      const auto count = static_cast<double>(util_count_);
      usage.gpu_util_pct = static_cast<float>(util_pct_sum_ / count);
      usage.memory_busy_pct = static_cast<float>(memory_busy_pct_sum_ / count);
    }
    // Driver counters may slightly exceed their peak.
    usage.dram_util_pct = static_cast<float>(std::min(unit_use_.dram_pct(), 100.0));
    usage.fu_util_pct = static_cast<float>(std::min(unit_use_.fu_pct(), 100.0));
    usage.energy_j = energy_.leave();
  }

 private:
  std::vector<base::gpus::LocalGpu> gpus_;
  std::shared_ptr<const base::gpus::NvmlLibrary> nvml_;
  EnergyShares energy_;
  std::vector<base::gpus::UnitCounters> units_;
  base::gpus::UnitUse unit_use_;
  double util_pct_sum_ = 0;
  double memory_busy_pct_sum_ = 0;
  int64_t util_count_ = 0;
  base::TimeNs sampled_ns_ = 0;
  double busy_s_ = 0;
  bool busy_known_ = true;
  int64_t mem_bytes_ = -1;
  int64_t mem_bytes_max_ = -1;
};

}  // namespace

std::unique_ptr<GpuMeter> make_gpu_meter(const std::vector<base::gpus::LocalGpu>& gpus,
                                         const RunFolder& run) {
  if (gpus.empty()) return std::make_unique<NoMeter>();
  if (gpus.front().is_virtual) return std::make_unique<VirtualMeter>(gpus, run);
  // Without the library the job runs unmeasured.
  auto nvml = base::gpus::NvmlLibrary::load();
  if (!nvml) return std::make_unique<NoMeter>();
  return std::make_unique<NvmlMeter>(gpus, std::move(*nvml), run);
}

}  // namespace goban::live::engine::local
