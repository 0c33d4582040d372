// Refreshing measurements, one idle GPU at a time, within a share of all GPU time. Shared by `goban
// profile --refresh` and the daemon.
#pragma once

#include <optional>
#include <vector>

#include "core/knowledge/measure/measure_book.hpp"
#include "live/machine/session.hpp"

namespace goban::live::machine {

/// Default duration of one refresh, in seconds.
inline constexpr double kRefreshSeconds = 10;
/// Blocks per GPU in a complete measurement.
inline constexpr int kBlocks = 16;

/// The measurement log next to this score table; empty if there is none yet. Errors: Failed if it
/// cannot be read; those of core::knowledge::parse_book().
[[nodiscard]] base::Result<core::knowledge::MeasureBook> read_book_beside(
    const std::string& scores_path);

/// GPUs that may be refreshed, by position in base::gpus::MachineGpus.
struct RefreshRequest {
  std::vector<size_t> idle{};
  std::vector<size_t> suspects{};  ///< their scores disagree with what jobs report
  double cost_s = kRefreshSeconds;
};

/// The GPU that is due, or none (core::knowledge::next_to_refresh()). Sets the start time of a new
/// measurement log.
[[nodiscard]] std::optional<size_t> due_gpu(const base::gpus::MachineGpus& machine,
                                            const RefreshRequest& request,
                                            core::knowledge::MeasureBook& book, int64_t now_unix_s);

/// Adds the measured sessions to the log, with their cost. Returns for each GPU of the machine
/// whether it was measured; otherwise `result.problems` holds the reason.
std::vector<bool> keep_sessions(SessionResult& result, const SessionPlan& plan,
                                const base::gpus::MachineGpus& machine,
                                core::knowledge::MeasureBook& book, int64_t now_unix_s);

}  // namespace goban::live::machine
