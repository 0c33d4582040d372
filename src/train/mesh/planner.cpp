#include "train/mesh/planner.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "train/mesh/buckets.hpp"
#include "train/mesh/functions.hpp"
#include "train/mesh/legality.hpp"

namespace goban::train::mesh {
namespace {

/// Lower is better; compared element by element.
using Price = std::tuple<double, double>;

bool is_product(Op op) {
  return op == Op::Einsum || op == Op::Conv || op == Op::ConvInputGrad ||
         op == Op::ConvFilterGrad || op == Op::BlockConv || op == Op::BlockConvFilterGrad;
}

int64_t need_of(const Plan& plan) {
  return plan.totals.variable_bytes + plan.totals.peak_value_bytes;
}

class Search {
 public:
  Search(const Graph& graph, const std::vector<NodeId>& roots, const MeshShape& mesh,
         const PlannerOptions& options)
      : graph_(graph), roots_(roots), mesh_(mesh), options_(options) {
    nodes_ = needed_nodes(graph, roots);
    names_ = dimension_names(graph, nodes_);
  }

  /// Every layout that fits, with its price, in the order of the search.
  std::vector<std::pair<Price, LayoutChoice>> all() {
    keeps_all_ = true;
    extend(0, {});
    return std::move(all_);
  }

  base::Result<LayoutChoice> run() {
    extend(0, {});
    if (best_) {
      best_->examined = examined_;
      return *best_;
    }
    return base::usage_error(
        fmt::format("no layout on mesh \"{}\" fits into {} bytes per device; the minimum is {}",
                    mesh_.text(), options_.memory_limit_bytes, least_bytes_),
        "use more devices, micro-batches or recomputation");
  }

 private:
  void extend(size_t at, const LayoutRules& rules) {
    if (options_.stopped && options_.stopped()) return;
    // Further rules cannot repair an illegal layout: the branch is pruned.
    if (!is_legal(graph_, nodes_, mesh_, rules)) return;
    if (at == names_.size()) return price(rules);
    for (const Dim& axis : mesh_.axes()) {
      LayoutRules more = rules;
      more.rules.emplace_back(names_[at], axis.name);
      extend(at + 1, more);
    }
    extend(at + 1, rules);
  }

  void price(const LayoutRules& rules) {
    const auto plan = lower(graph_, roots_, mesh_, rules, 0, options_.micro_batches);
    if (!plan) return;
    ++examined_;
    const int64_t bytes = need_of(*plan);
    if (least_bytes_ == 0 || bytes < least_bytes_) least_bytes_ = bytes;
    if (options_.memory_limit_bytes > 0 && bytes > options_.memory_limit_bytes) return;
    const double step_s =
        options_.bucket_bytes > 0
            ? overlapped_step_s(graph_, *plan, options_.costs, options_.micro_batches,
                                options_.bucket_bytes)
            : predicted_step_s(graph_, *plan, options_.costs, options_.micro_batches);
    const Price price = options_.objective == Objective::Time
                            ? Price{step_s, static_cast<double>(bytes)}
                            : Price{static_cast<double>(plan->totals.peak_value_bytes),
                                    -static_cast<double>(rules.rules.size())};
    const LayoutChoice choice{mesh_, rules, step_s, bytes, 0};
    if (keeps_all_) all_.emplace_back(price, choice);
    if (best_ && price >= best_price_) return;
    best_price_ = price;
    best_ = choice;
  }

  const Graph& graph_;
  const std::vector<NodeId>& roots_;
  const MeshShape& mesh_;
  const PlannerOptions& options_;
  std::vector<NodeId> nodes_;
  std::vector<std::string> names_;
  std::vector<std::pair<Price, LayoutChoice>> all_;
  bool keeps_all_ = false;
  std::optional<LayoutChoice> best_;
  Price best_price_;
  int64_t least_bytes_ = 0;
  size_t examined_ = 0;
};

/// Predicted seconds of all expected iterations.
double loop_s(const Loop& loop, const LoopPlan& plan, const CostModel& costs) {
  const auto turns = static_cast<double>(plan.turns);
  return turns * predicted_step_s(*loop.graph, plan.body, costs, 1) +
         (turns + 1) * predicted_step_s(*loop.graph, plan.going, costs, 1);
}

/// Seconds of one operation, without communication.
double work_s(const Graph& graph, const Step& step, const CostModel& costs) {
  const Node& node = graph.node(step.node);
  if (step.loop) return loop_s(*node.attributes.loop, *step.loop, costs);
  if (is_product(node.op)) return step.flops / costs.flops_per_s;
  return step.flops > 0 ? static_cast<double>(step.value_bytes) / costs.bytes_per_s : 0;
}

double message_s(const Plan& plan, const Collective& message, const CostModel& costs) {
  if (plan.mesh.devices_in(message.axes) == 1) return 0;
  return costs.alpha_s + costs.beta_s_per_byte * static_cast<double>(message.sent_bytes);
}

/// A step in which buckets are sent by a lane beside the computing, one after the other.
class OverlappedStep {
 public:
  OverlappedStep(const Graph& graph, const Plan& plan, const CostModel& costs, int64_t bucket_bytes)
      : graph_(graph),
        plan_(plan),
        costs_(costs),
        buckets_(buckets_of(graph, plan, bucket_bytes)),
        awaited_(awaited_at(graph, plan, buckets_)),
        done_s_(buckets_.size(), 0) {
    for (size_t i = 0; i < buckets_.size(); ++i) {
      for (const NodeId id : buckets_[i].values) bucket_of_[id] = i;
    }
  }

  double seconds(int micro_batches) {
    for (size_t at = 0; at < plan_.steps.size(); ++at) {
      const Step& step = plan_.steps[at];
      const double turns = step.inner ? micro_batches : 1;
      for (size_t i = 0; i < step.collectives.size(); ++i) {
        const bool sent =
            i < step.complete.size() && !step.inner && is_sent(step.complete[i], step.together[i]);
        if (!sent) now_s_ += turns * message_s(plan_, step.collectives[i], costs_);
      }
      if (!step.inner) wait_for(at);
      now_s_ += turns * work_s(graph_, step, costs_);
      if (!step.inner) send_after(at);
    }
    for (size_t i = 0; i < plan_.completed_last.size(); ++i) {
      if (is_sent(plan_.completed_last[i], plan_.last_together[i])) continue;
      now_s_ += message_s(plan_, plan_.last_collectives[i], costs_);
    }
    wait_for(plan_.steps.size());
    return now_s_ + static_cast<double>(plan_.totals.updated_bytes) / costs_.bytes_per_s;
  }

 private:
  /// All of these values are in buckets.
  [[nodiscard]] bool is_sent(NodeId lead, const std::vector<NodeId>& together) const {
    return bucket_of_.contains(lead) &&
           std::ranges::all_of(together, [&](NodeId id) { return bucket_of_.contains(id); });
  }

  void wait_for(size_t at) {
    for (const NodeId id : awaited_[at]) now_s_ = std::max(now_s_, done_s_[bucket_of_.at(id)]);
  }

  void send_after(size_t at) {
    for (; next_ < buckets_.size() && buckets_[next_].ready_after <= at; ++next_) {
      const Bucket& bucket = buckets_[next_];
      int64_t bytes = 0;
      for (const NodeId id : bucket.values) bytes += bytes_of(id);
      const auto members = static_cast<size_t>(plan_.mesh.devices_in(bucket.axes));
      const int64_t sent = comm::wire_bytes(comm::Operation::AllReduce, members, bytes);
      const Collective message{comm::Operation::AllReduce, bucket.axes, bytes, sent};
      lane_s_ = std::max(lane_s_, now_s_) + message_s(plan_, message, costs_);
      done_s_[next_] = lane_s_;
    }
  }

  int64_t bytes_of(NodeId id) const {
    const auto found = std::ranges::find(plan_.steps, id, &Step::node);
    return found == plan_.steps.end() ? 0 : found->value_bytes;
  }

  const Graph& graph_;
  const Plan& plan_;
  const CostModel& costs_;
  std::vector<Bucket> buckets_;
  std::vector<std::vector<NodeId>> awaited_;
  std::vector<double> done_s_;
  std::map<NodeId, size_t> bucket_of_;
  double now_s_ = 0, lane_s_ = 0;
  size_t next_ = 0;
};

}  // namespace

double predicted_step_s(const Graph& graph, const Plan& plan, const CostModel& costs,
                        int micro_batches) {
  double seconds = 0;
  for (const Step& step : plan.steps) {
    double each = work_s(graph, step, costs);
    for (const Collective& message : step.collectives) each += message_s(plan, message, costs);
    seconds += each * (step.inner ? micro_batches : 1);
  }
  for (const Collective& message : plan.last_collectives) {
    seconds += message_s(plan, message, costs);
  }
  return seconds + static_cast<double>(plan.totals.updated_bytes) / costs.bytes_per_s;
}

double overlapped_step_s(const Graph& graph, const Plan& plan, const CostModel& costs,
                         int micro_batches, int64_t bucket_bytes) {
  return OverlappedStep(graph, plan, costs, bucket_bytes).seconds(micro_batches);
}

base::Result<LayoutChoice> choose_layout(const Graph& graph, const std::vector<NodeId>& roots,
                                         const MeshShape& mesh, const PlannerOptions& options) {
  return Search(graph, roots, mesh, options).run();
}

base::Result<LayoutChoice> choose_mesh_and_layout(const Graph& graph,
                                                  const std::vector<NodeId>& roots, int64_t devices,
                                                  const PlannerOptions& options) {
  base::Result<LayoutChoice> best = base::usage_error("no devices");
  size_t examined = 0;
  for (const MeshShape& mesh : mesh_shapes(devices)) {
    const auto choice = choose_layout(graph, roots, mesh, options);
    if (!choice) {
      if (!best) best = choice;
      continue;
    }
    examined += choice->examined;
    const auto price = [&](const LayoutChoice& each) {
      return options.objective == Objective::Time ? each.step_s
                                                  : static_cast<double>(each.memory_bytes);
    };
    if (!best || price(*choice) < price(*best)) best = choice;
  }
  if (best) best->examined = examined;
  return best;
}

std::vector<LayoutChoice> rank_layouts(const Graph& graph, const std::vector<NodeId>& roots,
                                       const std::vector<MeshShape>& meshes,
                                       const PlannerOptions& options) {
  std::vector<std::pair<Price, LayoutChoice>> all;
  for (const MeshShape& mesh : meshes) {
    for (auto& each : Search(graph, roots, mesh, options).all()) all.push_back(std::move(each));
  }
  std::ranges::stable_sort(all, {}, &std::pair<Price, LayoutChoice>::first);
  std::vector<LayoutChoice> out;
  for (auto& [price, choice] : all) {
    choice.examined = all.size();
    out.push_back(std::move(choice));
  }
  return out;
}

std::vector<MeshShape> mesh_shapes(int64_t devices, size_t most_axes) {
  std::vector<MeshShape> out;
  const std::function<void(int64_t, int64_t, std::vector<Dim>)> extend =
      [&](int64_t rest, int64_t largest, std::vector<Dim> axes) {
        if (rest == 1) return out.emplace_back(std::move(axes)), void();
        if (axes.size() == most_axes) return;
        for (int64_t factor = std::min(rest, largest); factor > 1; --factor) {
          if (rest % factor != 0) continue;
          std::vector<Dim> more = axes;
          more.push_back({fmt::format("mesh_{}", axes.size()), factor});
          extend(rest / factor, factor, std::move(more));
        }
      };
  extend(devices, devices, {});
  return out;
}

}  // namespace goban::train::mesh
