#include "core/model/site_rules_file.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "base/config.hpp"

namespace goban::core::model {
namespace {

using base::ConfigProblems;
using base::Result;
using base::TableReader;

constexpr std::string_view kPartition = "partition";
constexpr double kSharesMax = 1e9;
constexpr double kWeightMax = 1e9;

/// Converts one file to SiteRules. A step that finds a problem records it and continues with a
/// fallback.
class RulesReader {
 public:
  RulesReader(const base::ConfigValue& document, const std::string& file, JobHistory& history)
      : problems_(file), root_(document, "", problems_), history_(history) {}

  Result<SiteRules> run() {
    rules_.half_life_ns = root_.duration("half_life", rules_.half_life_ns);
    rules_.recalculate_ns = root_.duration("recalculate", rules_.recalculate_ns);
    if (rules_.recalculate_ns < base::from_seconds(1)) {
      root_.refuse("recalculate", "is below one second", "the default is 5min");
    }
    read_accounts();
    read_users();
    read_priorities(kPartition, history_.partitions, rules_.partition_priority);
    read_priorities("qos", history_.qos, rules_.qos_priority);
    read_weights();
    root_.finish();
    if (auto status = problems_.status(); !status) return base::failure(status.error());
    return std::move(rules_);
  }

 private:
  static int32_t read_limit(TableReader& table, std::string_view key) {
    return static_cast<int32_t>(table.whole(key, 0, HardLimits::kNone, HardLimits::kNone));
  }

  double read_shares(TableReader& table) { return table.number("shares", 1e-9, kSharesMax, 1); }

  void read_accounts() {
    std::vector<TableReader> tables = root_.tables("account");
    std::set<std::string> seen;
    for (TableReader& table : tables) {
      table.require("name", "name the account");
      const std::string name = table.text("name");
      const AccountId id = account(name);
      if (!seen.insert(name).second) {
        table.refuse("name", fmt::format("two accounts are named {}", name), "keep one of them");
      }
      AccountRule rule;
      rule.shares = read_shares(table);
      rule.limits = {read_limit(table, "max_gpus"), read_limit(table, "max_jobs")};
      rule.limits_each = {read_limit(table, "max_gpus_each"), read_limit(table, "max_jobs_each")};
      if (table.has("parent")) rule.parent = account(table.text("parent"));
      table.finish();
      rules_.accounts[id.index()] = rule;
    }
    for (TableReader& table : tables) check_parents(table, seen);
  }

  /// Checks that the parent is an account of the file and that there is no cycle.
  void check_parents(TableReader& table, const std::set<std::string>& known) {
    if (problems_.any() || !table.has("parent")) return;
    const std::string parent = table.text("parent");
    if (!known.contains(parent)) {
      table.refuse("parent", fmt::format("no account is named {}", parent),
                   "add an [[account]] of that name");
      return;
    }
    AccountId at = account(table.text("name"));
    for (size_t step = 0; step <= rules_.accounts.size() && at.valid(); ++step) {
      at = rules_.accounts[at.index()].parent;
    }
    if (at.valid()) table.refuse("parent", "the account is its own ancestor", "remove the cycle");
  }

  void read_users() {
    std::set<std::pair<std::string, std::string>> seen;
    for (TableReader& table : root_.tables("user")) {
      table.require("name", "name the user");
      table.require("account", "name the account; a user may have several [[user]] entries");
      const std::string name = table.text("name");
      const std::string account_name = table.text("account");
      UserRule rule;
      rule.user = UserId(history_.users.intern(name));
      rule.account = account(account_name);
      rule.shares = read_shares(table);
      rule.limits = {read_limit(table, "max_gpus"), read_limit(table, "max_jobs")};
      table.finish();
      if (!seen.emplace(name, account_name).second) {
        table.refuse("name",
                     fmt::format("user {} of account {} is given twice", name, account_name),
                     "keep one of them");
      }
      rules_.users.push_back(rule);
    }
  }

  static SharingRequest read_request(TableReader& table) {
    const std::string share = table.text("share");
    if (share != "yes" && share != "no") {
      table.refuse("share", fmt::format("is \"{}\"", share), "use \"yes\" or \"no\"");
    }
    return share == "yes" ? SharingRequest::Yes : SharingRequest::No;
  }

  /// Priorities by name, divided by the largest; for partitions also the sharing rule.
  void read_priorities(std::string_view key, base::NameTable& names, std::vector<double>& out) {
    double largest = 0;
    std::set<std::string> seen;
    for (TableReader& table : root_.tables(key)) {
      table.require("name", "add a name");
      const bool shares = key == kPartition && table.has("share");
      if (!shares) table.require("priority", "give a number >= 0; the largest is scaled to 1");
      const std::string name = table.text("name");
      const double priority = table.number("priority", 0, kWeightMax, 0);
      const SharingRequest request = shares ? read_request(table) : SharingRequest::Unsaid;
      table.finish();
      if (!seen.insert(name).second) {
        table.refuse("name", fmt::format("{} {} is given twice", key, name), "keep one of them");
      }
      const size_t id = names.intern(name);
      out.resize(std::max(out.size(), id + 1));
      out[id] = priority;
      if (request != SharingRequest::Unsaid) {
        rules_.partition_sharing.resize(std::max(rules_.partition_sharing.size(), id + 1));
        rules_.partition_sharing[id] = request;
      }
      largest = std::max(largest, priority);
    }
    if (largest == 0) return;
    for (double& priority : out) priority /= largest;
  }

  void read_weights() {
    PriorityWeights& weights = rules_.weights;
    weights.age = root_.number("weight_age", 0, kWeightMax, weights.age);
    weights.fair_share = root_.number("weight_fair_share", 0, kWeightMax, weights.fair_share);
    weights.qos = root_.number("weight_qos", 0, kWeightMax, weights.qos);
    weights.partition = root_.number("weight_partition", 0, kWeightMax, weights.partition);
    weights.size = root_.number("weight_size", -kWeightMax, kWeightMax, weights.size);
    weights.age_max_ns = root_.duration("age_max", weights.age_max_ns);
    if (weights.age_max_ns <= 0) {
      root_.refuse("age_max", "is zero", "give the age at which the age factor is 1, such as 7d");
    }
  }

  AccountId account(const std::string& name) {
    const AccountId id(history_.accounts.intern(name));
    rules_.accounts.resize(std::max(rules_.accounts.size(), id.index() + 1));
    return id;
  }

  ConfigProblems problems_;
  TableReader root_;
  JobHistory& history_;
  SiteRules rules_;
};

}  // namespace

Result<SiteRules> parse_site_rules(std::string_view toml, const std::string& file,
                                   JobHistory& history) {
  const auto document = base::parse_config(toml, file);
  if (!document) return base::failure(document.error());
  return RulesReader(*document, file, history).run();
}

}  // namespace goban::core::model
