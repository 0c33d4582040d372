#include "study/results/energy_document.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <functional>
#include <span>

#include "base/number.hpp"
#include "site/page/json_text.hpp"
#include "study/results/column.hpp"

namespace goban::study::results {
namespace {

using core::knowledge::ColocationHistory;
using core::knowledge::GpuTypeId;
using core::knowledge::MeasuredSet;
using core::model::AppId;

constexpr size_t kPowerPointsMax = 720;
constexpr double kHour_s = 3600;
constexpr float kNever = -1;  ///< in a matrix; 0 = not measured

/// Brings the power of all runs to one bin width.
void align_power(const ReportInput& input) {
  TimeNs width_ns = 0;
  TimeNs end_ns = 0;
  for (const ReportRun& run : input.runs) {
    width_ns = std::max(width_ns, run.energy->power().width_ns());
    end_ns = std::max(end_ns, run.recorder->end_ns());
  }
  const TimeBins& first = input.runs.front().energy->power();
  while (true) {
    for (const ReportRun& run : input.runs) run.energy->widen(width_ns);
    if (first.bins_until(end_ns) <= kPowerPointsMax) return;
    width_ns = first.width_ns() + 1;  // the next width
  }
}

std::string run_power_json(const ReportRun& run) {
  const TimeBins& power = run.energy->power();
  const TimeNs end_ns = run.recorder->end_ns();
  std::vector<float> values(power.bins_until(end_ns));
  for (size_t bin = 0; bin < values.size(); ++bin) {
    values[bin] = static_cast<float>(power.mean(0, bin, end_ns));
  }
  return fmt::format("{{\"end_s\": {}, \"power_w\": {}}}",
                     base::number_text(base::to_seconds(end_ns - run.energy->begin_ns())),
                     float_column(values));
}

/// Natural sort key: "ResNet-18@batch 16" as {"ResNet-18@batch ", 16}, so that 16 precedes 128.
std::pair<std::string_view, int64_t> natural(std::string_view name) {
  const size_t text = name.find_last_not_of("0123456789") + 1;
  int64_t number = -1;
  std::from_chars(name.data() + text, name.data() + name.size(), number);
  return {name.substr(0, text), number};
}

/// The rows and columns (applications) and pages (GPU types) of the co-location matrix.
struct MatrixShape {
  std::vector<GpuTypeId> types;
  std::vector<AppId> apps;       ///< by name
  std::vector<int64_t> jobs;     ///< of the history, by AppId
  std::vector<uint32_t> row_of;  ///< by AppId; kNoRow: omitted
  size_t left_out = 0;           ///< number of applications above kMatrixAppsMax
  bool any = false;              ///< whether any pair was measured or shared a GPU
};
constexpr uint32_t kNoRow = UINT32_MAX;

/// GPU types of the cluster, each once.
std::vector<GpuTypeId> listed_types(const core::policy::SiteKnowledge& knowledge) {
  std::vector<GpuTypeId> types;
  for (const GpuTypeId type : knowledge.gpu_types) {
    if (type.valid() && std::ranges::find(types, type) == types.end()) types.push_back(type);
  }
  return types;
}

/// Marks the applications of pairs that were measured on these types or shared a GPU. Returns
/// whether there are any.
bool mark_paired(const ReportInput& input, std::span<const GpuTypeId> types,
                 std::vector<bool>& wanted) {
  bool any = false;
  for (const MeasuredSet& set : input.knowledge->colocation.sets()) {
    if (set.size != 2 || std::ranges::find(types, set.gpu_type) == types.end()) continue;
    for (const AppId app : set.members()) wanted[app.index()] = true;
    any = true;
  }
  for (const ReportRun& run : input.runs) {
    if (run.pairs == nullptr) continue;
    for (const auto& [pair, together_s] : run.pairs->together_s()) {
      wanted[std::get<1>(pair).index()] = wanted[std::get<2>(pair).index()] = true;
      any = true;
    }
  }
  return any;
}

MatrixShape matrix_shape(const ReportInput& input) {
  const ColocationHistory& known = input.knowledge->colocation;
  MatrixShape shape;
  shape.types = listed_types(*input.knowledge);
  shape.jobs.resize(known.num_apps());
  shape.row_of.resize(known.num_apps(), kNoRow);
  std::vector<bool> wanted(known.num_apps());
  shape.any = mark_paired(input, shape.types, wanted);
  for (const core::model::Job& job : input.history->jobs) {
    if (job.request.app.valid()) ++shape.jobs[job.request.app.index()];
  }
  for (size_t app = 0; app < known.num_apps(); ++app) {
    if (wanted[app] || shape.jobs[app] > 0) shape.apps.emplace_back(app);
  }
  if (shape.apps.size() > kMatrixAppsMax) {
    shape.left_out = shape.apps.size() - kMatrixAppsMax;
    std::ranges::stable_sort(shape.apps, std::greater(),
                             [&](AppId app) { return shape.jobs[app.index()]; });
    shape.apps.resize(kMatrixAppsMax);
  }
  std::ranges::sort(shape.apps, {}, [&](AppId app) { return natural(known.app_name(app)); });
  for (size_t row = 0; row < shape.apps.size(); ++row) {
    shape.row_of[shape.apps[row].index()] = static_cast<uint32_t>(row);
  }
  return shape;
}

/// Slowdowns of the row's application next to the column's.
std::string slowdown_json(const MatrixShape& shape, const ColocationHistory& known,
                          GpuTypeId type) {
  const size_t rows = shape.apps.size();
  std::vector<float> cells(rows * rows);
  for (const MeasuredSet& set : known.sets()) {
    if (set.size != 2 || set.gpu_type != type) continue;
    const size_t a = shape.row_of[set.apps[0].index()];
    const size_t b = shape.row_of[set.apps[1].index()];
    if (a == kNoRow || b == kNoRow) continue;
    const bool itself = a == b;
    const double of_a = itself ? (set.slowdown[0] + set.slowdown[1]) / 2 : set.slowdown[0];
    cells[a * rows + b] = set.never ? kNever : static_cast<float>(of_a);
    if (!itself) cells[b * rows + a] = set.never ? kNever : static_cast<float>(set.slowdown[1]);
  }
  return float_column(cells);
}

/// GPU-hours in which the applications of row and column shared a GPU.
std::string together_json(const MatrixShape& shape, const ReportInput& input, const ReportRun& run,
                          GpuTypeId type) {
  const size_t rows = shape.apps.size();
  std::vector<float> cells(rows * rows);
  if (run.pairs != nullptr) {
    for (const auto& [pair, together_s] : run.pairs->together_s()) {
      const auto [gpu_model, first, second] = pair;
      const size_t a = shape.row_of[first.index()];
      const size_t b = shape.row_of[second.index()];
      if (input.knowledge->gpu_types[gpu_model] != type || a == kNoRow || b == kNoRow) continue;
      cells[a * rows + b] += static_cast<float>(together_s / kHour_s);
      if (a != b) cells[b * rows + a] = cells[a * rows + b];
    }
  }
  return float_column(cells);
}

}  // namespace

std::string power_json(const ReportInput& input) {
  const bool metered =
      std::ranges::all_of(input.runs, [](const ReportRun& run) { return run.energy != nullptr; });
  if (input.runs.empty() || !metered) return {};
  align_power(input);
  const TimeNs step_ns = input.runs.front().energy->power().width_ns();
  return fmt::format(
      "{{\"step_s\": {},\n\"runs\": {}}}", base::number_text(base::to_seconds(step_ns)),
      site::page::json_list(
          input.runs, [](const ReportRun& run) { return run_power_json(run); }, ",\n"));
}

std::string colocation_json(const ReportInput& input) {
  if (input.knowledge == nullptr) return {};
  const ColocationHistory& known = input.knowledge->colocation;
  const MatrixShape shape = matrix_shape(input);
  if (!shape.any || shape.types.empty()) return {};
  const auto type_json = [&](GpuTypeId type) {
    return fmt::format(
        "{{\"name\": {}, \"slowdown\": {},\n\"together_h\": {}}}",
        site::page::json_quoted(known.gpu_type_name(type)), slowdown_json(shape, known, type),
        site::page::json_list(
            input.runs,
            [&](const ReportRun& run) { return together_json(shape, input, run, type); }, ",\n"));
  };
  return fmt::format(
      "{{\"apps\": {},\n\"jobs\": {},\n\"left_out\": {},\n\"gpu_types\": {}}}",
      site::page::json_list(
          shape.apps, [&](AppId app) { return site::page::json_quoted(known.app_name(app)); }),
      site::page::json_list(shape.apps,
                            [&](AppId app) { return std::to_string(shape.jobs[app.index()]); }),
      shape.left_out, site::page::json_list(shape.types, type_json, ",\n"));
}

}  // namespace goban::study::results
