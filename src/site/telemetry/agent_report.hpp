// What an agent on a node tells the daemon (docs/agent.md): readings of the node's GPUs, and what
// it knows of the jobs there. Times are ages on the agent's own steady clock, so that no two clocks
// are compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/reports/run_reports.hpp"
#include "base/result.hpp"
#include "site/series/sample.hpp"

namespace goban::site::telemetry {

/// Bounds of a report; an agent splits what is more.
inline constexpr size_t kAgentGpusMax = 256;
inline constexpr size_t kAgentSamplesMax = 4096;
inline constexpr size_t kAgentJobsMax = 1024;
inline constexpr size_t kAgentSoftwareMax = 256;      ///< names of one job
inline constexpr size_t kAgentWordMax = 256;          ///< bytes of an id or a name
inline constexpr double kAgentAgeMax_s = 7 * 86'400;  ///< of a sample

struct AgentGpu {
  std::string index{};  ///< as in series::DeviceKey::device
  std::string uuid{};
  std::string name{};
  friend bool operator==(const AgentGpu&, const AgentGpu&) = default;
};

/// Readings of one GPU, or of the node itself.
struct AgentSample {
  std::string gpu{};  ///< AgentGpu::index; empty: the node
  double age_s = 0;   ///< when the report was sent
  std::vector<std::pair<series::Metric, series::Reading>> readings{};  ///< values and N/A
};

/// A job with processes on the node.
struct AgentJob {
  std::string id{};             ///< at the engine: Slurm's number ("42", "8_3"), a pod's uid
  uint32_t uid = 0;             ///< of its processes, as the kernel says
  std::vector<int32_t> gpus{};  ///< indices that its environment names; empty = unknown
  std::vector<std::string> software{};  ///< loaded modules and libraries, without doubles
  /// What it reported on the node's progress socket, if it did.
  std::optional<base::reports::RunProgress> progress{};
  friend bool operator==(const AgentJob&, const AgentJob&) = default;
};

struct AgentReport {
  std::string agent{};     ///< a random word; another one after each start of the agent
  int64_t sequence = 0;    ///< a report that is sent again has the same
  double interval_s = 60;  ///< between samples
  double clock_s = 0;      ///< the node's clock as it was sent, Unix time
  int64_t dropped = 0;     ///< samples lost since the start, as the queue was full
  std::string problem{};   ///< why there are no readings now; empty: none
  std::vector<AgentGpu> gpus{};
  std::vector<AgentSample> samples{};  ///< the oldest first
  std::vector<AgentJob> jobs{};
};

[[nodiscard]] std::string to_json(const AgentReport& report);
/// Values that no store can hold are left out, as are ranks that no run can have. Errors: BadData
/// naming the field.
[[nodiscard]] base::Result<AgentReport> parse_agent_report(std::string_view text);

}  // namespace goban::site::telemetry
