#include "train/mesh/bundle.hpp"

#include <algorithm>
#include <cstddef>

namespace goban::train::mesh {
namespace {

constexpr int64_t kLargestBundle = 8 << 20;  // bytes; for larger messages latency is negligible

class Bundling {
 public:
  Bundling(const Graph& graph, Plan& plan) : graph_(graph), plan_(plan) {
    made_.assign(graph.size(), plan.steps.size());
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      made_[static_cast<size_t>(plan.steps[s].node)] = s;
    }
  }

  void run() {
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      plan_.steps[s].together.resize(plan_.steps[s].complete.size());
      for (size_t i = 0; i < plan_.steps[s].complete.size(); ++i) gather(s, i);
    }
    for (size_t i = 0; i < plan_.completed_last.size(); ++i) gather_last(i);
  }

 private:
  /// True if the sum of `value`, which is needed before step `until`, can be formed before step
  /// `s`.
  bool early(NodeId value, const Collective& message, const Collective& lead, NodeId lead_value,
             size_t s, size_t until) const {
    if (message.axes != lead.axes || lead.bytes + message.bytes > kLargestBundle) return false;
    if (graph_.node(value).dtype != graph_.node(lead_value).dtype) return false;
    if (made_[static_cast<size_t>(value)] >= s) return false;
    for (size_t t = s; t < until; ++t) {
      const auto& inputs = graph_.node(plan_.steps[t].node).inputs;
      if (std::find(inputs.begin(), inputs.end(), value) != inputs.end()) return false;
    }
    return true;
  }

  /// Moves those of `values`, from index j on, that can be formed before step `s` into the message
  /// of `lead_value`.
  void take(NodeId lead_value, Collective& lead, std::vector<NodeId>& together, size_t s,
            std::vector<NodeId>& values, std::vector<Collective>& messages, size_t j,
            size_t until) const {
    while (j < values.size()) {
      if (!early(values[j], messages[j], lead, lead_value, s, until)) {
        ++j;
        continue;
      }
      together.push_back(values[j]);
      lead.bytes += messages[j].bytes;
      lead.sent_bytes = comm::wire_bytes(
          lead.operation, static_cast<size_t>(plan_.mesh.devices_in(lead.axes)), lead.bytes);
      values.erase(values.begin() + static_cast<std::ptrdiff_t>(j));
      messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }

  void gather(size_t s, size_t i) {
    Step& step = plan_.steps[s];
    const auto from = [&](std::vector<NodeId>& values, std::vector<Collective>& messages,
                          size_t first, size_t until) {
      // The references are taken again each time: erasing moves later elements, never earlier ones.
      take(step.complete[i], step.collectives[i], step.together[i], s, values, messages, first,
           until);
    };
    from(step.complete, step.collectives, i + 1, s);
    for (size_t t = s + 1; t < plan_.steps.size(); ++t) {
      if (plan_.steps[t].inner != step.inner) continue;
      from(plan_.steps[t].complete, plan_.steps[t].collectives, 0, t);
    }
    if (step.inner) return;
    from(plan_.completed_last, plan_.last_collectives, 0, plan_.steps.size());
    for (const NodeId each : step.together[i]) plan_.pending.erase(each);
  }

  void gather_last(size_t i) {
    const size_t end = plan_.steps.size();
    plan_.last_together.emplace_back();
    take(plan_.completed_last[i], plan_.last_collectives[i], plan_.last_together[i], end,
         plan_.completed_last, plan_.last_collectives, i + 1, end);
  }

  const Graph& graph_;
  Plan& plan_;
  std::vector<size_t> made_;
};

}  // namespace

void bundle_reductions(const Graph& graph, Plan& plan) { Bundling(graph, plan).run(); }

}  // namespace goban::train::mesh
