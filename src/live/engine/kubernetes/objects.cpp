#include "live/engine/kubernetes/objects.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/date_time.hpp"
#include "base/json_fields.hpp"
#include "base/number.hpp"
#include "core/model/import/kubernetes_nodes.hpp"
#include "live/engine/kubernetes/object_fields.hpp"

namespace goban::live::engine::kubernetes {

using nlohmann::json;

const json& member(const json& from, std::string_view name) {
  static const json none;
  const json* found = base::find_member(from, name);
  return found == nullptr ? none : *found;
}

std::string text_at(const json& from, std::string_view name, size_t most) {
  std::string out = base::text_of(from, name);
  return out.size() > most ? std::string() : out;
}

bool flag_at(const json& from, std::string_view name) {
  const json& value = member(from, name);
  return value.is_boolean() && value.get<bool>();
}

int64_t whole_at(const json& from, std::string_view name, int64_t least, int64_t most,
                 int64_t absent) {
  const json& value = member(from, name);
  if (!value.is_number_integer()) return absent;
  const auto wide = value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}
                        ? INT64_MAX
                        : value.get<int64_t>();
  return std::clamp(wide, least, most);
}

const json& list_at(const json& from, std::string_view name) {
  static const json none = json::array();
  const json& found = member(from, name);
  return found.is_array() && found.size() <= kListMost ? found : none;
}

namespace {

TimeNs time_at(const json& from, std::string_view name, TimeNs absent) {
  const auto time = base::parse_date_time(text_at(from, name));
  return time ? time->unix_ns : absent;
}

std::map<std::string, std::string> texts_of(const json& from, std::string_view prefix) {
  std::map<std::string, std::string> out;
  if (!from.is_object()) return out;
  for (const auto& [key, value] : from.items()) {
    const bool fits = value.is_string() && value.get_ref<const std::string&>().size() <= kTextMost;
    if (key.starts_with(prefix) && fits && out.size() < kListMost) out[key] = value;
  }
  return out;
}

}  // namespace

std::string time_text(TimeNs unix_ns) {
  constexpr TimeNs kMicrosecond = 1000;
  std::string text = base::date_time_text(unix_ns);
  std::ranges::replace(text, ' ', 'T');
  return text + fmt::format(".{:06d}Z", unix_ns % base::kSecond / kMicrosecond);
}

bool read_meta(const json& object, Meta& meta) {
  const json& from = member(object, "metadata");
  meta.space = text_at(from, "namespace", kNameMost);
  meta.name = text_at(from, "name", kNameMost);
  meta.uid = text_at(from, "uid", kNameMost);
  meta.version = text_at(from, "resourceVersion", kNameMost);
  meta.created_ns = time_at(from, "creationTimestamp", 0);
  meta.deleting = member(from, "deletionTimestamp").is_string();
  meta.kill_ns = time_at(from, "deletionTimestamp", -1);
  meta.labels = texts_of(member(from, "labels"), "");
  meta.notes = texts_of(member(from, "annotations"), "goban.dev/");
  meta.staging = texts_of(member(from, "annotations"), "staging.goban.dev/");
  return !meta.name.empty() && !meta.uid.empty();
}

namespace {

constexpr int32_t kGpusMost = 1024;  ///< of a pod or node
constexpr std::array kGpuResources = {"nvidia.com/gpu", "amd.com/gpu"};

std::optional<int32_t> number_of(const std::string& text, int32_t most) {
  const auto value = base::parse_int(text);
  if (!value || *value < 0 || *value > most) return std::nullopt;
  return static_cast<int32_t>(*value);
}

std::string quantity_text(const json& from, const char* name) {
  const json& value = member(from, name);
  if (value.is_string()) return text_at(from, name, kNameMost);
  return value.is_number() ? value.dump() : std::string("0");
}

int64_t amount(const json& from, const char* name) {
  return core::model::parse_kubernetes_quantity(quantity_text(from, name)).value_or(0);
}

int64_t milli_of(const json& from) {
  constexpr int64_t kMost = int64_t{1} << 40;
  std::string text = quantity_text(from, "cpu");
  const bool is_milli = text.ends_with('m');
  if (is_milli) text.pop_back();
  const int64_t whole = std::min(core::model::parse_kubernetes_quantity(text).value_or(0), kMost);
  if (is_milli) return whole;
  const auto exact = base::parse_double(text);
  return exact ? static_cast<int64_t>(std::min(*exact, static_cast<double>(kMost)) * kMilli)
               : whole * kMilli;
}

int64_t gpus_at(const json& from) {
  int64_t sum = 0;
  for (const char* name : kGpuResources) sum += std::min<int64_t>(amount(from, name), kGpusMost);
  return sum;
}

void add_container(const json& container, Pod& pod) {
  const json& resources = member(container, "resources");
  const json& limits = member(resources, "limits");
  const json& requests = member(resources, "requests");
  pod.gpus = static_cast<int32_t>(
      std::min<int64_t>(pod.gpus + std::max(gpus_at(limits), gpus_at(requests)), kGpusMost));
  pod.cpu_milli += milli_of(member(requests, "cpu").is_null() ? limits : requests);
  pod.mem_bytes = std::min(
      pod.mem_bytes + amount(member(requests, "memory").is_null() ? limits : requests, "memory"),
      int64_t{1} << 60);
}

void add_requirement(const json& from, Pod& pod) {
  Requirement out{.key = text_at(from, "key", kNameMost)};
  const std::string is = text_at(from, "operator");
  if (is == "NotIn") out.is = Requirement::Is::NotIn;
  if (is == "Exists") out.is = Requirement::Is::Exists;
  if (is == "DoesNotExist") out.is = Requirement::Is::Absent;
  if (is == "Gt" || is == "Lt") pod.unclear = "a node affinity with Gt or Lt";
  for (const json& value : list_at(from, "values")) {
    if (value.is_string()) out.values.push_back(value.get<std::string>().substr(0, kTextMost));
  }
  pod.where.push_back(std::move(out));
}

void read_affinity(const json& spec, Pod& pod) {
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  const json& affinity = member(spec, "affinity");
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    const json& terms = member(member(affinity, kind), kRequired);
    if (terms.is_array() && !terms.empty()) pod.unclear = fmt::format("a required {}", kind);
  }
  const json& terms =
      member(member(member(affinity, "nodeAffinity"), kRequired), "nodeSelectorTerms");
  if (terms.is_array() && terms.size() > 1) pod.unclear = "a node affinity of several terms";
  if (!terms.is_array() || terms.size() != 1) return;
  const json& fields = member(terms[0], "matchFields");
  if (fields.is_array() && !fields.empty()) pod.unclear = "a node affinity by fields";
  for (const json& each : list_at(terms[0], "matchExpressions")) add_requirement(each, pod);
}

void read_placement(const json& spec, Pod& pod) {
  for (const auto& [key, value] : texts_of(member(spec, "nodeSelector"), "")) {
    pod.where.push_back({.key = key, .values = {value}});
  }
  read_affinity(spec, pod);
  for (const json& each : list_at(spec, "topologySpreadConstraints")) {
    if (text_at(each, "whenUnsatisfiable") != "ScheduleAnyway") {
      pod.unclear = "a required topology spread";
    }
  }
  for (const json& each : list_at(spec, "resourceClaims")) {
    pod.claims.push_back(text_at(each, "resourceClaimName", kNameMost));
  }
  const json& claims = member(spec, "resourceClaims");
  if (claims.is_array() && claims.size() > kListMost) pod.unclear = "so many resource claims";
  if (!pod.claims.empty()) pod.waits = "its ResourceClaims are not known";
  for (const json& each : list_at(spec, "tolerations")) {
    pod.tolerations.push_back({.key = text_at(each, "key", kNameMost),
                               .value = text_at(each, "value"),
                               .effect = text_at(each, "effect"),
                               .any_value = text_at(each, "operator") == "Exists"});
  }
}

void read_spec(const json& spec, Pod& pod) {
  pod.scheduler = text_at(spec, "schedulerName", kNameMost);
  pod.node = text_at(spec, "nodeName", kNameMost);
  pod.priority = static_cast<int32_t>(whole_at(spec, "priority", INT32_MIN, INT32_MAX, 0));
  const json& gates = member(spec, "schedulingGates");
  pod.gated = gates.is_array() && !gates.empty();
  for (const json& container : list_at(spec, "containers")) add_container(container, pod);
  // Initial containers run one after the other, before the others; those that are to go on
  // (sidecars) run beside all that follow.
  Pod first;
  Pod beside;
  for (const json& container : list_at(spec, "initContainers")) {
    Pod one;
    const bool goes_on = text_at(container, "restartPolicy") == "Always";
    add_container(container, goes_on ? pod : one);
    if (goes_on) add_container(container, beside);
    first.gpus = std::max(first.gpus, one.gpus + beside.gpus);
    first.cpu_milli = std::max(first.cpu_milli, one.cpu_milli + beside.cpu_milli);
    first.mem_bytes = std::max(first.mem_bytes, one.mem_bytes + beside.mem_bytes);
  }
  pod.gpus = std::min(std::max(pod.gpus, first.gpus), kGpusMost);
  pod.cpu_milli = std::max(pod.cpu_milli, first.cpu_milli);
  pod.mem_bytes = std::max(pod.mem_bytes, first.mem_bytes);
  if (const auto gpus = number_of(pod.meta.label(kGpusLabel), kGpusMost)) {
    pod.gpus = std::max(pod.gpus, *gpus);
  }
  read_placement(spec, pod);
}

void read_end(const json& status, Pod& pod) {
  for (const char* kind : {"initContainerStatuses", "containerStatuses"}) {
    for (const json& container : list_at(status, kind)) {
      const json& now = member(container, "state");
      pod.began = pod.began || member(now, "running").is_object() ||
                  member(now, "terminated").is_object() ||
                  member(member(container, "lastState"), "terminated").is_object();
    }
  }
  for (const json& container : list_at(status, "containerStatuses")) {
    const json& end = member(member(container, "state"), "terminated");
    if (!end.is_object()) continue;
    const auto code = static_cast<int32_t>(whole_at(end, "exitCode", -1, INT32_MAX, -1));
    if (pod.exit_code <= 0) pod.exit_code = code;
    constexpr int32_t kBySignal = 128;
    constexpr int32_t kSignalsEnd = 65;
    const bool by_signal = code > kBySignal && code < kBySignal + kSignalsEnd;
    if (pod.signal == 0 && by_signal) pod.signal = code - kBySignal;
    pod.out_of_memory = pod.out_of_memory || text_at(end, "reason") == "OOMKilled";
    pod.end_ns = std::max(pod.end_ns, time_at(end, "finishedAt", -1));
  }
}

Phase phase_of(std::string_view text) {
  if (text == "Running") return Phase::Running;
  if (text == "Succeeded") return Phase::Succeeded;
  return text == "Failed" ? Phase::Failed : Phase::Pending;
}

/// Claims that were made from templates bear the names that the status says.
void read_claims(const json& spec, const json& status, Pod& pod) {
  const json& wanted = list_at(spec, "resourceClaims");
  for (size_t i = 0; i < pod.claims.size() && i < wanted.size(); ++i) {
    for (const json& made : list_at(status, "resourceClaimStatuses")) {
      if (pod.claims[i].empty() && text_at(made, "name") == text_at(wanted[i], "name")) {
        pod.claims[i] = text_at(made, "resourceClaimName", kNameMost);
      }
    }
  }
}

}  // namespace

std::string Meta::label(std::string_view wanted) const {
  const auto found = labels.find(std::string(wanted));
  return found == labels.end() ? std::string() : found->second;
}

std::string Meta::note(std::string_view wanted) const {
  const auto found = notes.find(std::string(wanted));
  return found == notes.end() ? std::string() : found->second;
}

std::optional<Pod> read_pod(const json& object) {
  Pod pod;
  if (!read_meta(object, pod.meta)) return std::nullopt;
  for (const json& owner : list_at(member(object, "metadata"), "ownerReferences")) {
    if (!flag_at(owner, "controller")) continue;
    pod.owner_kind = text_at(owner, "kind", kNameMost);
    pod.owner_name = text_at(owner, "name", kNameMost);
    pod.owner_uid = text_at(owner, "uid", kNameMost);
  }
  const json& indices = member(member(object, "metadata"), "annotations");
  std::string index = text_at(indices, "batch.kubernetes.io/job-completion-index");
  if (index.empty()) index = pod.meta.label("training.kubeflow.org/replica-index");
  pod.index = number_of(index, kPodsMost).value_or(-1);
  read_spec(member(object, "spec"), pod);
  const json& status = member(object, "status");
  read_claims(member(object, "spec"), status, pod);
  pod.phase = phase_of(text_at(status, "phase"));
  pod.reason = text_at(status, "reason");
  pod.start_ns = time_at(status, "startTime", -1);
  for (const json& each : list_at(status, "conditions")) {
    if (text_at(each, "type") != "PodScheduled") continue;
    if (text_at(each, "status") == "False") pod.said = text_at(each, "message");
    if (text_at(each, "status") == "True") pod.bound_ns = time_at(each, "lastTransitionTime", -1);
  }
  read_end(status, pod);
  return pod;
}

std::optional<Node> read_node(const json& object) {
  Node node;
  if (!read_meta(object, node.meta)) return std::nullopt;
  const json& status = member(object, "status");
  const json& spec = member(object, "spec");
  const json& has = member(status, "allocatable");
  SeenNode& seen = node.seen;
  seen.name = node.meta.name;
  seen.num_gpus = static_cast<int32_t>(std::min<int64_t>(gpus_at(has), kGpusMost));
  if (const auto gpus = number_of(node.meta.label(kGpusLabel), kGpusMost); gpus) {
    seen.num_gpus = *gpus;  // no device plug-in counts them
  }
  node.cpu_milli = milli_of(has);
  node.mem_bytes = amount(has, "memory");
  seen.gpu_model = node.meta.label("nvidia.com/gpu.product");
  if (seen.gpu_model.empty()) seen.gpu_model = node.meta.label("amd.com/gpu.product-name");
  if (const auto mib = number_of(node.meta.label("nvidia.com/gpu.memory"), 1 << 30)) {
    seen.gpu_mem_bytes = int64_t{*mib} << 20;
  }
  seen.rack = node.meta.label("goban.dev/rack");
  seen.zone = node.meta.label("topology.kubernetes.io/zone");
  seen.site = node.meta.label("topology.kubernetes.io/region");
  constexpr int32_t kIslandsMost = 64;
  if (const auto count = number_of(node.meta.label("goban.dev/islands"), kIslandsMost);
      count && *count > 0 && seen.num_gpus % *count == 0) {
    seen.islands = static_cast<uint32_t>(*count);
  }
  bool ready = false;
  for (const json& each : list_at(status, "conditions")) {
    if (text_at(each, "type") != "Ready") continue;
    ready = text_at(each, "status") == "True";
    if (ready) node.heard_ns = time_at(each, "lastHeartbeatTime", -1);
    if (!ready) node.lost_ns = time_at(each, "lastTransitionTime", -1);
  }
  node.is_ready = ready;
  node.is_cordoned = flag_at(spec, "unschedulable");
  if (node.is_cordoned) {
    seen.state = SeenNodeState::Drained;
    seen.reason = "cordoned";
  }
  if (node.meta.deleting) {  // what runs there goes on until the object is gone
    seen.state = SeenNodeState::Drained;
    seen.reason = "its Node object is being deleted";
  }
  if (!node.is_ready) {
    seen.state = SeenNodeState::Down;
    seen.reason = "not ready";
  }
  for (const json& each : list_at(spec, "taints")) {
    node.taints.push_back({.key = text_at(each, "key", kNameMost),
                           .value = text_at(each, "value"),
                           .effect = text_at(each, "effect")});
    if (seen.state != SeenNodeState::Up || !says_state(node.taints.back())) continue;
    seen.state = SeenNodeState::Drained;
    seen.reason = fmt::format("its taint {}", node.taints.back().key);
  }
  return node;
}

std::optional<Work> read_work(const json& object) {
  Work work;
  if (!read_meta(object, work.meta)) return std::nullopt;
  const json& spec = member(object, "spec");
  const json& status = member(object, "status");
  const json& form = member(spec, "template");
  work.pod.meta.labels = texts_of(member(member(form, "metadata"), "labels"), "");
  read_spec(member(form, "spec"), work.pod);
  work.parallelism = static_cast<int32_t>(whole_at(spec, "parallelism", 0, kPodsMost, 1));
  work.completions = static_cast<int32_t>(whole_at(spec, "completions", 0, kPodsMost, -1));
  work.succeeded = static_cast<int32_t>(whole_at(status, "succeeded", 0, kPodsMost, 0));
  work.suspended = flag_at(spec, "suspend");
  work.deadline_s = whole_at(spec, "activeDeadlineSeconds", 0, int64_t{1} << 32, 0);
  for (const json& each : list_at(status, "conditions")) {
    if (text_at(each, "status") != "True") continue;
    const std::string type = text_at(each, "type");
    work.complete = work.complete || type == "Complete";
    work.failed = work.failed || type == "Failed";
    if (type == "Failed") work.reason = text_at(each, "reason");
  }
  return work;
}

std::optional<std::vector<int32_t>> parse_gpu_list(std::string_view text) {
  std::vector<int32_t> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const auto gpu = number_of(std::string(text.substr(0, end)), kGpusMost - 1);
    if (!gpu || std::ranges::find(out, *gpu) != out.end()) return std::nullopt;
    if (end + 1 == text.size()) return std::nullopt;  // a comma at the end
    out.push_back(*gpu);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string gpu_list_text(const std::vector<int32_t>& gpus) {
  std::string out;
  for (const int32_t gpu : gpus) out += fmt::format("{}{}", out.empty() ? "" : ",", gpu);
  return out;
}

bool is_other(Node before, const Node& after) {
  before.meta.version = after.meta.version;
  const bool sleeps = !after.meta.notes.empty();
  if (!sleeps) before.heard_ns = after.heard_ns;
  return before != after;
}

bool is_other(Pod before, const Pod& after) {
  before.meta.version = after.meta.version;
  return before != after;
}

}  // namespace goban::live::engine::kubernetes
