#include "core/policy/order/fair_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/random.hpp"

namespace goban::core::policy {
namespace {

using testing::ElementsAre;

FairNode root() { return {}; }
FairNode account(uint32_t parent, double shares, double usage) {
  return {.parent = parent, .association = FairNode::kNone, .shares = shares, .usage = usage};
}
FairNode user(uint32_t parent, uint32_t association, double shares, double usage) {
  return {.parent = parent, .association = association, .shares = shares, .usage = usage};
}

TEST(FairTree, AnOwedAccountComesBeforeEveryUserOfOneThatIsNot) {
  // Account 1 has 3 of 4 shares and half the usage, account 2 the remainder. User 2 of account 2
  // has no usage, but is still ranked after the heaviest user of account 1.
  const std::vector<FairNode> nodes = {
      root(),           account(0, 3, 50), account(0, 1, 50), user(1, 0, 1, 40), user(1, 1, 1, 10),
      user(2, 2, 1, 0), user(2, 3, 1, 50)};
  EXPECT_THAT(fair_tree(nodes, 4), ElementsAre(0.75, 1.0, 0.5, 0.25));
}

TEST(FairTree, EqualUsersShareARankAndTiedAccountsAreMerged) {
  const std::vector<FairNode> nodes = {
      root(),           account(0, 1, 20), account(0, 1, 20), user(1, 0, 1, 20),
      user(1, 1, 1, 0), user(2, 2, 1, 10), user(2, 3, 1, 10)};
  // Levels of the four: 1/2 / 1 = .5, infinite, 1, 1.
  EXPECT_THAT(fair_tree(nodes, 4), ElementsAre(0.25, 1.0, 0.75, 0.75));
}

TEST(FairTree, NobodyUsedAnything) {
  const std::vector<FairNode> nodes = {root(), user(0, 0, 1, 0), user(0, 1, 5, 0)};
  EXPECT_THAT(fair_tree(nodes, 3), ElementsAre(1.0, 1.0, 1.0));
  EXPECT_TRUE(fair_tree({}, 0).empty());
}

TEST(FairTreeProperty, MoreUsageNeverHelps) {
  EXPECT_TRUE(rc::check([] {
    base::Random random(*rc::gen::arbitrary<uint64_t>());
    std::vector<FairNode> nodes = {root()};
    uint32_t associations = 0;
    const uint64_t accounts = 1 + random.below(4);
    for (uint64_t a = 0; a < accounts; ++a) {
      nodes.push_back(account(static_cast<uint32_t>(random.below(a + 1)), 1 + random.uniform(), 0));
    }
    for (int u = 0; u < 8; ++u) {
      nodes.push_back(user(static_cast<uint32_t>(random.below(accounts + 1)), associations++,
                           1 + random.uniform(), static_cast<double>(random.below(100))));
    }
    const auto add_up = [](std::vector<FairNode> tree) {
      for (size_t i = tree.size() - 1; i > 0; --i) tree[tree[i].parent].usage += tree[i].usage;
      return tree;
    };
    const auto before = fair_tree(add_up(nodes), associations);
    FairNode& heavier = nodes[nodes.size() - 1 - random.below(8)];
    heavier.usage += 1 + static_cast<double>(random.below(500));
    const auto after = fair_tree(add_up(nodes), associations);
    RC_ASSERT(after[heavier.association] <= before[heavier.association]);
    for (const double factor : after) RC_ASSERT(factor > 0 && factor <= 1);
  }));
}

}  // namespace
}  // namespace goban::core::policy
