#include "core/model/site_rules_file.hpp"

#include <gtest/gtest.h>

namespace goban::core::model {
namespace {

std::string problem(std::string_view toml) {
  JobHistory history;
  const auto rules = parse_site_rules(toml, "site.toml", history);
  return rules ? "" : rules.error().text();
}

TEST(SiteRulesFile, RulesGetTheIdsOfTheHistory) {
  JobHistory history;
  history.accounts.intern("optics");
  history.users.intern("bob");
  history.qos.intern("normal");
  const auto rules = parse_site_rules(R"(
    half_life = "14d"
    weight_size = -3
    [[account]]
    name = "physics"
    shares = 3
    max_gpus = 100
    [[account]]
    name = "optics"
    parent = "physics"
    max_jobs_each = 2
    [[user]]
    name = "bob"
    account = "optics"
    shares = 0.5
    max_gpus = 7
    [[partition]]
    name = "shared"
    share = "yes"
    [[partition]]
    name = "whole"
    priority = 1
    share = "no"
    [[partition]]
    name = "silent"
    priority = 2
    [[qos]]
    name = "urgent"
    priority = 10
    [[qos]]
    name = "normal"
    priority = 5
  )",
                                      "site.toml", history);
  ASSERT_TRUE(rules) << rules.error().text();
  EXPECT_EQ(rules->half_life_ns, base::from_seconds(14 * 86400.0));
  EXPECT_EQ(rules->weights.size, -3);
  ASSERT_EQ(rules->accounts.size(), 2u);
  const size_t optics = history.accounts.find("optics");
  const size_t physics = history.accounts.find("physics");
  EXPECT_EQ(rules->accounts[optics].parent.index(), physics);
  EXPECT_FALSE(rules->accounts[physics].parent.valid());
  EXPECT_EQ(rules->accounts[physics].shares, 3);
  EXPECT_EQ(rules->accounts[physics].limits.max_gpus, 100);
  EXPECT_EQ(rules->accounts[optics].limits_each.max_jobs, 2);
  EXPECT_FALSE(rules->accounts[optics].limits.any());
  ASSERT_EQ(rules->users.size(), 1u);
  EXPECT_EQ(rules->users[0].user, UserId(history.users.find("bob")));
  EXPECT_EQ(rules->users[0].limits.max_gpus, 7);
  EXPECT_EQ(rules->qos_priority[history.qos.find("normal")], 0.5);
  const auto sharing = [&](std::string_view partition) {
    return rules->sharing_of(PartitionId(history.partitions.find(partition)));
  };
  EXPECT_EQ(sharing("shared"), SharingRequest::Yes);
  EXPECT_EQ(sharing("whole"), SharingRequest::No);
  EXPECT_EQ(sharing("silent"), SharingRequest::Unsaid);
  EXPECT_EQ(rules->sharing_of(PartitionId(99U)), SharingRequest::Unsaid) << "no rule";
  EXPECT_EQ(rules->partition_priority[history.partitions.find("whole")], 0.5);
  EXPECT_EQ(rules->qos_priority[history.qos.find("urgent")], 1);
}

TEST(SiteRulesFile, ProblemsNameLineFieldAndRemedy) {
  EXPECT_EQ(problem("[[account]]\nname = \"a\"\nparent = \"b\"\n"),
            "site.toml:3:10: account.parent: no account is named b (add an [[account]] of that "
            "name)");
  EXPECT_EQ(problem("[[account]]\nname = \"a\"\nparent = \"b\"\n[[account]]\nname = \"b\"\n"
                    "parent = \"a\"\n"),
            "site.toml:3:10: account.parent: the account is its own ancestor (remove the cycle)");
  EXPECT_EQ(problem("[[account]]\nname = \"a\"\n[[account]]\nname = \"a\"\n"),
            "site.toml:4:8: account.name: two accounts are named a (keep one of them)");
  EXPECT_EQ(problem("[[account]]\nname = \"a\"\nmax_gpu = 4\n"),
            "site.toml:3:1: account.max_gpu: unknown key (did you mean max_gpus?)");
  EXPECT_EQ(problem("[[partition]]\nname = \"a\"\nshare = \"maybe\"\n"),
            "site.toml:3:9: partition.share: is \"maybe\" (use \"yes\" or \"no\")");
  EXPECT_EQ(problem("[[user]]\nname = \"a\"\n"),
            "site.toml:1:1: user.account: is missing (name the account; a user may have several "
            "[[user]] entries)");
  EXPECT_EQ(problem("recalculate = \"0s\"\n"),
            "site.toml:1:15: recalculate: is below one second (the default is "
            "5min)");
  EXPECT_NE(problem("[[account]]\nname = \"a\"\nshares = 0\n"), "");
  EXPECT_NE(problem("age_max = \"0s\"\n"), "");
}

}  // namespace
}  // namespace goban::core::model
