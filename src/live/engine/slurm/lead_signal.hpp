// The signal that a job asks for before it is stopped: sbatch --signal=[B:]SIG[@SECONDS], as a line
// #SBATCH of its script. Slurm 22.05 shows it nowhere else. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace goban::live::engine::slurm {

struct LeadSignal {
  int32_t signal = 0;  ///< 0 = none
  base::TimeNs lead_ns = 0;
  bool batch = false;  ///< to the batch shell alone ("B:"), else to the steps alone, as Slurm does
};

[[nodiscard]] LeadSignal lead_signal(std::string_view script);

/// scancel, and its words.
[[nodiscard]] std::vector<std::string> signal_command(std::string_view id, const LeadSignal& lead);

}  // namespace goban::live::engine::slurm
