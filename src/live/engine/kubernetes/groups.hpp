// Objects that make a gang of several pods or Jobs: MPIJob, PyTorchJob, JobSet, PodGroup. What they
// say is untrusted, like all of Kubernetes' objects.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "live/engine/kubernetes/objects.hpp"

namespace goban::live::engine::kubernetes {

enum class GroupKind : uint8_t { MpiJob, MpiJob2, PyTorchJob, JobSet };

struct GroupFacts {
  const char* kind;     ///< as their pods' owners name it
  const char* api;      ///< path of the group and version
  const char* plural;   ///< in paths
  const char* suspend;  ///< the field of `spec` that holds `suspend`; empty: `spec` itself
};
inline constexpr std::array<GroupFacts, 4> kGroups = {{
    {"MPIJob", "/apis/kubeflow.org/v1", "mpijobs", "runPolicy"},
    {"MPIJob", "/apis/kubeflow.org/v2beta1", "mpijobs", "runPolicy"},
    {"PyTorchJob", "/apis/kubeflow.org/v1", "pytorchjobs", "runPolicy"},
    {"JobSet", "/apis/jobset.x-k8s.io/v1alpha2", "jobsets", ""},
}};
[[nodiscard]] constexpr const GroupFacts& facts_of(GroupKind kind) {
  return kGroups.at(static_cast<size_t>(kind));
}

/// Labels by which pods and Jobs name the object that their Job belongs to.
inline constexpr std::string_view kTrainingLabel = "training.kubeflow.org/job-name";
inline constexpr std::string_view kJobSetLabel = "jobset.sigs.k8s.io/jobset-name";

/// Labels of other gang schedulers: of a PodGroup object, or of the name and size of a group.
inline constexpr std::string_view kPodGroupLabel = "scheduling.x-k8s.io/pod-group";
inline constexpr std::string_view kGroupNameLabel = "pod-group.scheduling.sigs.k8s.io/name";
inline constexpr std::string_view kGroupSizeLabel =
    "pod-group.scheduling.sigs.k8s.io/min-available";
inline constexpr const char* kPodGroupsPath = "/apis/scheduling.x-k8s.io/v1alpha1/podgroups";

/// A PodGroup of scheduling.x-k8s.io: it says only how many pods have to start together.
struct PodGroup {
  Meta meta{};
  int32_t least = 1;  ///< pods
};

/// nullopt: not such an object, or it has no name or uid.
[[nodiscard]] std::optional<PodGroup> read_pod_group(const nlohmann::json& object);

struct Group {
  Meta meta{};
  GroupKind kind = GroupKind::MpiJob;
  int32_t size = 0;  ///< pods
  bool suspended = false;
  bool complete = false;
  bool failed = false;
  std::string reason{};  ///< of a failure
};

/// nullopt: not an object of this kind, or it has no name or uid.
[[nodiscard]] std::optional<Group> read_group(const nlohmann::json& object, GroupKind kind);

/// Path of the object.
[[nodiscard]] std::string group_path(const Group& group);
/// Merge patch: suspended by us, or no longer.
[[nodiscard]] std::string group_suspension_body(const Group& group, bool suspended);

}  // namespace goban::live::engine::kubernetes
