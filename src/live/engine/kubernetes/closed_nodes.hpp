// On which managed nodes pods may not run, by their labels, taints and drivers. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "live/engine/kubernetes/gangs.hpp"

namespace goban::live::engine::kubernetes {

/// Goban decides about this node; with Mode::Observe about every one that has GPUs.
[[nodiscard]] bool is_managed(const Node& node, const Rules& rules);

/// Where the pods of a gang may run.
struct Place {
  std::vector<std::string> closed{};  ///< names of the managed nodes where none of them may
  /// Of what they ask for, the same on every look. Empty: all nodes are open, or the gang has no
  /// pods yet.
  std::string name{};
  const Pod* nowhere = nullptr;  ///< one that may run on no managed node; null: there is none
};

/// Answers of one look. Pods that ask for the same share one, as there are thousands of pods and of
/// nodes.
class ClosedNodes {
 public:
  /// `objects` outlives this object.
  ClosedNodes(const Objects& objects, const Rules& rules);
  /// Where a gang's pods with as many GPUs as `pod` may run, also if they have ended; of a gang
  /// that has no pods yet, `pod` itself.
  [[nodiscard]] const Place& of(const Gang& gang, const Pod& pod);
  /// A managed node, and not a closed one.
  [[nodiscard]] bool is_open(const Place& place, const std::string& node) const;
  /// For users, if one of the gang's pods may run on no managed node; empty otherwise.
  [[nodiscard]] std::string hindrance(const Gang& gang, const Pod& pod);

 private:
  [[nodiscard]] bool is_somewhere(const Pod& pod) const;

  std::vector<const Node*> nodes_;
  std::set<std::string_view> names_;              ///< of nodes_
  std::map<std::set<std::string>, Place> known_;  ///< by what the pods ask for
  std::map<std::string, bool> somewhere_;         ///< the same of single pods
  Place of_template_{};
};

}  // namespace goban::live::engine::kubernetes
