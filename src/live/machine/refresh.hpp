// Measuring again, one idle GPU at a time, within a share of all GPU time: what `goban profile
// --refresh` and the daemon have in common.
#pragma once

#include <optional>
#include <vector>

#include "core/knowledge/measure/measure_book.hpp"
#include "live/machine/session.hpp"

namespace goban::live::machine {

/// Seconds that one refresh takes, if nobody says otherwise.
inline constexpr double kRefreshSeconds = 10;
/// Blocks of a GPU in a whole measurement.
inline constexpr int kBlocks = 16;

/// The book of this score table; an empty one if there is none yet. Errors: it cannot be
/// read, and those of core::knowledge::parse_book().
[[nodiscard]] base::Result<core::knowledge::MeasureBook> read_book_beside(
    const std::string& scores_path);

/// Positions in base::gpus::MachineGpus.
struct RefreshWish {
  std::vector<size_t> idle{};
  std::vector<size_t> suspects{};  ///< jobs say that their scores are wrong
  double cost_s = kRefreshSeconds;
};

/// The one GPU that is due, or none (core::knowledge::next_to_refresh()). Begins the book if it is
/// new.
[[nodiscard]] std::optional<size_t> due_gpu(const base::gpus::MachineGpus& machine,
                                            const RefreshWish& wish,
                                            core::knowledge::MeasureBook& book, int64_t now_unix_s);

/// Puts what was measured into the book, with its cost. Returns by GPU of the machine whether it
/// was measured; the problems of `result` say why not.
std::vector<bool> keep_sessions(SessionResult& result, const SessionPlan& plan,
                                const base::gpus::MachineGpus& machine,
                                core::knowledge::MeasureBook& book, int64_t now_unix_s);

}  // namespace goban::live::machine
