#include "live/engine/kubernetes/kubernetes_engine.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/printable.hpp"
#include "live/engine/kubernetes/device_books.hpp"
#include "live/engine/kubernetes/gpu_holdings.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using base::steady_ns;
using base::TimeNs;
using cluster::Act;
using cluster::Task;

constexpr int kNotFound = 404;
constexpr int kConflict = 409;
constexpr const char* kNotLeading = "another daemon may hold the Lease";

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
  if (lease_ && !lease_->problem().empty()) return lease_->problem();
  return mirror_ ? mirror_->problem() : std::string();
}

void KubernetesEngine::fence(const std::string& node) {
  post([this, node] { fenced_ns_.emplace(node, base::kNever); });
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
    wake_.wait_for(lock, seconds(options_.look_s),
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

void KubernetesEngine::step() {
  do_posted();
  if (!leads()) return;
  const TimeNs asked_ns = steady_ns();
  const Objects objects = objects_now();
  const Gangs gangs = gangs_of(objects, options_.rules);
  View view = view_of(objects, gangs, options_.rules, told_, started_);
  std::vector<EngineEvent> events = events_of(ledger_.look(view.stands, asked_ns, steady_ns()));
  for (const EngineEvent& event : events) {
    const auto& report = std::get<Report>(event);
    if (report.kind != ReportKind::Started) continue;
    for (const auto& [id, stand] : view.stands) {
      if (stand.run == report.run || ledger_.run_of(id) == report.run) started_[id] = report.run;
    }
  }
  report_awake(objects, events);
  tell(std::move(events), std::move(view.picture));
  std::erase_if(started_, [&](const auto& each) { return !told_.jobs.contains(each.first); });
  carry_out(gangs, objects);
  if (options_.rules.mode == Mode::Observe) return;
  if (sleep_) tend_sleep(objects);
  mend(gangs);
  hurry(gangs);
  remove_fenced(objects);
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
    } else {
      starts.push_back({.task = i, .mark = {options_.epoch, tasks[i].order.run}});
      starts.back().bindings = std::move(*bindings);
    }
  }
  bind_all(starts);
  for (const Start& start : starts) {
    outcomes[start.task] = outcome_of(start);
    tell_start(gangs.at(tasks[start.task].id), start);
  }
  for (size_t i = 0; i < tasks.size(); ++i) {
    ledger_.done(tasks[i], outcomes[i].problem, steady_ns(), outcomes[i].unsure);
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

/// One pod. A write of unknown outcome is looked up, and repeated only if it was not carried out.
ApiAnswer KubernetesEngine::bind(Api& api, const Binding& binding, const cluster::Mark& mark) {
  constexpr int kTries = 4;
  const Meta& meta = binding.pod->meta;
  std::string version = meta.version;
  ApiAnswer answer;
  for (int tried = 0; tried < kTries && !ending_; ++tried) {
    if (!may_write()) return {.unknown = answer.unknown, .problem = kNotLeading};
    answer = api.write("POST", pod_path(meta, "/binding"), binding_body(binding, version, mark));
    if (answer.fine() || (answer.status != kConflict && !answer.unknown)) return answer;
    const ApiAnswer now = api.get(pod_path(meta));
    if (now.status == kNotFound) return {.status = kNotFound, .problem = "the pod is gone"};
    const auto pod =
        now.fine() ? read_pod(nlohmann::json::parse(now.body, nullptr, false)) : std::nullopt;
    if (!pod) return {.unknown = true, .problem = now.problem};
    cluster::Mark there;
    const bool ours = pod->meta.uid == meta.uid && pod->node == binding.node &&
                      cluster::parse_mark(pod->meta.note(kRunNote), there) && there == mark;
    if (ours) return {.status = now.status};
    if (pod->meta.uid != meta.uid || pod->meta.deleting || !pod->node.empty()) {
      return {.status = kConflict, .problem = "the pod was changed by somebody else"};
    }
    version = pod->meta.version;
  }
  return answer;
}

base::Result<std::vector<Binding>> KubernetesEngine::plan(const Task& task, const Gang& gang,
                                                          const Objects& objects) const {
  const bool shares = task.order.shares;
  if (shares && !options_.rules.shares) return base::failed("GPUs are not shared on this cluster");
  if (gang.is_marked && gang.mark.epoch > options_.epoch) {
    return base::failed(fmt::format("a later daemon, of epoch {}, decides", gang.mark.epoch));
  }
  auto bindings = bindings_of(gang, task.order.parts, [&](const Pod& pod, const std::string& name) {
    const auto node = objects.nodes.find("/" + name);
    return node != objects.nodes.end() && may_run_on(pod, node->second);
  });
  if (!bindings) return bindings;
  for (Binding& each : *bindings) each.shares = shares;
  if (auto status = grant_devices(*bindings, objects, options_.rules); !status) {
    return base::failure(status.error());
  }
  return bindings;
}

/// What a pod's claims get is written before it is bound: its kubelet asks for it at once.
ApiAnswer KubernetesEngine::grant_and_bind(Api& api, const Binding& binding,
                                           const cluster::Mark& mark) {
  for (const Grant& grant : binding.grants) {
    ApiAnswer granted = grant_claim(api, grant, [this] { return may_write() && !ending_; });
    if (!granted.fine()) return granted;
  }
  return bind(api, binding, mark);
}

/// The pods of all gangs together, as most gangs are small.
void KubernetesEngine::bind_all(std::vector<Start>& starts) {
  std::vector<std::pair<Start*, size_t>> each;
  for (Start& start : starts) {
    start.answers.resize(start.bindings.size());
    for (size_t i = 0; i < start.bindings.size(); ++i) each.emplace_back(&start, i);
  }
  spread(each.size(), [&](Api& api, size_t i) {
    auto& [start, pod] = each[i];
    start->answers[pod] = grant_and_bind(api, start->bindings[pod], start->mark);
  });
}

KubernetesEngine::Outcome KubernetesEngine::outcome_of(const Start& start) {
  Outcome out;
  size_t bound = 0;
  for (size_t i = 0; i < start.answers.size(); ++i) {
    const Binding& binding = start.bindings[i];
    const ApiAnswer& answer = start.answers[i];
    for (const Grant& grant : binding.grants) {
      // A pod that was bound after all is seen until then.
      const TimeNs wait_ns = answer.unknown ? options_.patience.repeat_ns : base::kSecond;
      granted_ns_[grant.claim.meta.uid] = steady_ns() + wait_ns;
    }
    if (answer.fine()) {
      ++bound;
      assumed_[binding.pod->meta.uid] = {.node = binding.node,
                                         .gpus = gpu_list_text(binding.gpus),
                                         .mark = cluster::mark_text(start.mark),
                                         .shares = binding.shares};
      continue;
    }
    out.unsure = out.unsure || answer.unknown;
    out.problem = fmt::format("{}: {}", binding.pod->meta.name, answer.problem);
  }
  // Some have a node: the next look finds the gang in parts and takes it back.
  if (bound > 0 && !out.problem.empty() && !out.unsure) out.problem.clear();
  return out;
}

void KubernetesEngine::tell(const Gang& gang, Happened what, std::string words) {
  if (!events_) return;
  if (const auto told = told_of(gang, what, std::move(words))) events_->say(*told);
}

void KubernetesEngine::tell_start(const Gang& gang, const Start& start) {
  if (std::ranges::all_of(start.answers, &ApiAnswer::fine)) {
    return tell(gang, Happened::Placed, placed_words(start.bindings));
  }
  // What the API server did not answer is not known to have failed.
  const auto refused = std::ranges::find_if(start.answers, [](const ApiAnswer& each) {
    return !each.fine() && each.status != 0 && !each.unknown;
  });
  if (refused == start.answers.end()) return;
  const auto at = static_cast<size_t>(refused - start.answers.begin());
  tell(gang, Happened::BindFailed,
       fmt::format("pod {} was not bound to {}: {}", start.bindings[at].pod->meta.name,
                   start.bindings[at].node, refused->problem));
}

KubernetesEngine::Outcome KubernetesEngine::send(std::vector<Write> writes) {
  spread(writes.size(), [&](Api& api, size_t i) {
    Write& write = writes[i];
    if (!may_write()) {
      write.answer.problem = kNotLeading;
      return;
    }
    write.answer = api.write(write.method, write.path, write.body);
  });
  Outcome out;
  for (const Write& write : writes) {
    // What is gone needs no second end; another object of the same name is not meant.
    const int status = write.answer.status;
    if (write.answer.fine() || status == kNotFound || status == kConflict) continue;
    out.problem = write.answer.problem;
    out.unsure = out.unsure || write.answer.unknown;
  }
  return out;
}

KubernetesEngine::Outcome KubernetesEngine::take_back(const Gang& gang) {
  if (gang.bound == 0) return {};
  if (gang.group != nullptr) {
    return send({{.method = "PATCH",
                  .path = group_path(*gang.group),
                  .body = group_suspension_body(*gang.group, true)}});
  }
  if (gang.work != nullptr) {
    return send({{.method = "PATCH",
                  .path = work_path(gang.work->meta),
                  .body = suspension_body(gang.work->meta, true)}});
  }
  std::vector<Write> writes;
  for (const Pod* pod : gang.pods) {
    if (pod->node.empty() || pod->meta.deleting) continue;
    evicted_.insert(pod->meta.uid);
    writes.push_back({.method = "POST",
                      .path = pod_path(pod->meta, "/eviction"),
                      .body = eviction_body(pod->meta)});
  }
  return send(std::move(writes));
}

KubernetesEngine::Outcome KubernetesEngine::cancel(const Gang& gang) {
  if (gang.group != nullptr) {
    return send({{.method = "DELETE",
                  .path = group_path(*gang.group),
                  .body = deletion_body(gang.group->meta)}});
  }
  if (gang.work != nullptr) {
    return send({{.method = "DELETE",
                  .path = work_path(gang.work->meta),
                  .body = deletion_body(gang.work->meta)}});
  }
  std::vector<Write> writes;
  for (const Pod* pod : gang.pods) {
    if (pod->meta.deleting) continue;
    writes.push_back(
        {.method = "DELETE", .path = pod_path(pod->meta), .body = deletion_body(pod->meta)});
  }
  return send(std::move(writes));
}

KubernetesEngine::Outcome KubernetesEngine::mark(const Gang& gang, RunId run) {
  std::vector<Write> writes;
  for (const Pod* pod : gang.pods) {
    if (pod->node.empty()) continue;
    writes.push_back({.method = "PATCH",
                      .path = pod_path(pod->meta),
                      .body = mark_body(pod->meta, {options_.epoch, run})});
  }
  return send(std::move(writes));
}

void KubernetesEngine::report_awake(const Objects& objects, std::vector<EngineEvent>& events) {
  if (!sleep_) to_sleep_.clear();  // nobody here wakes them: they are what the cluster says
  for (auto each = awaited_.begin(); each != awaited_.end();) {
    const auto node = objects.nodes.find("/" + *each);
    const bool is_there = node != objects.nodes.end();
    const bool is_marked = is_there && !node->second.meta.note(kSleepNote).empty();
    if (to_sleep_.contains(*each) || (sleep_ && is_marked)) {
      ++each;
      continue;
    }
    // One that is not ready is down, and found when it is back.
    if (is_there && node->second.is_ready) {
      events.emplace_back(Report{.kind = ReportKind::NodeUp, .node = *each});
    }
    each = awaited_.erase(each);
  }
}

void KubernetesEngine::tend_sleep(const Objects& objects) {
  constexpr TimeNs kAgain_ns = 5 * base::kSecond;
  const TimeNs now_ns = steady_ns();
  const auto patch = [this](const std::string& name, std::string body) {
    return send({{.method = "PATCH", .path = node_path(name), .body = std::move(body)}});
  };
  for (const auto& [key, node] : objects.nodes) {
    const std::string& name = node.meta.name;
    // The daemon before this one may have ended before its command had.
    const bool is_left = waking_since(node) >= 0 && !node.is_ready && !to_sleep_.contains(name);
    if (is_left && commanded_.insert(name).second) sleep_->run("wake", name);
    const bool is_new = !woken_ns_.contains(name) || woken_ns_[name] + kAgain_ns < now_ns;
    if (!is_new || sleep_->is_busy(name) ||
        !is_woken(node, base::wall_ns(), options_.patience.start_ns))
      continue;
    woken_ns_[name] = now_ns;
    if (!to_sleep_.contains(name)) marked_.erase(name);
    (void)patch(name, woken_body());
  }
  const std::set<std::string> used =
      to_sleep_.empty() ? std::set<std::string>() : nodes_in_use(objects.pods);
  for (auto each = to_sleep_.begin(); each != to_sleep_.end();) {
    auto& [name, order] = *each;
    const auto node = objects.nodes.find("/" + name);
    if (node != objects.nodes.end() && is_taken_out(node->second) && !marked_.contains(name)) {
      each = to_sleep_.erase(each);
      continue;
    }
    if (order.sleeps && used.contains(name)) {
      // Pods that are no jobs here would end with it: it stays open until they have ended.
      const bool opens = order.cordoned_ns >= 0 && patch(name, woken_body()).problem.empty();
      if (opens) {
        order.cordoned_ns = -1;
        marked_.erase(name);
      }
      ++each;
      continue;
    }
    // What another scheduler bound before the node was cordoned is seen until then.
    constexpr TimeNs kSettles_ns = 2 * base::kSecond;
    if (order.cordoned_ns >= 0 && now_ns < order.cordoned_ns + kSettles_ns) {
      ++each;
      continue;
    }
    if (order.cordoned_ns < 0) {
      if (order.sleeps) marked_.insert(name);
      const Outcome out = patch(name, order.sleeps ? sleep_body() : wake_body(base::wall_ns()));
      const bool is_done = out.problem.empty();
      if (is_done && order.sleeps) order.cordoned_ns = steady_ns();
      // A node that could not be cordoned stays awake; one that is to wake is tried again.
      if (!is_done || order.sleeps) {
        each = is_done || !order.sleeps ? std::next(each) : to_sleep_.erase(each);
        if (out.unsure) break;  // each one more would take as long
        continue;
      }
    }
    commanded_.insert(name);
    sleep_->run(order.sleeps ? "sleep" : "wake", name);
    each = to_sleep_.erase(each);
  }
  for (const std::string& failure : sleep_->look()) {
    fmt::print(stderr, "goban: warning: {}\n", base::printable(failure));
  }
}

void KubernetesEngine::hurry(const Gangs& gangs) {
  constexpr TimeNs kAgain_ns = 5 * base::kSecond;
  const TimeNs now_ns = steady_ns();
  std::set<std::string> there;
  std::map<std::string, TimeNs> hurried_ns;
  std::vector<Write> writes;
  for (const auto& [id, gang] : gangs) {
    for (const Pod* pod : gang.pods) {
      if (evicted_.contains(pod->meta.uid)) there.insert(pod->meta.uid);
    }
    for (const Pod* pod : slow_to_end(gang, evicted_, base::wall_ns(), options_.grace_ns)) {
      const auto before = hurried_ns_.find(pod->meta.uid);
      const bool is_new = before == hurried_ns_.end() || before->second + kAgain_ns < now_ns;
      hurried_ns[pod->meta.uid] = is_new ? now_ns : before->second;
      if (!is_new) continue;
      writes.push_back({.method = "DELETE",
                        .path = pod_path(pod->meta),
                        .body = hurry_body(pod->meta, options_.grace_ns)});
    }
  }
  evicted_ = std::move(there);
  hurried_ns_ = std::move(hurried_ns);
  (void)send(std::move(writes));
}

void KubernetesEngine::remove_fenced(const Objects& objects) {
  constexpr TimeNs kAgain_ns = 5 * base::kSecond;
  const TimeNs now_ns = steady_ns();
  for (auto each = fenced_ns_.begin(); each != fenced_ns_.end();) {
    auto& [node, removed_ns] = *each;
    if (removed_ns != base::kNever && now_ns < removed_ns + kAgain_ns) {
      ++each;
      continue;
    }
    std::vector<Write> writes;
    for (const Pod* pod : left_on(objects, node, options_.rules)) {
      writes.push_back({.method = "DELETE",
                        .path = pod_path(pod->meta),
                        .body = deletion_body(pod->meta, Deletion::AtOnce)});
    }
    removed_ns = now_ns;
    // Until nothing is left, or the node is back.
    each = writes.empty() ? fenced_ns_.erase(each) : std::next(each);
    if (!writes.empty()) (void)send(std::move(writes));
  }
}

void KubernetesEngine::release_claims(const Objects& objects) {
  constexpr TimeNs kAgain_ns = 5 * base::kSecond;
  const TimeNs now_ns = steady_ns();
  std::erase_if(granted_ns_, [&](const auto& each) { return each.second < now_ns; });
  std::vector<Write> writes;
  for (const Claim& claim : left_granted(objects, options_.rules)) {
    if (!granted_ns_.emplace(claim.meta.uid, now_ns + kAgain_ns).second) continue;
    writes.push_back({.method = "PUT",
                      .path = claim_path(objects.devices_api, claim.meta, "/status"),
                      .body = release_body(objects.devices_api, claim.meta)});
  }
  (void)send(std::move(writes));
}

void KubernetesEngine::say_reasons(const Gangs& gangs) {
  if (!options_.reasons) return;
  constexpr TimeNs kPatience_ns = 10 * base::kSecond;
  constexpr TimeNs kAgain_ns = base::kMinute;
  constexpr size_t kMost = 50;
  constexpr size_t kWordsMost = 400;
  const TimeNs now_ns = steady_ns();
  std::map<std::string, std::string> texts;
  {
    const std::scoped_lock lock(options_.reasons->mutex);
    texts = options_.reasons->texts;
  }
  std::map<std::string, TimeNs> said_ns;
  std::vector<Write> writes;
  for (const auto& [id, gang] : gangs) {
    const auto text = texts.find(id);
    for (const Pod* pod : gang.pods) {
      if (!pod->node.empty() || pod->meta.deleting || pod->gated) continue;
      // Most start at once and need no word; a reason that changes all the time is not worth one.
      const auto before = said_ns_.find(pod->meta.uid);
      TimeNs& next_ns = said_ns[pod->meta.uid];
      next_ns = before == said_ns_.end() ? now_ns + kPatience_ns : before->second;
      if (text == texts.end() || now_ns < next_ns || writes.size() == kMost) continue;
      const std::string words = base::printable(text->second.substr(0, kWordsMost));
      if (words.empty() || words == pod->said) continue;
      next_ns = now_ns + kAgain_ns;
      writes.push_back({.method = "PATCH",
                        .path = pod_path(pod->meta, "/status"),
                        .body = reason_body(pod->meta, words, base::wall_ns())});
    }
  }
  said_ns_ = std::move(said_ns);
  (void)send(std::move(writes));
}

void KubernetesEngine::mend(const Gangs& gangs) {
  constexpr TimeNs kAgain_ns = 5 * base::kSecond;
  const TimeNs now_ns = steady_ns();
  std::erase_if(mended_ns_, [&](const auto& each) { return !gangs.contains(each.first); });
  std::erase_if(taken_back_ns_, [&](const auto& each) { return !gangs.contains(each.first); });
  const std::set<std::string> twice = doubled(gangs, options_.rules);
  for (const auto& [id, gang] : gangs) {
    // Of a daemon before this one: nobody else knows that it is not whole.
    const bool is_left = gang.is_foreign && !gang.is_marked && gang.bound > 0 && !gang.whole();
    if (twice.contains(id) || is_left) {
      const auto before = taken_back_ns_.find(id);
      if (before != taken_back_ns_.end() && now_ns < before->second + kAgain_ns) continue;
      taken_back_ns_[id] = now_ns;
      (void)take_back(gang);
      continue;
    }
    const Meta* owner = gang.group != nullptr  ? &gang.group->meta
                        : gang.work != nullptr ? &gang.work->meta
                                               : nullptr;
    if (owner == nullptr) continue;
    const bool ours = gang.is_suspended() && !owner->note(kSuspendedNote).empty();
    const bool goes_on = ours && gang.pods.empty();
    const bool is_over = gang.group != nullptr ? gang.group->complete || gang.group->failed
                                               : gang.work->complete || gang.work->failed;
    // One pod of a gang that ran has gone: the others wait for it in vain.
    const bool is_broken = !gang.is_suspended() && !is_over && started_.contains(id) &&
                           gang.bound > 0 && gang.open > 0;
    if (!goes_on && !is_broken) continue;
    // A repeated patch is harmless; the bound is for an API server that refuses it.
    const auto before = mended_ns_.find(id);
    const bool same = before != mended_ns_.end() && before->second.first == goes_on;
    if (same && now_ns < before->second.second + kAgain_ns) continue;
    mended_ns_[id] = {goes_on, now_ns};
    if (gang.group != nullptr) {
      (void)send({{.method = "PATCH",
                   .path = group_path(*gang.group),
                   .body = group_suspension_body(*gang.group, is_broken)}});
      continue;
    }
    (void)send({{.method = "PATCH",
                 .path = work_path(gang.work->meta),
                 .body = suspension_body(gang.work->meta, is_broken)}});
  }
}

}  // namespace goban::live::engine::kubernetes
