#include "core/scheduler/resources.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "core/scheduler/equal_indices.hpp"

namespace goban::core::scheduler {

using model::GpuId;
using model::HostResources;

Resources::Resources(const policy::SpeedModel& speed, const policy::Placement& placement,
                     int32_t jobs_per_gpu_max, PartPlacement of_part)
    : speed_(speed),
      placement_(&placement),
      of_part_(of_part),
      cluster_(speed.cluster),
      free_(*speed.cluster),
      bins_(empty_bins()),
      promised_(speed.cluster->nodes().size()),
      held_(speed.cluster->num_gpus()),
      found_(speed.cluster->num_gpus()),
      jobs_per_gpu_max_(static_cast<uint8_t>(jobs_per_gpu_max)) {
  GOBAN_CHECK(jobs_per_gpu_max > 0 && jobs_per_gpu_max <= UINT8_MAX);
  for (const model::Node& node : cluster_->nodes()) rooms_.push_back({.host = node.host});
  usable_until_.assign(rooms_.size(), base::kNever);
  for (uint32_t gpu = 0; gpu < cluster_->num_gpus(); ++gpu) give_gpu(GpuId(gpu));
}

std::vector<knowledge::BinCounts> Resources::empty_bins() const {
  std::vector<knowledge::BinCounts> bins;
  const bool part_uses = of_part_.placement != nullptr && of_part_.placement->uses_bins();
  if (!placement_->uses_bins() && !part_uses) return bins;
  for (size_t c = 0; c < speed_.scores->num_classes(); ++c) {
    bins.emplace_back(*cluster_, speed_.scores->of(model::AppClass{static_cast<uint8_t>(c)}));
  }
  return bins;
}

bool Resources::usable(NodeId node, const JobRequest& job, HoldSpan hold) const {
  if (!rooms_[node.index()].open || !promised_.allows(node, job.reservation, hold)) return false;
  const bool any_model = hold.gpu_model == model::JobState::kAnyModel;
  if (!any_model && cluster_->node(node).gpu_model != hold.gpu_model) return false;
  // The job is stopped at the end of its reservation at the latest.
  const auto* own = job.reservation.valid() ? promised_.find(job.reservation) : nullptr;
  const TimeNs until = own == nullptr ? hold.until_ns : std::min(hold.until_ns, own->end_ns);
  return until <= usable_until_[node.index()];
}

int32_t Resources::free_gpus(ReservationId whose, TimeNs now) const {
  int32_t free = whose.valid() ? 0 : free_.total();
  for (const PromisedNodes::Promise& each : promised_.all()) {
    if (!each.holds_at(now) || (whose.valid() && each.reservation != whose)) continue;
    for (const NodeId node : each.nodes) {
      const auto here = static_cast<int32_t>(free_.on_node(node));
      free += whose.valid() ? here : -here;
    }
  }
  return free;
}

bool Resources::find(const JobRequest& job, HoldSpan hold, uint64_t seed, Allocation& out) {
  out = {};
  if (job.resource_type.valid()) return find_instances(job, hold, seed, out);
  GOBAN_CHECK(job.num_gpus > 0);
  out.gpus.reserve(static_cast<size_t>(job.num_gpus));
  const policy::PlacementRequest request{.job = &job,
                                         .num_gpus = static_cast<uint32_t>(job.num_gpus),
                                         .seed = seed,
                                         .id = hold.job,
                                         .start_ns = hold.from_ns};
  if (!has_windows() && hold.gpu_model == model::JobState::kAnyModel) {
    return placement_of(job).place({&speed_, &free_, &bins_}, request, out);
  }

  std::vector<NodeId> nodes;
  for (uint32_t i = 0; i < rooms_.size(); ++i) {
    if (usable(NodeId(i), job, hold)) nodes.emplace_back(i);
  }
  const Part part = part_of(nodes);
  return placement_of(job).place({&speed_, &part.free, &part.bins}, request, out);
}

Resources::Part Resources::part_of(std::span<const NodeId> nodes) const {
  Part part{model::FreeGpus(*cluster_), empty_bins()};
  for (const NodeId id : nodes) {
    const model::Node& node = cluster_->node(id);
    for (uint32_t gpu = free_.first_from(node.first_gpu); gpu < node.end_gpu();
         gpu = free_.first_from(gpu + 1)) {
      part.give(GpuId(gpu));
    }
  }
  return part;
}

void Resources::sync(Part& part, const model::ResourceType& type, NodeId id,
                     const HostResources& left) const {
  const model::Node& node = cluster_->node(id);
  const bool offered = rooms_[id.index()].open && type.may_use(id) && left.covers(type.host) &&
                       static_cast<int64_t>(free_.on_node(id)) >= type.gpus;
  for (uint32_t i = node.first_gpu; i < node.end_gpu(); ++i) {
    const GpuId gpu(i);
    const bool wanted = offered && free_.is_free(gpu);
    if (wanted == part.free.is_free(gpu)) continue;
    if (wanted) {
      part.give(gpu);
    } else {
      part.take(gpu);
    }
  }
}

void Resources::sync_types(NodeId node) {
  for (size_t i = 0; i < types_.size(); ++i) {
    if (!types_[i]) continue;
    const auto& type = cluster_->resource_type(model::ResourceTypeId(i));
    sync(*types_[i], type, node, rooms_[node.index()].host);
  }
}

Resources::Part& Resources::part_of_type(model::ResourceTypeId id) {
  if (types_.empty()) types_.resize(cluster_->resource_types().size());
  std::optional<Part>& part = types_[id.index()];
  if (!part) {
    part = Part{model::FreeGpus(*cluster_), empty_bins()};
    for (uint32_t i = 0; i < rooms_.size(); ++i) {
      sync(*part, cluster_->resource_type(id), NodeId(i), rooms_[i].host);
    }
  }
  return *part;
}

void Resources::Part::give(GpuId gpu) {
  free.give(gpu);
  for (knowledge::BinCounts& each : bins) each.give(gpu);
}

void Resources::Part::take(GpuId gpu) {
  free.take(gpu);
  for (knowledge::BinCounts& each : bins) each.take(gpu);
}

bool Resources::place_instance(const JobRequest& job, const model::ResourceType& type,
                               HoldSpan hold, uint64_t seed, const Part& part,
                               Allocation& out) const {
  const policy::PlacementRequest request{.job = &job,
                                         .num_gpus = static_cast<uint32_t>(type.gpus),
                                         .one_node = true,
                                         .seed = seed,
                                         .id = hold.job,
                                         .start_ns = hold.from_ns};
  return placement_of(job).place({&speed_, &part.free, &part.bins}, request, out);
}

bool Resources::place_instances(const JobRequest& job, const model::ResourceType& type,
                                HoldSpan hold, uint64_t seed, Part& part, Allocation& out) const {
  for (int32_t instance = 0; instance < job.instances; ++instance) {
    Allocation share;
    if (!place_instance(job, type, hold, seed, part, share)) return false;
    const NodeId id = cluster_->node_of(share.gpus.front());
    out.gpus.insert(out.gpus.end(), share.gpus.begin(), share.gpus.end());
    out.hosts.push_back(id);
    if (instance == 0 || share.reason.product > out.reason.product) out.reason = share.reason;
    if (instance + 1 == job.instances) return true;
    for (const GpuId gpu : share.gpus) {
      part.take(gpu);
    }
    // The node is offered while its host has room for another instance.
    HostResources left = rooms_[id.index()].host;
    for (const NodeId host : out.hosts) {
      if (host == id) left -= type.host;
    }
    if (!type.apart && left.covers(type.host)) continue;
    const model::Node& node = cluster_->node(id);
    for (uint32_t gpu = part.free.first_from(node.first_gpu); gpu < node.end_gpu();
         gpu = part.free.first_from(gpu + 1)) {
      part.take(GpuId(gpu));
    }
  }
  return true;
}

Resources::Part Resources::only_indices(const Part& part, const std::vector<uint32_t>& wanted,
                                        int32_t& nodes) const {
  Part out{model::FreeGpus(*cluster_), empty_bins()};
  nodes = 0;
  for (const model::Node& node : cluster_->nodes()) {
    const auto has = [&](uint32_t index) {
      return index < node.num_gpus && part.free.is_free(GpuId(node.first_gpu + index));
    };
    if (!std::ranges::all_of(wanted, has)) continue;
    ++nodes;
    for (const uint32_t index : wanted) {
      const GpuId gpu(node.first_gpu + index);
      out.give(gpu);
    }
  }
  return out;
}

bool Resources::place_at(const std::vector<uint32_t>& indices, const JobRequest& job,
                         const model::ResourceType& type, HoldSpan hold, uint64_t seed,
                         const Part& part, Allocation& out) const {
  int32_t nodes = 0;
  Part left = only_indices(part, indices, nodes);
  out = {};
  return nodes >= job.instances && place_instances(job, type, hold, seed, left, out);
}

bool Resources::place_equal(const JobRequest& job, const model::ResourceType& type, HoldSpan hold,
                            uint64_t seed, const Part& part, Allocation& out) const {
  // What the policy would give to one part comes first.
  Allocation single;
  if (!place_instance(job, type, hold, seed, part, single)) return false;
  std::vector<uint32_t> wanted;
  for (const GpuId gpu : single.gpus) {
    wanted.push_back(gpu.value - cluster_->node(cluster_->node_of(gpu)).first_gpu);
  }
  if (place_at(wanted, job, type, hold, seed, part, out)) return true;
  const auto first = first_equal(*cluster_, part.free, type.gpus, job.instances);
  return first && place_at(*first, job, type, hold, seed, part, out);
}

bool Resources::find_instances(const JobRequest& job, HoldSpan hold, uint64_t seed,
                               Allocation& out) {
  const model::ResourceType& type = cluster_->resource_type(job.resource_type);
  if (type.gpus == 0) return find_hosts(job, type, hold, out);
  if (static_cast<int64_t>(type.gpus) * job.instances > free_.total()) return false;
  bool found = false;
  const bool by_index = !type.indices.empty() || (type.equal_indices && job.instances > 1);
  const auto place_by_index = [&](const Part& part) {
    return type.indices.empty() ? place_equal(job, type, hold, seed, part, out)
                                : place_at(type.indices, job, type, hold, seed, part, out);
  };
  if (!has_windows() && by_index) {
    found = place_by_index(part_of_type(job.resource_type));
  } else if (!has_windows()) {
    Part& part = part_of_type(job.resource_type);
    found = static_cast<int64_t>(type.gpus) * job.instances <= part.free.total() &&
            place_instances(job, type, hold, seed, part, out);
    for (const NodeId node : out.hosts) sync(part, type, node, rooms_[node.index()].host);
  } else {
    std::vector<NodeId> nodes;
    for (uint32_t i = 0; i < rooms_.size(); ++i) {
      const bool gpus = static_cast<int64_t>(free_.on_node(NodeId(i))) >= type.gpus;
      if (gpus && type.may_use(NodeId(i)) && usable(NodeId(i), job, hold) &&
          rooms_[i].host.covers(type.host)) {
        nodes.emplace_back(i);
      }
    }
    Part part = part_of(nodes);
    found = by_index ? place_by_index(part) : place_instances(job, type, hold, seed, part, out);
  }
  if (!found) out = {};
  return found;
}

bool Resources::find_hosts(const JobRequest& job, const model::ResourceType& type, HoldSpan hold,
                           Allocation& out) const {
  // Jobs without GPUs take the nodes with the fewest free GPUs first.
  std::vector<NodeId> nodes;
  for (uint32_t i = 0; i < rooms_.size(); ++i) {
    const bool may = type.may_use(NodeId(i)) && usable(NodeId(i), job, hold);
    if (may && rooms_[i].host.covers(type.host)) nodes.emplace_back(i);
  }
  std::ranges::stable_sort(nodes, {}, [&](NodeId node) { return free_.on_node(node); });
  for (const NodeId node : nodes) {
    HostResources host = rooms_[node.index()].host;
    while (static_cast<int32_t>(out.hosts.size()) < job.instances && host.covers(type.host)) {
      out.hosts.push_back(node);
      if (type.apart) break;
      host -= type.host;
    }
  }
  if (static_cast<int32_t>(out.hosts.size()) == job.instances) return true;
  out = {};
  return false;
}

void Resources::give_gpu(GpuId gpu) {
  free_.give(gpu);
  ++rooms_[cluster_->node_of(gpu).index()].gpus;
  for (knowledge::BinCounts& bins : bins_) bins.give(gpu);
}

void Resources::take_gpu(GpuId gpu) {
  free_.take(gpu);
  --rooms_[cluster_->node_of(gpu).index()].gpus;
  for (knowledge::BinCounts& bins : bins_) bins.take(gpu);
}

bool Resources::can_take(const JobRequest& job, const Allocation& allocation) const {
  std::vector<GpuId> gpus = allocation.gpus;
  std::ranges::sort(gpus);
  if (std::ranges::adjacent_find(gpus) != gpus.end()) return false;
  for (const GpuId gpu : gpus) {
    if (gpu.index() >= held_.size() || held_[gpu.index()] >= jobs_per_gpu_max_) return false;
    if (held_[gpu.index()] == 0 && !is_left(gpu)) return false;
    if (!rooms_[cluster_->node_of(gpu).index()].open) return false;
  }
  if (allocation.hosts.empty()) return true;
  if (!job.resource_type.valid()) return false;
  const model::ResourceType& type = cluster_->resource_type(job.resource_type);
  const HostResources& asked = type.host;
  std::vector<NodeRoom> left(rooms_.begin(), rooms_.end());
  return std::ranges::all_of(allocation.hosts, [&](NodeId node) {
    if (node.index() >= left.size() || !type.may_use(node)) return false;
    if (type.apart && std::ranges::count(allocation.hosts, node) > 1) return false;
    NodeRoom& room = left[node.index()];
    if (!room.open || !room.host.covers(asked)) return false;
    room.host -= asked;
    return true;
  });
}

bool Resources::is_held(std::span<const GpuId> gpus) const {
  return std::ranges::any_of(gpus, [&](GpuId gpu) { return held_[gpu.index()] > 0; });
}

void Resources::take(const JobRequest& job, const Allocation& allocation) {
  for (const GpuId gpu : allocation.gpus) {
    uint8_t& jobs = held_[gpu.index()];
    GOBAN_CHECK(jobs < jobs_per_gpu_max_, "a GPU has too many jobs");
    if (jobs++ > 0) continue;
    if (found_[gpu.index()] > 0) continue;  // left out while it was held: its job returns to it
    GOBAN_CHECK(free_.is_free(gpu), "a GPU is taken that is not free");
    take_gpu(gpu);
  }
  for (const NodeId node : allocation.hosts) {
    const HostResources& asked = cluster_->resource_type(job.resource_type).host;
    GOBAN_CHECK(rooms_[node.index()].host.covers(asked), "a node is overcommitted");
    rooms_[node.index()].host -= asked;
  }
  follow(allocation);
}

void Resources::give(const JobRequest& job, const Allocation& allocation) {
  for (const GpuId gpu : allocation.gpus) {
    uint8_t& jobs = held_[gpu.index()];
    GOBAN_CHECK(jobs > 0, "a GPU is given back twice");
    if (--jobs > 0 || !is_left(gpu)) continue;
    if (rooms_[cluster_->node_of(gpu).index()].open) give_gpu(gpu);
  }
  for (const NodeId node : allocation.hosts) {
    rooms_[node.index()].host += cluster_->resource_type(job.resource_type).host;
  }
  follow(allocation);
}

void Resources::take_found(const model::FoundAllocation& found) {
  for (const GpuId gpu : found.gpus) {
    const NodeId node = cluster_->node_of(gpu);
    if (is_left(gpu) && rooms_[node.index()].open) take_gpu(gpu);
    ++found_[gpu.index()];
    sync_types(node);
  }
  for (const model::HostPart& part : found.hosts) {
    rooms_[part.node.index()].host -= part.host;
    sync_types(part.node);
  }
}

void Resources::give_found(const model::FoundAllocation& found) {
  for (const GpuId gpu : found.gpus) {
    GOBAN_CHECK(found_[gpu.index()] > 0, "a found GPU is given back twice");
    --found_[gpu.index()];
    const NodeId node = cluster_->node_of(gpu);
    if (is_left(gpu) && rooms_[node.index()].open) give_gpu(gpu);
    sync_types(node);
  }
  for (const model::HostPart& part : found.hosts) {
    rooms_[part.node.index()].host += part.host;
    sync_types(part.node);
  }
}

void Resources::follow(const Allocation& allocation) {
  if (types_.empty()) return;
  NodeId last;
  for (const GpuId gpu : allocation.gpus) {
    const NodeId node = cluster_->node_of(gpu);
    if (node != last) sync_types(node);
    last = node;
  }
  for (const NodeId node : allocation.hosts) {
    if (node != last) sync_types(node);
    last = node;
  }
}

void Resources::close(NodeId id) {
  NodeRoom& room = rooms_[id.index()];
  if (!room.open) return;
  room.open = false;
  const model::Node& node = cluster_->node(id);
  for (uint32_t gpu = node.first_gpu; gpu < node.end_gpu(); ++gpu) {
    if (is_left(GpuId(gpu))) take_gpu(GpuId(gpu));
  }
  sync_types(id);
}

void Resources::open(NodeId id) {
  drain(id, base::kNever);
  reopen(id);
}

void Resources::reopen(NodeId id) {
  NodeRoom& room = rooms_[id.index()];
  if (room.open) return;
  room.open = true;
  const model::Node& node = cluster_->node(id);
  for (uint32_t gpu = node.first_gpu; gpu < node.end_gpu(); ++gpu) {
    if (is_left(GpuId(gpu))) give_gpu(GpuId(gpu));
  }
  sync_types(id);
}

void Resources::drain(NodeId node, TimeNs from) {
  TimeNs& until = usable_until_[node.index()];
  num_limited_ -= until != base::kNever ? 1 : 0;
  until = from;
  num_limited_ += until != base::kNever ? 1 : 0;
}

}  // namespace goban::core::scheduler
