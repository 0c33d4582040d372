// Pods that the labels of other gang schedulers make a gang: of a PodGroup (scheduling.x-k8s.io),
// or of labels alone (pod-group.scheduling.sigs.k8s.io). Such a group says only how many pods it
// needs at least.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "live/engine/kubernetes/gangs.hpp"

namespace goban::live::engine::kubernetes {

class PodGroups {
 public:
  /// Keeps a reference to `objects`.
  PodGroups(const Objects& objects, const Rules& rules);

  struct Found {
    std::string id{};  ///< of the gang
    std::string name{};
    int32_t least = -1;  ///< pods that it needs; -1: unknown
  };
  /// The group that is the pod's gang. None: it names none, or its Job has all the pods that the
  /// group needs, and is the gang itself.
  [[nodiscard]] std::optional<Found> of(const Pod& pod) const;
  /// Whether the Job's pods belong to a group that needs more pods than the Job has.
  [[nodiscard]] bool has(const Work& work) const;

 private:
  [[nodiscard]] std::optional<Found> named_by(const Meta& meta, const std::string& space) const;
  /// `parallelism`: of a Job; -1: it is not known.
  [[nodiscard]] bool needs_more(const Found& group, int32_t parallelism) const;

  const Objects& objects_;
  std::map<std::string, std::set<std::string>> owners_{};  ///< by the group's id
};

/// Sets size and members of a pod group's gang: all pods that exist when it starts start together.
void settle_pod_group(Gang& gang);

/// A gang without a Job or object of its own may be followed by another of its name: leaves out
/// pods that ended as parts of an earlier job, and of one that has ended those that wait, which are
/// the next. Pods of the same controllers, and of Jobs that were there when it started, belong to
/// it. `run`: the gang's latest; invalid: none.
void leave_others(Gang& gang, RunId run, const Objects& objects);

/// Of a gang whose start was seen, or that another daemon bound as a whole: leaves out pods without
/// a node that nobody but its user made. All that it needed had one.
void leave_made_anew(Gang& gang);

/// Leaves out pods that appeared after all that the gang needs had a node: they wait until these
/// have ended.
void leave_late(Gang& gang, int32_t needed);

}  // namespace goban::live::engine::kubernetes
