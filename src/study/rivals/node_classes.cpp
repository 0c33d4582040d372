#include "study/rivals/node_classes.hpp"

#include <algorithm>
#include <functional>

#include "study/rivals/elasticflow.hpp"

namespace goban::study::rivals {
namespace {

struct NodeSet {
  std::vector<int32_t> nodes;
  int32_t capacity = 0;
  int32_t used = 0;
  std::vector<PlacedJob> jobs;  ///< in order
};

class ElasticPlacement {
 public:
  explicit ElasticPlacement(int32_t num_nodes) : num_nodes_(num_nodes) {}

  [[nodiscard]] bool place(const PlacedJob& job) {
    const auto own = node_class(job.gpus);
    if (!own) return false;
    if (join_first(*own, job)) return true;
    for (size_t k = kNodeClasses.size() - 1; k > *own; --k) {
      if (join_first(k, job)) return true;
    }
    const int32_t nodes = (job.gpus + kElasticNodeGpus - 1) / kElasticNodeGpus;
    if (nodes > num_nodes_ - next_node_) return false;
    NodeSet set;
    for (int32_t i = 0; i < nodes; ++i) set.nodes.push_back(next_node_++);
    set.capacity = kElasticNodeGpus * nodes;
    add(std::move(set), *own, job);
    return true;
  }

  [[nodiscard]] std::vector<Holding> holdings() const {
    std::vector<Holding> all;
    for (size_t k = 0; k < lists_.size(); ++k) {
      for (const NodeSet& set : lists_[k]) append_set(all, set, kNodeClasses[k]);
    }
    std::ranges::sort(all, {}, &Holding::job);
    return all;
  }

 private:
  /// Adds the job to the first set of a list; a set without room goes to the end of its list.
  bool join_first(size_t k, const PlacedJob& job) {
    std::vector<NodeSet>& list = lists_[k];
    if (list.empty()) return false;
    if (list.front().used + job.gpus > list.front().capacity) {
      std::ranges::rotate(list, list.begin() + 1);
      return false;
    }
    NodeSet set = std::move(list.front());
    list.erase(list.begin());
    add(std::move(set), *node_class(job.gpus), job);
    return true;
  }

  /// Adds the job and files the set by what is free now.
  void add(NodeSet set, size_t own, const PlacedJob& job) {
    set.jobs.push_back(job);
    set.used += job.gpus;
    const int32_t free = set.capacity - set.used;
    size_t k = own;
    for (size_t each = 0; each < kNodeClasses.size() && free > 0; ++each) {
      if (kNodeClasses[each] <= free && free % kNodeClasses[each] == 0) k = each;
    }
    std::ranges::stable_sort(lists_[own], {}, &NodeSet::used);
    lists_[k].push_back(std::move(set));
    std::ranges::stable_sort(lists_[k], {}, &NodeSet::used);
  }

  static void append_set(std::vector<Holding>& all, const NodeSet& set, int32_t size) {
    if (size >= kElasticNodeGpus) {
      Holding holding{set.jobs.front().job, {}};
      for (const int32_t node : set.nodes) {
        append_node_gpus(holding.gpus, node, 0, kElasticNodeGpus);
      }
      std::ranges::sort(holding.gpus);
      all.push_back(std::move(holding));
      return;
    }
    int32_t from = 0;
    for (const PlacedJob& job : set.jobs) {
      Holding holding{job.job, {}};
      append_node_gpus(holding.gpus, set.nodes.front(), from, job.gpus);
      from += job.gpus;
      all.push_back(std::move(holding));
    }
  }

  int32_t num_nodes_;
  int32_t next_node_ = 0;  ///< the lowest free one
  std::array<std::vector<NodeSet>, kNodeClasses.size()> lists_;
};

}  // namespace

std::optional<size_t> node_class(int32_t gpus) {
  const auto found = std::ranges::find(kNodeClasses, gpus);
  if (found == kNodeClasses.end()) return std::nullopt;
  return static_cast<size_t>(found - kNodeClasses.begin());
}

std::optional<std::vector<Holding>> place_elastic(std::span<const PlacedJob> jobs,
                                                  int32_t num_nodes) {
  std::vector<PlacedJob> order(jobs.begin(), jobs.end());
  std::ranges::stable_sort(order, std::ranges::greater{}, &PlacedJob::gpus);
  ElasticPlacement placement(num_nodes);
  for (const PlacedJob& job : order) {
    if (!placement.place(job)) return std::nullopt;
  }
  return placement.holdings();
}

void append_node_gpus(std::vector<int32_t>& gpus, int32_t node, int32_t from, int32_t count) {
  for (int32_t i = from; i < from + count; ++i) gpus.push_back(kElasticNodeGpus * node + i);
}

}  // namespace goban::study::rivals
