#include "base/reports/run_reports_json.hpp"

#include <cmath>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/units.hpp"

namespace goban::base::reports {

using nlohmann::json;

namespace {

/// A row of a field table.
struct Field {
  const char* name = nullptr;
  double low = 0;  ///< -1: negative values mean unknown; lower: only -1 means unknown
  double high = 0;
  const char* older = nullptr;  ///< its name in release 0.1, still read
};

constexpr double kAny = std::numeric_limits<double>::max();
constexpr double kMost = 1e300;
constexpr double kCountMax = 1e18;
constexpr double kSecondsMax = 1e15;

// The field tables. `row` gets a row and the value, and reads or writes it.
template <typename Row>
void visit_fields(ProgressReport& progress, const Row& row) {
  row({"epoch", -1, kMost}, progress.epoch);
  row({"epochs", -1, kMost}, progress.epochs);
  row({"step", -1, kCountMax}, progress.step);
  row({"steps", -1, kCountMax}, progress.steps);
  row({"samples_per_s", -1, kMost}, progress.samples_per_s);
  row({"loss", -kAny, kAny}, progress.loss);
  row({"busy_s", -1, kMost}, progress.busy_s);
  row({"input_stall_pct", -1, kPercentMax, "stall"}, progress.input_stall_pct);
  row({"checkpointed", 0, 1, "saved"}, progress.checkpointed);
}

template <typename Row>
void visit_fields(RunUsage& usage, const Row& row) {
  row({"cpu_s", -1, kCountMax}, usage.cpu_s);
  row({"mem_bytes_max", -1, kCountMax, "mem"}, usage.mem_bytes_max);
  row({"gpu_mem_bytes_max", -1, kCountMax, "gpu_mem"}, usage.gpu_mem_bytes_max);
  row({"gpu_util_pct", -1, 1e9, "util"}, usage.gpu_util_pct);
  row({"memory_busy_pct", -1, kPercentMax, "mem_busy"}, usage.memory_busy_pct);
  row({"dram_util_pct", -1, kPercentMax, "dram"}, usage.dram_util_pct);
  row({"fu_util_pct", -1, kPercentMax, "fu"}, usage.fu_util_pct);
  row({"energy_j", -1, kCountMax, "energy"}, usage.energy_j);
}

template <typename Row>
void visit_fields(RankTimes& times, const Row& row) {
  row({"rank", 0, INT32_MAX}, times.rank);
  row({"ranks", 0, INT32_MAX}, times.ranks);
  row({"steps", 0, kCountMax}, times.steps);
  row({"busy_s", 0, kSecondsMax}, times.busy_s);
  row({"wait_s", 0, kSecondsMax}, times.wait_s);
  row({"data_s", -1, kSecondsMax}, times.data_s);
}

template <typename Row>
void visit_fields(RunPace& pace, const Row& row) {
  row({"steps", 0, kSecondsMax}, pace.steps.done);
  row({"steps_s", 0, kSecondsMax}, pace.steps.over_s);
  row({"epochs", 0, kSecondsMax}, pace.epochs.done);
  row({"epochs_s", 0, kSecondsMax}, pace.epochs.over_s);
}

class RowWriter {
 public:
  explicit RowWriter(json& out) : out_(out) {}

  void operator()(const Field& field, bool value) const { out_[field.name] = value; }
  template <typename T>
  void operator()(const Field& field, T value) const {
    const bool is_signed = field.low < -1;
    const bool known = is_signed ? value != T{-1} : value >= 0;
    if (known && std::isfinite(static_cast<double>(value))) out_[field.name] = value;
  }

 private:
  json& out_;
};

class RowReader {
 public:
  explicit RowReader(FieldReader& in) : in_(in) {}

  void operator()(const Field& field, bool& value) const { in_.field(name_of(field), value); }
  template <std::integral T>
  void operator()(const Field& field, T& value) const {
    in_.field(name_of(field), value, static_cast<T>(field.low), static_cast<T>(field.high));
  }
  template <std::floating_point T>
  void operator()(const Field& field, T& value) const {
    in_.field(name_of(field), value, field.low, field.high);
  }

 private:
  [[nodiscard]] const char* name_of(const Field& field) const {
    return field.older == nullptr ? field.name : in_.present(field.name, field.older);
  }

  FieldReader& in_;
};

template <typename Struct>
json fields_json(Struct values) {
  json out = json::object();
  visit_fields(values, RowWriter(out));
  return out;
}

/// An array of the values of a table, in its order, as in files of release 0.1. The last `optional`
/// ones may be missing.
template <typename Struct>
void read_row(FieldReader& in, const char* name, const json& row, size_t optional, Struct& values) {
  json fields = json::object();
  size_t at = 0;
  visit_fields(values, [&](const Field& field, const auto& /*value*/) {
    if (at < row.size()) fields[field.name] = row[at];
    ++at;
  });
  if (row.size() + optional < at) return in.fail(name, "has too few numbers");
  in.within(fields, name, [&](FieldReader& part) { visit_fields(values, RowReader(part)); });
}

}  // namespace

json to_json(const ProgressReport& progress) { return fields_json(progress); }
json to_json(const RunUsage& usage) { return fields_json(usage); }
json to_json(const RunPace& pace) { return fields_json(pace); }

json to_json(const std::vector<RankTimes>& ranks) {
  json out = json::array();
  for (const RankTimes& each : ranks) out.push_back(fields_json(each));
  return out;
}

json to_json(const RunProgress& progress) {
  json out = to_json(progress.latest);
  if (progress.checkpoint_step >= 0) out["checkpoint_step"] = progress.checkpoint_step;
  if (!progress.ranks.empty()) out["ranks"] = to_json(progress.ranks);
  if (progress.pace != RunPace{}) out["pace"] = to_json(progress.pace);
  return out;
}

void read_fields(FieldReader& in, ProgressReport& progress) {
  visit_fields(progress, RowReader(in));
}

void read_fields(FieldReader& in, RunUsage& usage) { visit_fields(usage, RowReader(in)); }

void read_fields(FieldReader& in, RunProgress& progress) {
  read_fields(in, progress.latest);
  in.field("checkpoint_step", progress.checkpoint_step, int64_t{-1},
           static_cast<int64_t>(kCountMax));
  read_ranks(in, progress.ranks);
  read_pace(in, progress.pace);
}

void read_pace(FieldReader& in, RunPace& pace) {
  const json* given = in.find("pace");
  if (given == nullptr) return;
  if (given->is_array()) return read_row(in, "pace", *given, 0, pace);
  in.object("pace", [&](FieldReader& part) { visit_fields(pace, RowReader(part)); });
}

void read_ranks(FieldReader& in, std::vector<RankTimes>& ranks) {
  const json* given = in.find("ranks");
  if (given == nullptr) return;
  if (!given->is_array()) return in.fail("ranks", "must be an array");
  for (const json& each : *given) {
    RankTimes& times = ranks.emplace_back();
    if (each.is_array()) {
      read_row(in, "ranks", each, 1, times);
    } else {
      in.within(each, "ranks", [&](FieldReader& part) { visit_fields(times, RowReader(part)); });
    }
  }
}

}  // namespace goban::base::reports
