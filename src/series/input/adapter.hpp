// What exporters call their metrics, in which unit they give them, and which label names the GPU.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "series/sample.hpp"

namespace goban::series {

using Labels = std::vector<std::pair<std::string, std::string>>;
/// Empty if there is no such label.
[[nodiscard]] std::string_view label(const Labels& labels, std::string_view name);

/// What the values of a metric are for.
enum class Role : uint8_t {
  Sample,
  Freshness,  ///< time of the last real measurement; if it does not move, samples are stale
  Index,      ///< value = index of the GPU that the uuid label names
};

/// One metric of an exporter.
struct Adapter {
  std::string exporter;
  std::string name;  ///< of the metric, as Prometheus knows it
  Role role = Role::Sample;
  Metric metric = Metric::GpuUtilization;
  Unit unit = Unit::Percent;
  std::vector<std::string> node_labels;    ///< the first that is there names the node
  std::vector<std::string> device_labels;  ///< joined by ".": GPU index, MIG instance
  std::string uuid_label;
};

/// All metrics that an import understands, by name.
class AdapterTable {
 public:
  /// DCGM exporter, nvidia_gpu_exporter, jobstats/mindprince, node_exporter, ipmi_exporter, ours.
  [[nodiscard]] static AdapterTable builtin();
  /// Adds the adapters of a TOML file ([[adapter]] name, metric, unit, node, device, uuid), before
  /// the built-in ones of the same name. Errors: BadData with line and column.
  [[nodiscard]] base::Status add_file(const std::string& toml, const std::string& file);
  /// Leaves only these metrics (and what helps to read them). Empty: all.
  void keep(std::span<const Metric> metrics);

  [[nodiscard]] const Adapter* find(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, Adapter, std::less<>>& all() const { return adapters_; }

  /// "node1.site:9400" as "node1.site", and "node1" with short names.
  bool short_node_names = false;
  /// The device that labels name; none if there is no label for the node.
  [[nodiscard]] std::optional<DeviceKey> device(const Adapter& adapter, const Labels& labels) const;
  /// The label that names the node, and its value as it stands.
  [[nodiscard]] static const std::pair<std::string, std::string>* node_label(
      const Adapter& adapter, const Labels& labels);

 private:
  std::map<std::string, Adapter, std::less<>> adapters_;
};

/// A raw value in the unit of its metric. NaN and DCGM's blanks (from 2^62 on) are not available.
[[nodiscard]] Reading reading_of(const Adapter& adapter, double raw);

/// Facts from helping metrics: which moments of a node are stale, which index a UUID has.
class SideFacts {
 public:
  void add_freshness(const std::string& node, int64_t time_ms, double value);
  void add_index(const std::string& uuid, double index);
  /// After the last add_freshness().
  void sort();

  /// Whether the measurement behind a sample was served before: the freshness at that time is what
  /// it was one sample earlier. Nodes without freshness are never stale.
  [[nodiscard]] bool stale(const std::string& node, int64_t time_ms) const;
  /// Fills in the index of a GPU that has only a UUID.
  void complete(DeviceKey& device) const;

 private:
  std::map<std::string, std::vector<std::pair<int64_t, double>>> freshness_;
  std::map<std::string, std::string> index_of_uuid_;
};

}  // namespace goban::series
