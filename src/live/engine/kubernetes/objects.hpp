// What Goban reads of Kubernetes' objects: nodes, pods and Jobs. All of it is untrusted: texts are
// bounded, numbers are in range, what is absent has its default.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "live/engine_events.hpp"

namespace goban::live::engine::kubernetes {

inline constexpr std::string_view kGpusNote = "goban.dev/gpus";  ///< annotation: "1,3"
inline constexpr std::string_view kRunNote = "goban.dev/run";    ///< annotation: cluster::Mark
/// Annotation of a Job that we suspended: it goes on when its pods are gone.
inline constexpr std::string_view kSuspendedNote = "goban.dev/suspended";
/// Annotation of a pod that was placed beside others on its GPUs: "true".
inline constexpr std::string_view kSharesNote = "goban.dev/shares";
inline constexpr std::string_view kShareLabel = "goban.dev/share";  ///< of pods: "true"
inline constexpr std::string_view kGangLabel = "goban.dev/gang";
inline constexpr std::string_view kGangSizeLabel = "goban.dev/gang-size";
inline constexpr std::string_view kGpusLabel =
    "goban.dev/gpus";  ///< of pods without a device plug-in
inline constexpr std::string_view kManagedLabel = "goban.dev/managed";  ///< of nodes: "true"

inline constexpr int64_t kMilli = 1000;  ///< CPU amounts are in thousandths of a core

struct Meta {
  std::string space{};  ///< namespace; empty for nodes
  std::string name{};
  std::string uid{};
  std::string version{};  ///< resourceVersion
  TimeNs created_ns = 0;
  bool deleting = false;
  TimeNs kill_ns = -1;  ///< deleting: when its kubelet ends it at the latest, by the server's clock
  std::map<std::string, std::string> labels{};
  std::map<std::string, std::string> notes{};    ///< annotations of goban.dev
  std::map<std::string, std::string> staging{};  ///< annotations of staging.goban.dev
  [[nodiscard]] std::string key() const { return space + "/" + name; }
  [[nodiscard]] std::string label(std::string_view wanted) const;
  [[nodiscard]] std::string note(std::string_view wanted) const;
  friend bool operator==(const Meta&, const Meta&) = default;
};

/// A condition on a node's label.
struct Requirement {
  enum class Is : uint8_t { In, NotIn, Exists, Absent };
  std::string key{};
  Is is = Is::In;
  std::vector<std::string> values{};
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

struct Taint {
  std::string key{};
  std::string value{};
  std::string effect{};  ///< NoSchedule, NoExecute, PreferNoSchedule
  friend bool operator==(const Taint&, const Taint&) = default;
};

struct Toleration {
  std::string key{};  ///< empty: every one
  std::string value{};
  std::string effect{};  ///< empty: every one
  bool any_value = false;
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

enum class Phase : uint8_t { Pending, Running, Succeeded, Failed };

/// A device of the DRA driver whose devices are GPUs.
struct DeviceName {
  std::string pool{};
  std::string name{};
  friend auto operator<=>(const DeviceName&, const DeviceName&) = default;
};

struct Pod {
  Meta meta{};
  std::string owner_kind{};  ///< its controller; empty: it has none
  std::string owner_name{};
  std::string owner_uid{};
  std::string scheduler{};
  std::string node{};
  Phase phase = Phase::Pending;
  std::string reason{};  ///< of a failure, such as OutOfnvidia.com/gpu
  int32_t index = -1;    ///< in its Job
  bool gated = false;    ///< a scheduling gate holds it
  int32_t priority = 0;
  int32_t gpus = 0;
  int64_t cpu_milli = 0;
  int64_t mem_bytes = 0;
  std::vector<Requirement> where{};
  std::vector<Toleration> tolerations{};
  std::string said{};                 ///< why it has no node, as its condition PodScheduled says
  std::string unclear{};              ///< a rule of its placement that Goban does not carry out
  std::vector<std::string> claims{};  ///< names of its ResourceClaims; empty: one is not made yet
  // By settle_devices(), for pods with claims:
  std::string waits{};          ///< what its claims need first
  std::vector<int32_t> held{};  ///< GPUs of its node that are allocated to its claims
  bool is_second = false;       ///< of ours, on a GPU that somebody else had before
  TimeNs bound_ns = -1;         ///< when it got its node, by the API server's clock
  TimeNs start_ns = -1;
  TimeNs end_ns = -1;
  int32_t exit_code = -1;
  int32_t signal = 0;
  bool out_of_memory = false;
  bool began = false;  ///< one of its containers has run
  [[nodiscard]] bool is_over() const { return phase == Phase::Succeeded || phase == Phase::Failed; }
  friend bool operator==(const Pod&, const Pod&) = default;
};

struct Node {
  Meta meta{};
  SeenNode seen{};
  int64_t cpu_milli = 0;  ///< allocatable
  int64_t mem_bytes = 0;
  std::vector<Taint> taints{};
  bool is_ready = false;
  TimeNs heard_ns = -1;  ///< when its kubelet last said that it is ready, by its own clock
  TimeNs lost_ns = -1;   ///< since when it is not ready, by the cluster's clock; -1 = unknown
  bool is_cordoned = false;
  std::vector<DeviceName> devices{};  ///< by settle_devices(): its GPUs by index; empty: no driver
  friend bool operator==(const Node&, const Node&) = default;
};

/// A batch/v1 Job.
struct Work {
  Meta meta{};
  Pod pod{};  ///< its template
  int32_t parallelism = 1;
  int32_t completions = -1;  ///< -1: as parallelism
  int32_t succeeded = 0;
  bool suspended = false;
  bool complete = false;
  bool failed = false;
  std::string reason{};    ///< of a failure
  int64_t deadline_s = 0;  ///< activeDeadlineSeconds; 0 = none
};

/// nullopt: not an object of this kind, or it has no name or uid.
[[nodiscard]] std::optional<Pod> read_pod(const nlohmann::json& object);
[[nodiscard]] std::optional<Node> read_node(const nlohmann::json& object);
[[nodiscard]] std::optional<Work> read_work(const nlohmann::json& object);

/// Whether a new version of an object says anything new. A kubelet that writes a node's status
/// again does so only of a node that is to wake.
[[nodiscard]] bool is_other(Node before, const Node& after);
[[nodiscard]] bool is_other(Pod before, const Pod& after);

/// "1,3": different indices below 1024; nullopt if it is anything else.
[[nodiscard]] std::optional<std::vector<int32_t>> parse_gpu_list(std::string_view text);
[[nodiscard]] std::string gpu_list_text(const std::vector<int32_t>& gpus);

/// It keeps pods off, if they do not tolerate it.
[[nodiscard]] bool is_hard(const Taint& taint);
/// It says of a node that it is cordoned or not ready.
[[nodiscard]] bool says_state(const Taint& taint);

/// Whether a pod may run on the node by its labels and taints, and has its GPUs by claims if and
/// only if a DRA driver publishes those of the node. A node that is cordoned or not ready is not
/// ruled out by the taints that say so.
[[nodiscard]] bool may_run_on(const Pod& pod, const Node& node);

}  // namespace goban::live::engine::kubernetes
