// Usage and hard limits of accounts and users (core/model/site_rules.hpp).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/model/site_rules.hpp"
#include "core/policy/order/fair_tree.hpp"

namespace goban::core::scheduler {

using base::TimeNs;

/// An association is a user in an account, as in Slurm. Usage is in GPU-seconds and decays
/// continuously: with g GPUs held, du/dt = g - u ln 2 / half-life.
class Accounts {
 public:
  /// An account or an association in the tree.
  using Node = uint32_t;
  static constexpr Node kNone = UINT32_MAX;

  /// `rules` must outlive the object.
  explicit Accounts(const model::SiteRules& rules);

  /// Decaying usage of an account or association at its last update.
  struct Usage {
    model::AccountId account{};
    model::UserId user{};
    double usage_gpu_s = 0;  ///< at `at_ns`
    TimeNs at_ns = 0;
  };
  struct Usages {
    std::vector<Usage> associations{};  ///< in order of their numbers
    std::vector<Usage> accounts{};      ///< an invalid id is the root
  };
  /// Usage only; resources held are not included.
  [[nodiscard]] Usages usages() const;
  /// Restores usages; no job may have started. Associations keep their numbers; accounts and users
  /// without rules get the default rules.
  void restore(const Usages& usages);
  /// Adds a job that was started before the image: it holds GPUs; its usage is already included.
  void started_before(uint32_t association, int32_t gpus);

  /// The dense number of this user in this account; assigned on first use.
  [[nodiscard]] uint32_t association(model::AccountId account, model::UserId user);
  [[nodiscard]] size_t num_associations() const { return leaves_.size(); }

  void started(uint32_t association, int32_t gpus, TimeNs now) {
    change(association, gpus, 1, now);
  }
  void stopped(uint32_t association, int32_t gpus, TimeNs now) {
    change(association, -gpus, -1, now);
  }

  /// The lowest node whose hard limit another job of `gpus` GPUs would exceed; kNone: none.
  [[nodiscard]] Node blocking(uint32_t association, int32_t gpus) const;
  /// GPUs that another job at this node may take; negative: no further job may start.
  [[nodiscard]] int32_t headroom_gpus(Node node) const;
  [[nodiscard]] Node leaf(uint32_t association) const { return leaves_[association]; }
  /// The parent; kNone for the root.
  [[nodiscard]] Node parent(Node node) const { return tree_[node].parent; }
  [[nodiscard]] bool has_limits() const { return has_limits_; }

  /// The fair-share factor by association (core/policy/order/fair_tree.hpp).
  [[nodiscard]] std::vector<double> fair_share(TimeNs now) const;
  /// Decayed GPU-seconds of an association.
  [[nodiscard]] double usage_gpu_s(uint32_t association, TimeNs now) const {
    return usage_at(leaves_[association], now);
  }

 private:
  struct Held {
    double usage_gpu_s = 0;  ///< at `at_ns`
    TimeNs at_ns = 0;
    int32_t gpus = 0;
    int32_t jobs = 0;
    model::HardLimits limits;
    model::HardLimits limits_each;  ///< of each association below
  };
  struct UserKey {
    uint32_t account;
    uint32_t user;
    friend bool operator==(const UserKey&, const UserKey&) = default;
  };
  struct UserHash {
    size_t operator()(const UserKey& key) const {
      return (uint64_t{key.account} << 32 | key.user) * 0x9e3779b97f4a7c15ULL >> 16;
    }
  };

  [[nodiscard]] Node node_of(model::AccountId account);
  [[nodiscard]] Node add(Node parent, double shares, const model::HardLimits& limits);
  void change(uint32_t association, int32_t gpus, int32_t jobs, TimeNs now);
  [[nodiscard]] double usage_at(Node node, TimeNs now) const;

  const model::SiteRules* rules_;
  std::vector<policy::FairNode> tree_;  ///< usage is filled in by fair_share()
  std::vector<Held> held_;              ///< by node
  std::vector<Node> account_nodes_;     ///< by AccountId
  std::vector<Node> leaves_;            ///< by association
  std::unordered_map<UserKey, uint32_t, UserHash> associations_;
  std::unordered_map<UserKey, const model::UserRule*, UserHash> user_rules_;
  bool has_limits_ = false;
};

}  // namespace goban::core::scheduler
