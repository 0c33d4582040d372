// The output of a gang's pods, as the API server gives it to whoever asks: with the rights of the
// caller, not with those of the daemon.
#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "live/engine/kubernetes/access.hpp"

namespace goban::live::engine::kubernetes {

struct LogQuestion {
  std::string gang{};  ///< its id: NAMESPACE/NAME, and /UID
  uint64_t job =
      0;  ///< its number here; several jobs may follow each other in a group; 0 = unknown
  std::string container{};  ///< empty: the first of each pod
  bool follow = false;
  int64_t lines = 0;  ///< the last N of each pod; 0 = all
};

/// A pod whose output is asked for.
struct LogSource {
  std::string space{};
  std::string pod{};
  std::string container{};            ///< whose output it is; empty: it has not the one asked for
  std::vector<std::string> others{};  ///< its other containers
  int32_t index = -1;                 ///< in its Job
  bool by_label = false;   ///< a label names an object of the gang's name; otherwise it has its id
  bool by_object = false;  ///< an object other than a Job made it, and may have made others by Jobs
};

/// Whether this is the id of a gang, and not of a job of another engine.
[[nodiscard]] bool is_gang_id(std::string_view id);

/// Adds those of a list's items that belong to the gang. Pods that another scheduler placed do not,
/// whatever labels they bear.
void add_log_sources(const nlohmann::json& items, const LogQuestion& question,
                     std::vector<LogSource>& out);
/// When all are added: of a gang that no such object made, labels of its name mean another one.
void settle_log_sources(std::vector<LogSource>& sources);

/// The path of a pod's output.
[[nodiscard]] std::string log_path(const LogSource& source, const LogQuestion& question);

/// Takes the output, of one pod byte by byte, of several in whole lines, each behind the name of
/// its pod. `take` is called by one thread at a time; false ends it, as does `ending`. Returns what
/// cannot be read of some pods, and which containers were left out, for users. Errors: Failed if
/// the pods cannot be listed, if there are none, or if none of them can be read.
[[nodiscard]] base::Result<std::vector<std::string>> read_logs(
    const Access& access, const LogQuestion& question,
    const std::function<bool(std::string_view)>& take, const std::atomic<bool>& ending);

}  // namespace goban::live::engine::kubernetes
