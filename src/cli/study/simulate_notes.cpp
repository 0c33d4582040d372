#include "cli/simulate_notes.hpp"

#include <fmt/format.h>

namespace goban::cli {

std::vector<report::Note> simulate_notes(const SimulateFiles& files, const SimulateInputs& inputs,
                                         const std::vector<policy::Composition>& policies) {
  std::vector<report::Note> notes = read_notes(inputs.jobs, files.jobs, files.rejects);
  for (const policy::Composition& c : policies) {
    const bool backfills = c.select.ends_with("backfill");
    const bool has_limits = inputs.jobs.history.has_walltime_limits;
    if (!c.simulation_only() && (!backfills || has_limits)) continue;
    notes.push_back({report::NoteLevel::Info,
                     fmt::format("{} uses true durations, which only a simulation knows{}", c.name,
                                 c.simulation_only() ? "" : ": the jobs have no walltime limits")});
  }
  notes.insert(notes.end(), inputs.knowledge_notes.begin(), inputs.knowledge_notes.end());
  return notes;
}

}  // namespace goban::cli
