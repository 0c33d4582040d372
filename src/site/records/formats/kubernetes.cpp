// Format `kubernetes`: the output of `kubectl get workloads,jobs,pods -A -o json`, or consecutive
// objects: batch/v1 Jobs, Kueue Workloads, Pods. Other objects are counted and ignored.
//
// One record per Job, with the queue times of its Workload (found by owner) and the nodes of its
// Pods; one per Workload whose owner is not in the dump; one per owner of Pods that is not in the
// dump (its time to live had expired), and per Pod without owner.
//
// Submission = creation. Start = PodsReady, otherwise startTime, otherwise Admitted. End =
// completionTime, otherwise the conditions Complete, Failed, Finished. The start of an evicted
// workload is its last PodsReady; `restarts` counts the evictions. The id is the uid, as names are
// personal data. namespace = account; queue = partition; users are unknown. GPUs = nvidia.com/gpu
// (amd.com/gpu, gpu.intel.com) limits times pods; nvidia.com/mig-* count instances. Limit =
// activeDeadlineSeconds or maximumExecutionTimeSeconds. Deleted objects are lost: dump before their
// time to live expires.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

#include "base/date_time.hpp"
#include "base/json_fields.hpp"
#include "base/number.hpp"
#include "site/records/record_format.hpp"
#include "site/records/slurm_fields.hpp"

namespace goban::site::records {
namespace {

using base::text_of;
using base::TimeNs;
using nlohmann::json;

/// A member of an object; null if it does not exist.
const json& member(const json& object, const char* key) {
  static const json nothing;
  const json* found = base::find_member(object, key);
  return found == nullptr ? nothing : *found;
}

int64_t whole_of(const json& object, const char* key, int64_t missing) {
  constexpr int64_t kMost = INT32_MAX;
  const json& value = member(object, key);
  if (!value.is_number_integer()) return missing;
  return std::clamp<int64_t>(value.get<int64_t>(), -kMost, kMost);
}

TimeNs time_of(const json& object, const char* key) {
  const auto time = base::parse_date_time(text_of(object, key));
  return time ? time->unix_ns : -1;
}

/// A Kubernetes quantity in thousandths: "4", "500m", "16Gi", "1e3".
int64_t milli_quantity(const json& value) {
  if (value.is_number()) {
    const auto number = value.get<double>();
    return number >= 0 && number < 1e15 ? static_cast<int64_t>(number * 1000) : 0;
  }
  if (!value.is_string()) return 0;
  std::string_view text = value.get_ref<const std::string&>();
  double scale = 1000;
  constexpr std::array<std::pair<std::string_view, double>, 12> kSuffixes = {{
      {"Ki", 1024.0},
      {"Mi", 1048576.0},
      {"Gi", 1073741824.0},
      {"Ti", 1099511627776.0},
      {"Pi", 1125899906842624.0},
      {"k", 1e3},
      {"K", 1e3},
      {"M", 1e6},
      {"G", 1e9},
      {"T", 1e12},
      {"P", 1e15},
      {"m", 1e-3},
  }};
  for (const auto& [suffix, factor] : kSuffixes) {
    if (!text.ends_with(suffix)) continue;
    text.remove_suffix(suffix.size());
    scale *= factor;
    break;
  }
  const double number = base::parse_double(text).value_or(0) * scale;
  return number > 0 && number < 4e18 ? static_cast<int64_t>(number) : 0;
}

/// Sum of the requests of pods.
struct Demand {
  int64_t gpus = 0;
  int64_t cpu_milli = 0;
  int64_t mem_milli = 0;
  bool has_mig = false;
  double held_gpus = 0;  ///< MIG instances count as their share
  std::string gpu_type;
};

int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX / 4 : std::min(product, INT64_MAX / 4);
}

void add_resources(const json& resources, int64_t pods, Demand& demand) {
  if (!resources.is_object()) return;
  for (const auto& [name, value] : resources.items()) {
    const int64_t milli = times(milli_quantity(value), pods);
    const bool is_mig = name.starts_with("nvidia.com/mig-");
    if (name == "nvidia.com/gpu" || name == "amd.com/gpu" || name == "gpu.intel.com/i915" ||
        is_mig) {
      demand.gpus = std::min<int64_t>(demand.gpus + milli / 1000, INT32_MAX);
      demand.has_mig |= is_mig && milli > 0;
      const std::string profile =
          is_mig ? name.substr(std::string("nvidia.com/mig-").size()) : std::string();
      if (is_mig && milli > 0) demand.gpu_type = profile;
      demand.held_gpus += static_cast<double>(milli) / 1000 * mig_share(profile);
    } else if (name == "cpu") {
      demand.cpu_milli = std::min(demand.cpu_milli + milli, int64_t{INT32_MAX} * 1000);
    } else if (name == "memory") {
      demand.mem_milli = std::min(demand.mem_milli + milli, INT64_MAX / 4);
    }
  }
}

/// Limits are used; resources without a limit are counted by request.
void add_pod_spec(const json& spec, int64_t pods, Demand& demand) {
  const json& containers = member(spec, "containers");
  if (!containers.is_array()) return;
  for (const json& container : containers) {
    const json& resources = member(container, "resources");
    json merged = member(resources, "requests");
    if (!merged.is_object()) merged = json::object();
    if (const json& limits = member(resources, "limits"); limits.is_object()) merged.update(limits);
    add_resources(merged, pods, demand);
  }
}

/// Time at which a condition of that type became true; -1 = it is not true.
TimeNs condition_time(const json& status, std::string_view type, std::string* reason = nullptr) {
  const json& conditions = member(status, "conditions");
  if (!conditions.is_array()) return -1;
  for (const json& condition : conditions) {
    if (text_of(condition, "type") != type || text_of(condition, "status") != "True") continue;
    if (reason != nullptr) *reason = text_of(condition, "reason");
    return time_of(condition, "lastTransitionTime");
  }
  return -1;
}

/// The data of an object, stored until all objects are read.
struct Kept {
  int64_t line = 0;
  std::string uid;
  std::string owner;  ///< uid
  std::string space;
  std::string queue;
  TimeNs created_ns = -1;
  TimeNs admitted_ns = -1;
  TimeNs ready_ns = -1;
  TimeNs start_ns = -1;
  TimeNs end_ns = -1;
  TimeNs limit_ns = 0;
  RecordedState state = RecordedState::Unknown;
  int32_t exit_code = -1;
  int32_t priority = 0;
  int32_t restarts = -1;
  int64_t pods = 0;
  Demand demand;
  std::string node;  ///< of a pod
  std::string image;
};

TimeNs limit_of(const json& spec, const char* key) {
  const int64_t seconds = whole_of(spec, key, 0);
  return seconds > 0 ? seconds * base::kSecond : 0;
}

Kept keep_common(const json& object, int64_t line) {
  const json& metadata = member(object, "metadata");
  Kept kept;
  kept.line = line;
  kept.uid = text_of(metadata, "uid");
  kept.space = text_of(metadata, "namespace");
  kept.created_ns = time_of(metadata, "creationTimestamp");
  kept.queue = text_of(member(metadata, "labels"), "kueue.x-k8s.io/queue-name");
  if (const json& owners = member(metadata, "ownerReferences"); owners.is_array()) {
    for (const json& owner : owners) kept.owner = text_of(owner, "uid");
  }
  return kept;
}

Kept keep_job(const json& object, int64_t line) {
  Kept kept = keep_common(object, line);
  const json& spec = member(object, "spec");
  const json& status = member(object, "status");
  kept.pods = std::max<int64_t>(whole_of(spec, "parallelism", 1), 0);
  kept.pods = std::min(kept.pods, std::max<int64_t>(whole_of(spec, "completions", kept.pods), 1));
  kept.limit_ns = limit_of(spec, "activeDeadlineSeconds");
  add_pod_spec(member(member(spec, "template"), "spec"), kept.pods, kept.demand);
  kept.start_ns = time_of(status, "startTime");
  kept.end_ns = time_of(status, "completionTime");
  std::string reason;
  const TimeNs complete_ns = condition_time(status, "Complete");
  const TimeNs failed_ns = condition_time(status, "Failed", &reason);
  if (kept.end_ns < 0) kept.end_ns = std::max(complete_ns, failed_ns);
  if (failed_ns >= 0) {
    kept.state = reason == "DeadlineExceeded" ? RecordedState::TimedOut : RecordedState::Failed;
  } else if (complete_ns >= 0 || kept.end_ns >= 0) {
    kept.state = RecordedState::Completed;
  } else if (condition_time(status, "Suspended") >= 0) {
    kept.state = kept.start_ns >= 0 ? RecordedState::Suspended : RecordedState::Pending;
    kept.start_ns = -1;
  } else {
    kept.state = kept.start_ns >= 0 ? RecordedState::Running : RecordedState::Pending;
  }
  return kept;
}

Kept keep_workload(const json& object, int64_t line) {
  Kept kept = keep_common(object, line);
  const json& spec = member(object, "spec");
  const json& status = member(object, "status");
  kept.queue = text_of(spec, "queueName");
  kept.priority = static_cast<int32_t>(whole_of(spec, "priority", 0));
  kept.limit_ns = limit_of(spec, "maximumExecutionTimeSeconds");
  if (const json& sets = member(spec, "podSets"); sets.is_array()) {
    for (const json& set : sets) {
      const int64_t count = std::max<int64_t>(whole_of(set, "count", 1), 0);
      kept.pods += count;
      add_pod_spec(member(member(set, "template"), "spec"), count, kept.demand);
    }
  }
  const json& assignments = member(member(status, "admission"), "podSetAssignments");
  if (assignments.is_array() && kept.demand.gpu_type.empty()) {
    for (const json& assignment : assignments) {
      kept.demand.gpu_type = text_of(member(assignment, "flavors"), "nvidia.com/gpu");
    }
  }
  kept.admitted_ns = condition_time(status, "Admitted");
  kept.ready_ns = condition_time(status, "PodsReady");
  kept.restarts = static_cast<int32_t>(whole_of(member(status, "requeueState"), "count", -1));
  std::string reason;
  kept.end_ns = condition_time(status, "Finished", &reason);
  const bool runs = kept.ready_ns >= 0 || kept.admitted_ns >= 0;
  kept.state = kept.end_ns < 0 ? (runs ? RecordedState::Running : RecordedState::Pending)
               : reason.find("Fail") != reason.npos ? RecordedState::Failed
                                                    : RecordedState::Completed;
  return kept;
}

Kept keep_pod(const json& object, int64_t line) {
  Kept kept = keep_common(object, line);
  const json& spec = member(object, "spec");
  const json& status = member(object, "status");
  kept.pods = 1;
  kept.node = text_of(spec, "nodeName");
  kept.limit_ns = limit_of(spec, "activeDeadlineSeconds");
  add_pod_spec(spec, 1, kept.demand);
  kept.start_ns = time_of(status, "startTime");
  const std::string phase = text_of(status, "phase");
  kept.state = parse_job_state(phase).value_or(RecordedState::Unknown);
  const json& containers = member(status, "containerStatuses");
  if (containers.is_array()) {
    for (const json& container : containers) {
      const json& ended = member(member(container, "state"), "terminated");
      kept.end_ns = std::max(kept.end_ns, time_of(ended, "finishedAt"));
      kept.exit_code =
          std::max(kept.exit_code, static_cast<int32_t>(whole_of(ended, "exitCode", -1)));
      if (text_of(ended, "reason") == "OOMKilled") kept.state = RecordedState::OutOfMemory;
      kept.image = text_of(container, "image");
    }
  }
  if (!has_ended(kept.state)) kept.end_ns = -1;
  return kept;
}

class KubernetesParser final : public ObjectParser {
 public:
  void take(std::string_view text, int64_t line, RecordOutput& out) override {
    json object = json::parse(text, nullptr, false);
    if (object.is_object() && member(object, "object").is_object()) {
      object = json(member(object, "object"));  // an event of a watch
    }
    const std::string kind = text_of(object, "kind");
    if (kind != "Job" && kind != "Workload" && kind != "Pod") {
      if (!object.is_discarded() && !kind.empty()) {
        ++others_;
        return;
      }
      out.count_record();
      return out.reject(line, object.is_discarded() ? "not a JSON object" : "kind is missing",
                        text);
    }
    Kept kept = kind == "Job"        ? keep_job(object, line)
                : kind == "Workload" ? keep_workload(object, line)
                                     : keep_pod(object, line);
    if (kept.uid.empty() || kept.created_ns < 0) {
      out.count_record();
      return out.reject(line, kind + " without metadata.uid or creationTimestamp", text);
    }
    // A watch reports an object several times; the last report is used.
    auto& kind_map = kind == "Job" ? jobs_ : kind == "Workload" ? workloads_ : pods_;
    std::string uid = kept.uid;
    kind_map[std::move(uid)] = std::move(kept);
  }

  void finish(RecordOutput& out) override;
  bool has_walltimes() const override { return true; }
  std::vector<std::string> notes() const override {
    if (others_ == 0) return {};
    return {fmt::format("{} objects are neither Job, Workload nor Pod and were not used", others_)};
  }

 private:
  using Pods = std::vector<const Kept*>;
  static void put(const Kept& kept, const Pods& pods, RecordOutput& out);

  std::map<std::string, Kept> jobs_, workloads_, pods_;
  int64_t others_ = 0;
};

void KubernetesParser::put(const Kept& kept, const Pods& pods, RecordOutput& out) {
  AccountingRecord record;
  record.line = kept.line;
  record.id = kept.uid;
  record.account = kept.space;
  record.partition = kept.queue;
  record.kind = JobKind::Batch;
  record.submit_ns = kept.created_ns;
  record.eligible_ns = kept.admitted_ns;
  record.start_ns = kept.ready_ns >= 0   ? kept.ready_ns
                    : kept.start_ns >= 0 ? kept.start_ns
                                         : kept.admitted_ns;
  record.end_ns = kept.end_ns;
  record.state = kept.state;
  record.exit_code = kept.exit_code;
  record.priority = kept.priority;
  record.restarts = kept.restarts;
  record.walltime_limit_ns = kept.limit_ns;
  record.num_gpus = kept.demand.gpus;
  record.gpu_share = kept.demand.has_mig;
  if (kept.demand.has_mig && kept.demand.gpus > 0) {
    const double share = kept.demand.held_gpus / static_cast<double>(kept.demand.gpus);
    record.gpu_milli = std::clamp(static_cast<int32_t>(std::lround(1000 * share)), 1, 1000);
  }
  record.gpu_type = kept.demand.gpu_type;
  record.cpu_cores = (kept.demand.cpu_milli + 999) / 1000;
  if (kept.demand.mem_milli > 0) record.mem_bytes = kept.demand.mem_milli / 1000;
  std::vector<std::string_view> nodes;
  std::array<std::string_view, 1> software;
  for (const Kept* pod : pods) {
    if (!pod->node.empty()) nodes.push_back(pod->node);
    if (!pod->image.empty()) software[0] = pod->image;
    record.exit_code = std::max(record.exit_code, pod->exit_code);
  }
  std::ranges::sort(nodes);
  nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
  std::string node_list;
  for (const std::string_view node : nodes) {
    node_list += node_list.empty() ? "" : ",";
    node_list += node;
  }
  record.node_list = node_list;
  if (!nodes.empty()) record.num_nodes = static_cast<int64_t>(nodes.size());
  if (!software[0].empty()) record.software = software;
  out.count_record();
  out.put(record, fmt::format("uid {}", kept.uid));
}

void KubernetesParser::finish(RecordOutput& out) {
  std::map<std::string_view, Pods> pods_of;
  for (const auto& [uid, pod] : pods_) {
    pods_of[pod.owner.empty() ? std::string_view(pod.uid) : std::string_view(pod.owner)].push_back(
        &pod);
  }
  std::map<std::string_view, const Kept*> workload_of;
  for (const auto& [uid, workload] : workloads_) {
    if (!workload.owner.empty()) workload_of[workload.owner] = &workload;
  }
  const auto take_pods = [&](std::string_view owner) {
    const auto found = pods_of.find(owner);
    if (found == pods_of.end()) return Pods();
    Pods pods = std::move(found->second);
    pods_of.erase(found);
    return pods;
  };
  for (const auto& [uid, job] : jobs_) {
    Kept joined = job;
    if (const auto found = workload_of.find(uid); found != workload_of.end()) {
      const Kept& workload = *found->second;
      joined.queue = workload.queue;
      joined.priority = workload.priority;
      joined.restarts = workload.restarts;
      joined.admitted_ns = workload.admitted_ns;
      joined.ready_ns = workload.ready_ns;
      if (joined.limit_ns == 0) joined.limit_ns = workload.limit_ns;
      if (joined.demand.gpu_type.empty()) joined.demand.gpu_type = workload.demand.gpu_type;
    }
    put(joined, take_pods(uid), out);
  }
  for (const auto& [uid, workload] : workloads_) {
    if (!jobs_.contains(workload.owner)) put(workload, take_pods(workload.owner), out);
  }
  for (const auto& [owner, pods] : pods_of) {
    Kept joined = *pods.front();
    joined.uid = owner;
    for (const Kept* pod : std::span(pods).subspan(1)) {
      joined.created_ns = std::min(joined.created_ns, pod->created_ns);
      if (pod->start_ns >= 0 && (joined.start_ns < 0 || pod->start_ns < joined.start_ns)) {
        joined.start_ns = pod->start_ns;
      }
      joined.end_ns =
          joined.end_ns < 0 || pod->end_ns < 0 ? -1 : std::max(joined.end_ns, pod->end_ns);
      joined.state = std::max(joined.state, pod->state);
      joined.demand.gpus = std::min<int64_t>(joined.demand.gpus + pod->demand.gpus, INT32_MAX);
      joined.demand.cpu_milli =
          std::min(joined.demand.cpu_milli + pod->demand.cpu_milli, int64_t{INT32_MAX} * 1000);
      joined.demand.mem_milli =
          std::min(joined.demand.mem_milli + pod->demand.mem_milli, INT64_MAX / 4);
    }
    put(joined, pods, out);
  }
}

bool recognises_kubernetes(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  return first != head.npos && (head[first] == '[' || head[first] == '{') &&
         head.find("\"apiVersion\"") != head.npos;
}

base::Result<std::unique_ptr<ObjectParser>> open_kubernetes(const FormatInput&) {
  return std::make_unique<KubernetesParser>();
}

}  // namespace

const RecordFormat kKubernetes = {
    .name = "kubernetes",
    .header = "output of kubectl get workloads,jobs,pods -A -o json",
    .layout = Layout::Json,
    .recognises_text = recognises_kubernetes,
    .open_objects = open_kubernetes,
};

}  // namespace goban::site::records
