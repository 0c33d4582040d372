#include "live/engine/kubernetes/kubernetes_engine.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "live/engine/kubernetes/device_books.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using base::steady_ns;
using base::TimeNs;
using cluster::Act;
using cluster::Task;

std::chrono::duration<double> seconds(double count) { return std::chrono::duration<double>(count); }

}  // namespace

KubernetesEngine::KubernetesEngine(KubernetesOptions options)
    : ClusterEngine(options.patience),
      options_(std::move(options)),
      credentials_(std::make_shared<Credentials>(options_.access, options_.requests_s)) {
  for (uint32_t i = 0; i < std::max(options_.connections, 1U); ++i) {
    connections_.push_back(std::make_unique<Api>(credentials_, ending_, options_.timeout_s));
  }
}

KubernetesEngine::~KubernetesEngine() { end(); }

void KubernetesEngine::recall(const std::vector<KnownJob>& known) {
  post([this, known] {
    // As if told something that is certainly different: each is told anew, or that it is gone.
    for (const KnownJob& job : known) {
      JobSeen& told = told_.jobs[job.engine_id];
      told = {.id = job.engine_id, .managed = job.managed, .start_ns = -2, .parts = job.parts};
      if (job.launched) started_[job.engine_id] = job.run;
    }
  });
}

std::string KubernetesEngine::problem() const {
  const std::scoped_lock lock(mutex_);
  if (lease_ && !lease_->problem().empty()) return with_remedy(lease_->problem());
  return mirror_ ? with_remedy(mirror_->problem()) : std::string();
}

std::string KubernetesEngine::refusal() const {
  const std::scoped_lock lock(mutex_);
  std::string all;
  for (const auto& [kind, words] : refusals_) all += (all.empty() ? "" : "; ") + with_remedy(words);
  return all;
}

void KubernetesEngine::fence(const std::string& node, TimeNs at_ns) {
  post([this, node, at_ns] { fenced_[node].at_ns = at_ns; });
}

void KubernetesEngine::rest(const std::string& node) {
  post([this, node] {
    to_sleep_[node] = {.sleeps = true};
    awaited_.erase(node);
  });
}

void KubernetesEngine::wake(const std::string& node) {
  post([this, node] {
    to_sleep_[node] = {.sleeps = false};
    awaited_.insert(node);
  });
}

void KubernetesEngine::beat() {
  const std::scoped_lock lock(mutex_);
  if (lease_) lease_->beat();
}

bool KubernetesEngine::is_shut_out() const {
  const std::scoped_lock lock(mutex_);
  return lease_ && lease_->is_lost();
}

void KubernetesEngine::look_again() {
  {
    const std::scoped_lock lock(mutex_);
    changed_ = true;
  }
  wake_.notify_all();
}

bool KubernetesEngine::leads() {
  if (!may_write()) return false;
  if (lease_) {
    options_.epoch = lease_->epoch();
    options_.rules.first_epoch = lease_->first_epoch();
  }
  if (!mirror_) {  // only now, so that it begins with all that the daemon before has written
    const std::scoped_lock lock(mutex_);
    mirror_ = std::make_unique<Mirror>(credentials_, options_.mirror, [this] { look_again(); });
  }
  return mirror_->is_complete();
}

void KubernetesEngine::run() {
  if (options_.tells) events_ = std::make_unique<EventWriter>(options_.access, options_.timeout_s);
  if (!options_.sleep.empty()) sleep_ = std::make_unique<SleepCommand>(options_.sleep);
  if (!options_.lease.empty()) {
    const std::scoped_lock lock(mutex_);
    // Not delayed by other requests.
    auto credentials = std::make_shared<Credentials>(options_.access);
    lease_ = std::make_unique<LeaseKeeper>(std::move(credentials), options_.lease, options_.terms,
                                           [this] { look_again(); });
  }
  while (!ending_) {
    step();
    std::unique_lock lock(mutex_);
    // What goes on without a change of the cluster is looked at more often than the cluster at
    // rest.
    constexpr double kRests = 5;
    wake_.wait_for(lock, seconds(options_.look_s * (is_at_rest() ? kRests : 1)),
                   [this] { return ending_ || changed_ || !inbox_.empty(); });
    // Changes come in flocks: a gang's pods are looked at together.
    if (changed_)
      wake_.wait_for(lock, seconds(options_.settle_s), [this] { return ending_.load(); });
    changed_ = false;
  }
  events_.reset();
  const auto ended = [this] {
    const std::scoped_lock lock(mutex_);
    return std::pair(std::move(mirror_), std::move(lease_));
  }();
}

bool KubernetesEngine::is_at_rest() const {
  return !ledger_.has_open() && assumed_.empty() && to_sleep_.empty() && awaited_.empty() &&
         !sleep_ && fenced_.empty() && evicted_.empty() && granted_ns_.empty() &&
         mended_ns_.empty() && taken_back_ns_.empty() && refused_.empty();
}

Objects KubernetesEngine::objects_now() {
  Objects objects;
  mirror_->read([&](const Objects& all) { objects = all; });
  std::set<std::string> open;
  for (auto& [key, pod] : objects.pods) {
    const auto assumed = assumed_.find(pod.meta.uid);
    if (assumed == assumed_.end() || assumed->second.seen_by(pod)) continue;
    pod.node = assumed->second.node;
    pod.meta.notes[std::string(kGpusNote)] = assumed->second.gpus;
    pod.meta.notes[std::string(kRunNote)] = assumed->second.mark;
    if (assumed->second.shares) pod.meta.notes[std::string(kSharesNote)] = "true";
    open.insert(pod.meta.uid);
  }
  std::erase_if(assumed_, [&](const auto& each) { return !open.contains(each.first); });
  settle_devices(objects, options_.rules);
  return objects;
}

void KubernetesEngine::note_started(const std::map<std::string, cluster::JobStand>& stands,
                                    const std::vector<EngineEvent>& events) {
  std::set<RunId> started;
  for (const EngineEvent& event : events) {
    const auto& report = std::get<Report>(event);
    if (report.kind == ReportKind::Started) started.insert(report.run);
  }
  if (started.empty()) return;
  for (const auto& [id, stand] : stands) {
    for (const RunId& run : {stand.run, ledger_.run_of(id)}) {
      if (started.contains(run)) started_[id] = run;
    }
  }
}

void KubernetesEngine::step() {
  do_posted();
  if (!leads()) return;
  const TimeNs asked_ns = steady_ns();
  const Objects objects = objects_now();
  KnownRuns runs{.latest = ledger_.runs(), .started = started_};
  runs.latest.insert(started_.begin(), started_.end());
  const Gangs gangs = gangs_of(objects, options_.rules, runs);
  View view = view_of(objects, gangs, options_.rules, told_, started_);
  name_fenced(view);
  name_refused(view);
  std::vector<EngineEvent> events = events_of(ledger_.look(view.stands, asked_ns, steady_ns()));
  note_started(view.stands, events);
  report_awake(objects, events);
  const bool is_followed = std::ranges::any_of(gangs, [this](const auto& each) {
    return each.second.is_followed && told_.jobs.contains(each.first);
  });
  tell(std::move(events), std::move(view.picture));
  if (is_followed) look_again();  // the end is told: what follows is another job
  std::erase_if(started_, [&](const auto& each) { return !told_.jobs.contains(each.first); });
  carry_out(gangs, objects);
  name_pods(gangs);
  if (options_.rules.mode == Mode::Observe) return;
  if (sleep_) tend_sleep(objects);
  mend(gangs);
  hurry(gangs);
  remove_fenced(objects, gangs);
  release_claims(objects);
  say_reasons(gangs);
}

void KubernetesEngine::carry_out(const Gangs& gangs, const Objects& objects) {
  std::vector<Task> tasks = ledger_.take_tasks(steady_ns());
  std::vector<Outcome> outcomes(tasks.size());
  std::vector<Start> starts;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const auto gang = gangs.find(tasks[i].id);
    if (gang == gangs.end()) {
      outcomes[i].problem = "Kubernetes has no such pods any more";
    } else if (options_.rules.mode == Mode::Observe) {
      outcomes[i].problem = "Goban only observes";
    } else if (tasks[i].act != Act::Start) {
      outcomes[i] = carry_out(tasks[i], gang->second);
    } else if (auto bindings = plan(tasks[i], gang->second, objects); !bindings) {
      outcomes[i].problem = bindings.error().message;
      outcomes[i].because = forbidden(tasks[i], gang->second, objects);
      // Its pods are not there yet, for which no node is to blame.
      if (lacks_open_pods(gang->second)) outcomes[i].because = {NodePart{}};
    } else {
      starts.push_back({.task = i, .mark = {options_.epoch, tasks[i].order.run}});
      starts.back().bindings = std::move(*bindings);
    }
  }
  bind_all(starts);
  for (const Start& start : starts) {
    outcomes[start.task] = outcome_of(start);
    note_refusal(tasks[start.task].id, start);
    tell_start(gangs.at(tasks[start.task].id), start);
  }
  for (size_t i = 0; i < tasks.size(); ++i) {
    ledger_.done(tasks[i], outcomes[i].problem, steady_ns(), outcomes[i].unsure,
                 std::move(outcomes[i].because));
  }
}

KubernetesEngine::Outcome KubernetesEngine::carry_out(const Task& task, const Gang& gang) {
  switch (task.act) {
    case Act::Start:  // by bind_all()
      return {};
    case Act::TakeBack:
      return take_back(gang);
    case Act::Requeue: {
      Outcome out = take_back(gang);
      if (out.problem.empty()) tell(gang, Happened::Preempted, "ended by Goban; it waits again");
      return out;
    }
    case Act::Cancel:
      return cancel(gang);
    case Act::Mark:
      // What another daemon left in parts is told from what is ours by its mark: mend() ends it.
      if (gang.is_left()) return {.problem = "another daemon left it in parts"};
      return mark(gang, task.order.run);
  }
  return {};
}

void KubernetesEngine::spread(size_t count, const std::function<void(Api&, size_t)>& each) {
  std::atomic<size_t> next{0};
  const auto work = [&](Api& api) {
    for (size_t i = next++; i < count; i = next++) each(api, i);
  };
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < std::min(connections_.size(), count); ++i) {
    helpers.emplace_back([&, i] { work(*connections_[i]); });
  }
  work(*connections_.front());
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace goban::live::engine::kubernetes
