#include "study/knowledge_files.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text_file.hpp"
#include "core/knowledge/colocation/colocation_file.hpp"
#include "core/knowledge/colocation/gavel_throughputs.hpp"
#include "core/policy/make_knowledge.hpp"
#include "site/inputs/inputs.hpp"
#include "study/history/deadlines.hpp"
#include "study/history/rates.hpp"
#include "study/history/trace_ranges.hpp"

namespace goban::study {
namespace {

using base::Result;
using base::Status;

constexpr std::string_view kGavel = "gavel";
constexpr std::string_view kNone = "none";
constexpr size_t kColocationBytesMax = size_t{256} << 20;

/// The first names, and the number of the others.
std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  std::string out;
  for (size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    out += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > kShown ? fmt::format("{} and {} more", out, names.size() - kShown) : out;
}

class Notes {
 public:
  explicit Notes(std::vector<results::Note>& notes) : notes_(notes) {}
  void info(std::string text) { notes_.push_back({results::NoteLevel::Info, std::move(text)}); }
  void warning(std::string text) {
    notes_.push_back({results::NoteLevel::Warning, std::move(text)});
  }

 private:
  std::vector<results::Note>& notes_;
};

/// Reads a CSV file, or Gavel's JSON, which starts with a brace.
Result<core::knowledge::ColocationHistory> read_history(const std::string& path, Notes& notes) {
  const auto text = base::read_text_file(path, kColocationBytesMax);
  if (!text) return base::failure(text.error());
  const std::string name = base::input_name(path);
  const size_t first = text->find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (*text)[first] != '{') {
    return core::knowledge::parse_colocation(*text, name);
  }
  auto import = core::knowledge::parse_gavel_throughputs(*text, name);
  if (!import) return base::failure(import.error());
  notes.info(fmt::format(
      "{}: {} applications alone, {} pairs, {} pairs of rate zero (never co-located); excluded: "
      "{} entries of multi-GPU jobs, {} without a rate alone, {} GPU types of unconsolidated jobs",
      name, import->alone, import->pairs, import->never, import->multi_gpu, import->no_rate,
      import->unconsolidated));
  return std::move(import->history);
}

void note_gaps(const core::policy::KnowledgeGaps& gaps, bool colocation, bool energy,
               Notes& notes) {
  if (!gaps.unmeasured_gpus.empty()) {
    notes.warning(fmt::format(
        "no measurements on the GPU model {}: slowdowns there are predicted from utilisation, or "
        "pessimistically (without a cluster file, name the GPU model as in 64x8:V100)",
        some_of(gaps.unmeasured_gpus)));
  }
  if (!gaps.unknown_apps.empty()) {
    notes.info(fmt::format(
        "the applications of {} have no co-location measurements: {}; their slowdowns are "
        "predicted from utilisation, or pessimistically",
        base::counted(gaps.unknown_jobs, "job"), some_of(gaps.unknown_apps)));
  }
  if (gaps.unnamed_jobs > 0) {
    notes.info(base::counted(gaps.unnamed_jobs, "job has no model, so no measurements apply to it",
                             "jobs have no model, so no measurements apply to them"));
  }
  if (colocation && !gaps.gpus_without_memory.empty()) {
    notes.warning(
        fmt::format("the memory of the GPU model {} is unknown: jobs on it are not co-located",
                    some_of(gaps.gpus_without_memory)));
  }
  if (colocation && gaps.without_mem > 0) {
    notes.info(
        fmt::format("the peak memory of {} is unknown: no co-location where memory is checked",
                    base::counted(gaps.without_mem, "job")));
  }
  if (energy && gaps.without_util > 0) {
    notes.info(fmt::format("the utilisation of {} is unknown: their GPUs count as fully busy",
                           base::counted(gaps.without_util, "job")));
  }
}

Status set_deadlines(const std::string& spec, uint64_t seed, Inputs& inputs, Notes& notes) {
  core::model::JobHistory& history = inputs.jobs.history;
  int64_t& impossible = inputs.jobs.counts.impossible_deadlines;
  if (spec == kNone) {
    history::clear_deadlines(history);
    impossible = 0;
    return {};
  }
  if (spec == kGavel) {
    impossible = history::draw_gavel_deadlines(history, seed).impossible;
    return {};
  }
  const auto counts = history::read_deadlines(spec, history);
  if (!counts) return base::failure(counts.error());
  impossible = counts->impossible;
  if (counts->unknown_jobs > 0) {
    notes.warning(fmt::format(
        "{}: {} deadlines are for jobs that are not in the history; the "
        "first is {}",
        base::input_name(spec), counts->unknown_jobs, counts->first_unknown.substr(0, 80)));
  }
  if (const auto jobs = static_cast<int64_t>(history.jobs.size()); counts->jobs < jobs) {
    notes.info(fmt::format("{}: {} of {} jobs have no deadline", base::input_name(spec),
                           jobs - counts->jobs, jobs));
  }
  return {};
}

/// Without rates, a job with a range of GPUs runs on those that it requests.
void note_ranges(const core::model::JobHistory& history, Notes& notes) {
  const auto count = std::ranges::count_if(
      history.training, [](const core::model::TrainingFacts& facts) { return facts.gpus_max > 0; });
  if (count == 0) return;
  notes.info(fmt::format("{} a range of GPUs; without --rates they run on num_gpus",
                         base::counted(count, "job states", "jobs state")));
}

Status add_rates(const InputFiles& files, Inputs& inputs, Notes& notes) {
  core::model::JobHistory& history = inputs.jobs.history;
  const auto text = base::read_text_file(files.rates);
  if (!text) return base::failure(text.error());
  const std::string name = base::input_name(files.rates);
  const auto rows = history::parse_rates(*text, name);
  if (!rows) return base::failure(rows.error());
  const auto number = [&history](const std::string& model) {
    return core::model::ModelId(history.models.find(model));
  };
  auto speeds = history::make_speeds(*rows, name, inputs.cluster, number, files.interpolate_rates);
  if (!speeds) return base::failure(speeds.error());
  if (inputs.jobs.format == "elasticflow") {
    history::set_elasticflow_ranges(*rows, inputs.cluster, history);
  }
  inputs.states_steps = history::states_steps(history);
  const auto counts = history::fit_jobs(*speeds, name, inputs.cluster, history);
  if (!counts) return base::failure(counts.error());
  if (counts->elastic > 0) {
    inputs.jobs.counts.impossible_deadlines =
        history::impossible_deadlines(*speeds, inputs.cluster, history);
  }
  inputs.speeds = std::make_shared<core::model::JobSpeeds>(std::move(*speeds));
  if (counts->elastic + counts->one_size == 0) {
    notes.warning(
        fmt::format("{}: no job has a range of GPUs (gpus_min, gpus_max): all are rigid", name));
    return {};
  }
  if (const int64_t rigid = counts->no_range + counts->no_speed; rigid > 0) {
    notes.info(fmt::format("{}: {}", name,
                           base::counted(rigid, "job is rigid: it has no range of GPUs",
                                         "jobs are rigid: they have no range of GPUs")));
  }
  if (counts->new_work > 0) {
    notes.info(fmt::format(
        "{}: {}", name,
        base::counted(counts->new_work,
                      "recorded duration is replaced by what the steps take at the measured speed",
                      "recorded durations are replaced by what the steps take at the measured "
                      "speed")));
  }
  return {};
}

}  // namespace

bool is_deadline_file(const std::string& spec) {
  return !spec.empty() && spec != kGavel && spec != kNone;
}

Status add_knowledge(const InputFiles& files, uint64_t seed, Inputs& inputs) {
  Notes notes(inputs.knowledge_notes);
  if (!files.deadlines.empty()) {
    if (Status set = set_deadlines(files.deadlines, seed, inputs, notes); !set) return set;
  }
  if (files.rates.empty()) {
    note_ranges(inputs.jobs.history, notes);
  } else if (Status set = add_rates(files, inputs, notes); !set) {
    return set;
  }
  if (files.energy.empty() && files.colocation.empty()) return {};
  core::policy::KnowledgeSources sources;
  if (!files.colocation.empty()) {
    auto history = read_history(files.colocation, notes);
    if (!history) return base::failure(history.error());
    sources.colocation = std::move(*history);
  }
  if (!files.energy.empty()) {
    auto power = site::inputs::resolve_power(files.energy);
    if (!power) return base::failure(power.error());
    sources.power = std::move(*power);
  }
  for (const std::string& path : files.job_profiles) {
    const auto text = base::read_text_file(path);
    if (!text) return base::failure(text.error());
    auto profile = base::reports::parse_job_profile(*text, path);
    if (!profile) return base::failure(profile.error());
    sources.profiles.push_back(std::move(*profile));
  }
  auto made = core::policy::make_knowledge(std::move(sources), inputs.cluster, inputs.jobs.history);
  if (!made) return base::failure(made.error());
  note_gaps(made->gaps, !files.colocation.empty(), !files.energy.empty(), notes);
  inputs.knowledge = std::make_shared<core::policy::SiteKnowledge>(std::move(made->knowledge));
  return {};
}

}  // namespace goban::study
