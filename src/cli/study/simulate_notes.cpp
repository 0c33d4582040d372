#include "cli/study/simulate_notes.hpp"

#include <fmt/format.h>

namespace goban::cli {

std::vector<study::results::Note> simulate_notes(
    const SimulateFiles& files, const SimulateInputs& inputs,
    const std::vector<core::policy::Composition>& policies) {
  std::vector<study::results::Note> notes = read_notes(inputs.jobs, files.jobs, files.rejects);
  for (const core::policy::Composition& c : policies) {
    const bool backfills = c.part(core::policy::PartKind::Select).needs_estimates;
    const bool has_limits = inputs.jobs.history.has_walltime_limits;
    if (!c.simulation_only() && (!backfills || has_limits)) continue;
    notes.push_back({study::results::NoteLevel::Info,
                     fmt::format("{} uses true durations, which only a simulation knows{}", c.name,
                                 c.simulation_only() ? "" : ": the jobs have no walltime limits")});
  }
  notes.insert(notes.end(), inputs.knowledge_notes.begin(), inputs.knowledge_notes.end());
  return notes;
}

}  // namespace goban::cli
