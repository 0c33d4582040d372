// The command line of `goban simulate`.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/shell/options.hpp"
#include "study/run_record.hpp"
#include "study/study_options.hpp"

namespace goban::cli {

/// Adds all options to `command`; parsing fills `options` and `json`, which must outlive it.
void add_simulate_options(Command& command, study::StudyOptions& options, bool& json);

/// The arguments of a parsed `goban simulate` that determine what happens in a run.
[[nodiscard]] std::vector<std::string> deciding_arguments(const Command& command);

/// The options of a recorded run, for its policy only. `folder`: of the run. Errors: BadData if an
/// argument is no longer known.
[[nodiscard]] base::Result<study::StudyOptions> restore_options(const study::RunRecord& record,
                                                                const std::string& folder);

}  // namespace goban::cli
