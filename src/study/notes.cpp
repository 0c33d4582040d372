#include "study/notes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/units.hpp"

namespace goban::study {

namespace {

std::string non_sticky_text(const StudyOptions& options, const core::policy::Composition& c) {
  if (c.settings.round_s <= 0) {
    return fmt::format(
        "{} places all jobs again at every event, which costs restarts and time; --round 360 "
        "gives it a quantum",
        c.name);
  }
  return fmt::format("{} places all jobs again in each decision, so it decides every {:g} s{}",
                     c.name, c.settings.round_s,
                     options.round_s ? "" : "; --round 0 decides at every event");
}

/// Durations beyond all experience are often milliseconds; they also take long to simulate.
std::string long_jobs_text(const core::model::JobHistory& history) {
  constexpr double kLong_s = 365.0 * base::kDay_s;
  int64_t count = 0;
  double longest_s = 0;
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const core::model::Job job = history.jobs[i];
    const double limit_s = base::to_seconds(job.request.walltime_limit_ns);
    const double run_s = limit_s > 0 ? std::min(job.work_s, limit_s) : job.work_s;
    count += run_s > kLong_s ? 1 : 0;
    longest_s = std::max(longest_s, run_s);
  }
  if (count == 0) return {};
  return fmt::format(
      "{} for more than a year, the longest for {}: are these seconds? Every year takes about "
      "90,000 decisions to simulate",
      base::counted(count, "job runs", "jobs run"), base::human_seconds(longest_s));
}

}  // namespace

std::vector<results::Note> read_notes(const history::ReadResult& read, const std::string& path,
                                      const std::string& rejects) {
  std::vector<results::Note> notes;
  const auto note = [&](const std::string& text) {
    notes.push_back({results::NoteLevel::Info, path + ": " + text});
  };
  if (read.unsorted) note("was not in submit order");
  if (read.ignored_columns.size() == 1) {
    note(fmt::format("column {} is not used", read.ignored_columns[0]));
  } else if (!read.ignored_columns.empty()) {
    note(fmt::format("columns {} are not used", fmt::join(read.ignored_columns, ", ")));
  }
  for (const std::string& text : read.notes) note(text);
  if (read.counts.cpu_jobs_left_out > 0) {
    note(fmt::format("{} excluded (the cluster has no resource type for them)",
                     base::counted(read.counts.cpu_jobs_left_out, "job without GPUs is",
                                   "jobs without GPUs are")));
  }
  if (read.counts.never_started > 0) {
    note(base::counted(read.counts.never_started, "job ended without starting and is excluded",
                       "jobs ended without starting and are excluded"));
  }
  if (read.counts.unfinished > 0) {
    note(base::counted(read.counts.unfinished,
                       "job was waiting or running when recorded and is excluded",
                       "jobs were waiting or running when recorded and are excluded"));
  }
  if (read.counts.gpu_shares > 0) {
    note(base::counted(read.counts.gpu_shares, "job requested a share of a GPU and gets one GPU",
                       "jobs requested a share of a GPU and get one GPU"));
  }
  if (read.counts.impossible_deadlines > 0) {
    note(fmt::format("{} cannot be met even without waiting",
                     base::counted(read.counts.impossible_deadlines, "deadline")));
  }
  if (read.rejected == 0) return notes;
  notes.push_back(
      {results::NoteLevel::Warning, site::records::rejections_text(read, path, rejects)});
  return notes;
}

std::vector<results::Note> study_notes(const StudyOptions& options, const Inputs& inputs,
                                       const std::vector<core::policy::Composition>& policies) {
  const InputFiles& files = options.files;
  const bool speeds_given = options.locality_penalty || !files.scores.empty() ||
                            !files.penalties.empty() || !files.job_profiles.empty();
  std::vector<results::Note> notes = read_notes(inputs.jobs, files.jobs, files.rejects);
  if (auto text = long_jobs_text(inputs.jobs.history); !text.empty()) {
    notes.push_back({results::NoteLevel::Warning, std::move(text)});
  }
  for (const core::policy::Composition& c : policies) {
    if (c.settings.ideal_speed && speeds_given) {
      notes.push_back({results::NoteLevel::Info,
                       fmt::format("{} runs every job at score 1 and locality penalty 1, whatever "
                                   "scores and penalties are given",
                                   c.name)});
    }
    if (c.preemption() == core::policy::Preemption::NonSticky && !c.settings.credit_per_round) {
      notes.push_back({results::NoteLevel::Warning, non_sticky_text(options, c)});
    }
    const bool backfills = c.part(core::policy::PartKind::Select).needs_estimates &&
                           std::ranges::none_of(c.parts, &core::policy::Part::uses_forecasts);
    const bool has_limits = inputs.jobs.history.has_walltime_limits;
    if (!c.simulation_only() && (!backfills || has_limits)) continue;
    notes.push_back(
        {results::NoteLevel::Info,
         fmt::format("{} uses true durations, which are known only in simulation{}", c.name,
                     c.simulation_only() ? "" : ": the jobs have no walltime limits")});
  }
  notes.insert(notes.end(), inputs.knowledge_notes.begin(), inputs.knowledge_notes.end());
  return notes;
}

}  // namespace goban::study
