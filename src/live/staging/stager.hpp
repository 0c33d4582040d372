// Has orders of copies carried out by processes, a few at a time (stage_worker.hpp), here or on a
// gateway node.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/files.hpp"
#include "live/staging.hpp"

namespace goban::live::staging {

struct StagerOptions {
  /// Program and arguments of a process that copies; empty: this program, `stage-worker`.
  std::vector<std::string> worker{};
  /// What goes before `stage-worker` for a gateway: {node} is its name.
  std::vector<std::string> gateway_command = {
      "ssh",    "-o",   "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=15",
      "{node}", "goban"};
  std::string node{};   ///< this machine: a gateway of this name, or of the host's, is this machine
  int32_t streams = 1;  ///< copies at a time
  /// A process that reports nothing for so long has failed, and is killed. Copies report each
  /// second.
  std::chrono::milliseconds silence = std::chrono::minutes(10);
  /// A process whose order was withdrawn ends by itself within this time, or is killed.
  std::chrono::milliseconds grace = std::chrono::seconds(20);
};

/// Called by one thread. Its processes end when it does.
class Stager {
 public:
  explicit Stager(StagerOptions options);
  ~Stager();
  Stager(const Stager&) = delete;
  Stager& operator=(const Stager&) = delete;

  /// The same order again changes nothing while it is carried out.
  void order(const StageOrder& order);
  /// What was reported since the last call. Starts what may start.
  [[nodiscard]] std::vector<StageReport> take();

 private:
  using Steady = std::chrono::steady_clock;
  struct Running {
    StageOrder order{};
    pid_t pid = 0;
    base::Descriptor talk{};  ///< its input; closed: it ends
    base::Descriptor hear{};
    std::string unsent{};
    std::string unread{};      ///< up to the end of a line
    std::string last_words{};  ///< the last line that is no report
    bool is_answered = false;
    bool is_withdrawn = false;
    Steady::time_point heard{};                ///< its last report, or its start
    std::optional<Steady::time_point> kill{};  ///< when it is killed if it still runs
    bool is_killed = false;
  };

  void start_all();
  [[nodiscard]] std::optional<Running> start(const StageOrder& order, std::string& problem) const;
  [[nodiscard]] std::vector<std::string> words_for(const StageOrder& order) const;
  static void send(Running& running);
  /// Gives up a process that says nothing, and kills what does not end.
  void watch(Running& running, Steady::time_point now, std::vector<StageReport>& out) const;
  /// True: its output has ended.
  static bool listen(Running& running, std::vector<StageReport>& out);
  static void read_line(Running& running, std::string_view line, std::vector<StageReport>& out);

  StagerOptions options_;
  std::deque<StageOrder> waiting_;
  std::list<Running> running_;
  std::vector<StageReport> reports_;
};

}  // namespace goban::live::staging
