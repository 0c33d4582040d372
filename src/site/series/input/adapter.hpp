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
#include "site/series/sample.hpp"

namespace goban::site::series {

using Labels = std::vector<std::pair<std::string, std::string>>;
/// Empty if there is no such label.
[[nodiscard]] std::string_view label(const Labels& labels, std::string_view name);

/// What the values of a metric are for.
enum class Role : uint8_t {
  Sample,
  Freshness,     ///< time of the last real measurement; while it stands still, samples are stale
  Success,       ///< 0 while the measurement fails: samples are stale
  Index,         ///< value = index of the GPU that the uuid label names
  NotAvailable,  ///< the device has no such value: the label "metric" names which
};

/// One metric of an exporter.
struct Adapter {
  std::string exporter{};
  std::string name{};  ///< of the metric, as Prometheus knows it
  Role role = Role::Sample;
  Metric metric = Metric::GpuUtilization;
  Unit unit = Unit::Percent;
  std::vector<std::string> node_labels{};    ///< the first that is there names the node
  std::vector<std::string> device_labels{};  ///< joined by ".": GPU index, MIG instance
  std::string uuid_label{};
  std::string freshness{};   ///< metric of role Freshness or Success that tells stale samples
  std::string only_label{};  ///< the metric counts only if this label ends with only_value
  std::string only_value{};
};

/// All metrics that an import understands, by name.
class AdapterTable {
 public:
  /// DCGM exporter, nvidia_gpu_exporter, jobstats/mindprince, node_exporter, ipmi_exporter, ours.
  [[nodiscard]] static AdapterTable builtin();
  /// Adds the adapters of a TOML document ([[adapter]]; docs/series.md has its keys), instead of
  /// the built-in ones of the same name. Errors: BadData with line and column.
  [[nodiscard]] base::Status add_toml(std::string_view toml, const std::string& file);
  void add(Adapter adapter);
  /// Leaves only these metrics (and what helps to read them). Empty: all.
  void keep(std::span<const Metric> metrics);

  [[nodiscard]] const Adapter* find(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, Adapter, std::less<>>& all() const { return adapters_; }

  /// "node1" instead of "node1.site".
  bool short_node_names = false;
  /// Node of what has no label for it; empty: rejected.
  std::string default_node;
  /// The device that labels name; none if nothing names the node.
  [[nodiscard]] std::optional<DeviceKey> device(const Adapter& adapter, const Labels& labels) const;
  /// What a line measures: the adapter's metric, or the one that its label "metric" names. None for
  /// helpers and for metrics that keep() left out.
  [[nodiscard]] std::optional<Metric> measured(const Adapter& adapter, const Labels& labels) const;
  /// A node's name as the store has it: without the domain if short names are wanted.
  [[nodiscard]] std::string node_name(std::string name) const;

 private:
  std::map<std::string, Adapter, std::less<>> adapters_;
  std::vector<Metric> kept_;  ///< empty: all
};

/// Whether the adapter's only_label lets this line pass.
[[nodiscard]] bool applies(const Adapter& adapter, const Labels& labels);

/// A raw value in the unit of its metric. NaN is Missing (Prometheus' stale marker looks like it);
/// DCGM's blanks (from 2^62 on) are not available.
[[nodiscard]] Reading reading_of(const Adapter& adapter, double raw);

}  // namespace goban::site::series
