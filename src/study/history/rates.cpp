#include "study/history/rates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <set>
#include <tuple>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "base/time.hpp"

namespace goban::study::history {
namespace {

using base::Result;
using core::model::GpuModel;
using core::model::JobSpeeds;
using core::model::SpeedLevel;
using core::model::TrainingFacts;

constexpr double kRateMax = 1e9;
constexpr int32_t kGpusMax = 1 << 24;
constexpr size_t kShown = 40;
constexpr std::array<std::string_view, 5> kColumns = {"model", "batch_size", "gpu_model",
                                                      "num_gpus", "steps_per_s"};

enum Column : size_t { kModel, kBatchSize, kGpuModel, kNumGpus, kStepsPerS };

/// Reads the fields of the rows; keeps the first error.
class Rows {
 public:
  Rows(std::string_view text, const std::string& file) : csv_(text, file) {}

  [[nodiscard]] Result<std::vector<RateRow>> read() {
    for (const size_t needed : {kModel, kNumGpus, kStepsPerS}) {
      const auto at = csv_.require(kColumns[needed]);
      if (!at) return base::failure(at.error());
    }
    for (size_t i = 0; i < kColumns.size(); ++i) at_[i] = csv_.column(kColumns[i]);
    for (const std::string& name : csv_.header()) {
      if (std::ranges::find(kColumns, name) != kColumns.end()) continue;
      return base::bad_data({csv_.file(), 1, 0, name}, "unknown column",
                            fmt::format("known columns: {}", fmt::join(kColumns, ", ")));
    }
    std::set<std::tuple<std::string, int32_t, std::string, int32_t>> seen;
    std::vector<RateRow> rows;
    while (!error_ && csv_.next()) {
      RateRow row = read_row();
      const bool is_new = seen.emplace(row.model, row.batch_size, row.gpu_model, row.gpus).second;
      if (!is_new) fail(kNumGpus, "these GPUs have a row already", "remove one of the rows");
      rows.push_back(std::move(row));
    }
    if (error_) return base::failure(*error_);
    if (auto status = csv_.status(); !status) return base::failure(status.error());
    if (rows.empty()) {
      return base::bad_data({csv_.file(), 1, 0, {}}, "no rows after the header",
                            "give a row for each model and number of GPUs that was measured");
    }
    return rows;
  }

 private:
  RateRow read_row() {
    RateRow row;
    row.line = csv_.line();
    row.model = csv_.field(*at_[kModel]);
    if (row.model.empty()) fail(kModel, "is empty", "name the model as the jobs do");
    if (at_[kBatchSize] && !csv_.field(*at_[kBatchSize]).empty()) {
      row.batch_size = whole(kBatchSize, 1, INT32_MAX);
    }
    if (at_[kGpuModel]) row.gpu_model = csv_.field(*at_[kGpuModel]);
    row.gpus = whole(kNumGpus, 1, kGpusMax);
    const auto rate = base::parse_double(csv_.field(*at_[kStepsPerS]));
    if (!rate || *rate < 0 || *rate > kRateMax || (*rate > 0 && *rate < 1 / kRateMax)) {
      fail(kStepsPerS, fmt::format("'{}' is not a speed", shown(kStepsPerS)),
           "give steps per second, 1e-9 to 1e9, or 0 if it does not run on these GPUs");
    } else {
      row.steps_per_s = *rate;
    }
    return row;
  }

  int32_t whole(Column column, int64_t low, int64_t high) {
    const auto value = base::parse_int(csv_.field(*at_[column]));
    if (value && *value >= low && *value <= high) return static_cast<int32_t>(*value);
    fail(column, fmt::format("'{}' is not a whole number", shown(column)),
         fmt::format("give {} to {}", low, high));
    return static_cast<int32_t>(low);
  }

  [[nodiscard]] std::string shown(Column column) const {
    return std::string(csv_.field(*at_[column]).substr(0, kShown));
  }

  void fail(Column column, std::string message, std::string remedy) {
    if (error_) return;
    error_ =
        base::bad_data(csv_.place(*at_[column]), std::move(message), std::move(remedy)).value();
  }

  base::CsvReader csv_;
  std::array<std::optional<size_t>, kColumns.size()> at_;
  std::optional<base::Error> error_;
};

/// Why the steps of a job take longer than a simulation can last; empty if they do not. The range
/// is tried on every GPU model.
std::string length_problem(const JobSpeeds& speeds, const core::model::Cluster& cluster,
                           const core::model::Job& job, const TrainingFacts& facts) {
  const auto& models = cluster.gpu_models();
  for (uint32_t m = 0; m < models.size(); ++m) {
    for (const SpeedLevel& level : speeds.levels(job.request, facts, m)) {
      if (static_cast<double>(facts.steps) / level.steps_per_s <= base::kMaxSeconds) continue;
      return fmt::format("{} steps at {:g} steps per second, on {} x {}, exceed 4.6e9 seconds",
                         facts.steps, level.steps_per_s, level.gpus, models[m].name);
    }
  }
  return {};
}

/// Gives a job steps, and the work that follows from them.
bool set_work(const JobSpeeds& speeds, core::model::Job& job, TrainingFacts& facts) {
  const SpeedLevel* level =
      speeds.fastest(job.request.model, facts.batch_size, job.request.num_gpus);
  const double before_s = job.work_s;
  if (facts.steps <= 0) {
    facts.steps = std::max<int64_t>(1, std::llround(job.work_s * level->steps_per_s));
  }
  job.work_s = static_cast<double>(facts.steps) / level->steps_per_s;
  // A recorded duration says less than a second more or less.
  return std::abs(job.work_s - before_s) > std::max(1.0, before_s / 100);
}

}  // namespace

Result<std::vector<RateRow>> parse_rates(std::string_view text, const std::string& file) {
  return Rows(text, file).read();
}

Result<JobSpeeds> make_speeds(
    const std::vector<RateRow>& rows, const std::string& file, const core::model::Cluster& cluster,
    const std::function<core::model::ModelId(const std::string& name)>& number, bool interpolate) {
  JobSpeeds speeds;
  const auto models = cluster.gpu_models();
  bool any = false;
  std::set<std::tuple<std::string, int32_t, uint32_t, int32_t>> seen;
  for (const RateRow& row : rows) {
    if (row.gpu_model.empty() && models.size() > 1) {
      return base::bad_data(
          {file, row.line, 0, "gpu_model"},
          fmt::format("is empty, and {} has {} GPU models", cluster.name(), models.size()),
          "name the GPU model that was measured");
    }
    const auto gpu = row.gpu_model.empty()
                         ? models.begin()
                         : std::ranges::find(models, row.gpu_model, &GpuModel::name);
    if (gpu == models.end()) continue;  // measured elsewhere
    any = true;
    const auto index = static_cast<uint32_t>(gpu - models.begin());
    // A row may name the only GPU model of the cluster, another leave it out.
    if (!seen.emplace(row.model, row.batch_size, index, row.gpus).second) {
      return base::bad_data({file, row.line, 0, "num_gpus"},
                            fmt::format("{} x {} have a row already, with or without their GPU "
                                        "model",
                                        row.gpus, gpu->name),
                            "remove one of the rows");
    }
    const core::model::ModelId model = number(row.model);
    if (!model.valid() || row.gpus > static_cast<int64_t>(cluster.num_gpus())) continue;
    if (row.steps_per_s > 0) {
      speeds.add(model, row.batch_size, index, {.gpus = row.gpus, .steps_per_s = row.steps_per_s});
    } else {
      speeds.add_never(model, row.batch_size, index, row.gpus);
    }
  }
  if (!any) {
    std::string known;
    for (const GpuModel& each : models) known += (known.empty() ? "" : ", ") + each.name;
    return base::bad_data({file, rows.empty() ? 1 : rows.front().line, 0, "gpu_model"},
                          fmt::format("no row is of a GPU model of {}: {}", cluster.name(), known),
                          "name the GPU model of the cluster, as in 16x8:A100, or leave the column "
                          "gpu_model out");
  }
  if (interpolate) speeds.interpolate();
  return speeds;
}

std::vector<bool> states_steps(const core::model::JobHistory& history) {
  std::vector<bool> out(history.jobs.size(), false);
  for (size_t i = 0; i < history.training.size(); ++i) out[i] = history.training[i].steps > 0;
  return out;
}

Result<RateCounts> fit_jobs(const JobSpeeds& speeds, const std::string& file,
                            const core::model::Cluster& cluster, core::model::JobHistory& history) {
  RateCounts counts;
  history.training.resize(history.jobs.size());
  const bool several = cluster.gpu_models().size() > 1;
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    core::model::Job job = history.jobs[i];
    TrainingFacts& facts = history.training[i];
    const bool has_range = facts.gpus_max > 0;
    const bool is_known = speeds.knows(job.request.model, facts.batch_size);
    const bool typed = job.request.resource_type.valid() || job.request.num_gpus <= 0;
    if (!has_range && (!is_known || typed || !several)) {
      ++(is_known ? counts.no_range : counts.no_speed);
      continue;
    }
    if (!has_range) facts.gpus_min = facts.gpus_max = job.request.num_gpus;
    ++(has_range ? counts.elastic : counts.one_size);
    const std::string& name = history.models[job.request.model.index()];
    const std::string problem =
        typed ? "a job with a range of GPUs cannot have a resource type"
              : core::model::speed_problem(
                    speeds, cluster, job.request, facts,
                    name.empty() ? std::string_view("a job without a model") : name);
    const auto refuse = [&](const std::string& what, std::string remedy) {
      return base::bad_data({file, 0, 0, {}}, fmt::format("job {}: {}", history.job_names[i], what),
                            std::move(remedy));
    };
    if (facts.gpus_max > static_cast<int64_t>(cluster.num_gpus())) {
      return refuse(fmt::format("gpus_max {} exceeds the {} GPUs of {}", facts.gpus_max,
                                cluster.num_gpus(), cluster.name()),
                    "lower it, or take a larger cluster");
    }
    if (!problem.empty()) {
      return refuse(problem,
                    "measure it (0 steps per second: it does not run there), change its "
                    "range of GPUs, or give --interpolate-rates for numbers of GPUs between "
                    "measured ones");
    }
    if (const std::string too_long = length_problem(speeds, cluster, job, facts);
        !too_long.empty()) {
      return refuse(too_long, "give steps per second in the file of rates, and fewer steps");
    }
    counts.new_work += set_work(speeds, job, facts) ? 1 : 0;
    history.jobs.put(i, job);
  }
  return counts;
}

int64_t impossible_deadlines(const JobSpeeds& speeds, const core::model::Cluster& cluster,
                             const core::model::JobHistory& history) {
  int64_t count = 0;
  for (size_t i = 0; i < history.training.size(); ++i) {
    const TrainingFacts& facts = history.training[i];
    if (facts.deadline_ns < 0) continue;
    const core::model::Job job = history.jobs[i];
    double least_s = job.work_s;
    for (uint32_t m = 0; facts.gpus_max > 0 && m < cluster.gpu_models().size(); ++m) {
      for (const SpeedLevel& level : speeds.levels(job.request, facts, m)) {
        least_s = std::min(least_s, static_cast<double>(facts.steps) / level.steps_per_s);
      }
    }
    count += base::to_seconds(facts.deadline_ns) < least_s ? 1 : 0;
  }
  return count;
}

}  // namespace goban::study::history
