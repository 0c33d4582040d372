#include "live/engine/slurm/slurm_engine.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <utility>

#include "base/clock.hpp"
#include "live/engine/slurm/het_jobs.hpp"
#include "live/engine/slurm/lead_signal.hpp"
#include "live/engine/slurm/partitions.hpp"

namespace goban::live::engine::slurm {

namespace {

using base::Result;
using base::Status;
using base::TimeNs;
using cluster::Act;
using cluster::Stand;
using cluster::Task;

constexpr int kQuietMost = 1000;
constexpr std::string_view kCleared = " TresPerNode=\n";  ///< in lines of place_lines()

bool is_suspended(const std::vector<JobRow>& rows, const std::string& id) {
  return std::ranges::any_of(
      rows, [&](const JobRow& row) { return row.state == "SUSPENDED" && row.id() == id; });
}

/// Of the one GPU of a job; 0: it requests whole ones, or nobody knows what.
int32_t shards_asked(const JobWords& words) {
  const auto request = requested_gpus(words, {.num_nodes = 1, .tasks = 1});
  return request ? request->shards : 0;
}

/// The mark of the task's run at its job.
Mark mark_of(const Task& task, uint64_t epoch, const Questions& questions) {
  Mark mark{.epoch = epoch, .run = task.order.run};
  const JobWords* const words = questions.words(task.id);
  const auto& rows = questions.rows();
  const auto row = std::ranges::find(rows, task.id, &JobRow::id);
  if (words == nullptr || row == rows.end()) return mark;
  mark.own_nodes = has_own_nodes(*row, *words);
  mark.own_indices = !own_indices(*row, *words, index_types_of(questions.nodes())).empty();
  return mark;
}

}  // namespace

SlurmEngine::SlurmEngine(SlurmOptions options)
    : ClusterEngine(options.patience),
      options_(std::move(options)),
      client_(options_.conf, options_.timeout_s, &ending_),
      questions_(client_, options_.rules, options_.rhythm) {
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
  while (!ending_) {
    step();
    pause();
  }
}

void SlurmEngine::pause() {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  const Rhythm& rhythm = options_.rhythm;
  const bool watched =
      questions_.watch().is_of_use() && !ledger_.has_open() && !questions_.awaits_nodes();
  const Seconds least(pause_s(rhythm, 0, took_s_));
  const auto until = Clock::now() + Seconds(pause_s(rhythm, quiet_, took_s_, watched));
  for (auto left = until - Clock::now(); left.count() > 0; left = until - Clock::now()) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, std::min<Seconds>(left, least),
                         [this] { return ending_ || !inbox_.empty(); }))
        return;
    }
    if (watched && questions_.watch().has_changed()) {
      quiet_ = 0;
      return;
    }
  }
}

void SlurmEngine::step() {
  do_posted();
  // Orders do not wait for a question, except the first ones: they need to know where jobs stand.
  if (asked_ns_ >= 0) carry_out();
  const TimeNs asked_ns = base::steady_ns();
  const Status status = questions_.ask(options_.by_priority, quiet_);
  {
    const std::lock_guard lock(mutex_);
    problem_ = status ? "" : status.error().text();
  }
  took_s_ = status ? base::to_seconds(base::steady_ns() - asked_ns) : 0;
  if (!status) {
    quiet_ = 0;  // what is in the queue is not known: it is asked for again soon
    return;
  }
  asked_ns_ = asked_ns;
  QueueView view = questions_.view(told_);
  std::vector<EngineEvent> events =
      events_of(ledger_.look(view.stands, asked_ns, base::steady_ns()));
  for (Report& report : woken()) events.emplace_back(std::move(report));
  for (EngineEvent& event : events) {
    // Slurm ends a run at its limit.
    if (auto* report = std::get_if<Report>(&event); report->kind == ReportKind::Started)
      report->limited = true;
  }
  const bool has_changed = tell(std::move(events), std::move(view.picture));
  const bool is_busy = has_changed || ledger_.has_open() || !waking_.empty() || view.lacks_nodes;
  quiet_ = is_busy ? 0 : std::min(quiet_ + 1, kQuietMost);
  carry_out();
  let_go_of_others(view.leaves);
}

Result<std::string> SlurmEngine::lines_of(const Task& task) const {
  switch (task.act) {
    case Act::TakeBack:
      return hold_lines(task.id);
    case Act::Requeue:
      return requeue_lines(task.id, is_suspended(questions_.rows(), task.id));
    case Act::Mark:
      return mark_lines(task.id, mark_of(task, options_.epoch, questions_));
    case Act::Cancel:
      return std::string{};  // by scancel
    case Act::Start:
      break;
  }
  const JobWords* const words = questions_.words(task.id);
  const int32_t shards = words == nullptr ? 0 : shards_asked(*words);
  if (task.order.shares && shards == 0) {
    return base::failed("it requests whole GPUs, and others hold them");
  }
  if (shards > 0) {
    const std::string problem = shards_problem(task, shards);
    if (!problem.empty()) return base::failed(problem);
  }
  Mark mark;
  bool was_placed = false;
  bool ran = false;
  std::string partitions;
  for (const JobRow& row : questions_.rows()) {
    if (row.id() != task.id) continue;
    const bool is_marked = parse_mark(row.mark, mark);
    was_placed = is_marked || row.mark == kReleasedMark;
    if (is_marked && mark.epoch > options_.epoch) {
      return base::failed(fmt::format("a later daemon, of epoch {}, decides", mark.epoch));
    }
    // Slurm counts the time of submission from the requeue.
    ran = row.restarts > 0 && base::wall_ns() - row.submit_ns < 3 * base::kSecond;
    partitions = partitions_for(row.partition, task.order.parts, questions_.nodes());
  }
  std::span<const std::string> types;
  for (const NodeRow& node : questions_.nodes()) {
    if (!task.order.parts.empty() && node.node.name == task.order.parts.front().node)
      types = node.index_types;
  }
  // Slurm gives a job the same types on all of its nodes.
  const bool are_equal = std::ranges::all_of(task.order.parts, [&](const NodePart& part) {
    return part.gpus == task.order.parts.front().gpus;
  });
  const bool by_type = options_.rules.indices == Indices::Types && are_equal && words != nullptr &&
                       takes_types(*words);
  const auto components = components_of(questions_.rows(), task.id);
  if (components.size() > 1) return het_lines(task, components, partitions, ran);
  auto lines = place_lines(task.id, task.order.parts, mark_of(task, options_.epoch, questions_),
                           by_type ? Indices::Types : Indices::Nodes, types, options_.gres_prefix,
                           partitions, {.count = shards, .named = shards > 0 && was_placed}, ran);
  if (lines && task.stand == Stand::Released) *lines = hold_lines(task.id) + *lines;
  return lines;
}

Result<std::string> SlurmEngine::het_lines(const Task& task,
                                           const std::vector<std::string>& components,
                                           const std::string& partitions, bool ran) const {
  std::vector<const JobWords*> words;
  for (const std::string& id : components) words.push_back(questions_.words(id));
  const auto places = component_places(components, words, task.order.parts, questions_.nodes(),
                                       options_.rules.indices);
  if (!places) return base::failure(places.error());
  const std::string first = task.stand == Stand::Released ? hold_lines(task.id) : "";
  const auto lines = place_het_lines(*places, mark_of(task, options_.epoch, questions_),
                                     questions_.nodes(), options_.gres_prefix, partitions, ran);
  return lines ? Result<std::string>(first + *lines) : lines;
}

std::string SlurmEngine::shards_problem(const Task& task, int32_t shards) const {
  if (options_.rules.indices != Indices::Types || task.order.parts.size() != 1 ||
      task.order.parts.front().gpus.size() != 1) {
    return "shards are those of one GPU that is named";
  }
  const NodePart& part = task.order.parts.front();
  int32_t all = 0;
  for (const NodeRow& node : questions_.nodes()) {
    if (node.node.name == part.node) all = shards_per_gpu(node);
  }
  int32_t taken = 0;
  for (const auto& [id, job] : told_.jobs) {
    const bool is_there = std::ranges::any_of(job.parts, [&](const NodePart& each) {
      return each.node == part.node &&
             std::ranges::find(each.gpus, part.gpus.front()) != each.gpus.end();
    });
    const JobWords* const words = questions_.words(id);
    if (!is_there || words == nullptr || id == task.id) continue;
    const int32_t held = shards_asked(*words);
    taken += held > 0 ? held : all;
  }
  if (taken + shards <= all) return "";
  return fmt::format("{} of the {} shards of GPU {} of {} are taken", taken, all, part.gpus.front(),
                     part.node);
}

std::vector<std::string> SlurmEngine::order(const std::vector<std::string>& scripts, bool& unsure) {
  if (scripts.empty()) return {};
  const std::string nonce = Client::nonce();
  const ClientOutput out = client_.run({"scontrol"}, order_script(scripts, nonce));
  unsure = unsure || !out.ended;
  return parse_order_replies(out.errors, scripts.size(), nonce);
}

std::set<std::string> SlurmEngine::changed_since(const std::vector<Task>& tasks) {
  // What is written into a request must be that request. Once it was placed, only Goban changes it.
  if (options_.rules.indices != Indices::Types || options_.rules.observe) return {};
  std::set<std::string> starts;
  std::map<std::string, std::string> jobs;  // by component
  for (const Task& task : tasks) {
    if (task.act != Act::Start || !is_job_id(task.id)) continue;
    for (const std::string& id : components_of(questions_.rows(), task.id)) {
      starts.insert(id);
      jobs[id] = task.id;
    }
  }
  if (starts.empty()) return starts;
  for (const JobRow& row : questions_.rows()) {
    Mark mark;
    if (row.mark == kReleasedMark || parse_mark(row.mark, mark)) starts.erase(row.id());
  }
  std::set<std::string> changed;
  for (const std::string& id : questions_.renew(starts)) changed.insert(jobs.at(id));
  return changed;
}

void SlurmEngine::carry_out() {
  std::vector<Task> tasks = ledger_.take_tasks(base::steady_ns());
  if (tasks.empty()) return;
  std::vector<Task> sent;
  std::vector<std::string> scripts;
  std::vector<std::string> cancelled;
  const std::set<std::string> changed = changed_since(tasks);
  for (Task& task : tasks) {
    auto lines = options_.rules.observe ? Result<std::string>(base::failed("Goban only observes"))
                                        : lines_of(task);
    if (!is_job_id(task.id)) lines = base::failed("Slurm has no job of this id");
    if (changed.contains(task.id)) lines = base::failed("its owner has changed what it requests");
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
  std::vector<std::string> restores;
  for (size_t i = 0; i < sent.size(); ++i) {
    if (sent[i].act != Act::Start) continue;
    if (replies[i].empty()) {
      placed.push_back(i);
      releases.push_back(release_lines(sent[i].id));
      continue;
    }
    if (scripts[i].find(kCleared) == std::string::npos) continue;
    for (const std::string& id : components_of(questions_.rows(), sent[i].id)) {
      const JobWords* const words = questions_.words(id);
      if (words != nullptr) restores.push_back(restore_lines(id, words->tres_per_node));
    }
  }
  const std::vector<std::string> released = order(releases, unsure);
  for (size_t i = 0; i < placed.size(); ++i) replies[placed[i]] = released[i];
  (void)order(restores, unsure);
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

void SlurmEngine::let_go_of_others(
    const std::vector<std::pair<std::string, std::string_view>>& leaves) {
  if (options_.rules.observe) return;
  std::vector<std::string> releases;
  for (const auto& [id, why] : leaves) releases.push_back(leave_lines(id, why));
  bool unsure = false;
  (void)order(releases, unsure);
}

}  // namespace goban::live::engine::slurm
