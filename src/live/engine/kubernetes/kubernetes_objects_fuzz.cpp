// As an object, a line of a watch or a page of a list, any bytes are refused, or give values in
// their ranges.
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "live/engine/kubernetes/access.hpp"
#include "live/engine/kubernetes/bindings.hpp"
#include "live/engine/kubernetes/device_books.hpp"
#include "live/engine/kubernetes/watch_lines.hpp"

namespace {

namespace kubernetes = goban::live::engine::kubernetes;

/// Claims and slices of one node, whatever they say.
void settle(kubernetes::Objects& objects) {
  const kubernetes::Rules rules{.mode = kubernetes::Mode::All};
  kubernetes::settle_devices(objects, rules);
  for (const auto& [key, pod] : objects.pods) {
    GOBAN_CHECK(pod.gpus >= 0);
    std::vector<kubernetes::Binding> bindings{{.pod = &pod, .node = pod.node, .gpus = {0, 1}}};
    if (!kubernetes::grant_devices(bindings, objects, rules)) continue;
    for (const auto& grant : bindings.front().grants) {
      GOBAN_CHECK(!kubernetes::allocation_body(grant, "1").empty());
    }
  }
  GOBAN_CHECK(kubernetes::left_granted(objects, rules).size() <= objects.claims.size());
}

void read_all(const nlohmann::json& object) {
  kubernetes::Objects objects;
  if (const auto pod = kubernetes::read_pod(object)) {
    GOBAN_CHECK(!pod->meta.name.empty() && pod->gpus >= 0 && pod->cpu_milli >= 0);
    GOBAN_CHECK(pod->mem_bytes >= 0 && pod->index >= -1);
    objects.pods[pod->meta.key()] = *pod;
  }
  if (const auto node = kubernetes::read_node(object)) {
    GOBAN_CHECK(node->seen.num_gpus >= 0 && node->seen.islands > 0);
    objects.nodes[node->meta.key()] = *node;
  }
  if (const auto work = kubernetes::read_work(object)) {
    GOBAN_CHECK(work->parallelism >= 0 && work->completions >= -1);
    objects.works[work->meta.key()] = *work;
  }
  for (size_t i = 0; i < kubernetes::kGroups.size(); ++i) {
    const auto kind = static_cast<kubernetes::GroupKind>(i);
    if (const auto group = kubernetes::read_group(object, kind)) {
      objects.mpi_jobs[group->meta.key()] = *group;
      GOBAN_CHECK(!kubernetes::group_suspension_body(*group, true).empty());
    }
  }
  if (const auto group = kubernetes::read_pod_group(object)) {
    GOBAN_CHECK(group->least >= 1);
    objects.pod_groups[group->meta.key()] = *group;
  }
  if (const auto slice = kubernetes::read_slice(object)) {
    objects.slices[slice->meta.key()] = *slice;
  }
  if (const auto made = kubernetes::read_device_class(object)) {
    objects.classes[made->meta.key()] = *made;
  }
  if (const auto claim = kubernetes::read_claim(object)) {
    for (const auto& each : claim->requests) GOBAN_CHECK(each.count >= 0);
    objects.claims[claim->meta.key()] = *claim;
    const kubernetes::Grant grant{.api = "/apis/resource.k8s.io/v1", .claim = *claim};
    GOBAN_CHECK(!kubernetes::allocation_body(grant, "1").empty());
    GOBAN_CHECK(!kubernetes::finalizer_body(*claim).empty());
  }
  settle(objects);
  for (const auto mode : {kubernetes::Mode::Observe, kubernetes::Mode::All}) {
    for (const auto indices : {kubernetes::Indices::Counts, kubernetes::Indices::Exact}) {
      const kubernetes::Rules rules{.mode = mode, .indices = indices};
      const auto gangs = kubernetes::gangs_of(objects, rules);
      const auto view = kubernetes::view_of(objects, gangs, rules, {}, {});
      for (const auto& [id, job] : view.picture.jobs) GOBAN_CHECK(job.spec.num_gpus >= 0);
      for (const auto& [id, gang] : gangs) {
        const std::vector<goban::live::NodePart> parts{{.node = "n1", .gpus = {0, 1, 2, 3}}};
        const auto bindings = kubernetes::bindings_of(gang, parts);
        for (const auto& each : bindings.value_or(std::vector<kubernetes::Binding>{})) {
          GOBAN_CHECK(!kubernetes::binding_body(each, "1", {}).empty());
        }
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_all(nlohmann::json::parse(text, nullptr, false));
  kubernetes::WatchLines lines;
  lines.add(text);
  while (const auto event = lines.next()) {
    if (event->object) read_all(*event->object);
    if (event->kind == kubernetes::WatchEvent::Kind::Broken) break;
  }
  if (const auto page = kubernetes::parse_list_page(text)) {
    GOBAN_CHECK(page->items->is_array());
    for (const auto& item : *page->items) read_all(item);
  }
  if (const auto gpus = kubernetes::parse_gpu_list(text)) {
    GOBAN_CHECK(kubernetes::parse_gpu_list(kubernetes::gpu_list_text(*gpus)) == *gpus);
  }
  (void)kubernetes::token_of_plugin(text);
  (void)kubernetes::devices_api_of(text);
  return 0;
}
