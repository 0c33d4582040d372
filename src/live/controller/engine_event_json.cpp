#include "live/controller/engine_event_json.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "live/controller/id_fields.hpp"

namespace goban::live::controller {

using nlohmann::json;

namespace {

constexpr int32_t kCountLimit = std::numeric_limits<int32_t>::max();
constexpr int64_t kBytesLimit = int64_t{1} << 60;
constexpr uint32_t kNumberLimit = std::numeric_limits<uint32_t>::max();
constexpr std::array<const char*, 7> kGoneNames = {
    "unknown", "completed", "failed", "cancelled", "timed_out", "out_of_memory", "node_failed"};
constexpr std::array<const char*, 3> kNodeStateNames = {"up", "drained", "down"};

template <typename Enum, size_t N>
void read_name(base::FieldReader& in, const char* name, const std::array<const char*, N>& names,
               Enum& value) {
  std::string text = names[static_cast<size_t>(value)];
  in.field(name, text);
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) {
    return in.fail(name, "is unknown; this journal was written by a newer release");
  }
  value = static_cast<Enum>(found - names.begin());
}

}  // namespace

void put_parts(const char* name, const std::vector<NodePart>& parts, json& out) {
  for (const NodePart& part : parts) {
    json one{{"node", part.node}};
    if (!part.gpus.empty()) one["gpus"] = part.gpus;
    if (part.cores > 0) one["cores"] = part.cores;
    if (part.mem_bytes > 0) one["mem_bytes"] = part.mem_bytes;
    out[name].push_back(std::move(one));
  }
}

void read_node_parts(base::FieldReader& in, const char* name, std::vector<NodePart>& parts) {
  in.list(name, [&](base::FieldReader& one) {
    NodePart& part = parts.emplace_back();
    one.field("node", part.node);
    std::vector<int64_t> gpus;
    one.field("gpus", gpus, int64_t{0}, int64_t{kCountLimit});
    for (const int64_t gpu : gpus) part.gpus.push_back(static_cast<int32_t>(gpu));
    one.field("cores", part.cores, 0, kCountLimit);
    one.field("mem_bytes", part.mem_bytes, int64_t{0}, kBytesLimit);
  });
}

void put_event(const JobSeen& event, json& out) {
  out["id"] = event.id;
  if (event.managed) out["managed"] = true;
  if (event.state == SeenState::Running) out["running"] = true;
  if (event.run.job.valid()) {
    out["job"] = event.run.job.value;
    out["run"] = event.run.run;
  }
  out["spec"] = to_json(event.spec);
  if (!event.array.empty()) out["array"] = event.array;
  if (!event.blocked.empty()) out["blocked"] = event.blocked;
  if (event.submit_ns > 0) out["submit"] = event.submit_ns;
  if (event.start_ns >= 0) out["start"] = event.start_ns;
  put_parts("parts", event.parts, out);
  if (event.predicted != job::PredictedRun{}) out["predicted"] = to_json(event.predicted);
}

void read_event(base::FieldReader& in, JobSeen& event) {
  in.field("id", event.id);
  in.field("managed", event.managed);
  bool running = false;
  in.field("running", running);
  event.state = running ? SeenState::Running : SeenState::Waiting;
  in.field("job", event.run.job.value, uint32_t{0}, kNumberLimit);
  in.field("run", event.run.run, uint32_t{0}, kNumberLimit);
  if (const json* given = in.find("spec")) {
    auto spec = job::job_spec_from_json(*given);
    if (!spec) return in.fail("spec." + spec.error().place.field, spec.error().message);
    event.spec = std::move(*spec);
  }
  in.field("array", event.array);
  in.field("blocked", event.blocked);
  in.field("submit", event.submit_ns, TimeNs{0}, base::kNever);
  in.field("start", event.start_ns, TimeNs{0}, base::kNever);
  read_node_parts(in, "parts", event.parts);
  in.object("predicted", [&](base::FieldReader& part) { read_fields(part, event.predicted); });
}

void put_event(const JobGone& event, json& out) {
  out["id"] = event.id;
  out["how"] = kGoneNames[static_cast<size_t>(event.how)];
  if (event.exit_code >= 0) out["exit_code"] = event.exit_code;
  if (event.signal > 0) out["signal"] = event.signal;
  if (!event.detail.empty()) out["detail"] = event.detail;
}

void read_event(base::FieldReader& in, JobGone& event) {
  in.field("id", event.id);
  read_name(in, "how", kGoneNames, event.how);
  in.field("exit_code", event.exit_code, -1, 255);
  in.field("signal", event.signal, 0, 255);
  in.field("detail", event.detail);
}

void put_event(const ClusterSeen& event, json& out) {
  json& nodes = out["nodes"] = json::array();
  for (const SeenNode& node : event.nodes) {
    const SeenNode normal;
    json& object = nodes.emplace_back(json::object());
    base::FieldWriter one(object);
    one.field("name", node.name, normal.name);
    one.field("gpus", node.num_gpus, normal.num_gpus);
    one.field("gpu_model", node.gpu_model, normal.gpu_model);
    one.field("gpu_mem_bytes", node.gpu_mem_bytes, normal.gpu_mem_bytes);
    one.field("cores", node.cores, normal.cores);
    one.field("mem_bytes", node.mem_bytes, normal.mem_bytes);
    if (node.state != normal.state) {
      object["state"] = kNodeStateNames[static_cast<size_t>(node.state)];
    }
    one.field("reason", node.reason, normal.reason);
    one.field("silent", node.silent, normal.silent);
    one.field("rack", node.rack, normal.rack);
    one.field("zone", node.zone, normal.zone);
    one.field("site", node.site, normal.site);
    if (node.islands != normal.islands) object["islands"] = node.islands;
    if (!node.partitions.empty()) object["partitions"] = node.partitions;
  }
}

void read_event(base::FieldReader& in, ClusterSeen& event) {
  in.list("nodes", [&](base::FieldReader& one) {
    SeenNode& node = event.nodes.emplace_back();
    one.field("name", node.name);
    one.field("gpus", node.num_gpus, 0, kCountLimit);
    one.field("gpu_model", node.gpu_model);
    one.field("gpu_mem_bytes", node.gpu_mem_bytes, int64_t{0}, kBytesLimit);
    one.field("cores", node.cores, 0, kCountLimit);
    one.field("mem_bytes", node.mem_bytes, int64_t{0}, kBytesLimit);
    read_name(one, "state", kNodeStateNames, node.state);
    one.field("reason", node.reason);
    one.field("silent", node.silent);
    one.field("rack", node.rack);
    one.field("zone", node.zone);
    one.field("site", node.site);
    one.field("islands", node.islands, uint32_t{1}, uint32_t{255});
    one.field("partitions", node.partitions);
  });
}

}  // namespace goban::live::controller
