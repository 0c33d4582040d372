// Gangs: pods that start together or not at all. What the API server shows of them, as the jobs and
// nodes that the core knows, and as the stands that answer orders. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "live/engine/cluster/ledger.hpp"
#include "live/engine/cluster/mark.hpp"
#include "live/engine/cluster/picture.hpp"
#include "live/engine/kubernetes/devices.hpp"
#include "live/engine/kubernetes/groups.hpp"
#include "live/engine/kubernetes/objects.hpp"

namespace goban::live::engine::kubernetes {

enum class Mode : uint8_t { Observe, Namespaces, All };

/// What the GPU indices of pods mean.
enum class Indices : uint8_t {
  Counts,  ///< only their number: the node's device plug-in takes any of its free GPUs
  Exact,   ///< pods get exactly these, by kGpusNote; nobody knows those of other pods
};

struct Rules {
  Mode mode = Mode::Observe;
  std::vector<std::string> namespaces{};  ///< the managed ones, with Mode::Namespaces
  /// spec.schedulerName of pods that wait for us; with "-exact" they wait for nobody else.
  std::string scheduler = "goban";
  Indices indices = Indices::Counts;
  bool sleeps = false;       ///< nodes may sleep (node_sleep.hpp)
  bool shares = false;       ///< pods with kShareLabel may share GPUs; only with Indices::Exact
  uint64_t first_epoch = 0;  ///< marks of lower epochs are of a daemon with another state folder
  /// The DRA driver whose devices are GPUs. Its DeviceClass has the same name.
  std::string driver = "gpu.nvidia.com";
};

/// All objects at one moment, by their keys (Meta::key).
struct Objects {
  std::map<std::string, Node> nodes{};
  std::map<std::string, Pod> pods{};
  std::map<std::string, Work> works{};
  std::map<std::string, Group> mpi_jobs{};
  std::map<std::string, Group> mpi2_jobs{};
  std::map<std::string, Group> pytorch_jobs{};
  std::map<std::string, Group> job_sets{};
  std::map<std::string, PodGroup> pod_groups{};
  std::map<std::string, Slice> slices{};
  std::map<std::string, DeviceClass> classes{};
  std::map<std::string, Claim> claims{};
  std::string devices_api{};  ///< path of the group and version; empty: not served
};

struct Gang {
  std::string id{};            ///< NAMESPACE/NAME, with /UID of its controller or pod if it has one
  std::string name{};          ///< as its label says; empty: that of its object or pod
  const Work* work = nullptr;  ///< its Job; null: plain pods, or of a group
  const Group* group = nullptr;    ///< the object that made its pods or Jobs
  std::vector<const Pod*> pods{};  ///< that have not ended, by index and name
  std::vector<const Pod*> over{};
  int32_t size = 1;      ///< pods that it needs now; -1: unknown
  int32_t bound = 0;     ///< pods with a node
  int32_t open = 0;      ///< pods without, that are not being deleted
  int32_t least = 0;     ///< of a pod group: pods that it needs; -1: unknown; 0: it is none
  cluster::Mark mark{};  ///< of the pods that have a node
  bool is_marked = false;
  int32_t placed = 0;        ///< foreign: pods that its run got a node for, also ended ones
  bool is_foreign = false;   ///< a pod with a node was placed by a daemon with another state folder
  uint64_t first_epoch = 0;  ///< Rules::first_epoch
  bool is_leaving = false;   ///< a pod with a node is being deleted or was refused
  bool is_followed = false;  ///< it has ended, and pods of its name wait to be the next
  bool is_moved = false;     ///< its pods lost their Job, or their labels, while it held GPUs
  [[nodiscard]] bool is_suspended() const {
    return (work != nullptr && work->suspended) || (group != nullptr && group->suspended);
  }
  [[nodiscard]] bool whole() const { return bound == size && open == 0 && !is_leaving; }
  /// A daemon with another state folder bound some of its pods; the others still wait.
  [[nodiscard]] bool is_left() const {
    return is_foreign && !is_marked && bound > 0 && open > 0 && placed < size;
  }
};

/// Runs that have not ended, as far as this daemon knows.
struct KnownRuns {
  std::map<std::string, RunId> latest{};   ///< by the gang's id
  std::map<std::string, RunId> started{};  ///< those of which the start was seen
};

/// The gangs of managed pods, by id. Pointers into `objects`. A pod that runs belongs to the gang
/// of its run, whatever becomes of its labels and owner.
[[nodiscard]] std::map<std::string, Gang> gangs_of(const Objects& objects, const Rules& rules,
                                                   const KnownRuns& runs = {});

/// The pod that stands for the others: one with GPUs.
[[nodiscard]] const Pod& pod_of(const Gang& gang);

/// Pods of ours on a node that was fenced at `fenced_ns` and has not been ready since; otherwise
/// none.
[[nodiscard]] std::vector<const Pod*> left_on(const Objects& objects, const std::string& node,
                                              base::TimeNs fenced_ns, const Rules& rules);

struct View {
  cluster::Picture picture{};
  std::map<std::string, cluster::JobStand> stands{};
};

/// `told`: the last picture, so that pods of others keep the GPUs that were assumed for them.
/// `started`: runs of which the start was seen.
[[nodiscard]] View view_of(const Objects& objects, const std::map<std::string, Gang>& gangs,
                           const Rules& rules, const cluster::Picture& told,
                           const std::map<std::string, RunId>& started);

}  // namespace goban::live::engine::kubernetes
