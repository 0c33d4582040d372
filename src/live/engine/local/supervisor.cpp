#include "live/engine/local/supervisor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "live/engine/local/job_start.hpp"
#include "live/engine/local/nccl_variables.hpp"
#include "live/machine/subreaper.hpp"

namespace goban::live::engine::local {
namespace {

using base::kSecond;
using base::TimeNs;

constexpr TimeNs kAskEvery = kSecond / 10;  ///< for a checkpoint, until a process catches it
constexpr TimeNs kKillEvery = kSecond / 50;
constexpr TimeNs kStartPatience = kSecond;    ///< a start that takes longer is not waited for
constexpr TimeNs kStuckAfter = 10 * kSecond;  ///< a step that takes longer hangs
constexpr int kFirstClient_ms =
    3000;  ///< time that the terminal of an ended job waits for its first client

}  // namespace

SupervisedRun::~SupervisedRun() {
  std::error_code ignored;
  if (!sockets_.empty()) std::filesystem::remove_all(sockets_, ignored);
  std::filesystem::remove(folder_.file("sockets"), ignored);
}

base::Status SupervisedRun::open_sockets() {
  auto made = make_socket_folder(order_.socket_root);
  if (!made) return base::failure(made.error());
  sockets_ = std::move(*made);
  // Lets the engine clean up if this process is killed, and clients find the terminal.
  if (::symlink(sockets_.c_str(), folder_.file("sockets").c_str()) != 0) {
    return base::system_error("cannot link", folder_.file("sockets"));
  }
  auto listener = ProgressListener::open(sockets_ + "/progress.sock", order_.spec.owner);
  if (!listener) return base::failure(listener.error());
  progress_ = std::move(*listener);
  if (!order_.spec.interactive) return let_in(sockets_, order_.spec.owner);
  auto terminal = TerminalHost::open(sockets_ + "/tty.sock", order_.spec.owner, base::steady_ns());
  if (!terminal) return base::failure(terminal.error());
  terminal_ = std::move(*terminal);
  return let_in(sockets_, order_.spec.owner);
}

base::Result<Payload> SupervisedRun::read_payload() {
  const auto text = base::read_small_file(order_.payload, size_t{64} << 20);
  // If it exists, the disk or the machine's table of open files is the reason.
  unable_ = !text && base::exists(order_.payload);
  if (!text) return base::failure(text.error());
  return parse_payload(*text, order_.payload);
}

base::Status SupervisedRun::prepare() {
  // Open for reading and writing, so that it has no end of file when the daemon closes it.
  control_.reset(::open(folder_.file("control").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!control_) return base::system_error("cannot open", folder_.file("control"));
  if (auto opened = open_sockets(); !opened) return opened;
  if (auto made = processes_.make_cgroups(order_, folder_.key()); !made) return made;
  usage_.emplace(order_, folder_, processes_);
  return {};
}

base::Status SupervisedRun::start() {
  const job::JobSpec& spec = order_.spec;
  if (auto may = may_act_for(spec.owner); !may) return may;
  const auto payload = read_payload();
  if (!payload) return base::failure(payload.error());
  if (auto prepared = prepare(); !prepared) {
    unable_ = true;
    return prepared;
  }
  RunPlaces places;
  places.user = user_facts(spec.owner);
  places.work_folder = spec.work_folder.empty() ? places.user.home : spec.work_folder;
  places.progress_socket = sockets_ + "/progress.sock";
  places.key = folder_.key();
  places.master_port = free_port(job::job_number(order_.run.job));
  if (terminal_) places.terminal = terminal_->device();
  cores_ = claim_cores(folder_.state() + "/cores", order_);
  places.cpus = cpus_of(order_, cores_);
  processes_.limit_cores(places.cpus);
  places.cgroup_procs = processes_.procs_files();
  places.nccl = nccl_variables(order_);

  auto started = start_job(order_, *payload, places);
  if (!started) {
    unable_ = started.error().of_machine;
    return base::failure(started.error().error);
  }
  starting_ = std::move(*started);
  pid_ = starting_->pid();
  started_ns_ = base::wall_ns();
  started_steady_ns_ = base::steady_ns();
  return {};
}

void SupervisedRun::watch_start() {
  if (!starting_ || !starting_->is_decided()) return;
  failure_ = starting_->failure();
  starting_.reset();
  if (!failure_) begin();
}

void SupervisedRun::begin() {
  RunningNote note;
  note.supervisor_pid = ::getpid();
  note.pid = pid_;
  note.started_ns = started_ns_;
  note.limited = true;
  processes_.describe(note);
  if (auto s = base::replace_file(folder_.path(), "running", to_text(note), base::Durable::No);
      !s) {
    // The job runs nevertheless; the engine detects that by the lock.
    complain(s.error().text());
  }
}

void SupervisedRun::suspend() {
  if (!plan_.ordered()) processes_.suspend(true);
}

TimeNs SupervisedRun::ran_ns() const {
  return base::steady_ns() - started_steady_ns_ - processes_.suspended_ns();
}

void SupervisedRun::ask_for_checkpoint() {
  // Connections were told when the order arrived.
  if (processes_.ask(order_.spec.stop.signal) + progress_->num_connections() > 0) return;
  // At its limit the job may use all of its time, and one that just began will have its handler.
  if (limited_) return plan_.ask_again(base::steady_ns() + kAskEvery);
  plan_.terminate_now(base::steady_ns());
}

void SupervisedRun::say_stuck(const std::string& text) {
  if (text == said_stuck_) return;
  said_stuck_ = text;
  complain(text);
  // The engine shows it. A full disk does not matter: the log has it.
  static_cast<void>(base::replace_file(folder_.path(), "stuck", text, base::Durable::No));
}

void SupervisedRun::watch_stuck() {
  const TimeNs now = base::steady_ns();
  const TimeNs killed_ns = processes_.killed_ns();
  const bool is_killed = killed_ns > 0 && now - killed_ns > kStuckAfter;
  if (starting_ && is_killed) {
    // It waits in the kernel, and dies there when the file system answers: it executes nothing of
    // the job any more. It never held a GPU, so the run is over.
    detail_ = fmt::format("process {} hangs while {} and cannot be killed; it never began", pid_,
                          starting_->doing());
    complain(detail_);
    main_gone_ = all_gone_ = true;
    main_status_ = SIGKILL;
  } else if (starting_ && now - started_steady_ns_ > kStuckAfter) {
    say_stuck(fmt::format("its start took more than {:g} s, {}; that file system may not answer",
                          base::to_seconds(kStuckAfter), starting_->doing()));
  } else if (is_killed) {
    const std::vector<pid_t> left = processes_.all();
    if (left.empty()) return;
    say_stuck(
        fmt::format("process {} was killed and does not exit: it waits in the kernel, and "
                    "holds its GPUs until then",
                    left.front()));
  }
}

void SupervisedRun::step() {
  if (starting_ && plan_.ordered() && !plan_.killed()) {
    // Usually it begins at once, and is asked to stop then. If it hangs, it cannot be asked.
    if (base::steady_ns() - started_steady_ns_ < kStartPatience) return;
    detail_ = "it was stopped before it began, while " + starting_->doing();
    plan_.kill_now(base::steady_ns());
  }
  if (plan_.ordered()) processes_.suspend(false);
  switch (plan_.due(base::steady_ns())) {
    case StopPlan::Step::None:
      break;
    case StopPlan::Step::Checkpoint:
      ask_for_checkpoint();
      break;
    case StopPlan::Step::Terminate:
      processes_.signal(SIGTERM);
      break;
    case StopPlan::Step::Kill:
      break;  // repeated below
  }
  // Without a stop order, remaining processes are killed when the main process exits.
  if (plan_.killed() || ended_by_itself()) processes_.kill();
}

void SupervisedRun::read_signals() {
  signalfd_siginfo info{};
  while (::read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo == SIGTERM) {
      plan_.order(StopReason::Broken, order_.spec.stop, base::steady_ns());
    }
  }
}

void SupervisedRun::read_control() {
  char byte = 0;
  while (::read(control_.get(), &byte, 1) == 1) {
    const auto order = static_cast<ControlByte>(byte);
    if (const auto reason = stop_reason(order)) order_stop(*reason, order_.spec.stop);
    switch (order) {
      case ControlByte::Preempted:
      case ControlByte::Cancelled:
      case ControlByte::TimedOut:
      case ControlByte::Broken:
        break;  // stopped above
      case ControlByte::Terminate:
        plan_.terminate_now(base::steady_ns());
        break;
      case ControlByte::Kill:
        plan_.kill_now(base::steady_ns());
        break;
      case ControlByte::Suspend:
        suspend();
        break;
      case ControlByte::Continue:
        processes_.suspend(false);
        break;
      case ControlByte::Shared:
        usage_->share();
        break;
    }
  }
}

void SupervisedRun::order_stop(StopReason reason, const job::StopRequest& request) {
  if (plan_.ordered()) return;
  constexpr std::array<const char*, 4> kWords = {"preempted", "cancelled", "timed-out", "broken"};
  plan_.order(reason, request, base::steady_ns());
  progress_->sum().expect_stop();
  const TimeNs left_ns = base::add_saturating(request.lead_ns, request.grace_ns);
  progress_->tell(fmt::format("stop reason={} left_s={:.3f}\n", kWords[static_cast<size_t>(reason)],
                              base::to_seconds(left_ns)));
}

TimeNs SupervisedRun::limit_stop_ns() const {
  if (order_.limit_ns == base::kNever || processes_.is_suspended()) return base::kNever;
  const TimeNs lead_ns = std::min(order_.spec.stop.lead_ns, order_.limit_ns);
  return base::add_saturating(started_steady_ns_ + processes_.suspended_ns(),
                              order_.limit_ns - lead_ns);
}

void SupervisedRun::watch_limit() {
  if (plan_.ordered() || base::steady_ns() < limit_stop_ns()) return;
  limited_ = true;
  job::StopRequest request = order_.spec.stop;
  request.lead_ns = std::min(request.lead_ns, order_.limit_ns);
  order_stop(StopReason::TimedOut, request);
}

void SupervisedRun::reap() {
  while (true) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid == pid_) {
      main_gone_ = true;
      main_status_ = status;
    }
    if (pid < 0 && errno == ECHILD) all_gone_ = main_gone_;
    if (pid <= 0) return;
  }
}

void SupervisedRun::watch_usage() {
  // Until the job's program runs, its process is a copy of this one and has this one's memory.
  if (main_gone_ || starting_ || !usage_->sample(progress_->sum().progress.latest)) return;
  detail_ = usage_->excess();
  plan_.kill_now(base::steady_ns());
}

void SupervisedRun::watch_client() {
  if (!terminal_ || plan_.ordered() || terminal_->alone_since_ns() == base::kNever) return;
  const TimeNs limit = terminal_->alone_since_ns() + base::from_seconds(order_.attach_timeout_s);
  if (base::steady_ns() < limit) return;
  detail_ = "no client was attached to its terminal";
  processes_.signal(SIGHUP);
  plan_.order(StopReason::Cancelled, order_.spec.stop, base::steady_ns());
}

int SupervisedRun::wait_ms() const {
  const TimeNs now = base::steady_ns();
  TimeNs next = std::min(plan_.next_ns(), now + kSecond);
  if (!plan_.ordered()) next = std::min(next, limit_stop_ns());
  if (starting_ && plan_.ordered() && !plan_.killed()) {
    next = now < started_steady_ns_ + kStartPatience ? started_steady_ns_ + kStartPatience : next;
  }
  if (!main_gone_ && !starting_) next = std::min(next, usage_->next_ns());
  next = std::min(next, progress_file_.next_ns(progress_->sum().progress));
  if (plan_.killed() || ended_by_itself()) next = std::min(next, now + kKillEvery);
  const TimeNs wait = std::max<TimeNs>(0, next - now);
  return static_cast<int>((wait + 999'999) / 1'000'000);
}

void SupervisedRun::turn() {
  std::vector<pollfd> waits{{signals_, POLLIN, 0}, {control_.get(), POLLIN, 0}};
  if (terminal_) terminal_->add_to(waits);
  const size_t starting = waits.size();
  waits.push_back({starting_ ? starting_->file() : -1, POLLIN, 0});
  const size_t first_connection = waits.size();
  progress_->add_to(waits, base::steady_ns());
  static_cast<void>(::poll(waits.data(), waits.size(), wait_ms()));
  if (waits[0].revents != 0) read_signals();
  if (waits[1].revents != 0) read_control();
  if (terminal_) terminal_->handle(&waits[2], base::steady_ns());
  progress_->handle(&waits[first_connection], waits.size() - first_connection, base::steady_ns());
  if (waits[starting].revents != 0) watch_start();
  reap();
  watch_client();
  if (!all_gone_) watch_limit();
  if (!all_gone_) step();
  if (!all_gone_) watch_stuck();
  watch_usage();
  progress_file_.keep(progress_->sum().progress, base::steady_ns(), false);
}

void SupervisedRun::finish(RunStatus& status) {
  status.started_ns = started_ns_;
  status.ended_ns = base::wall_ns();
  if (WIFEXITED(main_status_)) status.exit_code = WEXITSTATUS(main_status_);
  if (WIFSIGNALED(main_status_)) status.signal = WTERMSIG(main_status_);
  progress_->drain(base::steady_ns());
  status.progress = progress_->sum().progress;
  status.limited = limited_ && (plan_.terminated() || progress_->sum().acknowledged);
  status.acknowledged = plan_.ordered() && progress_->sum().acknowledged;
  progress_file_.keep(status.progress, base::steady_ns(), true);
  status.ran_ns = ran_ns();
  const bool exceeded = !usage_->excess().empty();
  status.usage = usage_->finish(status.ran_ns);
  status.out_of_memory = !usage_->excess().empty();
  if (status.out_of_memory && !exceeded) detail_ = usage_->excess();
  status.detail = detail_;
  if (terminal_) {
    terminal_->finish(status.signal > 0 ? 128 + status.signal : std::max(0, status.exit_code),
                      plan_.ordered() ? 0 : kFirstClient_ms);
  }
}

RunStatus SupervisedRun::run() {
  RunStatus status;
  const auto refuse = [&](const base::Error& why) {
    status.refused = true;
    status.unable = unable_;
    status.detail = why.text();
    status.ended_ns = base::wall_ns();
    return status;
  };
  if (auto started = start(); !started) return refuse(started.error());
  while (!all_gone_) turn();
  watch_start();  // its last message
  if (failure_) {
    unable_ = failure_->of_machine;
    return refuse(failure_->error);
  }
  finish(status);
  return status;
}

int supervise(const std::string& folder) {
  const base::Descriptor signals = machine::become_subreaper();
  if (!signals) return 1;
  const RunFolder run_folder(folder);
  auto taken = run_folder.take();
  if (!taken) {
    complain(taken.error().text());
    return kNotOurs;
  }
  auto status_file = StatusFile::reserve(folder);
  if (!status_file) {
    complain(status_file.error().text());
    run_folder.give_back();
    return 1;
  }
  RunStatus status;
  {
    SupervisedRun run(run_folder, std::move(taken->order), signals.get());
    status = run.run();
  }
  status_file->write_patiently(status);
  return kSupervised;
}

}  // namespace goban::live::engine::local
