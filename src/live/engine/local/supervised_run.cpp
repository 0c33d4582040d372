#include "live/engine/local/supervised_run.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "live/engine/local/job_start.hpp"
#include "live/machine/process_tree.hpp"

namespace goban::live::engine::local {
namespace {

using base::kSecond;
using base::TimeNs;

constexpr TimeNs kMemoryEvery = kSecond / 10;  ///< if the supervisor enforces a memory limit
constexpr TimeNs kMeterEvery = kSecond;
constexpr TimeNs kKeepEvery = kSecond;
constexpr TimeNs kBusyEvery = 5 * kSecond;  ///< for jobs that report no epochs
constexpr TimeNs kKillEvery = kSecond / 50;
constexpr int kFirstClient_ms =
    3000;  ///< time that the terminal of an ended job waits for its first client

/// A port without a listener. The search starts at a port derived from the job number.
uint16_t free_port(uint64_t job) {
  constexpr uint64_t kFirst = 20000;
  constexpr uint64_t kPorts = 12000;
  const base::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  for (uint64_t i = 0; i < 64; ++i) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto port = static_cast<uint16_t>(kFirst + (job * 61 + i) % kPorts);
    address.sin_port = htons(port);
    const auto* plain = reinterpret_cast<const sockaddr*>(&address);
    if (::bind(socket.get(), plain, sizeof address) == 0) return port;
  }
  return static_cast<uint16_t>(kFirst);
}

/// The union of both lists, ascending.
std::vector<int32_t> all_of(std::vector<int32_t> cpus, const std::vector<int32_t>& more) {
  cpus.insert(cpus.end(), more.begin(), more.end());
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::vector<int32_t> cpus_of(const RunOrder& order) {
  std::vector<int32_t> cpus;
  for (const base::gpus::LocalGpu& gpu : order.gpus)
    cpus.insert(cpus.end(), gpu.cpus.begin(), gpu.cpus.end());
  return all_of(std::move(cpus), {});
}

size_t cores_of(const job::JobSpec& spec, uint32_t instances) {
  return static_cast<size_t>(std::max(0, spec.cores)) * std::max(1U, instances);
}

/// The job's memory limit on its virtual GPUs while they are shared; 0 = no limit.
int64_t virtual_gpu_limit(const RunOrder& order) {
  const bool is_virtual = !order.gpus.empty() && order.gpus.front().is_virtual;
  return is_virtual ? order.spec.training.gpu_mem_bytes * static_cast<int64_t>(order.gpus.size())
                    : 0;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

void complain(const std::string& text) {
  static_cast<void>(base::write_all(STDERR_FILENO, text + "\n"));
}

SupervisedRun::~SupervisedRun() {
  if (cgroup_) cgroup_->remove();
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
  if (!order_.spec.interactive) return hand_over(sockets_, order_.spec.owner);
  auto terminal = TerminalHost::open(sockets_ + "/tty.sock", order_.spec.owner, base::steady_ns());
  if (!terminal) return base::failure(terminal.error());
  terminal_ = std::move(*terminal);
  return hand_over(sockets_, order_.spec.owner);
}

void SupervisedRun::make_cgroup() {
  cgroup_ = machine::Cgroup::make(order_.cgroup_root,
                                  fmt::format("job-{}-run-{}-{}", job::job_number(order_.run.job),
                                              order_.run.run, folder_.key().substr(0, 8)));
  const int64_t limit = order_.spec.mem_bytes * std::max<int64_t>(1, order_.run_instances);
  kernel_limits_ = cgroup_ && limit > 0 && cgroup_->limit_memory(limit);
}

base::Status SupervisedRun::start() {
  const job::JobSpec& spec = order_.spec;
  if (auto may = may_act_for(spec.owner); !may) return may;
  const auto text = base::read_small_file(order_.payload, size_t{64} << 20);
  if (!text) return base::failure(text.error());
  const auto payload = parse_payload(*text, order_.payload);
  if (!payload) return base::failure(payload.error());
  // Open for reading and writing, so that it has no end of file when the daemon closes it.
  control_.reset(::open(folder_.file("control").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!control_) return base::system_error("cannot open", folder_.file("control"));
  if (auto opened = open_sockets(); !opened) return opened;
  make_cgroup();
  meter_ = make_gpu_meter(order_.gpus, folder_);
  shares_ = order_.shares;

  JobStart start;
  start.script = payload->script;
  start.args = payload->args;
  start.owner = spec.owner;
  start.user = user_facts(spec.owner);
  start.work_folder = spec.work_folder.empty() ? start.user.home : spec.work_folder;
  job::JobSpec placed = spec;
  placed.work_folder = start.work_folder;
  start.outputs = output_paths(placed, order_.run.job);
  start.append = order_.restarts > 0;
  start.cpus = cpus_of(order_);
  cores_ = claim_cores(folder_.state() + "/cores", cores_of(spec, order_.run_instances));
  start.cpus = all_of(start.cpus, cores_.cpus);
  if (terminal_) start.terminal = terminal_->device();
  if (cgroup_) start.cgroup_procs = cgroup_->procs_file();
  RunPlaces places;
  places.progress_socket = sockets_ + "/progress.sock";
  places.key = folder_.key();
  places.home = start.user.home;
  places.shell = start.user.shell;
  places.work_folder = start.work_folder;
  places.master_port = free_port(job::job_number(order_.run.job));
  start.env = job_environment(order_, *payload, places);

  const auto pid = start_job(start);
  if (!pid) return base::failure(pid.error());
  pid_ = *pid;
  started_ns_ = base::wall_ns();
  started_steady_ns_ = base::steady_ns();
  RunningNote note;
  note.supervisor_pid = ::getpid();
  note.pid = pid_;
  note.started_ns = started_ns_;
  if (cgroup_) note.cgroup = cgroup_->path();
  if (auto s = base::replace_file(folder_.path(), "running", to_text(note), base::Durable::No);
      !s) {
    // The job runs nevertheless; the engine detects that by the lock.
    complain(s.error().text());
  }
  return {};
}

std::vector<pid_t> SupervisedRun::processes() const {
  return cgroup_ ? cgroup_->processes() : machine::descendants_of(::getpid());
}

void SupervisedRun::signal_all(int signal) {
  for (const pid_t process : processes()) {
    ::kill(process, signal);
    if (signal == SIGTERM) ::kill(process, SIGCONT);  // so that stopped processes receive it
  }
}

void SupervisedRun::ask_for_checkpoint() {
  const int signal = order_.spec.stop.signal;
  size_t heard = progress_->num_connections();  // connections were told when the order arrived
  for (const pid_t process : processes()) {
    // Without a handler the signal would kill the process, such as a shell, and end the run.
    if (!machine::catches(process, signal)) continue;
    heard += ::kill(process, signal) == 0 ? 1 : 0;
  }
  if (heard == 0) plan_.skip_lead(base::steady_ns());
}

void SupervisedRun::kill_all() {
  if (cgroup_) cgroup_->kill();
  for (const pid_t process : machine::descendants_of(::getpid())) ::kill(process, SIGKILL);
}

void SupervisedRun::step() {
  switch (plan_.due(base::steady_ns())) {
    case StopPlan::Step::None:
      break;
    case StopPlan::Step::Checkpoint:
      ask_for_checkpoint();
      break;
    case StopPlan::Step::Terminate:
      signal_all(SIGTERM);
      break;
    case StopPlan::Step::Kill:
      break;  // repeated below
  }
  // Without a stop order, remaining processes are killed when the main process exits.
  if (plan_.killed() || (main_gone_ && !plan_.ordered())) kill_all();
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
    StopReason reason{};
    const char* text = nullptr;
    switch (static_cast<ControlByte>(byte)) {
      case ControlByte::Preempted:
        reason = StopReason::Preempted;
        text = "preempted";
        break;
      case ControlByte::Cancelled:
        reason = StopReason::Cancelled;
        text = "cancelled";
        break;
      case ControlByte::TimedOut:
        reason = StopReason::TimedOut;
        text = "timed-out";
        break;
      case ControlByte::Broken:
        reason = StopReason::Broken;
        text = "broken";
        break;
      case ControlByte::Shared:
        shares_ = true;
        break;
    }
    if (text == nullptr || plan_.ordered()) continue;
    const job::StopRequest& request = order_.spec.stop;
    plan_.order(reason, request, base::steady_ns());
    progress_->sum().expect_stop();
    const TimeNs left_ns = base::add_saturating(request.lead_ns, request.grace_ns);
    progress_->tell(fmt::format("stop reason={} left_s={:.3f}\n", text, base::to_seconds(left_ns)));
  }
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

void SupervisedRun::check_memory(const std::vector<pid_t>& processes) {
  const int64_t limit = order_.spec.mem_bytes * std::max<int64_t>(1, order_.run_instances);
  const int64_t gpu_limit = shares_ ? order_.spec.training.gpu_mem_bytes : 0;
  const int64_t virtual_limit = shares_ ? virtual_gpu_limit(order_) : 0;
  int64_t used = machine::resident_bytes(processes);
  // Forked processes share pages that resident_bytes() counts for each.
  const auto above = [&](int64_t bound) {
    if (bound <= 0 || used <= bound) return false;
    used = std::min(used, machine::proportional_bytes(processes));
    return used > bound;
  };
  const char* what = nullptr;
  if (above(limit)) what = "memory";
  if (above(virtual_limit)) what = "memory of its virtual GPUs";
  if (virtual_limit == 0 && gpu_limit > 0 && meter_->gpu_mem_bytes() > gpu_limit) {
    what = "memory of a GPU";
  }
  mem_bytes_max_ = std::max(mem_bytes_max_, used);
  if (what == nullptr || out_of_memory_) return;
  out_of_memory_ = true;
  detail_ = fmt::format("it used more {} than it requested", what);
  plan_.kill_now(base::steady_ns());
}

double SupervisedRun::cpu_s() const {
  return cgroup_ ? cgroup_->cpu_s() : machine::tree_cpu_s(::getpid());
}

void SupervisedRun::note_busy(TimeNs now, double cpu_s) {
  ProgressReport& latest = progress_->sum().progress.latest;
  if (latest.epoch >= 0 || now < next_busy_ns_) return;
  next_busy_ns_ = now + kBusyEvery;
  const double busy_s = meter_->busy_s(cpu_s);
  if (busy_s >= 0) latest.busy_s = busy_s;
}

void SupervisedRun::sample() {
  const TimeNs now = base::steady_ns();
  if (now < next_sample_ns_ || main_gone_) return;
  const bool limited = (order_.spec.mem_bytes > 0 && !kernel_limits_) ||
                       (shares_ && order_.spec.training.gpu_mem_bytes > 0);
  next_sample_ns_ = now + (limited ? kMemoryEvery : kMeterEvery);
  const std::vector<pid_t> all = processes();
  if (now >= next_meter_ns_) {
    next_meter_ns_ = now + kMeterEvery;
    const double used_s = cpu_s();
    meter_->sample(all, used_s);
    note_busy(now, used_s);
  }
  check_memory(all);
}

void SupervisedRun::keep_progress(bool now) {
  if (progress_->sum().progress == kept_) return;
  const TimeNs time = base::steady_ns();
  if (!now && time < next_keep_ns_) return;
  next_keep_ns_ = time + kKeepEvery;
  const RunProgress latest = progress_->sum().progress;
  if (base::replace_file(folder_.path(), "progress", to_text(latest), base::Durable::No))
    kept_ = latest;
}

void SupervisedRun::watch_client() {
  if (!terminal_ || plan_.ordered() || terminal_->alone_since_ns() == base::kNever) return;
  const TimeNs limit = terminal_->alone_since_ns() + base::from_seconds(order_.attach_timeout_s);
  if (base::steady_ns() < limit) return;
  detail_ = "no client was attached to its terminal";
  signal_all(SIGHUP);
  plan_.order(StopReason::Cancelled, order_.spec.stop, base::steady_ns());
}

int SupervisedRun::wait_ms() const {
  const TimeNs now = base::steady_ns();
  TimeNs next = std::min(plan_.next_ns(), now + kSecond);
  if (!main_gone_) next = std::min(next, next_sample_ns_);
  if (progress_->sum().progress != kept_) next = std::min(next, next_keep_ns_);
  if (plan_.killed() || (main_gone_ && !plan_.ordered())) next = std::min(next, now + kKillEvery);
  const TimeNs wait = std::max<TimeNs>(0, next - now);
  return static_cast<int>((wait + 999'999) / 1'000'000);
}

void SupervisedRun::turn() {
  std::vector<pollfd> waits{{signals_, POLLIN, 0}, {control_.get(), POLLIN, 0}};
  if (terminal_) terminal_->add_to(waits);
  const size_t first_connection = waits.size();
  progress_->add_to(waits, base::steady_ns());
  static_cast<void>(::poll(waits.data(), waits.size(), wait_ms()));
  if (waits[0].revents != 0) read_signals();
  if (waits[1].revents != 0) read_control();
  if (terminal_) terminal_->handle(&waits[2], base::steady_ns());
  progress_->handle(&waits[first_connection], waits.size() - first_connection, base::steady_ns());
  reap();
  watch_client();
  if (!all_gone_) step();
  sample();
  keep_progress(false);
}

void SupervisedRun::finish(RunStatus& status) {
  status.started_ns = started_ns_;
  status.ended_ns = base::wall_ns();
  if (WIFEXITED(main_status_)) status.exit_code = WEXITSTATUS(main_status_);
  if (WIFSIGNALED(main_status_)) status.signal = WTERMSIG(main_status_);
  progress_->drain(base::steady_ns());
  status.progress = progress_->sum().progress;
  status.acknowledged = plan_.ordered() && progress_->sum().acknowledged;
  keep_progress(true);
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const double waited_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  status.usage.cpu_s = std::max(waited_s, cgroup_ ? cgroup_->cpu_s() : -1);
  status.usage.mem_bytes_max = std::max<int64_t>(mem_bytes_max_, int64_t{used.ru_maxrss} * 1024);
  if (cgroup_) {
    status.usage.mem_bytes_max = std::max(status.usage.mem_bytes_max, cgroup_->memory_bytes_max());
    if (kernel_limits_ && cgroup_->memory_kills() > 0 && !out_of_memory_) {
      out_of_memory_ = true;
      detail_ = "it used more memory than it requested";
    }
  }
  const double wall_s = base::to_seconds(base::steady_ns() - started_steady_ns_);
  meter_->finish(status.usage, wall_s);
  status.out_of_memory = out_of_memory_;
  status.detail = detail_;
  if (terminal_) {
    terminal_->finish(status.signal > 0 ? 128 + status.signal : std::max(0, status.exit_code),
                      plan_.ordered() ? 0 : kFirstClient_ms);
  }
}

RunStatus SupervisedRun::run() {
  RunStatus status;
  if (auto started = start(); !started) {
    status.refused = true;
    status.detail = started.error().text();
    status.ended_ns = base::wall_ns();
    return status;
  }
  while (!all_gone_) turn();
  finish(status);
  return status;
}

}  // namespace goban::live::engine::local
