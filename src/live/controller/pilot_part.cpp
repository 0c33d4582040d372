#include "live/controller/pilot_part.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "core/model/instances.hpp"

namespace goban::live::controller {

using base::Result;
using base::Status;
using core::model::Cluster;
using core::model::EventKind;
using core::model::JobRequest;
using core::scheduler::PromisedNodes;

namespace {

Status refuse(std::string message, std::string remedy) {
  return base::bad_data({.file = {}, .line = 0, .column = 0, .field = "nodes"}, std::move(message),
                        std::move(remedy));
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_of(const core::pilot::Plan& plan, const job::JobSpec& spec) {
  return has(plan.users, job::full_name(spec.owner)) ||
         (!spec.account.empty() && has(plan.accounts, spec.account));
}

/// Whether the job could run on these nodes if they were idle.
bool fits(const JobRequest& request, const std::vector<NodeId>& nodes, const Cluster& cluster) {
  const bool typed = request.resource_type.valid();
  int64_t gpus = 0;
  int64_t instances = 0;
  for (const NodeId id : nodes) {
    const core::model::Node& node = cluster.node(id);
    gpus += node.num_gpus;
    if (!typed) continue;
    const core::model::ResourceType& type = cluster.resource_type(request.resource_type);
    if (!type.may_use(id)) continue;
    const int64_t most = type.apart ? 1 : type.max_instances;
    instances += core::model::instances_in(node.num_gpus, node.host, type, most);
  }
  return request.num_gpus <= gpus && (!typed || request.instances <= instances);
}

/// The running job holds nothing elsewhere.
bool runs_within(const core::scheduler::State& state, JobId job, const PromisedNodes::Promise& on) {
  const core::model::Allocation& held = state.allocation(state.slot_of(job));
  const auto is_there = [&](NodeId node) {
    return std::ranges::find(on.nodes, node) != on.nodes.end();
  };
  return std::ranges::all_of(held.hosts, is_there) &&
         std::ranges::all_of(
             held.gpus, [&](GpuId gpu) { return is_there(state.speed().cluster->node_of(gpu)); });
}

const PromisedNodes::Promise* part_of(const JobBook& book, const DecisionCore& core) {
  const bool is_limited = book.pilot && book.pilot->runs() && book.pilot->part.valid();
  return is_limited ? core.state().resources().promised().find(book.pilot->part) : nullptr;
}

void move(LiveJob& job, DecisionCore& core, ReservationId whose, TimeNs at) {
  job.reservation = whose;
  if (!core.knows(job.job)) return;
  core.apply({.kind = EventKind::JobMoved, .at_ns = at, .job = job.job, .reservation = whose});
}

}  // namespace

Result<std::vector<NodeId>> nodes_of_pilot(const core::pilot::Plan& plan, const Cluster& cluster,
                                           const PromisedNodes& promised) {
  std::vector<NodeId> nodes;
  for (const std::string& name : plan.nodes) {
    const auto node = cluster.find_node(name);
    if (!node) {
      return base::failure(
          refuse(fmt::format("there is no node {}", name), "goban nodes lists them").error());
    }
    const auto* other = promised.overlapping(*node, {0, base::kNever});
    if (other != nullptr) {
      return base::failure(refuse(fmt::format("node {} belongs to reservation {}", name,
                                              reservation_name(other->reservation)),
                                  "name other nodes, or wait until it is over; goban reservations "
                                  "lists them")
                               .error());
    }
    if (std::ranges::find(nodes, *node) == nodes.end()) nodes.push_back(*node);
  }
  if (nodes.size() < cluster.nodes().size()) return nodes;
  return base::failure(refuse("leaves no node to other users",
                              "name fewer nodes, or limit the pilot to no nodes and users")
                           .error());
}

ReservationId pilot_part(const JobBook& book, const DecisionCore& core, const LiveJob& job,
                         TimeNs at) {
  const PromisedNodes::Promise* part = part_of(book, core);
  if (part == nullptr || !job.spec.reservation.empty() || !is_of(book.pilot->plan, job.spec)) {
    return {};
  }
  const bool is_large_enough = fits(core.request_for(job, at), part->nodes, core.site().cluster);
  return is_large_enough ? part->reservation : ReservationId{};
}

Status occupy_part(JobBook& book, DecisionCore& core, TimeNs at) {
  const ReservationId part = book.pilot->part;
  const auto nodes =
      nodes_of_pilot(book.pilot->plan, core.site().cluster, core.state().resources().promised());
  if (!nodes) return base::failure(nodes.error());
  core.apply({.kind = EventKind::NodesPromised,
              .at_ns = at,
              .until_ns = base::kNever,
              .reservation = part,
              .from_ns = at,
              .nodes = *nodes});
  for (auto& [id, job] : book.jobs) {
    if (!job.managed || job.stage == JobStage::Done || job.reservation.valid()) continue;
    const bool waits = !holds_gpus(job.stage) || core.has_waiting(id);
    const bool runs_there =
        !waits && core.knows(id) && runs_within(core.state(), id, *part_of(book, core));
    if (!waits && !runs_there) continue;
    if (pilot_part(book, core, job, at) == part) move(job, core, part, at);
  }
  return {};
}

void leave_part(JobBook& book, DecisionCore& core, TimeNs at) {
  const ReservationId part = book.pilot->part;
  if (!part.valid()) return;
  for (auto& [id, job] : book.jobs) {
    if (job.reservation == part && job.stage != JobStage::Done) move(job, core, {}, at);
  }
  core.apply({.kind = EventKind::PromiseOver, .at_ns = at, .reservation = part});
}

}  // namespace goban::live::controller
