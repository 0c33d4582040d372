#include "live/engine/kubernetes/bindings.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/http/http_client.hpp"
#include "live/engine/kubernetes/object_fields.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using base::http::url_part;
using nlohmann::json;

tl::unexpected<base::Error> no_place(const Pod& pod) {
  return base::failed(
      fmt::format("pod {} may run on none of the nodes that are free for it", pod.meta.name));
}

using Allows = std::function<bool(const Pod*, const std::string& node)>;

/// Finds a place for pod `at` among `places`, and others for those whose places it takes (Kuhn's
/// matching). `owners`: of each place; SIZE_MAX: nobody yet.
bool find_place(size_t at, const std::vector<Binding>& places, const Allows& allows,
                std::vector<size_t>& owners, std::vector<bool>& tried) {
  for (size_t i = 0; i < places.size(); ++i) {
    // Its own first, so that indices stay in order where they may.
    const size_t place = (at + i) % places.size();
    const bool fits = places[place].gpus.size() == places[at].gpus.size() &&
                      allows(places[at].pod, places[place].node);
    if (tried[place] || !fits) continue;
    tried[place] = true;
    const bool is_free = owners[place] == SIZE_MAX;
    if (is_free || find_place(owners[place], places, allows, owners, tried)) {
      owners[place] = at;
      return true;
    }
  }
  return false;
}

/// Each pod gets a place where it may run. Returns one for which there is none; null: all have.
const Pod* change_places(std::vector<Binding>& bindings, const Allows& allows) {
  const bool fine = std::ranges::all_of(
      bindings, [&](const Binding& each) { return allows(each.pod, each.node); });
  if (fine) return nullptr;
  std::vector<size_t> owners(bindings.size(), SIZE_MAX);
  for (size_t at = 0; at < bindings.size(); ++at) {
    std::vector<bool> tried(bindings.size());
    if (!find_place(at, bindings, allows, owners, tried)) return bindings[at].pod;
  }
  std::vector<const Pod*> pods;
  for (const size_t owner : owners) pods.push_back(bindings[owner].pod);
  for (size_t place = 0; place < bindings.size(); ++place) bindings[place].pod = pods[place];
  return nullptr;
}

json named(const Meta& meta) { return {{"name", meta.name}, {"namespace", meta.space}}; }

}  // namespace

bool lacks_open_pods(const Gang& gang) { return gang.open != gang.size || gang.bound > 0; }

base::Result<std::vector<Binding>> bindings_of(const Gang& gang, std::span<const NodePart> parts,
                                               const MayRun& may_run) {
  if (lacks_open_pods(gang)) {
    return base::failed(fmt::format("{} of {} pods wait for a node", gang.open, gang.size));
  }
  if (parts.empty()) return base::failed("the order names no node");
  const auto allows = [&](const Pod* pod, const std::string& node) {
    return !may_run || may_run(*pod, node);
  };
  std::vector<Binding> out;
  size_t part = 0;
  size_t used = 0;
  for (const Pod* pod : gang.pods) {
    if (!pod->node.empty() || pod->meta.deleting) continue;
    const auto wanted = static_cast<size_t>(pod->gpus);
    if (wanted == 0) {
      const auto here =
          std::ranges::find_if(parts, [&](const NodePart& each) { return allows(pod, each.node); });
      if (here == parts.end()) return no_place(*pod);
      out.push_back({.pod = pod, .node = here->node});
      continue;
    }
    while (part < parts.size() && used == parts[part].gpus.size()) ++part, used = 0;
    if (part == parts.size() || parts[part].gpus.size() - used < wanted) {
      return base::failed(fmt::format("the GPUs on {} cannot be divided among pods of {} GPUs",
                                      parts[std::min(part, parts.size() - 1)].node, pod->gpus));
    }
    Binding& made = out.emplace_back(Binding{.pod = pod, .node = parts[part].node});
    const auto from = parts[part].gpus.begin() + static_cast<ptrdiff_t>(used);
    made.gpus.assign(from, from + pod->gpus);
    used += wanted;
  }
  if (const Pod* left = change_places(out, allows)) return no_place(*left);
  return out;
}

std::string binding_body(const Binding& binding, const std::string& version,
                         const cluster::Mark& mark) {
  json meta = named(binding.pod->meta);
  meta["uid"] = binding.pod->meta.uid;
  meta["resourceVersion"] = version;
  meta["annotations"] = {{kGpusNote, gpu_list_text(binding.gpus)},
                         {kRunNote, cluster::mark_text(mark)}};
  if (binding.shares) meta["annotations"][kSharesNote] = "true";
  return json{{"apiVersion", "v1"},
              {"kind", "Binding"},
              {"metadata", std::move(meta)},
              {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", binding.node}}}}
      .dump();
}

std::string pod_path(const Meta& meta, std::string_view below) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}{}", url_part(meta.space), url_part(meta.name),
                     below);
}

std::string work_path(const Meta& meta) {
  return fmt::format("/apis/batch/v1/namespaces/{}/jobs/{}", url_part(meta.space),
                     url_part(meta.name));
}

std::string eviction_body(const Meta& meta) {
  return json{{"apiVersion", "policy/v1"},
              {"kind", "Eviction"},
              {"metadata", named(meta)},
              {"deleteOptions", {{"preconditions", {{"uid", meta.uid}}}}}}
      .dump();
}

std::string deletion_body(const Meta& meta, Deletion how) {
  json body{{"apiVersion", "v1"},
            {"kind", "DeleteOptions"},
            {"propagationPolicy", "Background"},
            {"preconditions", {{"uid", meta.uid}}}};
  if (how == Deletion::AtOnce) body["gracePeriodSeconds"] = 0;
  return body.dump();
}

std::string hurry_body(const Meta& meta, TimeNs grace_ns) {
  return json{{"apiVersion", "v1"},
              {"kind", "DeleteOptions"},
              {"gracePeriodSeconds", std::max<int64_t>(grace_ns / base::kSecond, 1)},
              {"preconditions", {{"uid", meta.uid}}}}
      .dump();
}

std::vector<const Pod*> slow_to_end(const Gang& gang, const std::set<std::string>& evicted,
                                    TimeNs wall_ns, TimeNs grace_ns) {
  const Meta* owner = gang.group != nullptr  ? &gang.group->meta
                      : gang.work != nullptr ? &gang.work->meta
                                             : nullptr;
  const bool is_ours =
      owner != nullptr && gang.is_suspended() && !owner->note(kSuspendedNote).empty();
  std::vector<const Pod*> out;
  for (const Pod* pod : gang.pods) {
    const bool is_taken_back = is_ours || evicted.contains(pod->meta.uid);
    const bool waits = !pod->node.empty() && pod->meta.deleting;
    // A second more: the server's clock is another one, and what is to end soon ends.
    if (is_taken_back && waits && pod->meta.kill_ns > wall_ns + grace_ns + base::kSecond) {
      out.push_back(pod);
    }
  }
  return out;
}

std::string suspension_body(const Meta& meta, bool suspended) {
  const json note = suspended ? json("true") : json(nullptr);
  return json{{"metadata", {{"uid", meta.uid}, {"annotations", {{kSuspendedNote, note}}}}},
              {"spec", {{"suspend", suspended}}}}
      .dump();
}

std::string reason_body(const Meta& meta, const std::string& reason, TimeNs wall_ns) {
  return json{{"metadata", {{"uid", meta.uid}}},
              {"status",
               {{"conditions",
                 {{{"type", "PodScheduled"},
                   {"status", "False"},
                   {"reason", "Unschedulable"},
                   {"message", reason},
                   {"lastTransitionTime", time_text(wall_ns)}}}}}}}
      .dump();
}

std::string mark_body(const Meta& meta, const cluster::Mark& mark) {
  return json{
      {"metadata", {{"uid", meta.uid}, {"annotations", {{kRunNote, cluster::mark_text(mark)}}}}}}
      .dump();
}

}  // namespace goban::live::engine::kubernetes
