// What the reader of simulated results has to know, on a terminal and in a report.
#pragma once

#include <string>
#include <vector>

#include "study/inputs.hpp"

namespace goban::study {

/// Notes on the history `path`, and a warning if records were refused; `rejects` is where they are,
/// or empty.
[[nodiscard]] std::vector<results::Note> read_notes(const history::ReadResult& read,
                                                    const std::string& path,
                                                    const std::string& rejects);

/// The same of a study's history, with notes about policies that know more than a live scheduler
/// would, and about the site's knowledge.
[[nodiscard]] std::vector<results::Note> study_notes(
    const InputFiles& files, const Inputs& inputs,
    const std::vector<core::policy::Composition>& policies);

}  // namespace goban::study
