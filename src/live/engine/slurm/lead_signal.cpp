#include "live/engine/slurm/lead_signal.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "live/job/request_values.hpp"
#include "live/job/submit_directives.hpp"

namespace goban::live::engine::slurm {

LeadSignal lead_signal(std::string_view script) {
  LeadSignal out;
  constexpr std::string_view kOption = "--signal";
  for (const std::string_view line : job::split_list(script, '\n')) {
    if (base::trimmed(line).empty()) continue;  // sbatch reads on behind it
    if (!line.starts_with('#')) break;
    const size_t at = line.find(kOption);
    if (!line.starts_with("#SBATCH") || at == line.npos) continue;
    std::string_view value = line.substr(at + kOption.size());
    value.remove_prefix(std::min(value.find_first_not_of("= \t"), value.size()));
    value = value.substr(0, value.find_first_of(" \t\r"));
    // A script of this line alone, so that nothing else in it matters.
    const auto request =
        job::read_directives("#!/bin/sh\n#SBATCH --signal=" + std::string(value) + "\n", "script");
    if (!request) continue;
    const size_t colon = value.find(':');
    out.signal = request->spec.stop.signal;
    out.lead_ns = request->spec.stop.lead_ns;
    out.batch = colon != value.npos && value.substr(0, colon).find('B') != value.npos;
  }
  return out;
}

std::vector<std::string> signal_command(std::string_view id, const LeadSignal& lead) {
  std::vector<std::string> words = {"scancel", "--signal=" + std::to_string(lead.signal)};
  if (lead.batch) words.emplace_back("--batch");
  words.emplace_back(id);
  return words;
}

}  // namespace goban::live::engine::slurm
