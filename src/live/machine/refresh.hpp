// Measuring again, one idle GPU at a time, within a share of all GPU time: what `goban profile
// --refresh` and the daemon have in common.
#pragma once

#include <optional>
#include <vector>

#include "engine/measure/session.hpp"
#include "profile/measure/measure_book.hpp"

namespace goban::engine::measure {

/// Seconds that one refresh takes, if nobody says otherwise.
inline constexpr double kRefreshSeconds = 10;
/// Blocks of a GPU in a whole measurement.
inline constexpr int kBlocks = 16;

/// The book of this score table; an empty one if there is none yet. Errors: those of
/// profile::read_book().
[[nodiscard]] base::Result<profile::MeasureBook> read_book_beside(const std::string& scores_path);

/// Positions in MachineGpus.
struct RefreshWish {
  std::vector<size_t> idle{};
  std::vector<size_t> suspects{};  ///< jobs say that their scores are wrong
  double cost_s = kRefreshSeconds;
};

/// The one GPU that is due, or none (profile::next_to_refresh()). Begins the book if it is new.
[[nodiscard]] std::optional<size_t> due_gpu(const local::MachineGpus& machine,
                                            const RefreshWish& wish, profile::MeasureBook& book,
                                            int64_t now_unix_s);

/// Puts what was measured into the book, with its cost. Returns by GPU of the machine whether it
/// was measured; the problems of `result` say why not.
std::vector<bool> keep_sessions(SessionResult& result, const SessionPlan& plan,
                                const local::MachineGpus& machine, profile::MeasureBook& book,
                                int64_t now_unix_s);

}  // namespace goban::engine::measure
