#include "train/mesh/buckets.hpp"

#include <algorithm>
#include <set>

#include "train/mesh/kernels.hpp"

namespace goban::train::mesh {
namespace {

/// A value, the step that computes it, and the step that needs its sum.
struct Summand {
  NodeId value;
  AxisSet axes;
  size_t made, needed;
  int64_t bytes;
};

}  // namespace

std::vector<Bucket> buckets_of(const Graph& graph, const Plan& plan, int64_t bucket_bytes,
                               const std::vector<NodeId>& only) {
  std::map<NodeId, size_t> made;
  size_t first_outer = 0;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    made[plan.steps[s].node] = s;
    if (plan.steps[s].inner) first_outer = s + 1;
  }
  std::vector<Summand> all;
  const auto add = [&](NodeId lead, const std::vector<NodeId>& together, AxisSet axes,
                       size_t needed) {
    const auto add_one = [&](NodeId value) {
      const size_t at = made.at(value);
      // After the steps of micro-batches there is nothing left to hide behind.
      if (at < first_outer) return;
      const bool wanted = std::ranges::find(only, value) != only.end();
      if (only.empty() ? at + 1 >= needed : !wanted) return;
      all.push_back({value, axes, at, needed, plan.steps[at].value_bytes});
    };
    add_one(lead);
    for (const NodeId each : together) add_one(each);
  };
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    if (step.inner) continue;
    for (size_t i = 0; i < step.complete.size(); ++i) {
      add(step.complete[i], step.together[i], step.collectives[i].axes, s);
    }
  }
  for (size_t i = 0; i < plan.completed_last.size(); ++i) {
    add(plan.completed_last[i], plan.last_together[i], plan.last_collectives[i].axes,
        plan.steps.size());
  }
  std::ranges::stable_sort(all, {}, &Summand::made);
  // A value does not wait for one that is computed much later.
  constexpr double kMuch = 1.0 / 32;
  std::vector<double> flops(plan.steps.size() + 1, 0);  // before each step
  for (size_t s = 0; s < plan.steps.size(); ++s) flops[s + 1] = flops[s] + plan.steps[s].flops;
  std::vector<Bucket> out;
  int64_t bytes = 0;
  size_t needed = 0;
  for (const Summand& each : all) {
    const bool fits = !out.empty() && out.back().axes == each.axes &&
                      graph.node(out.back().values[0]).dtype == graph.node(each.value).dtype &&
                      bytes + each.bytes <= bucket_bytes && each.made < needed &&
                      flops[each.made] - flops[out.back().ready_after] <= kMuch * flops.back();
    if (!fits) {
      out.push_back({{}, each.axes, 0});
      bytes = 0;
      needed = each.needed;
    }
    out.back().values.push_back(each.value);
    out.back().ready_after = each.made;
    bytes += each.bytes;
    needed = std::min(needed, each.needed);
  }
  return out;
}

std::vector<std::vector<NodeId>> awaited_at(const Graph& graph, const Plan& plan,
                                            const std::vector<Bucket>& buckets) {
  std::set<NodeId> waiting;
  for (const Bucket& each : buckets) waiting.insert(each.values.begin(), each.values.end());
  std::vector<std::vector<NodeId>> out(plan.steps.size() + 1);
  std::set<NodeId> summed;  // their sums may be used
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    if (step.inner) continue;
    summed.insert(step.complete.begin(), step.complete.end());
    for (const auto& together : step.together) summed.insert(together.begin(), together.end());
    for (const NodeId input : graph.node(step.node).inputs) {
      if (!summed.contains(input) || waiting.erase(input) == 0) continue;
      out[s].push_back(input);
    }
  }
  out.back().assign(waiting.begin(), waiting.end());
  return out;
}

}  // namespace goban::train::mesh
