// Metric names of exporters, their units, and the label that names the GPU.
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
#include "site/series/sample.hpp"

namespace goban::site::series {

using Labels = std::vector<std::pair<std::string, std::string>>;
/// Empty if there is no such label.
[[nodiscard]] std::string_view label(const Labels& labels, std::string_view name);

/// Purpose of the values of a metric.
enum class Role : uint8_t {
  Sample,
  Freshness,     ///< time of the last real measurement; while it does not change, samples are stale
  Success,       ///< 0 while the measurement fails: samples are stale
  Index,         ///< value = index of the GPU with the UUID in the label
  NotAvailable,  ///< the device has no such value; the label "metric" names the metric
};

/// One metric of an exporter.
struct Adapter {
  std::string exporter{};
  std::string name{};  ///< metric name in Prometheus
  Role role = Role::Sample;
  Metric metric = Metric::GpuUtilization;
  Unit unit = Unit::Percent;
  std::vector<std::string> node_labels{};    ///< the first existing one names the node
  std::vector<std::string> device_labels{};  ///< joined by ".": GPU index, MIG instance
  std::string uuid_label{};
  std::string freshness{};   ///< metric of role Freshness or Success that marks stale samples
  std::string only_label{};  ///< the metric is used only if this label ends with only_value
  std::string only_value{};
};

/// All metrics that an import supports, by name.
class AdapterTable {
 public:
  /// DCGM exporter, nvidia_gpu_exporter, jobstats/mindprince, node_exporter, ipmi_exporter, ours.
  [[nodiscard]] static AdapterTable builtin();
  /// Adds the adapters of a TOML document ([[adapter]]; its keys: docs/series.md). They replace
  /// built-in ones of the same name. Errors: BadData with line and column.
  [[nodiscard]] base::Status add_toml(std::string_view toml, const std::string& file);
  void add(Adapter adapter);
  /// Keeps only these metrics (and their helper metrics). Empty: all.
  void keep(std::span<const Metric> metrics);

  [[nodiscard]] const Adapter* find(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, Adapter, std::less<>>& all() const { return adapters_; }

  /// "node1" instead of "node1.site".
  bool short_node_names = false;
  /// Node of lines without a node label; empty: they are rejected.
  std::string default_node;
  /// The device that labels name; none if no label names the node.
  [[nodiscard]] std::optional<DeviceKey> device(const Adapter& adapter, const Labels& labels) const;
  /// What a line measures: the adapter's metric, or the one in its label "metric". None for helper
  /// metrics and for metrics removed by keep().
  [[nodiscard]] std::optional<Metric> measured(const Adapter& adapter, const Labels& labels) const;
  /// A node's name as stored: without the domain if short_node_names is set.
  [[nodiscard]] std::string node_name(std::string name) const;

 private:
  std::map<std::string, Adapter, std::less<>> adapters_;
  std::vector<Metric> kept_;  ///< empty: all
};

/// True if the adapter's only_label accepts this line.
[[nodiscard]] bool applies(const Adapter& adapter, const Labels& labels);

/// Converts a raw value to the unit of its metric. NaN is Missing (as is Prometheus' stale marker);
/// DCGM's blank values (from 2^62 on) are NotAvailable.
[[nodiscard]] Reading reading_of(const Adapter& adapter, double raw);

}  // namespace goban::site::series
