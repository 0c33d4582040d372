#include "study/notes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace goban::study {

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
    note(
        fmt::format("{} jobs without GPUs are excluded (the cluster has no resource type for them)",
                    read.counts.cpu_jobs_left_out));
  }
  if (read.counts.never_started > 0) {
    note(fmt::format("{} jobs ended without starting and are excluded", read.counts.never_started));
  }
  if (read.counts.unfinished > 0) {
    note(fmt::format("{} jobs were waiting or running when recorded and are excluded",
                     read.counts.unfinished));
  }
  if (read.counts.gpu_shares > 0) {
    note(fmt::format("{} jobs requested a share of a GPU and get one GPU", read.counts.gpu_shares));
  }
  if (read.counts.impossible_deadlines > 0) {
    note(fmt::format("{} deadlines cannot be met even without waiting",
                     read.counts.impossible_deadlines));
  }
  if (read.rejected == 0) return notes;
  std::string text = fmt::format("{} of {} records were rejected{}{}", read.rejected, read.records,
                                 rejects.empty() ? "" : ", see ", rejects);
  constexpr size_t kShown = 3;
  for (size_t i = 0; i < std::min(kShown, read.first_rejections.size()); ++i) {
    const history::Rejection& rejection = read.first_rejections[i];
    text += fmt::format("\n  {}:{}: {}", path, rejection.line, rejection.reason);
  }
  notes.push_back({results::NoteLevel::Warning, std::move(text)});
  return notes;
}

std::vector<results::Note> study_notes(const InputFiles& files, const Inputs& inputs,
                                       const std::vector<core::policy::Composition>& policies) {
  std::vector<results::Note> notes = read_notes(inputs.jobs, files.jobs, files.rejects);
  for (const core::policy::Composition& c : policies) {
    const bool backfills = c.part(core::policy::PartKind::Select).needs_estimates;
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
