// Power models, co-location histories and deadlines that a study reads.
#pragma once

#include "study/inputs.hpp"

namespace goban::study {

/// Whether `spec` is the path of a deadlines file: not "gavel", "none" or empty.
[[nodiscard]] bool is_deadline_file(const std::string& spec);

/// Reads the energy, co-location and deadlines files into `inputs`, resolves the applications of
/// its jobs, and adds notes about missing data. Without these files nothing changes. Errors: those
/// of reading.
[[nodiscard]] base::Status add_knowledge(const InputFiles& files, uint64_t seed, Inputs& inputs);

}  // namespace goban::study
