#include "live/engine/slurm/questions.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <set>
#include <utility>

#include "base/clock.hpp"
#include "core/model/import/host_list.hpp"
#include "live/engine/slurm/het_jobs.hpp"
#include "live/engine/slurm/job_parts.hpp"
#include "live/engine/slurm/partitions.hpp"

namespace goban::live::engine::slurm {

namespace {

using base::Status;
using base::TimeNs;
using cluster::Stand;

constexpr int kDoubtsMost = 5;
constexpr size_t kListMost = 200;  ///< ids on a command line; more are asked for with all others

bool is_due(TimeNs& at_ns, double every_s) {
  const TimeNs now_ns = base::steady_ns();
  if (at_ns >= 0 && now_ns < at_ns + base::from_seconds(every_s)) return false;
  at_ns = now_ns;
  return true;
}

}  // namespace

bool waits_again(std::span<const JobRow> before, std::span<const JobRow> now) {
  std::set<std::string> ran;
  for (const JobRow& row : before) {
    if (stand_of(row) == Stand::Running) ran.insert(row.id());
  }
  return !ran.empty() && std::ranges::any_of(now, [&](const JobRow& row) {
    const Stand stand = stand_of(row);
    return (stand == Stand::Held || stand == Stand::Released) && ran.contains(row.id());
  });
}

namespace {

bool same_request(const JobWords& one, const JobWords& other) {
  return one.tres_per_job == other.tres_per_job && one.tres_per_node == other.tres_per_node &&
         one.tres_per_socket == other.tres_per_socket && one.tres_per_task == other.tres_per_task &&
         one.nodes == other.nodes && one.features == other.features;
}

}  // namespace

bool lacks_its_nodes(std::span<const JobRow> rows) {
  return std::ranges::any_of(rows, [](const JobRow& row) {
    return row.reason.starts_with("ReqNode") && stand_of(row) == Stand::Released;
  });
}

bool has_news(std::span<const JobRow> before, std::span<const JobRow> now) {
  return !std::ranges::equal(before, now, [](const JobRow& one, const JobRow& other) {
    return one.job == other.job && one.array_task == other.array_task && one.state == other.state;
  });
}

double pause_s(const Rhythm& rhythm, int quiet, double took_s, bool watched) {
  constexpr int kLooksAsBefore = 5;
  constexpr int kLooksWatched = 1;  // what follows is seen without them
  constexpr double kTimesTook = 3;  // slurmctld is busy with us for a quarter of the time at most
  constexpr double kLongest_s = 30;
  const double longer = std::max(quiet - kLooksAsBefore, 1);
  double at_rest = std::max(rhythm.poll_s, std::min(rhythm.rest_s, longer * rhythm.poll_s));
  if (watched && quiet > kLooksWatched) at_rest = std::max(at_rest, rhythm.watched_s);
  return std::max(at_rest, std::min(kTimesTook * took_s, kLongest_s));
}

const JobWords* Questions::words(const std::string& id) const {
  const auto fact = facts_.find(id);
  return fact == facts_.end() || !fact->second.has_words ? nullptr : &fact->second.words;
}

Status Questions::ask(bool by_priority, int quiet) {
  watch_.mark();
  constexpr double kLooksPerList = 5;
  const double at_rest_s = std::max(rhythm_.nodes_s, kLooksPerList * pause_s(rhythm_, quiet, 0));
  const double nodes_s = awaits_nodes() ? rhythm_.nodes_s : at_rest_s;
  if (is_due(nodes_at_ns_, nodes_s)) {
    if (auto status = ask_nodes(); !status) {
      nodes_at_ns_ = -1;
      return status;
    }
  }
  const std::string nonce = Client::nonce();
  const ClientOutput out =
      client_.run({"squeue", "-h", "-a", "-r", "-t", "all", "-O", job_list_format(nonce)});
  if (!out.problem.empty()) return base::failed(out.problem);
  auto rows = parse_job_list(out.out, nonce);
  if (!rows) return base::failure(rows.error());
  const bool has_returned = waits_again(rows_, *rows);
  watch_.asked(has_news(rows_, *rows), base::steady_ns());
  rows_ = std::move(*rows);
  // A job that ran waits again: its node may have failed, which is to be known before it is placed.
  // Or Slurm knows of nodes what we do not.
  if (has_returned || lacks_its_nodes(rows_)) {
    if (auto status = ask_nodes(); !status) return status;
  }
  remember_outcomes();
  if (auto status = ask_words(); !status) return status;
  ask_parts();
  if (config_.empty() || is_due(config_at_ns_, rhythm_.config_s)) ask_config();
  if (rules_.observe) return {};
  ask_array_limits(is_due(arrays_at_ns_, rhythm_.arrays_s));
  if (is_due(rules_at_ns_, rhythm_.rules_s)) ask_rules(by_priority);
  return {};
}

bool Questions::awaits_nodes() const {
  return lacks_nodes_ || std::ranges::any_of(nodes_, &NodeRow::silent);
}

QueueView Questions::view(const cluster::Picture& told) {
  if (!has_het_jobs(rows_)) return view(rows_, facts_, told);
  const JoinedQueue joined = join_het_jobs(rows_, facts_, nodes_, rules_);
  QueueView out = view(joined.rows, joined.facts, told);
  set_cycles(out, joined.rows, backfill_cycle_ns(config_));
  return out;
}

QueueView Questions::view(std::span<const JobRow> rows,
                          const std::map<std::string, JobFacts>& facts,
                          const cluster::Picture& told) {
  QueueView view = view_of(rows, nodes_, facts, rules_, outcomes_, told);
  lacks_nodes_ = view.lacks_nodes;
  limit_arrays(view, rows, array_limits_);
  block_by_limits(view, rows, facts, limits_);
  set_priorities(view, rows, facts, priorities_, base::wall_ns());
  return view;
}

Status Questions::ask_nodes() {
  const ClientOutput out = client_.run({"scontrol", "-o", "show", "node"});
  if (!out.problem.empty()) return base::failed(out.problem);
  auto nodes = parse_node_list(out.out);
  if (!nodes) return base::failure(nodes.error());
  nodes_ = std::move(*nodes);
  return {};
}

void Questions::ask_array_limits(bool anew) {
  std::map<int64_t, std::string> tasks;  // one of each array
  for (const JobRow& row : rows_) {
    if (row.array_job != 0 && stand_of(row) == Stand::Held) tasks[row.array_job] = row.id();
  }
  std::erase_if(array_limits_, [&](const auto& each) { return !tasks.contains(each.first); });
  std::vector<std::string> ids;
  std::vector<int64_t> arrays;
  for (const auto& [array, id] : tasks) {
    if (ids.size() >= kListMost || (!anew && array_limits_.contains(array))) continue;
    ids.push_back(id);
    arrays.push_back(array);
  }
  if (ids.empty()) return;
  const std::string nonce = Client::nonce();
  const ClientOutput out = client_.run({"scontrol", "-o"}, show_script(ids, nonce));
  const std::vector<std::string> shown = parse_shown(out.out, ids.size(), nonce);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!shown[i].empty()) array_limits_[arrays[i]] = array_limit_of(shown[i]);
  }
}

void Questions::ask_config() {
  ClientOutput config = client_.run({"scontrol", "show", "config"});
  if (!config.problem.empty()) return;
  config_ = std::move(config.out);
  watch_.watch(state_folder(config_));
}

void Questions::ask_rules(bool by_priority) {
  const bool is_limited = enforces_limits(config_);
  const bool is_ranked = by_priority && is_multifactor(config_);
  if (!is_limited) limits_ = {};
  if (!is_limited && !is_ranked) return;
  const ClientOutput members =
      client_.run({"scontrol", "-o", "show", "assoc_mgr", "flags=assoc,qos"});
  const ClientOutput partitions = client_.run({"scontrol", "-o", "show", "partition"});
  if (!members.problem.empty() || !partitions.problem.empty()) return;
  if (is_limited) limits_ = parse_limits(members.out, partitions.out);
  if (!is_ranked) return;
  // Without accounting there are no shares, and sshare fails.
  const ClientOutput shares =
      client_.run({"sshare", "-a", "-h", "-P", "-m", "-o", "Account,User,Partition,FairShare"});
  priorities_ = parse_priority(config_, partitions.out, members.out, shares.out, nodes_);
}

void Questions::remember_outcomes() {
  constexpr size_t kMost = 100'000;
  if (outcomes_.ended.size() > kMost) outcomes_.ended.clear();
  std::map<int64_t, bool> arrays;
  for (const JobRow& row : rows_) {
    const bool well = row.state == "COMPLETED" && row.exit_status == 0;
    if (stand_of(row) == Stand::Ended) outcomes_.ended[row.job] = well;
    if (row.array_job != 0) {
      const auto [array, first] = arrays.emplace(row.array_job, well);
      if (!first) array->second = array->second && well;
    }
  }
  for (const auto& [array, well] : arrays) outcomes_.ended[array] = well;
}

Status Questions::ask_words() {
  std::set<std::string> listed;
  std::set<std::string> missing;
  // While it waits, its owner may change what a job requests; its features even when it was placed.
  const bool anew = !rules_.observe && is_due(words_at_ns_, rhythm_.rules_s);
  for (const JobRow& row : rows_) {
    const std::string id = row.id();
    listed.insert(id);
    const auto fact = facts_.find(id);
    const Stand stand = stand_of(row);
    const bool old = anew && stand == Stand::Held;
    const bool known =
        fact != facts_.end() && fact->second.has_words && fact->second.doubts != 1 && !old;
    if (!known && stand != Stand::Ended) missing.insert(id);
  }
  std::erase_if(facts_, [&](const auto& fact) { return !listed.contains(fact.first); });
  return missing.empty() ? Status{} : ask_words_of(missing);
}

Status Questions::ask_words_of(const std::set<std::string>& ids) {
  const std::string nonce = Client::nonce();
  std::vector<std::string> command = {"squeue", "-h",  "-a", "-r",
                                      "-t",     "all", "-O", job_words_format(nonce)};
  if (ids.size() <= kListMost) {
    command.insert(command.end(), {"-j", fmt::format("{}", fmt::join(ids, ","))});
  }
  const ClientOutput out = client_.run(command);
  if (!out.problem.empty()) return base::failed(out.problem);
  auto all = parse_job_words(out.out, nonce);
  if (!all) return base::failure(all.error());
  for (JobWords& words : *all) {
    const std::string id = words.id();
    if (!ids.contains(id)) continue;
    facts_[id].words = std::move(words);
    facts_[id].has_words = true;
  }
  return {};
}

std::set<std::string> Questions::renew(const std::set<std::string>& ids) {
  std::map<std::string, JobWords> before;
  for (const std::string& id : ids) {
    if (const JobWords* const known = words(id)) before[id] = *known;
  }
  std::set<std::string> changed;
  // If Slurm does not answer, nothing can be ordered either.
  if (before.empty() || !ask_words_of(ids)) return changed;
  for (const auto& [id, old] : before) {
    if (!same_request(old, *words(id))) changed.insert(id);
  }
  return changed;
}

void Questions::ask_parts() {
  std::vector<std::string> ids;
  std::vector<const JobRow*> of;
  for (const JobRow& row : rows_) {
    if (stand_of(row) != Stand::Running || !facts_.contains(row.id())) continue;
    JobFacts& fact = facts_[row.id()];
    if (fact.parts_of_ns == row.start_ns && (fact.doubts == 0 || fact.doubts > kDoubtsMost))
      continue;
    if (fact.parts_of_ns != row.start_ns) fact.doubts = 0;
    ids.push_back(row.id());
    of.push_back(&row);
  }
  if (ids.empty()) return;
  const std::string nonce = Client::nonce();
  const ClientOutput out = client_.run({"scontrol", "-d", "-o"}, show_script(ids, nonce));
  const std::vector<std::string> shown = parse_shown(out.out, ids.size(), nonce);
  for (size_t i = 0; i < ids.size(); ++i) {
    JobFacts& fact = facts_[ids[i]];
    auto parts = parse_job_parts(shown[i], fact.words.name);
    fact.parts_of_ns = of[i]->start_ns;
    fact.doubts = parts && !parts->empty() ? 0 : fact.doubts + 1;
    if (fact.doubts == 0) {
      fact.parts = std::move(*parts);
      continue;
    }
    // Its owner may have renamed it: its words are asked again. Until then its nodes are known. A
    // job that is leaving shows no GPUs any more, but holds them.
    const auto names =
        core::model::expand_host_list(of[i]->nodes).value_or(std::vector<std::string>{});
    if (std::ranges::equal(fact.parts, names, {}, &NodePart::node)) continue;
    fact.parts.clear();
    for (const std::string& node : names) fact.parts.push_back({.node = node});
  }
}

}  // namespace goban::live::engine::slurm
