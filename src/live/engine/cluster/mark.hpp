// What is stored at a cluster with a job that was started here, as "goban:EPOCH.JOB.RUN", where its
// user cannot change it; with ":nodes" or ":indices" behind it if the job's user chose these.
#pragma once

#include <string>
#include <string_view>

#include "live/engine_events.hpp"

namespace goban::live::engine::cluster {

struct Mark {
  uint64_t epoch = 0;  ///< of the daemon that decided
  RunId run{};
  /// The request names nodes, or GPUs by their indices, because its user does, not only because of
  /// us.
  bool own_nodes = false;
  bool own_indices = false;
  friend bool operator==(const Mark&, const Mark&) = default;
};
[[nodiscard]] std::string mark_text(const Mark& mark);
/// False if the text is no mark.
[[nodiscard]] bool parse_mark(std::string_view text, Mark& mark);

}  // namespace goban::live::engine::cluster
