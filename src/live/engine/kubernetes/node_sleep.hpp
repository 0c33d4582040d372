// Nodes that sleep: cordoned, marked by an annotation, and put to sleep and woken by a command of
// the site. Off unless the site names one.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "live/engine/kubernetes/objects.hpp"

namespace goban::live::engine::kubernetes {

/// Annotation of a node: "asleep", or "waking", the Unix time of the request, and the time at which
/// its kubelet had been heard last (Node::heard_ns; none: it need not be heard again). Until it is
/// gone the node counts as up: Goban itself decides whether it is used.
inline constexpr std::string_view kSleepNote = "goban.dev/sleep";

[[nodiscard]] bool is_asleep(const Node& node);
/// Cordoned by somebody else, who may be at work there: it is left alone.
[[nodiscard]] bool is_taken_out(const Node& node);
/// Being woken since this Unix time in ns; -1: it is not.
[[nodiscard]] TimeNs waking_since(const Node& node);
/// It is ready, and its kubelet has said so since it was told to wake: for the first 40 s or so of
/// a sleep the API server still shows what it said before.
[[nodiscard]] bool is_awake(const Node& node);
/// A node that was woken and is awake, or is not after all this time: it is used as what it is.
[[nodiscard]] bool is_woken(const Node& node, TimeNs wall_ns, TimeNs patience_ns);

/// Names of the nodes with pods that would end with them: all but those of DaemonSets and static
/// ones, which every node has.
[[nodiscard]] std::set<std::string> nodes_in_use(const std::map<std::string, Pod>& pods);

/// What is to become of a node.
struct SleepOrder {
  bool sleeps = false;      ///< false: it is to wake
  TimeNs cordoned_ns = -1;  ///< of a node that is to sleep, by the steady clock; -1: it is open
};

[[nodiscard]] std::string node_path(const std::string& name);
/// Merge patches of a node.
[[nodiscard]] std::string sleep_body();
[[nodiscard]] std::string wake_body(TimeNs wall_ns, TimeNs heard_ns);
[[nodiscard]] std::string woken_body();

/// Runs `COMMAND sleep NODE` and `COMMAND wake NODE`, one after the other for a node, without
/// waiting. Used by one thread.
class SleepCommand {
 public:
  explicit SleepCommand(std::string command) : command_(std::move(command)) {}
  /// Kills what still runs.
  ~SleepCommand();
  SleepCommand(const SleepCommand&) = delete;
  SleepCommand& operator=(const SleepCommand&) = delete;
  void run(const std::string& what, const std::string& node);
  /// Whether something runs for the node, or waits.
  [[nodiscard]] bool is_busy(const std::string& node) const {
    return running_.contains(node) || waiting_.contains(node);
  }
  /// Starts what waited, and takes note of what has ended. Returns what failed, in words.
  [[nodiscard]] std::vector<std::string> look();

 private:
  struct Running {
    int pid = 0;
    std::string what{};
    TimeNs since_ns = 0;
  };
  void start(const std::string& what, const std::string& node);

  std::string command_;
  std::map<std::string, Running> running_;      ///< by node
  std::map<std::string, std::string> waiting_;  ///< node: what follows
  std::vector<std::string> failures_;
};

}  // namespace goban::live::engine::kubernetes
