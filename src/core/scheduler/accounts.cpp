#include "core/scheduler/accounts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.hpp"

namespace goban::core::scheduler {

using model::AccountId;
using model::HardLimits;
using model::UserId;

Accounts::Accounts(const model::SiteRules& rules) : rules_(&rules) {
  tree_.emplace_back();
  held_.emplace_back();
  for (const model::UserRule& rule : rules.users) {
    user_rules_[{rule.account.value, rule.user.value}] = &rule;
    has_limits_ |= rule.limits.any();
  }
  for (const model::AccountRule& rule : rules.accounts) {
    has_limits_ |= rule.limits.any() || rule.limits_each.any();
  }
}

Accounts::Node Accounts::add(Node parent, double shares, const HardLimits& limits) {
  const Node node = static_cast<Node>(tree_.size());
  policy::FairNode& fair = tree_.emplace_back();
  fair.parent = parent;
  fair.shares = shares;
  held_.emplace_back().limits = limits;
  return node;
}

Accounts::Node Accounts::node_of(AccountId account) {
  if (!account.valid()) return 0;
  if (account_nodes_.size() <= account.index()) account_nodes_.resize(account.index() + 1, kNone);
  if (account_nodes_[account.index()] != kNone) return account_nodes_[account.index()];
  model::AccountRule rule;
  if (account.index() < rules_->accounts.size()) rule = rules_->accounts[account.index()];
  const Node parent = node_of(rule.parent);
  const Node node = add(parent, rule.shares, rule.limits);
  held_[node].limits_each = rule.limits_each;
  account_nodes_[account.index()] = node;
  return node;
}

uint32_t Accounts::association(AccountId account, UserId user) {
  const UserKey key{account.value, user.value};
  const auto [found, is_new] =
      associations_.try_emplace(key, static_cast<uint32_t>(leaves_.size()));
  if (!is_new) return found->second;
  const Node above = node_of(account);
  HardLimits limits = held_[above].limits_each;
  double shares = 1;
  if (const auto rule = user_rules_.find(key); rule != user_rules_.end()) {
    shares = rule->second->shares;
    limits.max_gpus = std::min(limits.max_gpus, rule->second->limits.max_gpus);
    limits.max_jobs = std::min(limits.max_jobs, rule->second->limits.max_jobs);
  }
  const Node leaf = add(above, shares, limits);
  tree_[leaf].association = found->second;
  leaves_.push_back(leaf);
  return found->second;
}

Accounts::Usages Accounts::usages() const {
  Usages usages;
  usages.associations.resize(leaves_.size());
  for (const auto& [key, number] : associations_) {
    const Held& held = held_[leaves_[number]];
    usages.associations[number] = {model::AccountId(key.account), model::UserId(key.user),
                                   held.usage_gpu_s, held.at_ns};
  }
  const auto add = [&](AccountId account, const Held& held) {
    usages.accounts.push_back(
        {.account = account, .usage_gpu_s = held.usage_gpu_s, .at_ns = held.at_ns});
  };
  add({}, held_[0]);
  for (size_t account = 0; account < account_nodes_.size(); ++account) {
    const Node node = account_nodes_[account];
    if (node != kNone) add(AccountId(account), held_[node]);
  }
  return usages;
}

void Accounts::restore(const Usages& usages) {
  const auto take_over = [&](const Usage& usage, Node node) {
    held_[node].usage_gpu_s = usage.usage_gpu_s;
    held_[node].at_ns = usage.at_ns;
  };
  for (const Usage& usage : usages.associations) {
    take_over(usage, leaves_[association(usage.account, usage.user)]);
  }
  for (const Usage& usage : usages.accounts) take_over(usage, node_of(usage.account));
}

void Accounts::started_before(uint32_t association, int32_t gpus) {
  for (Node node = leaves_[association]; node != kNone; node = tree_[node].parent) {
    held_[node].gpus += gpus;
    ++held_[node].jobs;
  }
}

double Accounts::usage_at(Node node, TimeNs now) const {
  const Held& held = held_[node];
  const double span_s = base::to_seconds(now - held.at_ns);
  if (rules_->half_life_ns == 0) return held.usage_gpu_s + held.gpus * span_s;
  const double half_life_s = base::to_seconds(rules_->half_life_ns);
  const double left = std::exp2(-span_s / half_life_s);
  return held.usage_gpu_s * left + held.gpus * (1 - left) * half_life_s / std::numbers::ln2;
}

void Accounts::change(uint32_t association, int32_t gpus, int32_t jobs, TimeNs now) {
  for (Node node = leaves_[association]; node != kNone; node = tree_[node].parent) {
    Held& held = held_[node];
    held.usage_gpu_s = usage_at(node, now);
    held.at_ns = now;
    held.gpus += gpus;
    held.jobs += jobs;
    GOBAN_CHECK(held.gpus >= 0 && held.jobs >= 0);
  }
}

int32_t Accounts::headroom_gpus(Node node) const {
  const Held& held = held_[node];
  if (held.jobs >= held.limits.max_jobs) return -1;
  return held.limits.max_gpus - held.gpus;
}

Accounts::Node Accounts::blocking(uint32_t association, int32_t gpus) const {
  if (!has_limits_) return kNone;
  for (Node node = leaves_[association]; node != kNone; node = tree_[node].parent) {
    if (gpus > headroom_gpus(node)) return node;
  }
  return kNone;
}

std::vector<double> Accounts::fair_share(TimeNs now) const {
  std::vector<policy::FairNode> nodes = tree_;
  for (Node node = 0; node < nodes.size(); ++node) nodes[node].usage = usage_at(node, now);
  return policy::fair_tree(nodes, leaves_.size());
}

}  // namespace goban::core::scheduler
