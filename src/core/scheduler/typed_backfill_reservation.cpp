#include "core/scheduler/typed_backfill_reservation.hpp"

#include <algorithm>
#include <limits>

#include "core/model/instances.hpp"

namespace goban::core::scheduler {

using model::HostResources;
using Room = Resources::NodeRoom;

TypedBackfillReservation::TypedBackfillReservation(const State& state, const JobState& job,
                                                   TimeNs now)
    : cluster_(&state.resources().cluster()),
      type_(&cluster_->resource_type(job.request.resource_type)) {
  const auto rooms = state.resources().rooms();
  rooms_.assign(rooms.begin(), rooms.end());
  fits_.resize(rooms.size());
  for (uint32_t node = 0; node < rooms.size(); ++node) refresh(NodeId(node));
  for (const auto& [end, slot] : state.ends()) {
    if (end == base::kNever) return;
    // Include all jobs that end at the same time.
    if (start_ns_ != base::kNever && end > start_ns_) break;
    add_back(state.job(slot).request, state.allocation(slot));
    if (total_fits_ >= job.request.instances) start_ns_ = std::max(end, now);
  }
  if (start_ns_ != base::kNever) reserve(job.request.instances);
}

int32_t TypedBackfillReservation::instances_on(NodeId node) const {
  const Room& room = rooms_[node.index()];
  if (!room.open || room.gpus < type_->gpus || !type_->may_use(node)) return 0;
  const int64_t most = type_->apart ? 1 : std::numeric_limits<int32_t>::max();
  const int64_t fit = model::instances_in(room.gpus, room.host, *type_, most);
  return static_cast<int32_t>(std::max<int64_t>(fit, 0));
}

void TypedBackfillReservation::refresh(NodeId node) {
  int32_t& fits = fits_[node.index()];
  total_fits_ -= fits;
  fits = instances_on(node);
  total_fits_ += fits;
}

void TypedBackfillReservation::add_back(const JobRequest& request, const Allocation& allocation) {
  for (const GpuId gpu : allocation.gpus) ++rooms_[cluster_->node_of(gpu).index()].gpus;
  for (const NodeId node : allocation.hosts) {
    rooms_[node.index()].host += cluster_->resource_type(request.resource_type).host;
    refresh(node);
  }
  if (!allocation.hosts.empty()) return;
  for (const GpuId gpu : allocation.gpus) refresh(cluster_->node_of(gpu));
}

void TypedBackfillReservation::reserve(int32_t instances) {
  for (size_t node = 0; instances > 0; ++node) {
    const int32_t here = std::min(instances, fits_[node]);
    instances -= here;
    rooms_[node].gpus -= here * type_->gpus;
    for (int32_t i = 0; i < here; ++i) rooms_[node].host -= type_->host;
  }
}

bool TypedBackfillReservation::admit(const JobRequest& request, const Allocation& allocation) {
  const auto change = [&](int sign) {
    for (const GpuId gpu : allocation.gpus) rooms_[cluster_->node_of(gpu).index()].gpus += sign;
    for (const NodeId node : allocation.hosts) {
      const HostResources& asked = cluster_->resource_type(request.resource_type).host;
      sign > 0 ? rooms_[node.index()].host += asked : rooms_[node.index()].host -= asked;
    }
  };
  const auto overdrawn = [](const Room& room) {
    return room.gpus < 0 || !room.host.covers(HostResources{});
  };
  change(-1);
  const bool broken =
      std::ranges::any_of(
          allocation.gpus,
          [&](GpuId gpu) { return overdrawn(rooms_[cluster_->node_of(gpu).index()]); }) ||
      std::ranges::any_of(allocation.hosts,
                          [&](NodeId node) { return overdrawn(rooms_[node.index()]); });
  if (broken) change(+1);
  return !broken;
}

}  // namespace goban::core::scheduler
