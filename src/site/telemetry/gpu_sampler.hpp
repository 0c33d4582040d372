// One sampling of a node's GPUs by nvidia-smi, and of the node itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/gpus/smi_process.hpp"
#include "base/result.hpp"
#include "site/series/sample.hpp"

namespace goban::site::telemetry {

/// What nvidia-smi says of one GPU.
struct GpuRow {
  std::string index;
  std::string uuid;
  std::string name;
  bool mig = false;
  std::vector<std::pair<series::Metric, series::Reading>> readings;  ///< values and N/A
  std::optional<uint64_t> processes;  ///< with a compute context; none under MIG, or not known
};

struct Sampling {
  int64_t time_ms = 0;    ///< when nvidia-smi answered
  double duration_s = 0;  ///< of nvidia-smi
  std::string problem;    ///< why there are no GPUs; empty if all is well
  std::vector<GpuRow> gpus;
  std::optional<double> cpu_util_pct;
  std::optional<int64_t> host_mem_used_bytes;
};

/// What --query-gpu is asked for, and its rows (csv,noheader,nounits). Errors: BadData, with the
/// line that is no such row.
[[nodiscard]] std::string gpu_query();
[[nodiscard]] base::Result<std::vector<GpuRow>> parse_gpu_rows(std::string_view text);
/// Counts the processes of --query-compute-apps=gpu_uuid,pid (csv,noheader) into the GPUs.
/// Errors: BadData.
[[nodiscard]] base::Status count_processes(std::string_view text, std::vector<GpuRow>& gpus);

/// Share of CPU time not idle between two calls, and memory in use, of /proc.
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

class GpuSampler {
 public:
  GpuSampler(std::string program, double timeout_s, const std::atomic<bool>* interrupted = nullptr)
      : smi_(std::move(program), interrupted), timeout_s_(timeout_s) {
    (void)host_.cpu_util_pct();
  }
  /// Takes up to the time-out twice, and one second more.
  [[nodiscard]] Sampling sample();

 private:
  base::gpus::SmiProcess smi_;
  HostSampler host_;
  double timeout_s_;
};

/// The sampling as Prometheus' text format, without timestamps.
[[nodiscard]] std::string metrics_page(const Sampling& sampling);

}  // namespace goban::site::telemetry
