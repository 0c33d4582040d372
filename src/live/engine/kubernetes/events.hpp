// What Goban tells the users of a cluster by Kubernetes' Events (`kubectl get events`): one for a
// gang, not for each of its pods, and few. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/engine/kubernetes/bindings.hpp"
#include "live/engine/kubernetes/gangs.hpp"

namespace goban::live::engine::kubernetes {

enum class Happened : uint8_t {
  Placed,      ///< all pods of a gang were bound
  Preempted,   ///< what ran of it is ended, and it waits again
  BindFailed,  ///< the API server refused a binding
};

/// An Event before it is sent.
struct Told {
  Happened what = Happened::Placed;
  std::string api{};  ///< group and version of what it is about
  std::string kind{};
  std::string space{};
  std::string name{};
  std::string uid{};
  std::string words{};  ///< for users
};

/// About the object that users know the gang by: its group, its Job, or its first pod; nullopt: it
/// has none.
[[nodiscard]] std::optional<Told> told_of(const Gang& gang, Happened what, std::string words);
/// "4 pods with 8 GPUs on n1, n2".
[[nodiscard]] std::string placed_words(const std::vector<Binding>& bindings);

/// Path and body of the POST. `count`: how often it happened since the last that was sent.
[[nodiscard]] std::string events_path(const Told& told);
[[nodiscard]] std::string event_body(const Told& told, int32_t count, TimeNs wall_ns);

/// The same about the same object is told once a minute.
class EventFilter {
 public:
  /// How often it happened since it was told last; 0: not now.
  [[nodiscard]] int32_t take(const Told& told, TimeNs now_ns);

 private:
  struct Last {
    TimeNs told_ns = 0;
    int32_t untold = 0;
  };
  std::map<std::pair<std::string, Happened>, Last> last_;  ///< by uid
};

}  // namespace goban::live::engine::kubernetes
