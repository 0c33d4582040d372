// The decision log: one JSON line per round, in the format of PAL's reference outputs (PAL:
// decision log, docs/papers.md).
#pragma once

#include <optional>
#include <string>

#include "base/output_file.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::results {

/// Writes [time_s, [[job, [gpu ids]], ...], [terminated jobs]] for every decision. With rounds, the
/// lines of skipped rounds, in which nothing could change, are written as well. Job ids are the
/// numbers of the history: 0, 1, ... in submit order, then the fillers. Non-sticky policies place
/// all jobs again: their lines have a fourth element, the listed jobs that kept the GPUs on which
/// they ran and were not disturbed. The artifact's presets omit it, as the artifact does.
class DecisionLog final : public simulator::Observer {
 public:
  DecisionLog(base::OutputFile file, base::TimeNs round_ns)
      : file_(std::move(file)), round_ns_(round_ns) {}

  void decided(const core::scheduler::Decision& decision,
               const core::scheduler::Core& core) override;
  void ended(base::TimeNs now) override;
  [[nodiscard]] base::Status commit() { return file_.commit(); }

 private:
  void repeat_until(base::TimeNs now);
  void write_line(base::TimeNs at_ns, const std::string& body);

  base::OutputFile file_;
  base::TimeNs round_ns_;
  std::optional<base::TimeNs> last_ns_;
  std::string idle_body_;  ///< of a round in which nothing changes after the last decision
};

}  // namespace goban::study::results
