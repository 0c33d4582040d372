#include "live/engine/local/local_engine.hpp"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/spawn.hpp"
#include "live/engine/local/run_leftovers.hpp"
#include "live/journal/state_lock.hpp"

namespace goban::live::engine::local {
namespace {

namespace fs = std::filesystem;

/// Interval of checks of the lock, as a dead supervisor does not change its folder.
constexpr TimeNs kLockEvery = base::kSecond;
/// Resolution of file times (the kernel's clock tick): equal times within it prove nothing.
constexpr TimeNs kTimesAreCoarse = 50'000'000;

}  // namespace

LocalEngine::LocalEngine(LocalOptions options, std::vector<base::gpus::LocalGpu> gpus,
                         std::shared_ptr<const base::gpus::NvmlLibrary> nvml)
    : options_(std::move(options)), gpus_(std::move(gpus)), nvml_(std::move(nvml)) {
  options_.state = fs::absolute(options_.state).lexically_normal().string();
  if (options_.supervisor.empty()) options_.supervisor = {"/proc/self/exe", "supervise"};
  // A supervisor may exit between our open() of its FIFO and our write().
  ::signal(SIGPIPE, SIG_IGN);
}

std::vector<base::gpus::DeviceNumber> LocalEngine::denied_for(
    const std::vector<base::gpus::LocalGpu>& own) const {
  std::set<base::gpus::DeviceNumber> out;
  for (const base::gpus::LocalGpu& gpu : gpus_) out.insert(gpu.devices.begin(), gpu.devices.end());
  // The slices of a GPU have some of its devices in common.
  for (const base::gpus::LocalGpu& gpu : own) {
    for (const base::gpus::DeviceNumber& each : gpu.devices) out.erase(each);
  }
  return {out.begin(), out.end()};
}

RunOrder LocalEngine::order_for(const LaunchOrder& order) const {
  RunOrder out;
  out.run = order.run;
  out.epoch = options_.epoch;
  out.spec = order.spec;
  for (const core::model::GpuId gpu : order.gpus) {
    if (gpu.index() < gpus_.size()) out.gpus.push_back(gpus_[gpu.index()]);
  }
  if (options_.isolates) out.denied = denied_for(out.gpus);
  out.shares = order.shares;
  out.restarts = order.restarts;
  out.limit_ns = order.limit_ns;
  out.staged = order.staged;
  out.fast_folder = order.fast_folder;
  out.run_instances = static_cast<uint32_t>(std::max(1, order.spec.instances));
  out.node = options_.node;
  out.payload = payload_path(options_.state, order.spec);
  out.cgroup_root = options_.cgroup_root;
  out.socket_root = options_.socket_root;
  out.attach_timeout_s = options_.attach_timeout_s;
  return out;
}

base::Result<pid_t> LocalEngine::spawn(const RunFolder& folder) {
  const base::Descriptor log(::open(folder.file("supervisor.log").c_str(),
                                    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log) return base::system_error("cannot open", folder.file("supervisor.log"));
  std::vector<std::string> words = options_.supervisor;
  words.push_back(folder.path());
  const pid_t pid =
      base::spawn(std::move(words), {.err = log.get(), .group = base::SpawnGroup::OwnSession});
  if (pid == 0) return base::system_error("cannot start the supervisor", options_.supervisor[0]);
  children_.push_back(pid);
  return pid;
}

void LocalEngine::report(ReportKind kind, RunId run, std::string detail) {
  Report& report = reports_.emplace_back();
  report.kind = kind;
  report.run = run;
  report.at_ns = base::wall_ns();
  report.detail = std::move(detail);
}

bool LocalEngine::watch_again(RunId run) {
  const auto found = watched_.find(run);
  if (found == watched_.end()) return false;
  found->second.said_started = false;
  found->second.looked_ns = 0;
  return true;
}

LocalEngine::Watched& LocalEngine::watch(const LaunchOrder& order) {
  Watched& watched = watched_[order.run];
  watched.folder = RunFolder(options_.state, order.run);
  watched.gpus = order.gpus;
  watched.sharing_sent = order.shares;
  watched.since_ns = base::steady_ns();
  return watched;
}

void LocalEngine::tell_neighbours(RunId run, Watched& newcomer) {
  const auto tell = [](Watched& watched) {
    if (!watched.sharing_sent) watched.sharing_due = true;
  };
  for (auto& [id, other] : watched_) {
    const bool meets = std::ranges::any_of(newcomer.gpus, [&](core::model::GpuId gpu) {
      return std::ranges::find(other.gpus, gpu) != other.gpus.end();
    });
    if (!meets || id == run) continue;
    tell(other);
    tell(newcomer);
  }
}

void LocalEngine::launch(const LaunchOrder& order) {
  if (watch_again(order.run) || journal::is_shut_out(options_.state, options_.epoch)) return;
  const RunFolder folder(options_.state, order.run);
  const auto placed = folder.place_order(order_for(order));
  if (!placed && folder.withdraw()) {
    report(ReportKind::Unable, order.run, placed.error().text());
    return;
  }
  Watched& watched = watch(order);
  watched.launched = true;
  tell_neighbours(order.run, watched);
  if (!placed || !*placed) return;
  const auto spawned = spawn(folder);
  if (spawned) {
    watched.supervisor = *spawned;
  } else if (folder.withdraw()) {
    report(ReportKind::Unable, order.run, spawned.error().text());
    watched_.erase(order.run);
  }
}

void LocalEngine::resume(const LaunchOrder& order) {
  if (watch_again(order.run)) return;
  tell_neighbours(order.run, watch(order));
}

void LocalEngine::stop(RunId run, StopReason reason) {
  auto found = watched_.find(run);
  if (found == watched_.end()) {
    // Ended or never launched: a report of its end or loss follows, as for resume().
    LaunchOrder order;
    order.run = run;
    watch(order);
    found = watched_.find(run);
  }
  Watched& watched = found->second;
  if (!watched.stop) watched.stop = byte_of(reason);
  // A supervisor that does not listen yet is told later, in take_events().
  send_orders(watched);
}

void LocalEngine::hurry(RunId run, StopUrgency urgency) {
  const auto found = watched_.find(run);
  if (found == watched_.end() || urgency == StopUrgency::Ask) return;
  found->second.hurry = urgency == StopUrgency::Kill ? ControlByte::Kill : ControlByte::Terminate;
  send_orders(found->second);
}

void LocalEngine::suspend(RunId run, bool suspended) {
  const auto found = watched_.find(run);
  if (found == watched_.end()) return;
  found->second.pause = suspended ? ControlByte::Suspend : ControlByte::Continue;
  send_orders(found->second);
}

void LocalEngine::send_orders(Watched& watched) {
  if (watched.pause && watched.folder.tell(*watched.pause)) watched.pause.reset();
  if (watched.stop && watched.folder.tell(*watched.stop)) watched.stop.reset();
  if (watched.hurry && !watched.stop && watched.folder.tell(*watched.hurry)) watched.hurry.reset();
}

void LocalEngine::forget(core::model::JobId job, const std::string& payload) {
  std::erase_if(watched_, [&](const auto& each) { return each.first.job == job; });
  if (!payload.empty()) payloads_left_.push_back(payload);
  std::erase_if(payloads_left_,
                [this](const std::string& name) { return remove_payload(options_.state, name); });
  remove_runs(options_.state, job);
}

void LocalEngine::cap(const GpuPlace& gpu, double watts) {
  const auto index = static_cast<size_t>(gpu.index);  // this machine is the only node
  if (!nvml_ || index >= gpus_.size() || gpus_[index].is_virtual) return;
  // Best effort: without permission the limit stays unchanged.
  static_cast<void>(nvml_->set_power_limit(gpus_[index].uuid, watts));
}

void LocalEngine::wake(const std::string& node) {
  report(ReportKind::NodeUp, {}, {});
  reports_.back().node = node;
}

void LocalEngine::reap_children() {
  std::erase_if(children_, [](pid_t child) { return ::waitpid(child, nullptr, WNOHANG) != 0; });
}

bool LocalEngine::is_idle(Watched& watched, TimeNs now_ns) {
  struct stat facts{};
  if (::stat(watched.folder.path().c_str(), &facts) != 0) return false;
  const TimeNs changed_ns = facts.st_mtim.tv_sec * base::kSecond + facts.st_mtim.tv_nsec;
  const bool same = facts.st_mtim.tv_sec == watched.changed.tv_sec &&
                    facts.st_mtim.tv_nsec == watched.changed.tv_nsec &&
                    base::wall_ns() - changed_ns > kTimesAreCoarse;
  watched.changed = facts.st_mtim;
  return same && watched.looked_ns > 0 && now_ns - watched.looked_ns < kLockEvery;
}

void LocalEngine::report_started(RunId run, Watched& watched, TimeNs at_ns, bool limited) {
  if (watched.said_started) return;
  watched.said_started = true;
  report(ReportKind::Started, run, {});
  reports_.back().limited = limited;
  if (at_ns > 0) reports_.back().at_ns = at_ns;
}

void LocalEngine::report_progress(RunId run, Watched& watched, const RunProgress& progress) {
  if (progress == watched.said) return;
  const ProgressReport& latest = progress.latest;
  const int64_t safe_step = progress.checkpoint_step;
  if (safe_step >= 0 && safe_step != watched.said.checkpoint_step) {
    report(ReportKind::Progress, run, {});
    ProgressReport& at = reports_.back().progress;
    at = latest;
    at.step = safe_step;
    at.checkpointed = true;
    if (latest.steps > 0 && latest.epochs > 0) {
      const double part = static_cast<double>(safe_step) / static_cast<double>(latest.steps);
      at.epoch = latest.epochs * std::min(1.0, part);
    }
  }
  if (latest != watched.said.latest && (latest.step != safe_step || safe_step < 0)) {
    report(ReportKind::Progress, run, {});
    reports_.back().progress = latest;
  }
  watched.said = progress;
}

void LocalEngine::report_end(RunId run, Watched& watched) {
  const std::string file = watched.folder.file("status");
  const auto text = base::read_small_file(file);
  auto status =
      text ? parse_status(*text, file) : base::Result<RunStatus>(base::failure(text.error()));
  if (!status) {
    report(ReportKind::Lost, run, status.error().text());
    return;
  }
  if (status->unable) return report_unable(run, watched.folder, status->detail);
  if (status->refused) {
    report(ReportKind::Refused, run, status->detail);
    return;
  }
  report_started(run, watched, status->started_ns, true);  // it has ended anyway
  report_progress(run, watched, status->progress);
  report(ReportKind::Ended, run, status->detail);
  Report& report = reports_.back();
  report.at_ns = status->ended_ns;
  report.exit_code = status->exit_code;
  report.signal = status->signal;
  report.out_of_memory = status->out_of_memory;
  report.acknowledged = status->acknowledged;
  report.limited = status->limited;
  report.ran_ns = status->ran_ns;
  report.usage = status->usage;
  report.progress = status->progress.latest;
  report.ranks = status->progress.ranks;
  report.pace = status->progress.pace;
}

void LocalEngine::report_unable(RunId run, const RunFolder& folder, std::string detail) {
  report(ReportKind::Unable, run, std::move(detail));
  // The next launch has another number, and space may be scarce.
  std::error_code ignored;
  fs::remove_all(folder.path(), ignored);
}

bool LocalEngine::look_unstarted(RunId run, Watched& watched, RunStage stage) {
  if (!watched.launched) {
    // Ensure that it never starts; if a supervisor was faster, it runs.
    if (!watched.folder.fence()) return true;
    report(ReportKind::Lost, run, "unknown");
    return false;
  }
  const bool late = base::steady_ns() - watched.since_ns > options_.start_timeout_ns;
  const bool lives =
      std::find(children_.begin(), children_.end(), watched.supervisor) != children_.end();
  if (stage == RunStage::Ordered && lives && !late) return true;
  if (!watched.folder.fence()) return true;
  report_unable(run, watched.folder, "its supervisor did not start" + tail_of_log(watched.folder));
  return false;
}

bool LocalEngine::look_broken(RunId run, Watched& watched) {
  if (!end_leftovers(watched.folder)) return true;  // look again until no process is left
  remove_sockets(watched.folder);
  const bool ran = base::exists(watched.folder.file("running"));
  report(ReportKind::Lost, run,
         ran ? "its supervisor exited without a status" + tail_of_log(watched.folder) : "unknown");
  return false;
}

bool LocalEngine::look(RunId run, Watched& watched) {
  send_orders(watched);
  if (watched.sharing_due && watched.folder.tell(ControlByte::Shared)) {
    watched.sharing_due = false;
    watched.sharing_sent = true;
  }
  const TimeNs now = base::steady_ns();
  if (is_idle(watched, now)) return true;
  watched.looked_ns = now;
  const RunStage stage = watched.folder.stage();
  switch (stage) {
    case RunStage::Absent:
    case RunStage::Ordered:
      watched.looked_ns = 0;
      return look_unstarted(run, watched, stage);
    case RunStage::Broken:
      watched.looked_ns = 0;
      return look_broken(run, watched);
    case RunStage::Over:
      report_end(run, watched);
      return false;
    case RunStage::Unable:
      report_unable(run, watched.folder,
                    "its supervisor could not start it" + tail_of_log(watched.folder));
      return false;
    case RunStage::Running:
      break;
  }
  if (!watched.said_started) {
    const std::string file = watched.folder.file("running");
    const auto text = base::read_small_file(file);
    const auto note = text ? parse_note(*text, file) : base::Result<RunningNote>{};
    if (text && note) report_started(run, watched, note->started_ns, note->limited);
  }
  if (const auto text = base::read_small_file(watched.folder.file("progress"))) {
    const auto progress = parse_progress(*text, watched.folder.file("progress"));
    if (progress && watched.said_started) report_progress(run, watched, *progress);
  }
  if (auto text = base::read_small_file(watched.folder.file("stuck"));
      text && *text != watched.said_stuck) {
    report(ReportKind::Progress, run, *text);
    watched.said_stuck = std::move(*text);
  }
  return true;
}

std::vector<EngineEvent> LocalEngine::take_events() {
  reap_children();
  for (auto it = watched_.begin(); it != watched_.end();) {
    it = look(it->first, it->second) ? std::next(it) : watched_.erase(it);
  }
  return events_of(std::exchange(reports_, {}));
}

}  // namespace goban::live::engine::local
