// Measures the GPUs of a machine and keeps the result: the measurement log and the score table.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/knowledge/measure/measure_book.hpp"
#include "live/machine/session.hpp"

namespace goban::live::machine {

/// The GPUs `asked` for. With `refresh` only the one of them that is due; the start time of a new
/// log is set.
[[nodiscard]] std::vector<size_t> gpus_to_measure(const base::gpus::MachineGpus& machine,
                                                  const std::vector<size_t>& asked,
                                                  std::optional<double> refresh_cost_s,
                                                  core::knowledge::MeasureBook& book);

/// What is known of a machine's GPUs after a session.
struct MachineProfile {
  core::knowledge::MeasureBook book{};
  core::knowledge::MachineScores scores{};  ///< refers to `book`
  std::vector<bool> measured{};             ///< by GPU of the machine: in this session
  std::vector<std::string> problems{};      ///< why others of the plan were not
  std::string table{};  ///< the score table as written; empty = none was written
};

struct ProfileSession {
  SessionPlan plan{};
  std::string scores_path{};  ///< of the score table; the log lies next to it
  bool keep_log = false;      ///< write the log even if nothing was measured
  std::function<BusyGpus()> busy{};
  std::function<void()> step{};  ///< called after each block
};

/// Measures, and writes first the log, from which the table can be computed after a crash, then the
/// table. nullopt if `interrupted` was set: nothing is written. Errors: of the files.
[[nodiscard]] base::Result<std::optional<MachineProfile>> measure_profile(
    const base::gpus::MachineGpus& machine, const ProfileSession& session,
    const std::atomic<bool>& interrupted);

/// What the log next to this score table says now.
[[nodiscard]] base::Result<MachineProfile> read_profile(const base::gpus::MachineGpus& machine,
                                                        const std::string& scores_path);

}  // namespace goban::live::machine
