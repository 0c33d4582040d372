// The progress socket of a node: jobs that something else started report there, as jobs of this
// daemon report to their supervisor (docs/progress.md). Any user may connect; the kernel says which
// process and user it is, and JobScan which job.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>
#include <thread>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "live/engine/local/progress_connection.hpp"
#include "live/engine/local/progress_lines.hpp"
#include "site/telemetry/agent_report.hpp"

namespace goban::serve::agent {

class ProgressHub {
 public:
  /// Says which job a process belongs to. Called by the hub's thread.
  using JobOf = std::function<std::optional<site::telemetry::AgentJob>(pid_t)>;

  /// Listens at `path` until it is destroyed, in a thread of its own. A socket that nobody serves
  /// is replaced. Errors: Failed.
  [[nodiscard]] static base::Result<std::unique_ptr<ProgressHub>> open(const std::string& path,
                                                                       JobOf job_of);
  ~ProgressHub();
  ProgressHub(const ProgressHub&) = delete;
  ProgressHub& operator=(const ProgressHub&) = delete;

  /// Jobs with their progress, by id and user; those that said nothing for ten minutes and are not
  /// connected are forgotten.
  [[nodiscard]] std::vector<site::telemetry::AgentJob> heard(base::TimeNs now_ns);

 private:
  // A process may have 1024 descriptors, as a rule, and one user must not take them all.
  static constexpr size_t kConnectionsMax = 512;
  static constexpr size_t kConnectionsUserMax = 256;
  static constexpr size_t kConnectionsJobMax = 64;
  static constexpr size_t kJobsUserMax = 256;  ///< a process can say that it is of any job

  using Key = std::pair<std::string, uint32_t>;
  struct Sum {
    site::telemetry::AgentJob job{};
    live::engine::local::ProgressSum sum{};
    size_t connections = 0;
    base::TimeNs heard_ns = 0;
  };
  struct Connection {
    Key key{};
    live::engine::local::ProgressConnection link;
  };

  ProgressHub(std::string path, base::Descriptor listening, base::Descriptor end_reading,
              base::Descriptor end_writing, JobOf job_of);
  void work();
  void admit(base::TimeNs now_ns);
  /// Makes room for a job of the user; false: there is none. The caller has the lock.
  [[nodiscard]] bool make_room(uint32_t uid);
  void read_from(Connection& connection, base::TimeNs now_ns);

  std::string path_;
  base::Descriptor listening_{};
  base::Descriptor end_reading_{};  ///< a pipe that wakes the thread for its end
  base::Descriptor end_writing_{};
  JobOf job_of_;
  std::vector<Connection> connections_{};  ///< of the thread
  base::TimeNs rests_until_ns_ = 0;        ///< no connection is accepted before; of the thread
  std::mutex mutex_{};
  std::map<Key, Sum> sums_{};
  std::thread thread_{};
};

}  // namespace goban::serve::agent
