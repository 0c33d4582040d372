// Explains why a job of a simulated run waited and why it got its GPUs. The run is repeated with an
// observer, so every statement comes from the core that decided.
#pragma once

#include <cstdint>
#include <string>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "study/study_options.hpp"

namespace goban::study {

enum class ExplainFormat : uint8_t { Text, Json };

/// The explanation of job `job_name` under the first policy of `options`. Errors: those of
/// load_inputs() and simulate(); Usage if no job has that name.
[[nodiscard]] base::Result<std::string> explain(StudyOptions options, const std::string& job_name,
                                                ExplainFormat format, base::Progress& progress);

}  // namespace goban::study
