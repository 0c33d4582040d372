// Notes for the reader of simulated results, on a terminal and in a report.
#pragma once

#include <string>
#include <vector>

#include "study/inputs.hpp"
#include "study/study_options.hpp"

namespace goban::study {

/// Notes on the history `path`, and a warning if records were rejected. `rejects`: path of the
/// rejects file, or empty.
[[nodiscard]] std::vector<results::Note> read_notes(const history::ReadResult& read,
                                                    const std::string& path,
                                                    const std::string& rejects);

/// The same for the history of a study, with notes on policies that use information no live
/// scheduler has, on options that a policy ignores, and on the site's knowledge.
[[nodiscard]] std::vector<results::Note> study_notes(
    const StudyOptions& options, const Inputs& inputs,
    const std::vector<core::policy::Composition>& policies);

}  // namespace goban::study
