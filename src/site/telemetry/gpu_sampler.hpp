// One sampling of a node's GPUs, and of the node itself: by NVIDIA's management library (NVML), or
// by nvidia-smi if that is not available.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/gpus/nvml.hpp"
#include "base/gpus/smi_process.hpp"
#include "base/result.hpp"
#include "site/series/sample.hpp"

namespace goban::site::telemetry {

struct SampledGpu {
  std::string index;
  std::string uuid;
  std::string name;
  bool mig = false;
  std::vector<std::pair<series::Metric, series::Reading>> readings;  ///< values and N/A
  std::optional<uint64_t> processes;  ///< with a compute context; none under MIG, or unknown
};

struct Sampling {
  int64_t time_ms = 0;    ///< when the driver answered
  double duration_s = 0;  ///< duration of the reading
  std::string problem;    ///< why there are no GPUs; empty if there is none
  std::vector<SampledGpu> gpus;
  std::optional<double> cpu_util_pct;
  std::optional<int64_t> host_mem_used_bytes;
};

/// The fields for --query-gpu, and its rows (csv,noheader,nounits). Errors: BadData, with the
/// invalid line.
[[nodiscard]] std::string gpu_query();
[[nodiscard]] base::Result<std::vector<SampledGpu>> parse_gpu_rows(std::string_view text);
/// Counts the processes of --query-compute-apps=gpu_uuid,pid (csv,noheader) into the GPUs.
/// Errors: BadData.
[[nodiscard]] base::Status count_processes(std::string_view text, std::vector<SampledGpu>& gpus);

/// Reads from /proc: CPU utilisation between two calls, and memory in use.
class HostSampler {
 public:
  explicit HostSampler(std::string proc = "/proc") : proc_(std::move(proc)) {}
  /// None at the first call.
  [[nodiscard]] std::optional<double> cpu_util_pct();
  [[nodiscard]] std::optional<int64_t> mem_used_bytes() const;

 private:
  std::string proc_;
  uint64_t busy_ = 0;
  uint64_t total_ = 0;
};

/// Queries NVIDIA's management library in a separate thread: a hung driver costs one sampling, and
/// no new one is started before it answers.
class NvmlSampler {
 public:
  explicit NvmlSampler(std::shared_ptr<const base::gpus::NvmlLibrary> library);
  /// Returns GPUs, or a problem.
  [[nodiscard]] Sampling sample(double timeout_s);

 private:
  std::shared_ptr<const base::gpus::NvmlLibrary> library_;
  std::future<Sampling> pending_;
};

struct SamplerOptions {
  std::string program{};  ///< such as nvidia-smi; empty: the library, otherwise nvidia-smi
  double timeout_s = 10;
  const std::atomic<bool>* interrupted = nullptr;
};

class GpuSampler {
 public:
  explicit GpuSampler(const SamplerOptions& options);
  /// Takes at most twice the time-out plus one second.
  [[nodiscard]] Sampling sample();

 private:
  [[nodiscard]] Sampling sample_program();

  std::optional<NvmlSampler> nvml_;
  base::gpus::SmiProcess smi_;
  HostSampler host_;
  double timeout_s_;
};

/// Formats the sampling in Prometheus' text format, without timestamps.
[[nodiscard]] std::string metrics_page(const Sampling& sampling);

}  // namespace goban::site::telemetry
