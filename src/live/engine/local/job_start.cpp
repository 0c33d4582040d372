#include "live/engine/local/job_start.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.hpp"
#include "live/engine/local/login_shell.hpp"
#include "live/job/output_path.hpp"
#include "live/machine/process_tree.hpp"

namespace goban::live::engine::local {
namespace {

/// High, to avoid descriptors used by scripts.
constexpr int kScriptFile = 100;

base::Result<base::Descriptor> script_in_memory(std::string_view script) {
  base::Descriptor file(::memfd_create("goban-script", MFD_CLOEXEC));
  // Readable for the job's user: the interpreter opens it by its name under /dev/fd.
  if (!file || !base::write_all(file.get(), script) || ::fchmod(file.get(), 0444) != 0) {
    return base::system_error("cannot keep the script in", "memory");
  }
  return file;
}

base::Status join_cgroup(const std::string& procs) {
  const base::Descriptor file(::open(procs.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file || !base::write_all(file.get(), "0"))
    return base::system_error("cannot join the cgroup", procs);
  return {};
}

void bind_to(const std::vector<int32_t>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int32_t cpu : cpus) {
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<size_t>(cpu), &set);
  }
  // Some of them may not be allowed; then the kernel uses the allowed ones.
  static_cast<void>(::sched_setaffinity(0, sizeof set, &set));
}

/// Supervisors are protected from the OOM killer; jobs must not be.
void be_killable() {
  const base::Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file) static_cast<void>(base::write_all(file.get(), "0"));
}

base::Result<base::Descriptor> open_output(const std::string& path, bool append) {
  const int flags =
      O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_APPEND | (append ? 0 : O_TRUNC);
  base::Descriptor file(::open(path.c_str(), flags, 0666));
  if (!file) {
    return base::system_error("cannot write the output file", path,
                              "its folder must exist and be writable by the job's user");
  }
  // O_NONBLOCK was only for open(), which would block on a FIFO without a reader.
  ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
  return file;
}

base::Result<base::Descriptor> open_input(const RunOrder& order, const job::JobSpec& placed) {
  const std::string path =
      placed.stdin_path.empty() ? "/dev/null" : job::input_path(order.run.job, placed);
  base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file) {
    return base::system_error("cannot read the input file", path,
                              "it must exist and be readable for the job's user");
  }
  // As for outputs: a FIFO without a writer would hold the job's GPUs before it began.
  ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
  return file;
}

base::Status connect_terminal(const std::string& device) {
  const base::Descriptor file(::open(device.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!file || ::ioctl(file.get(), TIOCSCTTY, 0) != 0) {
    return base::system_error("cannot take the terminal", device);
  }
  for (const int to : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(file.get(), to);
  return {};
}

base::Status connect_files(const RunOrder& order, const RunPlaces& places) {
  job::JobSpec placed = order.spec;
  placed.work_folder = places.work_folder;
  const std::string to = job::output_path(order.run.job, placed, job::OutputStream::Stdout);
  const std::string errors_to = job::output_path(order.run.job, placed, job::OutputStream::Stderr);
  const job::OpenMode mode = order.spec.open_mode;
  const bool appends_later = mode != job::OpenMode::Truncate;
  const bool append = mode == job::OpenMode::Append || (appends_later && order.restarts > 0);
  const auto in = open_input(order, placed);
  if (!in) return base::failure(in.error());
  const auto out = open_output(to, append);
  if (!out) return base::failure(out.error());
  if (errors_to == to) {
    ::dup2(out->get(), STDERR_FILENO);
  } else {
    const auto err = open_output(errors_to, append);
    if (!err) return base::failure(err.error());
    ::dup2(err->get(), STDERR_FILENO);
  }
  ::dup2(out->get(), STDOUT_FILENO);
  ::dup2(in->get(), STDIN_FILENO);
  return {};
}

void reset_signals() {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (signal != SIGKILL && signal != SIGSTOP) ::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// What the new process reports to this one: the step that begins, or why it gives up.
enum class StartMessage : char {
  User = 'u',
  Folder = 'd',
  Output = 'o',
  Interpreter = 'x',
  OfMachine = 'm',  ///< the reason follows
  OfJob = 'j',      ///< the reason follows
};

void tell_supervisor(int messages, StartMessage message, const std::string& text = {}) {
  static_cast<void>(base::write_all(messages, std::string(1, static_cast<char>(message)) + text));
}

/// In the new process, before execve().
base::Status prepare(const RunOrder& order, const RunPlaces& places, int messages, pid_t parent) {
  bind_to(places.cpus);
  be_killable();
  // Drop privileges before any file of the user is opened.
  if (auto s = become(order.spec.owner, places.user); !s) return s;
  ::umask(order.spec.umask);
  tell_supervisor(messages, StartMessage::Folder);
  if (::chdir(places.work_folder.c_str()) != 0) {
    return base::system_error("cannot enter the work folder", places.work_folder,
                              "it must exist on this machine and be accessible to the job's user");
  }
  tell_supervisor(messages, StartMessage::Output);
  auto connected =
      places.terminal.empty() ? connect_files(order, places) : connect_terminal(places.terminal);
  if (!connected) return connected;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return base::failed("the supervisor has exited");
  reset_signals();
  return {};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// Whether the machine is short of files or memory, so that a call failed whatever it was given. A
/// full disk is not meant here: the job's files may lie on a disk of its user. A file system of the
/// user (FUSE) can answer with any error; then the machine still has files and memory for others.
bool is_of_machine(int code) {
  if (code != ENOMEM && code != EMFILE && code != ENFILE) return false;
  constexpr size_t kMemory = size_t{16} << 20;
  const base::Descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  void* const memory =
      ::mmap(nullptr, kMemory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) ::munmap(memory, kMemory);
  return !file || memory == MAP_FAILED;
}

/// Closes all files of the supervisor but the standard ones, and moves these two. A process that
/// hangs before execve() may outlive the supervisor, and must not hold its locks.
bool keep_only(int script, int& messages) {
  messages = ::fcntl(messages, F_DUPFD_CLOEXEC, kScriptFile + 1);
  if (messages < 0 || ::dup2(script, kScriptFile) < 0) return false;
  ::fcntl(kScriptFile, F_SETFD, 0);  // if it had this number before
  const auto last = static_cast<unsigned>(messages);
  machine::close_files(STDERR_FILENO + 1, kScriptFile - 1);
  machine::close_files(kScriptFile + 1, last - 1);
  machine::close_files(last + 1, ~0U);
  return true;
}

[[noreturn]] void run_child(const RunOrder& order, const Payload& payload, const RunPlaces& places,
                            int script, int messages, pid_t parent) {
  const auto give_up = [&messages](const std::string& text, bool of_machine) {
    tell_supervisor(messages, of_machine ? StartMessage::OfMachine : StartMessage::OfJob, text);
    ::_exit(127);
  };
  ::setsid();
  const int before = messages;
  if (!keep_only(script, messages)) {
    messages = before;
    give_up("cannot keep the script open", true);
  }
  tell_supervisor(messages, StartMessage::User);
  for (const std::string& procs : places.cgroup_procs) {
    if (auto joined = join_cgroup(procs); !joined) give_up(joined.error().text(), true);
  }
  errno = 0;
  if (auto prepared = prepare(order, places, messages, parent); !prepared) {
    const int code = errno;
    give_up(prepared.error().text(), is_of_machine(code));
  }
  const ScriptCommand command = script_command(payload.script);
  std::vector<std::string> words{command.interpreter};
  if (!command.argument.empty()) words.push_back(command.argument);
  words.push_back(fmt::format("/dev/fd/{}", kScriptFile));
  words.insert(words.end(), payload.args.begin(), payload.args.end());
  std::vector<std::string> env = job_environment(order, payload, places);
  tell_supervisor(messages, StartMessage::Interpreter);
  ::execve(command.interpreter.c_str(), pointers(words).data(), pointers(env).data());
  const int code = errno;
  give_up(fmt::format("cannot run the interpreter '{}' of the script: {}", command.interpreter,
                      std::strerror(code)),
          is_of_machine(code));
  std::abort();
}

}  // namespace

ScriptCommand script_command(std::string_view script) {
  ScriptCommand command;
  if (!script.starts_with("#!")) return command;
  std::string_view line = script.substr(2, script.find('\n') - 2);
  const auto trim = [](std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
  };
  line = trim(line);
  const size_t blank = std::min(line.find_first_of(" \t"), line.size());
  if (blank == 0) return command;
  command.interpreter = line.substr(0, blank);
  command.argument = trim(line.substr(blank));
  return command;
}

bool StartingJob::is_decided() {
  std::array<char, 4096> buffer{};
  while (!decided_) {
    const ssize_t count = ::read(messages_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count > 0) said_.append(buffer.data(), static_cast<size_t>(count));
    decided_ = count <= 0;
  }
  return decided_;
}

std::optional<StartFailure> StartingJob::failure() const {
  constexpr std::array kReasons = {static_cast<char>(StartMessage::OfMachine),
                                   static_cast<char>(StartMessage::OfJob)};
  const size_t at = said_.find_first_of(kReasons.data(), 0, kReasons.size());
  if (at == std::string::npos) return std::nullopt;
  return StartFailure{.error = base::failed(said_.substr(at + 1)).value(),
                      .of_machine = said_[at] == static_cast<char>(StartMessage::OfMachine)};
}

std::string StartingJob::doing() const {
  switch (said_.empty() ? StartMessage::User : static_cast<StartMessage>(said_.back())) {
    case StartMessage::Folder:
      return fmt::format("entering its work folder '{}'", work_folder_);
    case StartMessage::Output:
      return fmt::format("opening its output file '{}'", output_);
    case StartMessage::Interpreter:
      return fmt::format("running its interpreter '{}'", interpreter_);
    default:
      return "becoming its user";
  }
}

tl::expected<StartingJob, StartFailure> start_job(const RunOrder& order, const Payload& payload,
                                                  const RunPlaces& places) {
  const auto unable = [](base::Error error) {
    return tl::unexpected<StartFailure>({.error = std::move(error), .of_machine = true});
  };
  const auto shims = payload.env.find("GOBAN_SHIMS");
  const auto script = script_in_memory(
      shims == payload.env.end() ? payload.script : with_shims(payload.script, shims->second));
  if (!script) return unable(script.error());
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return unable(base::system_error("cannot create", "a pipe").value());
  }
  StartingJob job;
  job.messages_.reset(ends[0]);
  base::Descriptor writing(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const pid_t parent = ::getpid();
  job.pid_ = ::fork();
  if (job.pid_ < 0) return unable(base::system_error("cannot start", "a process").value());
  if (job.pid_ == 0) run_child(order, payload, places, script->get(), writing.get(), parent);
  job::JobSpec placed = order.spec;
  placed.work_folder = places.work_folder;
  job.work_folder_ = places.work_folder;
  job.output_ = job::output_path(order.run.job, placed, job::OutputStream::Stdout);
  job.interpreter_ = script_command(payload.script).interpreter;
  return job;
}

}  // namespace goban::live::engine::local
