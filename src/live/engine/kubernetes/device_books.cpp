#include "live/engine/kubernetes/device_books.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "live/engine/kubernetes/gpu_holdings.hpp"
#include "live/engine/kubernetes/pod_facts.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using nlohmann::json;

constexpr size_t kNodeGpusMost = 1024;

using Places = std::map<DeviceName, GpuPlace>;

void set_node(const std::string& name, std::vector<std::pair<DeviceName, const Device*>>& devices,
              Objects& objects) {
  const auto found = objects.nodes.find("/" + name);
  if (found == objects.nodes.end()) return;
  Node& node = found->second;
  // By index, else by name, of which gpu-10 comes after gpu-9.
  std::ranges::sort(devices, {}, [](const auto& each) {
    const auto& [device, facts] = each;
    return std::tuple(facts->index < 0, facts->index, device.pool, device.name.size(), device.name);
  });
  devices.resize(std::min(devices.size(), kNodeGpusMost));
  for (const auto& [device, facts] : devices) {
    if (node.seen.gpu_model.empty()) node.seen.gpu_model = facts->model;
    if (node.seen.gpu_mem_bytes == 0) node.seen.gpu_mem_bytes = facts->mem_bytes;
    node.devices.push_back(device);
  }
  node.seen.num_gpus = static_cast<int32_t>(node.devices.size());
  if (node.seen.islands == 0 || node.devices.size() % node.seen.islands != 0) {
    node.seen.islands = 1;
  }
}

/// The GPUs of nodes, of the newest slices of each pool.
void set_nodes(Objects& objects, const Rules& rules) {
  std::map<std::string, int64_t> newest;
  for (const auto& [key, slice] : objects.slices) {
    if (slice.driver != rules.driver) continue;
    int64_t& generation = newest[slice.pool];
    generation = std::max(generation, slice.generation);
  }
  std::map<std::string, std::map<DeviceName, const Device*>> of_nodes;
  for (const auto& [key, slice] : objects.slices) {
    const bool counts = slice.driver == rules.driver && !slice.node.empty() &&
                        slice.generation == newest[slice.pool];
    for (const Device& each : slice.devices) {
      if (counts) of_nodes[slice.node].emplace(DeviceName{slice.pool, each.name}, &each);
    }
  }
  for (const auto& [name, devices] : of_nodes) {
    std::vector<std::pair<DeviceName, const Device*>> list(devices.begin(), devices.end());
    set_node(name, list, objects);
  }
}

Places places_of(const Objects& objects) {
  Places out;
  for (const auto& [key, node] : objects.nodes) {
    for (size_t i = 0; i < node.devices.size(); ++i) {
      out[node.devices[i]] = {.node = node.meta.name, .index = static_cast<int32_t>(i)};
    }
  }
  return out;
}

std::vector<GpuPlace> held_by(const Claim& claim, const Places& places, const Rules& rules) {
  std::vector<GpuPlace> out;
  for (const DeviceResult& each : claim.results) {
    const auto place = places.find(each.device);
    if (each.driver == rules.driver && place != places.end()) out.push_back(place->second);
  }
  return out;
}

const Claim* claim_of(const Objects& objects, const Pod& pod, const std::string& name) {
  if (name.empty()) return nullptr;
  const auto found = objects.claims.find(pod.meta.space + "/" + name);
  return found == objects.claims.end() ? nullptr : &found->second;
}

/// What one claim of a pod asks for.
void add_claim(const Claim& claim, const Objects& objects, const Rules& rules, Pod& pod) {
  if (!claim.unclear.empty()) pod.unclear = claim.unclear;
  int64_t count = pod.gpus;
  for (const DeviceRequest& each : claim.requests) {
    // What a pod with a node has beside GPUs, such as a network card, is none.
    if (pod.node.empty() || each.device_class == rules.driver) count += each.count;
    if (each.device_class != rules.driver && pod.unclear.empty()) {
      pod.unclear = fmt::format("ResourceClaims of the class {}", each.device_class.substr(0, 80));
    } else if (!objects.classes.contains("/" + each.device_class)) {
      pod.waits = fmt::format("the DeviceClass {} is not known", each.device_class.substr(0, 80));
    }
  }
  pod.gpus = static_cast<int32_t>(std::min<int64_t>(count, kNodeGpusMost));
  if (!is_free_for(claim, pod.meta.uid)) {
    pod.waits = fmt::format("its ResourceClaim {} is reserved for another pod", claim.meta.name);
  }
}

void set_needs(Objects& objects, const Rules& rules, const Places& places) {
  std::map<std::string, int32_t> named;  // claims: pods that have not ended
  for (const auto& [key, pod] : objects.pods) {
    for (const std::string& name : pod.claims) {
      if (!name.empty() && !pod.is_over()) ++named[pod.meta.space + "/" + name];
    }
  }
  for (auto& [key, pod] : objects.pods) {
    if (pod.claims.empty()) continue;
    pod.waits.clear();
    if (pod.gpus > 0) pod.unclear = "ResourceClaims beside GPUs of a device plug-in";
    for (const std::string& name : pod.claims) {
      const Claim* claim = claim_of(objects, pod, name);
      if (claim == nullptr) {
        pod.waits = "its ResourceClaims do not exist yet";
        continue;
      }
      add_claim(*claim, objects, rules, pod);
      if (named[claim->meta.key()] > 1 && pod.unclear.empty()) {
        pod.unclear = "a ResourceClaim that several pods name";
      }
      if (pod.node.empty()) continue;
      for (const GpuPlace& place : held_by(*claim, places, rules)) {
        if (place.node == pod.node) pod.held.push_back(place.index);
      }
    }
    if (!pod.held.empty()) pod.gpus = static_cast<int32_t>(pod.held.size());
  }
}

/// Of two claims to one device, that of somebody else stays, as nobody here can end its pod; of two
/// of ours, that of the older pod.
void find_second(Objects& objects, const Rules& rules) {
  std::vector<Pod*> pods;
  for (auto& [key, pod] : objects.pods) {
    if (!pod.held.empty() && !pod.is_over()) pods.push_back(&pod);
  }
  std::ranges::sort(pods, {}, [&](const Pod* pod) {
    return std::tuple(is_ours(pod->meta, pod->scheduler, rules), age_of(pod));
  });
  std::set<std::pair<std::string, int32_t>> taken;
  for (Pod* pod : pods) {
    for (const int32_t gpu : pod->held) {
      const bool is_first = taken.emplace(pod->node, gpu).second;
      pod->is_second = pod->is_second || (!is_first && is_ours(pod->meta, pod->scheduler, rules));
    }
  }
}

/// Configurations of the class, for each request, and of the claim.
std::string config_of(const Claim& claim, const Objects& objects) {
  json all = json::array();
  const auto add = [&](const std::string& text, const char* source, const std::string& request) {
    for (json each : json::parse(text, nullptr, false)) {
      if (!each.is_object()) continue;
      each["source"] = source;
      if (!request.empty()) each["requests"] = {request};
      all.push_back(std::move(each));
    }
  };
  for (const DeviceRequest& each : claim.requests) {
    const auto found = objects.classes.find("/" + each.device_class);
    if (found != objects.classes.end() && !found->second.config.empty()) {
      add(found->second.config, "FromClass", each.name);
    }
  }
  if (!claim.config.empty()) add(claim.config, "FromClaim", "");
  return all.empty() ? std::string() : all.dump();
}

/// Users may change labels of their pods while these run; what the pods got stands in annotations
/// that only we write.
void believe_notes(Objects& objects, const Rules& rules) {
  for (auto& [key, pod] : objects.pods) {
    if (pod.node.empty() || pod.is_over() || !is_ours(pod.meta, pod.scheduler, rules)) continue;
    if (pod.meta.note(kRunNote).empty() || !pod.claims.empty()) continue;
    const auto gpus = parse_gpu_list(pod.meta.note(kGpusNote));
    if (gpus) pod.gpus = static_cast<int32_t>(gpus->size());
  }
}

}  // namespace

void settle_devices(Objects& objects, const Rules& rules) {
  believe_notes(objects, rules);
  set_nodes(objects, rules);
  const Places places = places_of(objects);
  set_needs(objects, rules, places);
  find_second(objects, rules);
}

std::vector<IdleClaim> idle_claims(const Objects& objects, const Rules& rules) {
  std::vector<IdleClaim> out;
  if (objects.claims.empty()) return out;
  const Places places = places_of(objects);
  for (const auto& [key, claim] : objects.claims) {
    // Reserved for pods: these hold it, or its controller is about to take it back.
    const bool is_of_others = std::ranges::find(claim.users, "") != claim.users.end();
    const bool idles = claim.users.empty() && !claim.is_of_pod && !claim.meta.deleting;
    if (!claim.is_allocated || (!idles && !is_of_others)) continue;
    IdleClaim made{.claim = &claim};
    for (const GpuPlace& place : held_by(claim, places, rules)) {
      auto part = std::ranges::find(made.parts, place.node, &NodePart::node);
      if (part == made.parts.end()) {
        part = made.parts.insert(part, NodePart{.node = place.node});
      }
      part->gpus.push_back(place.index);
    }
    if (!made.parts.empty()) out.push_back(std::move(made));
  }
  return out;
}

base::Status grant_devices(std::vector<Binding>& bindings, const Objects& objects,
                           const Rules& rules) {
  if (std::ranges::all_of(bindings, [](const Binding& each) { return each.pod->claims.empty(); })) {
    return {};
  }
  std::set<std::pair<std::string, int32_t>> taken;
  const Places places = places_of(objects);
  for (const auto& [key, pod] : objects.pods) {
    for (const int32_t gpu : pod.held) {
      if (!pod.is_over()) taken.emplace(pod.node, gpu);
    }
    // Another scheduler allocates first, too, and binds then.
    const bool waits = pod.node.empty() && !pod.is_over();
    if (!waits || is_ours(pod.meta, pod.scheduler, rules)) continue;
    for (const std::string& name : pod.claims) {
      const Claim* claim = claim_of(objects, pod, name);
      if (claim == nullptr || std::ranges::find(claim->users, pod.meta.uid) == claim->users.end()) {
        continue;
      }
      for (const GpuPlace& place : held_by(*claim, places, rules)) {
        taken.emplace(place.node, place.index);
      }
    }
  }
  for (const IdleClaim& each : idle_claims(objects, rules)) {
    for (const NodePart& part : each.parts) {
      for (const int32_t gpu : part.gpus) taken.emplace(part.node, gpu);
    }
  }
  for (Binding& binding : bindings) {
    const Pod& pod = *binding.pod;
    if (pod.claims.empty()) continue;
    const auto node = objects.nodes.find("/" + binding.node);
    if (node == objects.nodes.end()) return base::failed("a node is gone");
    const std::vector<DeviceName>& devices = node->second.devices;
    size_t next = 0;
    for (const std::string& name : pod.claims) {
      const Claim* claim = claim_of(objects, pod, name);
      if (claim == nullptr) return base::failed("its ResourceClaims do not exist yet");
      Grant grant{.api = objects.devices_api, .claim = *claim, .node = binding.node};
      grant.pod = pod.meta;
      grant.config = config_of(*claim, objects);
      for (const DeviceRequest& request : claim->requests) {
        for (int32_t i = 0; i < request.count; ++i, ++next) {
          if (next >= binding.gpus.size()) return base::failed("its ResourceClaims have changed");
          const int32_t gpu = binding.gpus[next];
          const bool exists = gpu >= 0 && static_cast<size_t>(gpu) < devices.size();
          if (!exists || !taken.emplace(binding.node, gpu).second) {
            return base::failed(
                fmt::format("GPU {} of {} is allocated to another claim", gpu, binding.node));
          }
          grant.results.push_back({.request = request.name,
                                   .driver = rules.driver,
                                   .device = devices[static_cast<size_t>(gpu)]});
        }
      }
      binding.grants.push_back(std::move(grant));
    }
  }
  return {};
}

std::vector<Claim> left_granted(const Objects& objects, const Rules& rules) {
  std::vector<Claim> out;
  for (const auto& [key, pod] : objects.pods) {
    const bool waits = pod.node.empty() && !pod.is_over() && !pod.meta.deleting;
    if (!waits || pod.claims.empty() || !is_ours(pod.meta, pod.scheduler, rules)) continue;
    for (const std::string& name : pod.claims) {
      const Claim* claim = claim_of(objects, pod, name);
      if (claim == nullptr || !claim->is_allocated) continue;
      if (is_free_for(*claim, pod.meta.uid)) out.push_back(*claim);
    }
  }
  return out;
}

}  // namespace goban::live::engine::kubernetes
