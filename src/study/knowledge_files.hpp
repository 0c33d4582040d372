// Power models, co-location histories and deadlines that a study reads.
#pragma once

#include "study/inputs.hpp"

namespace goban::study {

/// Deadlines `spec` is the path of a file, not "gavel", "none" or empty.
[[nodiscard]] bool is_deadline_file(const std::string& spec);

/// Reads the energy, colocation and deadlines files into `inputs`, finds the applications of its
/// jobs, and notes what is missing. Without these files nothing changes. Errors: those of reading.
[[nodiscard]] base::Status add_knowledge(const InputFiles& files, uint64_t seed, Inputs& inputs);

}  // namespace goban::study
