// Checks of reservations: whether nodes can be set aside, which ones, and which jobs may use them.
#include <algorithm>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/date_time.hpp"
#include "base/units.hpp"
#include "core/model/instances.hpp"
#include "live/controller/input_checks.hpp"

namespace goban::live::controller {

using base::Result;
using base::Status;

namespace {

constexpr size_t kPeopleMax = 1'000;
constexpr size_t kNameBytesMax = 256;

Status refuse(const char* field, std::string message, std::string remedy = {}) {
  return base::bad_data({.file = {}, .line = 0, .column = 0, .field = field}, std::move(message),
                        std::move(remedy));
}

std::string utc(TimeNs at) { return base::date_time_text(at) + " UTC"; }

Status check_people(const ReservationPlan& plan) {
  for (const auto& [field, names] :
       {std::pair{"users", &plan.users}, {"accounts", &plan.accounts}}) {
    if (names->size() > kPeopleMax)
      return refuse(field, fmt::format("has more than {} names", kPeopleMax));
    const bool odd = std::ranges::any_of(*names, [](const std::string& name) {
      return name.empty() || name.size() > kNameBytesMax ||
             std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    });
    if (odd) return refuse(field, "contains an invalid name");
  }
  return {};
}

Status check_rules(const Reserve& reserve, const ReservationRules& rules, TimeNs now) {
  const ReservationPlan& plan = reserve.plan;
  if (!reserve.by.is_operator) {
    if (!rules.by_users) {
      return base::failed("only operators may make reservations at this site", "ask an operator");
    }
    if (!reserve.by.owns(plan.owner)) {
      return base::failed("only operators may reserve for another user", "omit the user");
    }
  }
  if (plan.start_ns >= plan.end_ns) return refuse("end_s", "must be after the start");
  const TimeNs length = plan.end_ns - plan.start_ns;
  if (length % rules.unit_ns != 0) {
    return refuse("end_s",
                  fmt::format("the length {} is not a multiple of {}", base::duration_text(length),
                              base::duration_text(rules.unit_ns)));
  }
  if (length > rules.longest_ns) {
    return refuse("end_s",
                  fmt::format("the length {} exceeds the maximum, {}", base::duration_text(length),
                              base::duration_text(rules.longest_ns)));
  }
  if (plan.start_ns < base::add_saturating(now, rules.ahead_ns)) {
    return refuse("start_s",
                  rules.ahead_ns == 0
                      ? "must not be in the past"
                      : fmt::format("reservations must be made at least {} before they begin",
                                    base::duration_text(rules.ahead_ns)));
  }
  return check_people(plan);
}

/// Obstacles that keep nodes from being reserved for a period.
class Obstacles {
 public:
  Obstacles(const CheckFacts& facts, const ReservationPlan& plan)
      : facts_(facts), plan_(plan), busy_(facts.site.cluster.nodes().size()) {
    const auto& cluster = facts.site.cluster;
    for (const auto& running : facts.core.running()) {
      const LiveJob& job = facts.book.jobs.at(facts.core.job(running.slot).job);
      const Busy busy{end_of(job), job.job};
      const auto note = [&](NodeId node) {
        Busy& last = busy_[node.index()];
        if (!last.job.valid() || busy.until_ns > last.until_ns) last = busy;
      };
      for (const GpuId gpu : running.allocation.gpus) note(cluster.node_of(gpu));
      for (const NodeId node : running.allocation.hosts) note(node);
    }
    for (const auto& [holder, found] : facts.core.found()) {
      const Busy busy{found.until_ns, holder.first};
      if (!busy.job.valid()) continue;
      const auto note = [&](NodeId node) {
        Busy& last = busy_[node.index()];
        if (!last.job.valid() || busy.until_ns > last.until_ns) last = busy;
      };
      for (const GpuId gpu : found.gpus) note(cluster.node_of(gpu));
      for (const auto& part : found.hosts) note(part.node);
    }
  }

  /// The obstacle as text for users; empty: none.
  [[nodiscard]] std::string on(NodeId node) const {
    const auto& resources = facts_.core.resources();
    if (facts_.down.contains(node)) return "is down";
    const bool closed = facts_.drained.contains(node) && !resources.rooms()[node.index()].open;
    if (closed || resources.usable_until_ns(node) < plan_.end_ns) return "is drained";
    const auto* other = resources.promised().overlapping(node, {plan_.start_ns, plan_.end_ns});
    if (other != nullptr && other->is_part()) return "belongs to the pilot while it lasts";
    if (other != nullptr) {
      return fmt::format("belongs to reservation {} from {} to {}",
                         reservation_name(other->reservation), utc(other->start_ns),
                         utc(other->end_ns));
    }
    const Busy& busy = busy_[node.index()];
    if (!busy.job.valid() || busy.until_ns <= plan_.start_ns) return {};
    if (busy.until_ns == base::kNever) {
      return fmt::format("runs job {}, which has no time limit", job::job_number(busy.job));
    }
    return fmt::format("runs job {}, which may run until {}", job::job_number(busy.job),
                       utc(busy.until_ns));
  }

 private:
  struct Busy {
    TimeNs until_ns = 0;
    JobId job{};
  };

  [[nodiscard]] TimeNs end_of(const LiveJob& job) const {
    const LiveReservation* own = facts_.book.find(job.reservation);
    const TimeNs limit = job.spec.walltime_limit_ns;
    TimeNs end = own == nullptr ? base::kNever : own->plan.end_ns;
    if (limit > 0) {
      // The limit of a run that has not started counts from its start.
      const TimeNs start = job.run_start_ns >= 0 ? job.run_start_ns : facts_.now_ns;
      end = std::min(end, base::add_saturating(start, std::max<TimeNs>(limit - job.held_ns, 0)));
    }
    return end;
  }

  const CheckFacts& facts_;
  const ReservationPlan& plan_;
  std::vector<Busy> busy_;  ///< by node: the job there that may run longest
};

/// The nodes of a kind. Errors: BadData if the kind is unknown.
Result<std::vector<NodeId>> nodes_of_kind(const core::model::Cluster& cluster,
                                          const std::string& kind) {
  std::vector<NodeId> nodes;
  const auto type = cluster.find_resource_type(kind);
  const auto models = cluster.gpu_models();
  const bool is_model =
      std::ranges::find(models, kind, &core::model::GpuModel::name) != models.end();
  if (!kind.empty() && !type.valid() && !is_model) {
    return base::failure(refuse("kind", fmt::format("unknown GPU model or resource type {}", kind),
                                "goban nodes lists the models")
                             .error());
  }
  for (uint32_t i = 0; i < cluster.nodes().size(); ++i) {
    const core::model::Node& node = cluster.nodes()[i];
    const bool of_model = is_model && models[node.gpu_model].name == kind;
    const bool of_type = type.valid() && node.host.covers(cluster.resource_type(type).host) &&
                         static_cast<int64_t>(node.num_gpus) >= cluster.resource_type(type).gpus;
    if (kind.empty() || of_model || of_type) nodes.emplace_back(i);
  }
  return nodes;
}

Result<std::vector<NodeId>> named_nodes(const CheckFacts& facts, const Reserve& reserve,
                                        const Obstacles& obstacles) {
  const auto nodes = facts.site.cluster.nodes();
  std::vector<NodeId> wanted = reserve.plan.nodes;
  std::ranges::sort(wanted);
  if (std::ranges::adjacent_find(wanted) != wanted.end()) {
    return base::failure(refuse("nodes", "contains a node twice").error());
  }
  for (const NodeId node : wanted) {
    if (node.index() >= nodes.size()) {
      return base::failed("there is no such node", "goban nodes lists them");
    }
    const std::string obstacle = obstacles.on(node);
    if (!obstacle.empty()) {
      return base::failed(fmt::format("node {} {}", nodes[node.index()].name, obstacle),
                          "choose other nodes or another time, or give a number of nodes");
    }
  }
  return wanted;
}

Result<std::vector<NodeId>> first_nodes(const CheckFacts& facts, const Reserve& reserve,
                                        const Obstacles& obstacles) {
  auto fitting = nodes_of_kind(facts.site.cluster, reserve.kind);
  if (!fitting) return fitting;
  const auto wanted = static_cast<size_t>(reserve.num_nodes);
  std::vector<NodeId> chosen;
  std::string first_obstacle;
  for (const NodeId node : *fitting) {
    if (chosen.size() == wanted) break;
    std::string obstacle = obstacles.on(node);
    if (obstacle.empty()) chosen.push_back(node);
    if (first_obstacle.empty() && !obstacle.empty()) {
      first_obstacle = fmt::format("; {} {}", facts.site.cluster.node(node).name, obstacle);
    }
  }
  if (chosen.size() == wanted) return chosen;
  return base::failed(
      fmt::format("{} of {} nodes can be reserved at that time; {} were requested{}", chosen.size(),
                  fitting->size(), wanted, first_obstacle),
      "request fewer nodes or choose another time");
}

}  // namespace

Result<std::vector<NodeId>> choose_nodes(const Reserve& reserve, const CheckFacts& facts) {
  const ReservationRules& rules = facts.site.reservations;
  if (auto status = check_rules(reserve, rules, facts.now_ns); !status) {
    return base::failure(status.error());
  }
  const size_t named = reserve.plan.nodes.size();
  const size_t asked = named > 0 ? named : static_cast<size_t>(std::max(reserve.num_nodes, 0));
  if (asked == 0) return base::failure(refuse("num_nodes", "must be at least 1").error());
  const auto most = static_cast<size_t>(rules.nodes_max);
  if (most > 0 && asked > most) {
    return base::failure(refuse("num_nodes", fmt::format("requests {}; at most {} can be requested",
                                                         base::counted(asked, "node"), most))
                             .error());
  }
  const Obstacles obstacles(facts, reserve.plan);
  return named > 0 ? named_nodes(facts, reserve, obstacles)
                   : first_nodes(facts, reserve, obstacles);
}

Status check_reservation_use(const job::JobSpec& spec, const Site& site, const JobBook& book) {
  if (spec.reservation.empty()) return {};
  const auto id = parse_reservation_name(spec.reservation);
  const LiveReservation* found = id ? book.find(*id) : nullptr;
  if (found == nullptr) {
    return refuse("reservation", fmt::format("there is no reservation {}", spec.reservation),
                  "goban reservations lists them");
  }
  if (!found->is_open()) {
    return refuse("reservation",
                  fmt::format("reservation {} {}", reservation_name(*id), found->detail));
  }
  if (!found->plan.may_use(job::full_name(spec.owner), spec.account)) {
    return refuse(
        "reservation",
        fmt::format("reservation {} belongs to {}", reservation_name(*id), found->plan.owner.user),
        "only its owner and the users and accounts named when it was made may use it");
  }
  const auto type = site.cluster.find_resource_type(spec.resource_type);
  int64_t gpus = 0;
  int64_t instances = 0;
  for (const NodeId id_of_node : found->plan.nodes) {
    const core::model::Node& node = site.cluster.node(id_of_node);
    gpus += node.num_gpus;
    if (!type.valid()) continue;
    const core::model::ResourceType& asked = site.cluster.resource_type(type);
    instances += core::model::instances_in(node.num_gpus, node.host, asked, asked.max_instances);
  }
  if (spec.num_gpus > gpus || (type.valid() && spec.instances > instances)) {
    return refuse(
        "reservation",
        fmt::format("reservation {} is too small: it has {} with {}", reservation_name(*id),
                    base::counted(found->plan.nodes.size(), "node"), base::counted(gpus, "GPU")));
  }
  return {};
}

Status check_cancel(const JobBook& book, const CancelReservation& cancel) {
  const LiveReservation* found = book.find(cancel.reservation);
  if (found == nullptr) {
    return refuse("reservation",
                  fmt::format("there is no reservation {}", reservation_name(cancel.reservation)));
  }
  const std::string name = reservation_name(cancel.reservation);
  if (!cancel.by.is_operator && !cancel.by.owns(found->plan.owner)) {
    return base::failed(fmt::format("reservation {} belongs to {}", name, found->plan.owner.user),
                        "ask its owner or an operator");
  }
  if (!found->is_open()) return base::failed(fmt::format("reservation {} {}", name, found->detail));
  return {};
}

}  // namespace goban::live::controller
