#include "core/policy/order/fair_tree.hpp"

#include <algorithm>
#include <limits>

namespace goban::core::policy {
namespace {

class Ranking {
 public:
  Ranking(std::span<const FairNode> nodes, size_t num_associations)
      : nodes_(nodes), children_(nodes.size()), level_(nodes.size()), factor_(num_associations, 1) {
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].parent != FairNode::kNone) children_[nodes[i].parent].push_back(i);
      if (nodes[i].association != FairNode::kNone) ++num_users_;
    }
    for (const auto& siblings : children_) weigh(siblings);
  }

  std::vector<double> run() {
    if (!nodes_.empty()) rank(children_.front());
    return std::move(factor_);
  }

 private:
  /// Shares / usage, both relative to the sum over the siblings.
  void weigh(const std::vector<uint32_t>& siblings) {
    double shares = 0;
    double usage = 0;
    for (const uint32_t i : siblings) {
      shares += nodes_[i].shares;
      usage += nodes_[i].usage;
    }
    for (const uint32_t i : siblings) {
      level_[i] = nodes_[i].usage > 0 ? (nodes_[i].shares / shares) / (nodes_[i].usage / usage)
                                      : std::numeric_limits<double>::infinity();
    }
  }

  [[nodiscard]] bool is_user(uint32_t i) const { return nodes_[i].association != FairNode::kNone; }

  /// Ranks the users below these nodes, best first; on a tie users precede accounts.
  void rank(std::vector<uint32_t> nodes) {
    std::ranges::sort(nodes, [this](uint32_t a, uint32_t b) {
      if (level_[a] != level_[b]) return level_[a] > level_[b];
      if (is_user(a) != is_user(b)) return is_user(a);
      return a < b;
    });
    for (size_t begin = 0; begin < nodes.size();) {
      size_t end = begin;
      size_t users = 0;
      std::vector<uint32_t> below;
      for (; end < nodes.size() && level_[nodes[end]] == level_[nodes[begin]]; ++end) {
        const uint32_t node = nodes[end];
        if (is_user(node)) {
          factor_[nodes_[node].association] =
              static_cast<double>(num_users_ - ranked_) / static_cast<double>(num_users_);
          ++users;
        } else {
          below.insert(below.end(), children_[node].begin(), children_[node].end());
        }
      }
      ranked_ += users;
      if (!below.empty()) rank(std::move(below));
      begin = end;
    }
  }

  std::span<const FairNode> nodes_;
  std::vector<std::vector<uint32_t>> children_;
  std::vector<double> level_;
  std::vector<double> factor_;
  size_t num_users_ = 0;
  size_t ranked_ = 0;
};

}  // namespace

std::vector<double> fair_tree(std::span<const FairNode> nodes, size_t num_associations) {
  return Ranking(nodes, num_associations).run();
}

}  // namespace goban::core::policy
