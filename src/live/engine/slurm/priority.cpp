#include "live/engine/slurm/priority.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/number.hpp"
#include "base/text.hpp"
#include "live/engine/slurm/admin_text.hpp"
#include "live/job/request_values.hpp"

namespace goban::live::engine::slurm {

namespace {

using Tres = std::map<std::string, double>;

double real(std::string_view text) { return base::parse_double(text).value_or(0); }

double weight(std::string_view config, std::string_view factor) {
  return real(setting_of(config, fmt::format("PriorityWeight{}", factor)));
}

bool has_flag(std::string_view config, std::string_view flag) {
  const auto flags = job::split_list(setting_of(config, "PriorityFlags"), ',');
  return std::ranges::find(flags, flag) != flags.end();
}

Tres weights_of(std::string_view list) {
  Tres out;
  for (std::string_view value : job::split_list(list, ',')) {
    const std::string name(cut(value, "="));
    out[name] = real(value);
  }
  return out;
}

/// "cpu=64,mem=20000M,gres/gpu=16"; memory in bytes.
Tres tres_of(std::string_view list) {
  Tres out = weights_of(list);
  for (std::string_view value : job::split_list(list, ',')) {
    if (cut(value, "=") != "mem") continue;
    out["mem"] = static_cast<double>(job::parse_memory(value, int64_t{1} << 20).value_or(0));
  }
  return out;
}

/// Divides by the largest, as Slurm does unless a flag says otherwise.
template <typename Map, typename Value>
void normalize(Map& map, Value value, bool as_they_are) {
  double most = 0;
  for (auto& [name, each] : map) most = std::max(most, value(each));
  if (as_they_are || most <= 0) return;
  for (auto& [name, each] : map) value(each) /= most;
}

/// The factor of the association of this partition, else of that without one.
double of_member(const std::map<PriorityRules::Member, double>& factors, const JobRow& row,
                 const JobWords& words, std::string_view partition) {
  for (const std::string_view each : {partition, std::string_view{}}) {
    const auto found = factors.find({row.account, words.user, std::string(each)});
    if (found != factors.end()) return found->second;
  }
  return 0;
}

double size_factor(const PriorityRules& rules, const JobRow& row) {
  if (rules.nodes <= 0 || rules.cpus <= 0) return 0;
  const double nodes = row.num_nodes / rules.nodes;
  const double cpus = row.cpus / rules.cpus;
  return rules.favor_small ? 1 - (nodes + cpus) / 2 : (nodes + cpus) / 2;
}

/// What the job requests of a kind of resource; `all` has the partition's.
double requested(std::string_view tres, const JobRow& row, const GpuRequest& gpus,
                 const Tres& all) {
  if (tres == "cpu") return row.cpus;
  if (tres == "node") return row.num_nodes;
  if (tres == "mem") {
    if (row.mem_bytes > 0) return static_cast<double>(row.mem_bytes) * row.num_nodes;
    const auto nodes = all.find("node");  // without a request, all of its nodes
    return nodes == all.end() || nodes->second <= 0
               ? 0
               : all.at(std::string(tres)) / nodes->second * row.num_nodes;
  }
  const bool is_type = !gpus.type.empty() && tres == "gres/gpu:" + gpus.type;
  return tres == "gres/gpu" || is_type ? static_cast<double>(gpus.count) : 0;
}

double of_tres(const PriorityRules& rules, const PriorityRules::Partition& partition,
               const JobRow& row, const GpuRequest& gpus) {
  double sum = 0;
  for (const auto& [name, each] : rules.tres) {
    const auto all = partition.tres.find(name);
    if (all == partition.tres.end() || all->second <= 0) continue;
    sum += each * requested(name, row, gpus, partition.tres) / all->second;
  }
  return sum;
}

/// See the head of the file. `since`: time since which it waits.
double age_part(const PriorityRules& rules, base::TimeNs since_ns, base::TimeNs now_ns) {
  if (rules.age_max_ns <= 0) return rules.age;
  const base::TimeNs now = now_ns / rules.period_ns * rules.period_ns;
  // One moment for all jobs, which stays for a while.
  const base::TimeNs at = (now / rules.age_max_ns + 1) * rules.age_max_ns;
  const base::TimeNs from = std::max(since_ns, now - rules.age_max_ns);
  return rules.age * static_cast<double>(at - from) / static_cast<double>(rules.age_max_ns);
}

}  // namespace

bool is_multifactor(std::string_view config) {
  return setting_of(config, "PriorityType") == "priority/multifactor";
}

PriorityRules parse_priority(std::string_view config, std::string_view partitions,
                             std::string_view assoc_mgr, std::string_view sshare,
                             std::span<const NodeRow> nodes) {
  PriorityRules rules;
  rules.multifactor = is_multifactor(config);
  if (!rules.multifactor) return rules;
  rules.age = weight(config, "Age");
  rules.association = weight(config, "Assoc");
  rules.fair_share = weight(config, "FairShare");
  rules.job_size = weight(config, "JobSize");
  rules.partition = weight(config, "Partition");
  rules.qos = weight(config, "QOS");
  rules.tres = weights_of(setting_of(config, "PriorityWeightTRES"));
  constexpr base::TimeNs kOldest_ns = int64_t{100} * 365 * 86'400 * base::kSecond;
  const auto age_max = job::parse_slurm_time(setting_of(config, "PriorityMaxAge"));
  if (age_max) rules.age_max_ns = std::min(*age_max, kOldest_ns);
  const auto period = job::parse_slurm_time(setting_of(config, "PriorityCalcPeriod"));
  if (period && *period > 0) rules.period_ns = *period;
  rules.favor_small = setting_of(config, "PriorityFavorSmall") == "Yes";
  for (const NodeRow& node : nodes) {
    rules.cpus += node.node.cores;
    rules.nodes += 1;
  }
  while (!partitions.empty()) {
    const std::string_view line = cut(partitions, "\n");
    PriorityRules::Partition& each = rules.partitions[std::string(field(line, "PartitionName"))];
    each.factor = real(field(line, "PriorityJobFactor"));
    each.tres = tres_of(field(line, "TRES"));
  }
  while (!assoc_mgr.empty()) {
    const std::string_view line = cut(assoc_mgr, "\n");
    const double priority = real(field(line, "Priority"));
    if (line.starts_with("QOS=")) {
      rules.qos_factor[name_and_number(field(line, "QOS")).first] = priority;
    } else if (line.starts_with("ClusterName=")) {
      rules.association_factor[{std::string(field(line, "Account")),
                                name_and_number(field(line, "UserName")).first,
                                std::string(field(line, "Partition"))}] = priority;
    }
  }
  while (!sshare.empty()) {
    std::string_view line = cut(sshare, "\n");
    const std::string account(base::trimmed(cut(line, "|")));
    const std::string user(cut(line, "|"));
    const std::string partition(cut(line, "|"));
    if (!user.empty()) rules.fair_share_factor[{account, user, partition}] = real(cut(line, "|"));
  }
  const auto itself = [](double& each) -> double& { return each; };
  normalize(
      rules.partitions, [](PriorityRules::Partition& each) -> double& { return each.factor; },
      has_flag(config, "NO_NORMAL_PART"));
  normalize(rules.qos_factor, itself, has_flag(config, "NO_NORMAL_QOS"));
  normalize(rules.association_factor, itself, has_flag(config, "NO_NORMAL_ASSOC"));
  return rules;
}

int32_t priority_of(const PriorityRules& rules, const JobRow& row, const JobWords& words,
                    base::TimeNs now_ns) {
  if (!rules.multifactor) return 0;
  GpuRequest gpus = requested_gpus(words, row).value_or(GpuRequest{});
  if (gpus.shards > 0) gpus = {};  // a resource of its own
  double best = 0;
  for (const std::string_view name : job::split_list(row.partition, ',')) {
    const auto found = rules.partitions.find(std::string(name));
    const PriorityRules::Partition none;
    const auto& partition = found == rules.partitions.end() ? none : found->second;
    best = std::max(best,
                    rules.partition * partition.factor + of_tres(rules, partition, row, gpus) +
                        rules.fair_share * of_member(rules.fair_share_factor, row, words, name) +
                        rules.association * of_member(rules.association_factor, row, words, name));
  }
  const auto qos = rules.qos_factor.find(row.qos);
  const double sum = best + age_part(rules, std::max(row.submit_ns, row.eligible_ns), now_ns) +
                     rules.job_size * size_factor(rules, row) +
                     (qos == rules.qos_factor.end() ? 0 : rules.qos * qos->second) - row.nice;
  constexpr double kMost = std::numeric_limits<int32_t>::max();
  return static_cast<int32_t>(std::lround(std::clamp(sum, -kMost, kMost)));
}

}  // namespace goban::live::engine::slurm
