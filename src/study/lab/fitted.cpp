#include "study/lab/fitted.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text_file.hpp"
#include "study/history/trace_ranges.hpp"

namespace goban::study::lab {

using core::model::JobHistory;
using core::model::TrainingFacts;

namespace {

void add_notes(const history::RateCounts& counts, Fitted& out) {
  if (counts.elastic + counts.one_size == 0) {
    out.notes.emplace_back("no job has a range of GPUs (gpus_min, gpus_max): all are rigid");
    return;
  }
  if (const int64_t rigid = counts.no_range + counts.no_speed; rigid > 0) {
    out.notes.push_back(base::counted(rigid, "job is rigid: it has no range of GPUs",
                                      "jobs are rigid: they have no range of GPUs"));
  }
  if (counts.new_work > 0) {
    out.notes.push_back(base::counted(
        counts.new_work,
        "recorded duration is replaced by what the steps take at the measured speed",
        "recorded durations are replaced by what the steps take at the measured speed"));
  }
}

}  // namespace

base::Result<Rates> read_rates(const std::string& path, bool interpolate) {
  const auto text = base::read_text_file(path);
  if (!text) return base::failure(text.error());
  auto rows = history::parse_rates(*text, path);
  if (!rows) return base::failure(rows.error());
  return Rates{.rows = std::move(*rows), .file = path, .interpolate = interpolate};
}

base::Result<Fitted> fit(const JobHistory& history, const core::model::Cluster& cluster,
                         const Rates& rates) {
  Fitted out{.history = history};
  const auto number = [&history](const std::string& model) {
    return core::model::ModelId(history.models.find(model));
  };
  auto speeds = history::make_speeds(rates.rows, rates.file, cluster, number, rates.interpolate);
  if (!speeds) return base::failure(speeds.error());
  if (rates.elasticflow) history::set_elasticflow_ranges(rates.rows, cluster, out.history);
  out.states_steps = history::states_steps(out.history);
  const auto counts = history::fit_jobs(*speeds, rates.file, cluster, out.history);
  if (!counts) return base::failure(counts.error());
  add_notes(*counts, out);
  out.speeds = std::make_shared<const core::model::JobSpeeds>(std::move(*speeds));
  return out;
}

bool lacks_steps(const JobHistory& history) {
  return std::ranges::any_of(history.training, [](const TrainingFacts& facts) {
    return facts.gpus_max > 0 && facts.steps <= 0;
  });
}

}  // namespace goban::study::lab
