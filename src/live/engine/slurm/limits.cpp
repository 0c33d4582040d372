#include "live/engine/slurm/limits.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/number.hpp"
#include "base/text.hpp"
#include "live/engine/slurm/admin_text.hpp"

namespace goban::live::engine::slurm {

namespace {

constexpr std::array<std::string_view, Amounts::kCount> kTres = {"", "cpu", "node", "gres/gpu"};

/// "3(2)" -> 3; "N(2)" and "" -> none.
int64_t limit_of(std::string_view text) {
  return base::parse_int(text.substr(0, text.find('('))).value_or(-1);
}

/// "cpu=N(2),gres/gpu=3(2)" and a number of jobs.
Amounts amounts(std::string_view jobs, std::string_view tres) {
  Amounts out = Amounts::none();
  out.of[0] = limit_of(jobs);
  while (!tres.empty()) {
    std::string_view value = cut(tres, ",");
    const std::string_view name = cut(value, "=");
    const auto* const known = std::ranges::find(kTres, name);
    if (known != kTres.end()) out.of[static_cast<size_t>(known - kTres.begin())] = limit_of(value);
  }
  return out;
}

/// The first of "gres/gpu=600(600)" whose use has reached it.
std::string used_up(std::string_view minutes) {
  while (!minutes.empty()) {
    std::string_view value = cut(minutes, ",");
    const std::string_view name = cut(value, "=");
    const int64_t limit = limit_of(value);
    (void)cut(value, "(");
    const auto used = base::parse_int(cut(value, ")"));
    if (limit >= 0 && used && *used >= limit) return fmt::format("{}={}", name, limit);
  }
  return {};
}

LimitSet limits_in(std::string_view line) {
  LimitSet set;
  set.group = amounts(field(line, "GrpJobs"), field(line, "GrpTRES"));
  set.per_job = amounts("", field(line, "MaxTRESPJ"));
  set.used_up = used_up(field(line, "GrpTRESMins"));
  const int64_t minutes = limit_of(field(line, "MaxWallPJ"));
  constexpr int64_t kMost = int64_t{100} * 366 * 24 * 60;
  if (minutes > 0) set.wall_ns = std::min(minutes, kMost) * 60 * base::kSecond;
  return set;
}

void add_association(std::string_view line, Limits& limits) {
  Limits::Association each;
  const auto [user, uid] = name_and_number(field(line, "UserName"));
  each.account = field(line, "Account");
  each.parent = name_and_number(field(line, "ParentAccount")).first;
  each.uid = uid;
  each.partition = field(line, "Partition");
  each.set = limits_in(line);
  each.set.name = fmt::format("account {}", each.account);
  if (uid >= 0) {
    each.set.name = fmt::format("user {} in account {}", user, each.account);
    each.parent = each.account;
    each.set.per_user.of[0] = limit_of(field(line, "MaxJobs"));
  }
  limits.associations.push_back(std::move(each));
}

void add_qos(std::string_view line, Limits& limits) {
  const std::string name = name_and_number(field(line, "QOS")).first;
  const size_t of_accounts = line.find("Account Limits=");
  LimitSet set = limits_in(line.substr(0, of_accounts));
  set.name = fmt::format("QOS {}", name);
  // Slurm lists these for each user and account that has jobs; they are the same for all.
  if (of_accounts != line.npos) {
    const std::string_view rest = line.substr(of_accounts);
    set.per_account = amounts(field(rest, "MaxJobsPA"), field(rest, "MaxTRESPA"));
    set.per_user = amounts(field(rest, "MaxJobsPU"), field(rest, "MaxTRESPU"));
  }
  limits.qos[name] = std::move(set);
}

constexpr int64_t kAll = -1;

/// A kind of limit, and whose jobs count together under it.
struct Rule {
  std::string_view word;  ///< before "Jobs" or "TRES"
  Amounts LimitSet::* limit;
  enum class Whose : uint8_t { All, Job, User, Account } whose;
};
constexpr std::array kLimitRules = {
    Rule{"Grp", &LimitSet::group, Rule::Whose::All},
    Rule{"MaxPerJob ", &LimitSet::per_job, Rule::Whose::Job},
    Rule{"MaxPerUser ", &LimitSet::per_user, Rule::Whose::User},
    Rule{"MaxPerAccount ", &LimitSet::per_account, Rule::Whose::Account}};

/// What is held under each set of limits.
class Counting {
 public:
  explicit Counting(const Limits& limits) : limits_(limits) {
    for (const Limits::Association& each : limits.associations) {
      associations_[{each.account, each.uid}].push_back(&each);
    }
  }

  /// Empty: the job may start. Otherwise what forbids it.
  [[nodiscard]] std::string forbids(const LimitedJob& job);
  void count(const LimitedJob& job);

 private:
  /// The sets that apply to a job.
  struct Chain {
    std::vector<const LimitSet*> qos{};
    std::vector<const LimitSet*> associations{};  ///< the user's first
  };
  [[nodiscard]] Chain chain_of(const JobRow& row) const;
  [[nodiscard]] const Limits::Association* association(const std::string& account, int64_t uid,
                                                       const std::string& partition) const;
  [[nodiscard]] std::string forbids(const Chain& chain, const LimitedJob& job, const Rule& rule,
                                    size_t kind);
  /// What counts together with the job under a rule.
  Amounts& held(const LimitSet* set, const Rule& rule, const JobRow& row);
  static Amounts need(const LimitedJob& job) {
    const JobRow& row = *job.row;
    return {{std::max(row.components, 1), row.cpus, std::max(row.num_nodes, 1), job.gpus}};
  }

  const Limits& limits_;
  std::map<std::pair<std::string, int64_t>, std::vector<const Limits::Association*>> associations_;
  std::map<std::string, int64_t> accounts_;
  std::map<std::tuple<const LimitSet*, Rule::Whose, int64_t>, Amounts> held_;
};

const Limits::Association* Counting::association(const std::string& account, int64_t uid,
                                                 const std::string& partition) const {
  const auto known = associations_.find({account, uid});
  if (known == associations_.end()) return nullptr;
  const Limits::Association* found = nullptr;
  for (const Limits::Association* each : known->second) {
    if (each->partition == partition) return each;
    if (each->partition.empty()) found = each;
  }
  return found;
}

Counting::Chain Counting::chain_of(const JobRow& row) const {
  Chain chain;
  const auto own = limits_.partition_qos.find(row.partition);
  for (const std::string& name :
       {own == limits_.partition_qos.end() ? std::string{} : own->second, row.qos}) {
    const auto found = limits_.qos.find(name);
    if (found == limits_.qos.end()) continue;
    if (chain.qos.empty() || chain.qos.front() != &found->second) {
      chain.qos.push_back(&found->second);
    }
  }
  const Limits::Association* each = association(row.account, row.uid, row.partition);
  if (each == nullptr) each = association(row.account, -1, row.partition);
  constexpr size_t kDeepest = 100;  // accounts whose parents form a ring
  while (each != nullptr && chain.associations.size() < kDeepest) {
    chain.associations.push_back(&each->set);
    each = each->parent.empty() ? nullptr : association(each->parent, -1, row.partition);
  }
  return chain;
}

Amounts& Counting::held(const LimitSet* set, const Rule& rule, const JobRow& row) {
  int64_t who = kAll;
  if (rule.whose == Rule::Whose::User) who = row.uid;
  if (rule.whose == Rule::Whose::Account) {
    who = accounts_.emplace(row.account, static_cast<int64_t>(accounts_.size())).first->second;
  }
  return held_[{set, rule.whose, who}];
}

std::string Counting::forbids(const Chain& chain, const LimitedJob& job, const Rule& rule,
                              size_t kind) {
  const auto limits = [&](const LimitSet* set) { return (set->*rule.limit).of[kind] >= 0; };
  // The first that sets a limit decides; of accounts and their parents, every group counts.
  std::vector<const LimitSet*> deciding;
  const auto first = std::ranges::find_if(chain.qos, limits);
  if (first != chain.qos.end()) {
    deciding.push_back(*first);
  } else if (rule.whose == Rule::Whose::All) {
    std::ranges::copy_if(chain.associations, std::back_inserter(deciding), limits);
  } else if (!chain.associations.empty() && limits(chain.associations.front())) {
    deciding.push_back(chain.associations.front());
  }
  for (const LimitSet* set : deciding) {
    const int64_t limit = (set->*rule.limit).of[kind];
    // Each component of a heterogeneous job is a job to Slurm.
    const bool is_each = rule.whose == Rule::Whose::Job;
    const int64_t wants = need(job).of[kind] / (is_each ? std::max(job.row->components, 1) : 1);
    const int64_t has = is_each ? 0 : held(set, rule, *job.row).of[kind];
    if (wants == 0 || has + wants <= limit) continue;
    return fmt::format("limit {}{}{}={} of {} is {}", rule.word, kind == 0 ? "Jobs" : "TRES ",
                       kTres[kind], limit, set->name, wants > limit ? "exceeded" : "reached");
  }
  return {};
}

std::string Counting::forbids(const LimitedJob& job) {
  const Chain chain = chain_of(*job.row);
  std::vector<const LimitSet*> all = chain.qos;
  all.insert(all.end(), chain.associations.begin(), chain.associations.end());
  for (const LimitSet* set : all) {
    if (set->used_up.empty()) continue;
    return fmt::format("limit GrpTRESMins {} of {} is used up", set->used_up, set->name);
  }
  for (const Rule& rule : kLimitRules) {
    for (size_t kind = 0; kind < Amounts::kCount; ++kind) {
      std::string why = forbids(chain, job, rule, kind);
      if (!why.empty()) return why;
    }
  }
  // A parent's limit of time is in its users' associations, too.
  const auto wall = std::ranges::find_if(all, [](const LimitSet* set) { return set->wall_ns > 0; });
  if (wall == all.end() || job.row->limit_ns <= (*wall)->wall_ns) return {};
  return fmt::format("limit MaxWall={}min of {} is exceeded",
                     (*wall)->wall_ns / (60 * base::kSecond), (*wall)->name);
}

void Counting::count(const LimitedJob& job) {
  const Chain chain = chain_of(*job.row);
  const Amounts more = need(job);
  std::vector<const LimitSet*> all = chain.qos;
  all.insert(all.end(), chain.associations.begin(), chain.associations.end());
  for (const LimitSet* set : all) {
    for (const Rule& rule : kLimitRules) {
      Amounts& sum = held(set, rule, *job.row);
      for (size_t i = 0; i < Amounts::kCount; ++i) sum.of[i] += more.of[i];
    }
  }
}

}  // namespace

Limits parse_limits(std::string_view assoc_mgr, std::string_view partitions) {
  Limits limits;
  while (!assoc_mgr.empty()) {
    const std::string_view line = cut(assoc_mgr, "\n");
    if (line.starts_with("ClusterName=")) add_association(line, limits);
    if (line.starts_with("QOS=")) add_qos(line, limits);
  }
  while (!partitions.empty()) {
    const std::string_view line = cut(partitions, "\n");
    const std::string_view qos = field(line, "QoS");
    if (!qos.empty() && qos != "N/A")
      limits.partition_qos[std::string(field(line, "PartitionName"))] = qos;
  }
  return limits;
}

bool enforces_limits(std::string_view config) {
  while (!config.empty()) {
    std::string_view line = cut(config, "\n");
    if (base::trimmed(cut(line, "=")) != "AccountingStorageEnforce") continue;
    while (!line.empty()) {
      if (base::trimmed(cut(line, ",")) == "limits") return true;
    }
  }
  return false;
}

std::map<std::string, std::string> limits_reached(const Limits& limits,
                                                  const std::vector<LimitedJob>& jobs) {
  std::map<std::string, std::string> reached;
  if (limits.associations.empty() && limits.qos.empty()) return reached;
  Counting counting(limits);
  for (const LimitedJob& job : jobs) {
    if (job.holds) counting.count(job);
  }
  for (const LimitedJob& job : jobs) {
    if (job.holds) continue;
    std::string why = counting.forbids(job);
    if (why.empty()) {
      counting.count(job);
    } else {
      reached[job.row->id()] = std::move(why);
    }
  }
  return reached;
}

}  // namespace goban::live::engine::slurm
