#include "live/engine/slurm/slurm_engine.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fmt/ranges.h>
#include <set>
#include <utility>

#include "base/clock.hpp"
#include "core/model/import/host_list.hpp"
#include "live/engine/slurm/job_parts.hpp"
#include "live/engine/slurm/lead_signal.hpp"

namespace goban::live::engine::slurm {

namespace {

using base::Result;
using base::Status;
using base::TimeNs;
using cluster::Act;
using cluster::Stand;
using cluster::Task;

constexpr int kDoubtsMost = 5;
constexpr size_t kListMost = 200;  ///< ids on a command line; more are asked for with all others

bool is_suspended(const std::vector<JobRow>& rows, const std::string& id) {
  return std::ranges::any_of(
      rows, [&](const JobRow& row) { return row.state == "SUSPENDED" && row.id() == id; });
}

}  // namespace

SlurmEngine::SlurmEngine(SlurmOptions options)
    : ClusterEngine(options.patience),
      options_(std::move(options)),
      client_(options_.conf, options_.timeout_s, &ending_) {
  std::signal(SIGPIPE, SIG_IGN);
}

SlurmEngine::~SlurmEngine() { end(); }

void SlurmEngine::recall(const std::vector<KnownJob>& known) {
  post([this, known] {
    // As if told something that is certainly different: each is told anew, or that it is gone.
    for (const KnownJob& job : known)
      told_.jobs[job.engine_id] = {.id = job.engine_id, .start_ns = -2};
  });
}

std::string SlurmEngine::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void SlurmEngine::run() {
  const auto pause = std::chrono::duration<double>(options_.poll_s);
  while (!ending_) {
    step();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, pause, [this] { return ending_ || !inbox_.empty(); });
  }
}

void SlurmEngine::step() {
  do_posted();
  // Orders do not wait for a question, except the first ones: they need to know where jobs stand.
  if (asked_ns_ >= 0) carry_out();
  const TimeNs asked_ns = base::steady_ns();
  const Status status = ask();
  {
    const std::lock_guard lock(mutex_);
    problem_ = status ? "" : status.error().text();
  }
  if (!status) return;
  asked_ns_ = asked_ns;
  QueueView view = view_of(rows_, nodes_, facts_, options_.rules, outcomes_, told_);
  limit_arrays(view, rows_, array_limits_);
  block_by_limits(view, rows_, facts_, limits_);
  std::vector<EngineEvent> events =
      events_of(ledger_.look(view.stands, asked_ns, base::steady_ns()));
  for (EngineEvent& event : events) {
    // Slurm ends a run at its limit.
    if (auto* report = std::get_if<Report>(&event); report->kind == ReportKind::Started)
      report->limited = true;
  }
  tell(std::move(events), std::move(view.picture));
  carry_out();
  let_go_of_others();
}

Status SlurmEngine::ask() {
  const TimeNs now_ns = base::steady_ns();
  const bool anew =
      nodes_at_ns_ < 0 || now_ns >= nodes_at_ns_ + static_cast<TimeNs>(options_.nodes_s * 1e9);
  if (anew) {
    const ClientOutput out = client_.run({"scontrol", "-o", "show", "node"});
    if (!out.problem.empty()) return base::failed(out.problem);
    auto nodes = parse_node_list(out.out);
    if (!nodes) return base::failure(nodes.error());
    nodes_ = std::move(*nodes);
    nodes_at_ns_ = now_ns;
  }
  const std::string nonce = Client::nonce();
  const ClientOutput out =
      client_.run({"squeue", "-h", "-a", "-r", "-t", "all", "-O", job_list_format(nonce)});
  if (!out.problem.empty()) return base::failed(out.problem);
  auto rows = parse_job_list(out.out, nonce);
  if (!rows) return base::failure(rows.error());
  rows_ = std::move(*rows);
  remember_outcomes();
  if (auto status = ask_words(); !status) return status;
  ask_parts();
  if (!options_.rules.observe) ask_limits(anew);
  return {};
}

void SlurmEngine::ask_array_limits(bool anew) {
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

void SlurmEngine::ask_limits(bool anew) {
  ask_array_limits(anew);
  if (!anew) return;
  const ClientOutput config = client_.run({"scontrol", "show", "config"});
  if (!config.problem.empty()) return;
  if (!enforces_limits(config.out)) {
    limits_ = {};
    return;
  }
  const ClientOutput limits =
      client_.run({"scontrol", "-o", "show", "assoc_mgr", "flags=assoc,qos"});
  const ClientOutput partitions = client_.run({"scontrol", "-o", "show", "partition"});
  if (limits.problem.empty() && partitions.problem.empty()) {
    limits_ = parse_limits(limits.out, partitions.out);
  }
}

void SlurmEngine::remember_outcomes() {
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

Status SlurmEngine::ask_words() {
  std::set<std::string> listed;
  std::set<std::string> missing;
  for (const JobRow& row : rows_) {
    const std::string id = row.id();
    listed.insert(id);
    const auto fact = facts_.find(id);
    const bool known = fact != facts_.end() && fact->second.has_words && fact->second.doubts != 1;
    if (!known && stand_of(row) != Stand::Ended) missing.insert(id);
  }
  std::erase_if(facts_, [&](const auto& fact) { return !listed.contains(fact.first); });
  if (missing.empty()) return {};
  const std::string nonce = Client::nonce();
  std::vector<std::string> command = {"squeue", "-h",  "-a", "-r",
                                      "-t",     "all", "-O", job_words_format(nonce)};
  if (missing.size() <= kListMost) {
    command.insert(command.end(), {"-j", fmt::format("{}", fmt::join(missing, ","))});
  }
  const ClientOutput out = client_.run(command);
  if (!out.problem.empty()) return base::failed(out.problem);
  auto all = parse_job_words(out.out, nonce);
  if (!all) return base::failure(all.error());
  for (JobWords& words : *all) {
    const std::string id = words.id();
    if (!missing.contains(id)) continue;
    facts_[id].words = std::move(words);
    facts_[id].has_words = true;
  }
  return {};
}

void SlurmEngine::ask_parts() {
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

Result<std::string> SlurmEngine::lines_of(const Task& task) const {
  switch (task.act) {
    case Act::TakeBack:
      return hold_lines(task.id);
    case Act::Requeue:
      return requeue_lines(task.id, is_suspended(rows_, task.id));
    case Act::Mark:
      return mark_lines(task.id, {options_.epoch, task.order.run});
    case Act::Cancel:
      return std::string{};  // by scancel
    case Act::Start:
      break;
  }
  if (task.order.shares) {
    return base::failed("GPUs are not shared on this cluster: it has no shards that we use");
  }
  Mark mark;
  for (const JobRow& row : rows_) {
    if (row.id() == task.id && parse_mark(row.mark, mark) && mark.epoch > options_.epoch) {
      return base::failed(fmt::format("a later daemon, of epoch {}, decides", mark.epoch));
    }
  }
  std::span<const std::string> types;
  for (const NodeRow& node : nodes_) {
    if (!task.order.parts.empty() && node.node.name == task.order.parts.front().node)
      types = node.index_types;
  }
  const auto fact = facts_.find(task.id);
  // Slurm gives a job the same types on all of its nodes.
  const bool are_equal = std::ranges::all_of(task.order.parts, [&](const NodePart& part) {
    return part.gpus == task.order.parts.front().gpus;
  });
  const bool by_type = options_.rules.indices == Indices::Types && are_equal &&
                       fact != facts_.end() && takes_types(fact->second.words);
  auto lines = place_lines(task.id, task.order.parts, {options_.epoch, task.order.run},
                           by_type ? Indices::Types : Indices::Nodes, types);
  if (lines && task.stand == Stand::Released) *lines = hold_lines(task.id) + *lines;
  return lines;
}

std::vector<std::string> SlurmEngine::order(const std::vector<std::string>& scripts, bool& unsure) {
  if (scripts.empty()) return {};
  const std::string nonce = Client::nonce();
  const ClientOutput out = client_.run({"scontrol"}, order_script(scripts, nonce));
  unsure = unsure || !out.ended;
  return parse_order_replies(out.errors, scripts.size(), nonce);
}

void SlurmEngine::carry_out() {
  std::vector<Task> tasks = ledger_.take_tasks(base::steady_ns());
  if (tasks.empty()) return;
  std::vector<Task> sent;
  std::vector<std::string> scripts;
  std::vector<std::string> cancelled;
  for (Task& task : tasks) {
    auto lines = options_.rules.observe ? Result<std::string>(base::failed("Goban only observes"))
                                        : lines_of(task);
    if (!is_job_id(task.id)) lines = base::failed("Slurm has no job of this id");
    if (lines && signals_first(task)) continue;
    if (!lines) {
      ledger_.done(task, lines.error().message, base::steady_ns());
    } else if (task.act == Act::Cancel) {
      cancelled.push_back(task.id);
      sent.push_back(std::move(task));
      scripts.emplace_back();
    } else {
      scripts.push_back(std::move(*lines));
      sent.push_back(std::move(task));
    }
  }
  bool unsure = false;
  std::vector<std::string> replies = order(scripts, unsure);
  // What was placed is released in a second script, as scontrol goes on after an error.
  std::vector<size_t> placed;
  std::vector<std::string> releases;
  for (size_t i = 0; i < sent.size(); ++i) {
    if (sent[i].act != Act::Start || !replies[i].empty()) continue;
    placed.push_back(i);
    releases.push_back(release_lines(sent[i].id));
  }
  const std::vector<std::string> released = order(releases, unsure);
  for (size_t i = 0; i < placed.size(); ++i) replies[placed[i]] = released[i];
  if (!cancelled.empty()) {
    cancelled.insert(cancelled.begin(), "scancel");
    unsure = !client_.run(cancelled).ended || unsure;
  }
  for (size_t i = 0; i < sent.size(); ++i) {
    ledger_.done(sent[i], replies[i], base::steady_ns(), unsure && replies[i] == "no reply");
  }
}

bool SlurmEngine::signals_first(const Task& task) {
  if (task.act != Act::Requeue) return false;
  const TimeNs now_ns = base::steady_ns();
  const RunId run = ledger_.run_of(task.id);
  std::erase_if(signalled_,
                [&](const auto& each) { return ledger_.run_of(each.first) != each.second.run; });
  if (const auto said = signalled_.find(task.id); said != signalled_.end()) {
    if (now_ns >= said->second.until_ns) return false;
    ledger_.put_off(task, said->second.until_ns);
    return true;
  }
  const ClientOutput script = client_.run({"scontrol", "write", "batch_script", task.id, "-"});
  const LeadSignal lead = script.problem.empty() ? lead_signal(script.out) : LeadSignal{};
  if (lead.signal == 0 || lead.lead_ns <= 0) return false;
  if (!client_.run(signal_command(task.id, lead)).problem.empty()) return false;
  signalled_[task.id] = {.run = run, .until_ns = now_ns + lead.lead_ns};
  ledger_.put_off(task, now_ns + lead.lead_ns);
  return true;
}

void SlurmEngine::hurry(RunId run, StopUrgency urgency) {
  post([this, run, urgency] {
    const std::string id = ledger_.id_of(run);
    if (!is_job_id(id) || urgency == StopUrgency::Ask) return;
    if (const auto said = signalled_.find(id); said != signalled_.end()) {
      said->second.until_ns = 0;
      ledger_.put_off({.id = id, .act = Act::Requeue}, 0);
    }
    if (urgency == StopUrgency::Kill) {
      (void)client_.run({"scancel", "--signal=KILL", "--full", id});
    }
  });
}

void SlurmEngine::suspend(RunId run, bool suspended) {
  post([this, run, suspended] {
    const std::string id = ledger_.id_of(run);
    if (!is_job_id(id)) return;
    const std::string what = suspended ? "suspend" : "resume";
    const ClientOutput out = client_.run({"scontrol", what, id});
    if (out.problem.empty()) return;
    Report report{.kind = ReportKind::Progress, .run = run};
    report.detail = fmt::format("Slurm did not {} it: {}", what, out.problem);
    tell(events_of({std::move(report)}), told_);
  });
}

void SlurmEngine::let_go_of_others() {
  if (options_.rules.observe) return;
  // The plug-in cannot tell a heterogeneous job from another when it is submitted.
  std::vector<std::string> releases;
  for (const JobRow& row : rows_) {
    const bool leader = row.het_job != 0 && row.het_job == row.job && row.batch;
    if (leader && stand_of(row) == Stand::Held && row.mark.empty() && row.comment != kHeldMark &&
        row.reason == "JobHeldUser") {
      releases.push_back(leave_lines(row.id(), "heterogeneous-job"));
    }
    const auto fact = facts_.find(row.id());
    const bool is_ours = fact != facts_.end() && fact->second.has_words && row.mark.empty() &&
                         is_managed(row, fact->second.words, options_.rules, {});
    if (is_ours && stand_of(row) == Stand::Held && row.comment != kHeldMark &&
        row.reason == "JobHeldUser") {
      const std::string_view why = why_for_slurm(row, fact->second.words, nodes_, options_.rules);
      if (!why.empty()) releases.push_back(leave_lines(row.id(), why));
    }
  }
  bool unsure = false;
  (void)order(releases, unsure);
}

}  // namespace goban::live::engine::slurm
