// Which pod of a gang goes where, and the body that says so. Pure.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "live/engine/kubernetes/claims.hpp"
#include "live/engine/kubernetes/gangs.hpp"

namespace goban::live::engine::kubernetes {

struct Binding {
  const Pod* pod = nullptr;
  std::string node{};
  std::vector<int32_t> gpus{};
  bool shares = false;          ///< others hold some of its GPUs
  std::vector<Grant> grants{};  ///< by grant_devices(): of its claims, which come first
};

/// Whether a pod may run on a node.
using MayRun = std::function<bool(const Pod&, const std::string& node)>;

/// Pods of the gang do not exist yet, or some of an earlier run still do: nothing can be bound.
[[nodiscard]] bool lacks_open_pods(const Gang& gang);

/// One for each pod of the gang that has no node. Pods are served by their index, each with as many
/// GPUs of the next node as it asked for, as far as each may run there: where their selectors
/// differ, they change places. Those without GPUs go to the first node. Errors: Failed in words for
/// users, if the parts do not fit the pods.
[[nodiscard]] base::Result<std::vector<Binding>> bindings_of(const Gang& gang,
                                                             std::span<const NodePart> parts,
                                                             const MayRun& may_run = {});

/// Body of POST pods/NAME/binding: only this very pod, as it was seen.
[[nodiscard]] std::string binding_body(const Binding& binding, const std::string& version,
                                       const cluster::Mark& mark);

/// Path of a pod, or of what is below it.
[[nodiscard]] std::string pod_path(const Meta& meta, std::string_view below = "");
[[nodiscard]] std::string work_path(const Meta& meta);
/// Body of POST pods/NAME/eviction and of DELETE: only this very object.
[[nodiscard]] std::string eviction_body(const Meta& meta);
enum class Deletion : uint8_t {
  WithGrace,
  AtOnce,  ///< although nobody says that it has ended
};
[[nodiscard]] std::string deletion_body(const Meta& meta, Deletion how = Deletion::WithGrace);
/// Body of DELETE of a pod that is being deleted: no more grace than this.
[[nodiscard]] std::string hurry_body(const Meta& meta, TimeNs grace_ns);
/// Pods that were taken back and whose grace is longer than this. `evicted`: uids of pods without a
/// Job or object that could be suspended.
[[nodiscard]] std::vector<const Pod*> slow_to_end(const Gang& gang,
                                                  const std::set<std::string>& evicted,
                                                  TimeNs wall_ns, TimeNs grace_ns);
/// Merge patch of a Job: suspended by us, or no longer.
[[nodiscard]] std::string suspension_body(const Meta& meta, bool suspended);
/// Strategic merge patch of the status of a pod that waits.
[[nodiscard]] std::string reason_body(const Meta& meta, const std::string& reason, TimeNs wall_ns);
/// Merge patch of a pod that runs.
[[nodiscard]] std::string mark_body(const Meta& meta, const cluster::Mark& mark);

}  // namespace goban::live::engine::kubernetes
