// What is stored at a cluster with a job that was started here, as "goban:EPOCH.JOB.RUN", where its
// user cannot change it; with ":nodes" behind it if the job's user chose its nodes.
#pragma once

#include <string>
#include <string_view>

#include "live/engine_events.hpp"

namespace goban::live::engine::cluster {

struct Mark {
  uint64_t epoch = 0;  ///< of the daemon that decided
  RunId run{};
  bool own_nodes =
      false;  ///< the request names nodes because its user does, not only because of us
  friend bool operator==(const Mark&, const Mark&) = default;
};
[[nodiscard]] std::string mark_text(const Mark& mark);
/// False if the text is no mark.
[[nodiscard]] bool parse_mark(std::string_view text, Mark& mark);

}  // namespace goban::live::engine::cluster
