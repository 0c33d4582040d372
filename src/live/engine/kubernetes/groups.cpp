#include "live/engine/kubernetes/groups.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/http/http_client.hpp"
#include "base/json_fields.hpp"
#include "live/engine/kubernetes/object_fields.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using nlohmann::json;

/// Of all kinds of replicas: launcher and workers, or master and workers.
int64_t replicas_in(const json& kinds) {
  int64_t sum = 0;
  if (!kinds.is_object()) return sum;
  for (const auto& [name, replica] : kinds.items()) {
    sum += whole_at(replica, "replicas", 0, kPodsMost, 1);
  }
  return sum;
}

int64_t jobs_in(const json& spec) {
  int64_t sum = 0;
  for (const json& each : list_at(spec, "replicatedJobs")) {
    const json& job = member(member(each, "template"), "spec");
    sum +=
        whole_at(each, "replicas", 0, kPodsMost, 1) * whole_at(job, "parallelism", 0, kPodsMost, 1);
  }
  return sum;
}

}  // namespace

std::optional<Group> read_group(const json& object, GroupKind kind) {
  Group group{.kind = kind};
  if (!read_meta(object, group.meta)) return std::nullopt;
  const json& spec = member(object, "spec");
  const bool is_set = kind == GroupKind::JobSet;
  const json& replicas =
      member(spec, kind == GroupKind::PyTorchJob ? "pytorchReplicaSpecs" : "mpiReplicaSpecs");
  const int64_t size = is_set ? jobs_in(spec) : replicas_in(replicas);
  group.size = static_cast<int32_t>(std::clamp<int64_t>(size, 0, kPodsMost));
  group.suspended = flag_at(is_set ? spec : member(spec, "runPolicy"), "suspend");
  for (const json& each : list_at(member(object, "status"), "conditions")) {
    if (text_at(each, "status") != "True") continue;
    const std::string type = text_at(each, "type");
    group.complete = group.complete || type == "Succeeded" || type == "Completed";
    group.failed = group.failed || type == "Failed";
    if (type == "Failed") group.reason = text_at(each, "reason");
  }
  return group;
}

std::optional<PodGroup> read_pod_group(const json& object) {
  PodGroup group;
  if (!read_meta(object, group.meta)) return std::nullopt;
  group.least =
      static_cast<int32_t>(whole_at(member(object, "spec"), "minMember", 1, kPodsMost, 1));
  return group;
}

std::string group_path(const Group& group) {
  const GroupFacts& facts = facts_of(group.kind);
  return fmt::format("{}/namespaces/{}/{}/{}", facts.api, base::http::url_part(group.meta.space),
                     facts.plural, base::http::url_part(group.meta.name));
}

std::string group_suspension_body(const Group& group, bool suspended) {
  const json note = suspended ? json("true") : json(nullptr);
  const std::string field = facts_of(group.kind).suspend;
  const json suspend{{"suspend", suspended}};
  return json{{"metadata", {{"uid", group.meta.uid}, {"annotations", {{kSuspendedNote, note}}}}},
              {"spec", field.empty() ? suspend : json{{field, suspend}}}}
      .dump();
}

}  // namespace goban::live::engine::kubernetes
