#include "core/knowledge/colocation/eaco_tables.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "base/check.hpp"
#include "base/csv.hpp"
#include "base/number.hpp"
#include "core/knowledge/colocation/colocation_file.hpp"
#include "core/knowledge/colocation/colocation_predictor.hpp"

namespace goban::core::knowledge {
namespace {

using base::bad_data;
using base::CsvReader;
using base::Result;
using base::Status;

constexpr double kNodeGpus = 8;
constexpr std::string_view kEacoGpuType = "V100";
constexpr std::string_view kEacoSource = "EaCO tables 1-4, arXiv 2412.08294v1";

base::Error row_error(const std::string& set, std::string message) {
  return bad_data({{}, 0, 0, set}, std::move(message), "give every member exactly one row alone")
      .value();
}

using RowsBySet = std::map<std::string, const EacoRow*, std::less<>>;

Result<RowsBySet> index_rows(std::span<const EacoRow> rows) {
  RowsBySet index;
  for (const EacoRow& row : rows) {
    if (!index.emplace(row.set, &row).second) {
      return base::failure(row_error(row.set, "is listed twice"));
    }
  }
  for (const EacoRow& row : rows) {
    const auto members = row.members();
    if (members.size() == 1 && !is_set_name(row.model)) {
      return base::failure(
          row_error(row.set, fmt::format("'{}' is not a valid model name", row.model)));
    }
    if (members.size() > kSetMax) return base::failure(row_error(row.set, "has too many members"));
    for (const std::string& member : members) {
      if (!index.contains(member)) {
        return base::failure(row_error(row.set, fmt::format("{} was not measured alone", member)));
      }
    }
  }
  return index;
}

double mean_alone_jct_h(const EacoRow& row, const RowsBySet& index) {
  double sum = 0;
  const auto members = row.members();
  for (const std::string& member : members) sum += index.at(member)->jct_h;
  return sum / static_cast<double>(members.size());
}

std::vector<AppId> apps_of(const EacoRow& row, const RowsBySet& index,
                           const ColocationHistory& history) {
  std::vector<AppId> apps;
  for (const std::string& member : row.members()) {
    apps.push_back(history.find_app(index.at(member)->model, {}));
  }
  return apps;
}

double relative(double predicted, double measured) { return std::abs(predicted / measured - 1); }

/// Accumulates relative errors.
class ErrorSum {
 public:
  void add(double error) {
    sum_ += error;
    max_ = std::max(max_, error);
    ++count_;
  }
  [[nodiscard]] FitError result() const { return {count_ > 0 ? sum_ / count_ : 0, max_}; }

 private:
  double sum_ = 0;
  double max_ = 0;
  int count_ = 0;
};

struct TableColumns {
  size_t set = 0;
  std::optional<size_t> model;
  size_t watts = 0;
  size_t kwh = 0;
  size_t jct = 0;
  size_t util = 0;
};

Result<TableColumns> find_columns(const CsvReader& csv) {
  TableColumns columns;
  const bool alone = csv.column("job").has_value();
  struct Wanted {
    const char* name;
    size_t* at;
  };
  for (const Wanted& wanted : {Wanted{alone ? "job" : "job_set", &columns.set},
                               {"avg_power_w", &columns.watts},
                               {"total_energy_kwh", &columns.kwh},
                               {alone ? "jct_h" : "avg_jct_h", &columns.jct},
                               {"avg_gpu_util_pct", &columns.util}}) {
    const auto found = csv.require(wanted.name);
    if (!found) return base::failure(found.error());
    *wanted.at = *found;
  }
  if (alone) {
    const auto found = csv.require("model");
    if (!found) return base::failure(found.error());
    columns.model = *found;
  }
  return columns;
}

Result<EacoRow> read_row(const CsvReader& csv, const TableColumns& columns) {
  EacoRow row;
  row.set = csv.field(columns.set);
  if (columns.model) row.model = csv.field(*columns.model);
  struct Wanted {
    size_t column;
    double* value;
    double most;
  };
  for (const Wanted& wanted : {Wanted{columns.watts, &row.node_w, 1e6},
                               {columns.kwh, &row.energy_kwh, 1e9},
                               {columns.jct, &row.jct_h, 1e6},
                               {columns.util, &row.util_pct, 100}}) {
    const auto value = base::parse_double(csv.field(wanted.column));
    if (!value || *value <= 0 || *value > wanted.most) {
      return bad_data(csv.place(wanted.column),
                      fmt::format("'{}' is not a number above 0 and at most {}",
                                  csv.field(wanted.column).substr(0, 40), wanted.most),
                      "give the value of the paper's table");
    }
    *wanted.value = *value;
  }
  return row;
}

}  // namespace

std::vector<std::string> EacoRow::members() const {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end = set.find('+'); end != std::string::npos; end = set.find('+', begin)) {
    parts.push_back(set.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(set.substr(begin));
  return parts;
}

std::vector<EacoRow> eaco_rows() {
  return {
      {"J1", "AlexNet", 712, 24.73, 34.76, 4.72},
      {"J2", "ResNet-18", 959, 33.69, 35.13, 11.17},
      {"J3", "ResNet-50", 1330, 47.87, 36.01, 36.61},
      {"J4", "VGG-16", 1533, 55.38, 36.13, 48.01},
      {"J1+J3", "", 1390, 50.93, 36.63, 40.25},
      {"J1+J4", "", 1506, 54.97, 36.51, 55.16},
      {"J2+J4", "", 1644, 60.84, 37.01, 61.06},
      {"J1+J2+J3", "", 1541, 59.01, 38.28, 52.24},
      {"J1+J2+J4", "", 1713, 65.55, 38.26, 66.99},
      {"J1+J2+J3+J4", "", 1944, 93.66, 44.21, 96.64},
  };
}

Result<std::vector<EacoRow>> parse_eaco_table(std::string_view text, const std::string& file) {
  CsvReader csv(text, file);
  const auto columns = find_columns(csv);
  if (!columns) return base::failure(columns.error());
  std::vector<EacoRow> rows;
  while (csv.next()) {
    auto row = read_row(csv, *columns);
    if (!row) return base::failure(row.error());
    rows.push_back(std::move(*row));
  }
  if (Status read = csv.status(); !read) return base::failure(read.error());
  return rows;
}

Result<ColocationHistory> eaco_history(std::span<const EacoRow> rows) {
  const auto index = index_rows(rows);
  if (!index) return base::failure(index.error());
  ColocationHistory history;
  const GpuTypeId v100 = history.add_gpu_type(kEacoGpuType);
  for (const EacoRow& row : rows) {
    MeasuredSet set;
    set.gpu_type = v100;
    set.source = history.add_source(kEacoSource);
    set.util_pct = row.util_pct;
    set.power_w = row.node_w / kNodeGpus;
    for (const std::string& member : row.members()) {
      const size_t at = set.size++;
      set.apps[at] = history.add_app(index->at(member)->model, {});
      set.slowdown[at] = row.jct_h / mean_alone_jct_h(row, *index);
    }
    if (set.slowdown[0] < kSlowdownMin || set.slowdown[0] > kSlowdownMax) {
      return base::failure(
          row_error(row.set, fmt::format("is {:.4g} times slower than alone", set.slowdown[0])));
    }
    if (std::string problem = history.contradiction(set); !problem.empty()) {
      return base::failure(row_error(row.set, std::move(problem)));
    }
    history.merge(set);
  }
  return history;
}

Result<EacoReplayResult> replay_eaco(std::span<const EacoRow> rows, const PowerModel& model) {
  const auto index = index_rows(rows);
  if (!index) return base::failure(index.error());
  std::vector<EacoRow> alone;
  for (const EacoRow& row : rows) {
    if (row.members().size() == 1) alone.push_back(row);
  }
  const auto full = eaco_history(rows);
  if (!full) return base::failure(full.error());
  const auto blind = eaco_history(alone);
  if (!blind) return base::failure(blind.error());
  const GpuTypeId v100 = full->find_gpu_type(kEacoGpuType);
  const ColocationPredictor lookup(*full);
  const ColocationPredictor blind_predictor(*blind);
  const auto node_w = [&model](double gpu_w) { return model.host_idle_w + kNodeGpus * gpu_w; };
  EacoReplayResult result;
  ErrorSum lookup_error, curve_error, composition_error, blind_jct_error, blind_w_error;
  for (const EacoRow& row : rows) {
    EacoReplay& replay = result.rows.emplace_back();
    replay.row = row;
    const double alone_jct_h = mean_alone_jct_h(row, *index);
    const auto apps = apps_of(row, *index, *full);
    const SetPrediction known = lookup.predict(v100, apps);
    replay.lookup_jct_h = alone_jct_h * known.mean[0];
    replay.lookup_w = node_w(set_power(model, *full, v100, apps, known).gpu_w);
    replay.curve_w = node_w(model.gpu_busy_w(row.util_pct));
    std::vector<double> alone_w;
    for (const std::string& member : row.members()) {
      alone_w.push_back(index->at(member)->node_w / kNodeGpus - model.host_share_w());
      replay.alone_kwh += index->at(member)->energy_kwh;
    }
    replay.composed_w = node_w(model.gpu_shared_w(alone_w, alone_jct_h / row.jct_h));
    const auto blind_apps = apps_of(row, *index, *blind);
    const SetPrediction guess = blind_predictor.predict(v100, blind_apps);
    replay.blind_jct_h = alone_jct_h * guess.mean[0];
    replay.blind_w = node_w(set_power(model, *blind, v100, blind_apps, guess).gpu_w);
    replay.blind_level = level_name(guess.level);
    lookup_error.add(relative(replay.lookup_jct_h, row.jct_h));
    lookup_error.add(relative(replay.lookup_w, row.node_w));
    curve_error.add(relative(replay.curve_w, row.node_w));
    if (row.members().size() == 1) continue;
    composition_error.add(relative(replay.composed_w, row.node_w));
    blind_jct_error.add(relative(replay.blind_jct_h, row.jct_h));
    blind_w_error.add(relative(replay.blind_w, row.node_w));
  }
  result.lookup = lookup_error.result();
  result.curve = curve_error.result();
  result.composition = composition_error.result();
  result.blind_jct = blind_jct_error.result();
  result.blind_w = blind_w_error.result();
  return result;
}

}  // namespace goban::core::knowledge
