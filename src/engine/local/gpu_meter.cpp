#include "engine/local/gpu_meter.hpp"

#include <algorithm>
#include <set>

#include "engine/local/gpu_watch.hpp"
#include "engine/local/nvml.hpp"
#include "engine/local/supervised_run.hpp"

namespace goban::engine::local {
namespace {

class NoMeter final : public GpuMeter {
 public:
  void sample(const std::vector<pid_t>& /*processes*/) override {}
  [[nodiscard]] int64_t gpu_mem_bytes() const override { return -1; }
  [[nodiscard]] double busy_s(double /*cpu_s*/) const override { return -1; }
  void finish(live::RunUsage& /*usage*/, double /*wall_s*/) override {}
};

/// A virtual GPU is as busy as the run keeps its cores; its memory is the run's.
class VirtualMeter final : public GpuMeter {
 public:
  explicit VirtualMeter(std::vector<LocalGpu> gpus) : gpus_(std::move(gpus)) {
    std::set<int32_t> cores;
    for (const LocalGpu& gpu : gpus_) cores.insert(gpu.cpus.begin(), gpu.cpus.end());
    num_cores_ = static_cast<double>(cores.size());
  }
  void sample(const std::vector<pid_t>& /*processes*/) override {}
  [[nodiscard]] int64_t gpu_mem_bytes() const override { return -1; }
  [[nodiscard]] double busy_s(double cpu_s) const override {
    return num_cores_ > 0 && cpu_s >= 0 ? cpu_s / num_cores_ : -1;
  }

  void finish(live::RunUsage& usage, double wall_s) override {
    const double busy_s = this->busy_s(usage.cpu_s);
    if (wall_s <= 0 || busy_s < 0) return;
    const double busy = std::clamp(busy_s / wall_s, 0.0, 1.0);
    usage.gpu_util_pct = static_cast<float>(100 * busy);
    if (usage.mem_bytes_max >= 0) {
      usage.gpu_mem_bytes_max = usage.mem_bytes_max / static_cast<int64_t>(gpus_.size());
    }
    double energy_j = 0;
    for (const LocalGpu& gpu : gpus_) {
      const double power_w = virtual_power_w(gpu, busy);
      if (power_w < 0) return;  // a part would pass for the whole
      energy_j += power_w * wall_s;
    }
    usage.energy_j = energy_j;
  }

 private:
  std::vector<LocalGpu> gpus_;
  double num_cores_ = 0;
};

/// By the driver's counters. But for memory and busy time they are those of the whole GPU: of a
/// shared one, neighbours included.
class NvmlMeter final : public GpuMeter {
 public:
  NvmlMeter(std::vector<LocalGpu> gpus, std::shared_ptr<const NvmlLibrary> nvml)
      : gpus_(std::move(gpus)), nvml_(std::move(nvml)) {
    for (const LocalGpu& gpu : gpus_) energy_before_j_.push_back(nvml_->read(gpu.uuid).energy_j);
  }

  void sample(const std::vector<pid_t>& processes) override {
    mem_bytes_ = -1;
    const base::TimeNs now_ns = steady_ns();
    const double span_s = sampled_ns_ == 0 ? 0 : base::to_seconds(now_ns - sampled_ns_);
    sampled_ns_ = now_ns;
    for (const LocalGpu& gpu : gpus_) {
      const double share = nvml_->busy_share(gpu.uuid, processes);
      if (share < 0) busy_known_ = false;
      busy_s_ += share * span_s / static_cast<double>(gpus_.size());
      const GpuReading now = nvml_->read(gpu.uuid);
      if (now.util_pct >= 0) {
        util_pct_sum_ += now.util_pct;
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

  void finish(live::RunUsage& usage, double /*wall_s*/) override {
    usage.gpu_mem_bytes_max = mem_bytes_max_;
    if (util_count_ > 0) {
      usage.gpu_util_pct = static_cast<float>(util_pct_sum_ / static_cast<double>(util_count_));
    }
    double energy_j = 0;
    for (size_t i = 0; i < gpus_.size(); ++i) {
      const double after_j = nvml_->read(gpus_[i].uuid).energy_j;
      if (after_j < 0 || energy_before_j_[i] < 0) return;  // a part would pass for the whole
      energy_j += after_j - energy_before_j_[i];
    }
    usage.energy_j = energy_j;
  }

 private:
  std::vector<LocalGpu> gpus_;
  std::shared_ptr<const NvmlLibrary> nvml_;
  std::vector<double> energy_before_j_;
  double util_pct_sum_ = 0;
  int64_t util_count_ = 0;
  base::TimeNs sampled_ns_ = 0;
  double busy_s_ = 0;
  bool busy_known_ = true;
  int64_t mem_bytes_ = -1;
  int64_t mem_bytes_max_ = -1;
};

}  // namespace

std::unique_ptr<GpuMeter> make_gpu_meter(const std::vector<LocalGpu>& gpus) {
  if (gpus.empty()) return std::make_unique<NoMeter>();
  if (gpus.front().is_virtual) return std::make_unique<VirtualMeter>(gpus);
  // Without the library the job runs all the same, unmeasured.
  auto nvml = NvmlLibrary::load();
  if (!nvml) return std::make_unique<NoMeter>();
  return std::make_unique<NvmlMeter>(gpus, std::move(*nvml));
}

}  // namespace goban::engine::local
