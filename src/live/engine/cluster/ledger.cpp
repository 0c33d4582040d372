#include "live/engine/cluster/ledger.hpp"

#include <algorithm>
#include <csignal>

namespace goban::live::engine::cluster {

namespace {

Report answer(ReportKind kind, RunId run, std::string detail) {
  return {.kind = kind, .run = run, .detail = std::move(detail)};
}

Report ended(RunId run, const JobStand& job) {
  Report report = answer(ReportKind::Ended, run, job.node_failed ? "its node failed" : "");
  report.at_ns = std::max<TimeNs>(job.end_ns, 0);
  if (job.start_ns >= 0 && job.end_ns >= job.start_ns) report.ran_ns = job.end_ns - job.start_ns;
  report.exit_code = job.exit_code;
  report.signal = job.signal;
  report.out_of_memory = job.out_of_memory;
  report.limited = job.timed_out;
  report.cancelled = job.cancelled;
  return report;
}

/// Nodes and GPUs; cores and memory are the cluster's own business.
bool same_gpus(const std::vector<NodePart>& a, const std::vector<NodePart>& b) {
  return std::ranges::equal(a, b, [](const NodePart& one, const NodePart& other) {
    return one.node == other.node && one.gpus == other.gpus;
  });
}

/// The nodes of an order that are closed as a whole.
std::vector<NodePart> closed_parts(const LaunchOrder& order, const JobStand& job) {
  std::vector<NodePart> parts;
  if (job.is_blameless) return {NodePart{}};
  if (!job.nodes_closed) return parts;
  const auto& named = job.closed_nodes;
  const auto add = [&](bool all) {
    for (const NodePart& part : order.parts) {
      if (all || std::ranges::find(named, part.node) != named.end())
        parts.push_back({.node = part.node});
    }
  };
  add(false);
  if (parts.empty()) add(true);
  return parts;
}

}  // namespace

void Ledger::launch(const LaunchOrder& order) {
  if (order.engine_id.empty()) {
    early_.push_back(answer(ReportKind::Refused, order.run, "the cluster has no job for it"));
    return;
  }
  Entry& entry = entries_[order.engine_id];
  if (entry.run == order.run) {
    entry.repeat = true;
    return;
  }
  if (entry.run.job.valid())
    early_.push_back(answer(ReportKind::Lost, entry.run, "another run follows"));
  const Stand stand = entry.stand;
  const bool busy = entry.busy;
  entry = Entry{.run = order.run, .order = order, .stand = stand, .launch = true, .busy = busy};
  // An earlier daemon carried it out: the next look says how it went.
  const auto shown = shown_.find(order.engine_id);
  if (shown != shown_.end() && shown->second == order.run) entry.sent = Act::Start;
}

void Ledger::resume(const LaunchOrder& order) {
  if (order.engine_id.empty()) {
    early_.push_back(answer(ReportKind::Lost, order.run, "the cluster has no job for it"));
    return;
  }
  Entry& entry = entries_[order.engine_id];
  if (entry.run == order.run) {
    entry.repeat = true;
    return;
  }
  entry = Entry{.run = order.run, .order = order};
}

void Ledger::stop(RunId run, StopReason reason) {
  Entry* entry = find(run);
  if (entry == nullptr) {
    early_.push_back(answer(ReportKind::Lost, run, "the cluster knows no such run"));
    return;
  }
  const bool waits = reason == StopReason::Preempted || reason == StopReason::Broken;
  // A job that is cancelled does not come back.
  if (entry->goal != Goal::Gone) entry->goal = waits ? Goal::Wait : Goal::Gone;
  entry->stopped = true;
}

void Ledger::withdraw(const std::string& id) {
  Entry& entry = entries_[id];
  entry.goal = Goal::Gone;
  entry.stopped = true;
}

Ledger::Entry* Ledger::find(RunId run) {
  for (auto& [id, entry] : entries_) {
    if (entry.run == run) return &entry;
  }
  return nullptr;
}

RunId Ledger::run_of(const std::string& id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? RunId{} : found->second.run;
}

std::map<std::string, RunId> Ledger::runs() const {
  std::map<std::string, RunId> out;
  for (const auto& [id, entry] : entries_) {
    if (entry.run.job.valid()) out.emplace(id, entry.run);
  }
  return out;
}

std::vector<NodePart> Ledger::parts_of(const std::string& id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? std::vector<NodePart>{} : found->second.order.parts;
}

std::optional<Act> Ledger::wanted(const Entry& entry) const {
  switch (entry.goal) {
    case Goal::Run:
      if (entry.launch && !entry.started && entry.sent != Act::Start) return Act::Start;
      if (entry.mark) return Act::Mark;
      return std::nullopt;
    case Goal::Wait:
      if (entry.stand == Stand::Running) return Act::Requeue;
      // A job that was released a moment ago may still be seen as held.
      if (entry.stand == Stand::Released || entry.sent == Act::Start) return Act::TakeBack;
      return std::nullopt;
    case Goal::Gone:
      return Act::Cancel;
  }
  return std::nullopt;
}

std::vector<Task> Ledger::take_tasks(TimeNs now_ns) {
  std::vector<Task> tasks;
  for (auto& [id, entry] : entries_) {
    const auto act = wanted(entry);
    if (entry.busy || !act) continue;
    if (entry.sent == act && now_ns < entry.sent_ns + patience_.repeat_ns) continue;
    entry.busy = true;
    tasks.push_back({.id = id, .act = *act, .stand = entry.stand, .order = entry.order});
  }
  return tasks;
}

void Ledger::done(const Task& task, const std::string& problem, TimeNs now_ns, bool unsure,
                  std::vector<NodePart> because) {
  const auto found = entries_.find(task.id);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.busy = false;
  entry.believe_ns = now_ns + (unsure ? patience_.repeat_ns : 0);
  const bool same_run = task.order.run == entry.run;
  if (task.act == Act::Start && !problem.empty() && !unsure && same_run) {
    if (entry.stopped) {
      early_.push_back(answer(ReportKind::Lost, entry.run, problem));
      entry.run = {};
      if (entry.goal == Goal::Gone) return;
    } else {
      early_.push_back(answer(ReportKind::Declined, entry.run, problem));
      early_.back().parts = std::move(because);
    }
    entries_.erase(found);
    return;
  }
  if (task.act == Act::Start && !same_run) return;
  entry.sent = task.act;
  entry.sent_ns = now_ns;
  if (task.act == Act::Mark && problem.empty()) entry.mark = false;
  if (!problem.empty()) entry.detail = problem;
}

void Ledger::put_off(const Task& task, TimeNs until_ns) {
  const auto found = entries_.find(task.id);
  if (found == entries_.end()) return;
  found->second.busy = false;
  found->second.sent = task.act;
  found->second.sent_ns = until_ns - patience_.repeat_ns;
}

std::string Ledger::id_of(RunId run) const {
  const auto found =
      std::ranges::find_if(entries_, [&](const auto& entry) { return entry.second.run == run; });
  return found == entries_.end() || !run.job.valid() ? std::string{} : found->first;
}

bool Ledger::has_open() const {
  return !early_.empty() || std::ranges::any_of(entries_, [](const auto& each) {
    const Entry& entry = each.second;
    return entry.goal != Goal::Run || !entry.started || entry.repeat || entry.mark;
  });
}

std::vector<Report> Ledger::look(const std::map<std::string, JobStand>& jobs, TimeNs asked_ns,
                                 TimeNs now_ns) {
  std::vector<Report> reports = std::move(early_);
  early_.clear();
  shown_.clear();
  for (const auto& [id, job] : jobs) {
    if (job.run.job.valid() && job.stand != Stand::Held) shown_.emplace(id, job.run);
  }
  for (auto each = entries_.begin(); each != entries_.end();) {
    Entry& entry = each->second;
    const auto found = jobs.find(each->first);
    const JobStand absent;
    const JobStand& job = found == jobs.end() ? absent : found->second;
    const bool current = !entry.busy && asked_ns > entry.believe_ns;
    each = current && settle(entry, job, now_ns, reports) ? entries_.erase(each) : std::next(each);
  }
  return reports;
}

bool Ledger::settle(Entry& entry, const JobStand& job, TimeNs now_ns,
                    std::vector<Report>& reports) {
  entry.stand = job.stand;
  const bool over = job.stand == Stand::Ended || job.stand == Stand::Absent;
  if (!entry.run.job.valid()) {  // nothing to report: the job only is to wait, or to go
    return over || entry.goal == Goal::Run ||
           (entry.goal == Goal::Wait && job.stand == Stand::Held);
  }
  if (job.stand == Stand::Running) return settle_running(entry, job, reports);
  if (job.stand == Stand::Held) return settle_held(entry, job, reports);
  if (job.stand == Stand::Released) return settle_released(entry, job, now_ns, reports);
  const bool was_ours = entry.started || job.run == entry.run;
  if (job.stand == Stand::Ended && job.ran && was_ours) {
    reports.push_back(ended(entry.run, job));
  } else if (entry.launch && !entry.started && !entry.stopped) {
    reports.push_back(answer(ReportKind::Declined, entry.run, "it ended before it started"));
  } else {
    const bool is_explained = job.stand == Stand::Absent && !job.reason.empty();
    reports.push_back(answer(ReportKind::Lost, entry.run,
                             is_explained ? job.reason : "the cluster no longer lists it"));
  }
  return true;
}

bool Ledger::settle_running(Entry& entry, const JobStand& job, std::vector<Report>& reports) {
  // What somebody else started has no run until it is stored; only resume() takes up such a job.
  const bool ours = job.run == entry.run || (!entry.launch && !job.run.job.valid());
  if (!ours) {
    const bool declined = entry.launch && !entry.started && !entry.stopped;
    reports.push_back(answer(declined ? ReportKind::Declined : ReportKind::Lost, entry.run,
                             "the cluster runs it otherwise"));
    return true;
  }
  entry.mark = !job.run.job.valid();
  if (!entry.started || entry.repeat) {
    Report report = answer(ReportKind::Started, entry.run, "");
    report.at_ns = std::max<TimeNs>(job.start_ns, 0);
    if (!same_gpus(job.parts, entry.order.parts)) report.parts = job.parts;
    reports.push_back(std::move(report));
    entry.started = true;
    entry.repeat = false;
  }
  // It was to be taken back because it did not start; now it has.
  if (entry.goal == Goal::Wait && !entry.stopped) entry.goal = Goal::Run;
  return false;
}

bool Ledger::settle_held(Entry& entry, const JobStand& job, std::vector<Report>& reports) {
  if (entry.goal == Goal::Gone) return false;  // until the cluster has cancelled it
  if (entry.started) {
    Report report = answer(entry.stopped ? ReportKind::Ended : ReportKind::Lost, entry.run,
                           entry.stopped ? "" : "the cluster requeued it");
    report.signal = entry.stopped ? SIGTERM : 0;
    reports.push_back(std::move(report));
    return true;
  }
  if (entry.stopped || !entry.launch) {
    reports.push_back(answer(ReportKind::Lost, entry.run, "it was not started"));
    return true;
  }
  if (entry.goal == Goal::Run && entry.sent != Act::Start) return false;
  if (job.nodes_closed && job.run == entry.run) {  // it was refused, and nothing seen of it before
    entry.detail = job.reason;
    entry.closed = closed_parts(entry.order, job);
  }
  Report report = answer(ReportKind::Declined, entry.run,
                         entry.detail.empty() ? "it is held at the cluster" : entry.detail);
  report.parts = entry.closed;
  reports.push_back(std::move(report));
  return true;
}

bool Ledger::settle_released(Entry& entry, const JobStand& job, TimeNs now_ns,
                             std::vector<Report>& reports) const {
  const bool foreign = !entry.launch && !entry.started && job.run != entry.run;
  if (entry.started || foreign) {
    reports.push_back(answer(ReportKind::Lost, entry.run, "the cluster requeued it"));
    // It would start again where it was: it is taken back first.
    const Goal goal = entry.goal == Goal::Gone ? Goal::Gone : Goal::Wait;
    entry = Entry{.goal = goal, .stand = job.stand};
    return false;
  }
  if (entry.goal != Goal::Run) return false;
  const bool was_started = !entry.launch || entry.sent == Act::Start || job.run == entry.run;
  if (entry.sent_ns < 0 && was_started) {  // by an earlier daemon
    entry.sent = Act::Start;
    entry.sent_ns = now_ns;
  }
  // A kubelet that is silent starts nothing, and could not stop it either.
  if (entry.sent == Act::Start && job.on_silent_node && !job.hopeless) entry.sent_ns = now_ns;
  const TimeNs limit_ns =
      job.hopeless ? patience_.hopeless_ns : patience_.start_ns + patience_.cycles * job.cycle_ns;
  if (entry.sent == Act::Start && now_ns - entry.sent_ns >= limit_ns) {
    entry.goal = Goal::Wait;
    entry.detail = "it did not start: " + job.reason;
    entry.closed = closed_parts(entry.order, job);
  }
  return false;
}

}  // namespace goban::live::engine::cluster
