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
  if (procs.empty()) return {};
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
  base::Descriptor file(::open(path.c_str(), flags, 0644));
  if (!file) {
    return base::system_error("cannot write the output file", path,
                              "its folder must exist and be writable by the job's user");
  }
  // O_NONBLOCK was only for open(), which would block on a FIFO without a reader.
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

base::Status connect_files(const JobStart& start) {
  const base::Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto out = open_output(start.outputs.out, start.append);
  if (!out) return base::failure(out.error());
  if (start.outputs.err.empty()) {
    ::dup2(out->get(), STDERR_FILENO);
  } else {
    const auto err = open_output(start.outputs.err, start.append);
    if (!err) return base::failure(err.error());
    ::dup2(err->get(), STDERR_FILENO);
  }
  ::dup2(out->get(), STDOUT_FILENO);
  ::dup2(null.get(), STDIN_FILENO);
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

/// In the new process, before execve().
base::Status prepare(const JobStart& start, pid_t parent) {
  ::setsid();
  if (auto s = join_cgroup(start.cgroup_procs); !s) return s;
  bind_to(start.cpus);
  be_killable();
  // Drop privileges before any file of the user is opened.
  if (auto s = become(start.owner, start.user); !s) return s;
  ::umask(022);
  if (::chdir(start.work_folder.c_str()) != 0) {
    return base::system_error("cannot enter the work folder", start.work_folder,
                              "it must exist on this machine and be accessible to the job's user");
  }
  auto connected = start.terminal.empty() ? connect_files(start) : connect_terminal(start.terminal);
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

[[noreturn]] void run_child(const JobStart& start, int script, int errors, pid_t parent) {
  const auto give_up = [errors](const std::string& text) {
    static_cast<void>(base::write_all(errors, text));
    ::_exit(127);
  };
  if (auto prepared = prepare(start, parent); !prepared) give_up(prepared.error().text());
  if (::dup2(script, kScriptFile) < 0) give_up("cannot keep the script open");
  const ScriptCommand command = script_command(start.script);
  std::vector<std::string> words{command.interpreter};
  if (!command.argument.empty()) words.push_back(command.argument);
  words.push_back(fmt::format("/dev/fd/{}", kScriptFile));
  words.insert(words.end(), start.args.begin(), start.args.end());
  std::vector<std::string> env = start.env;
  ::execve(command.interpreter.c_str(), pointers(words).data(), pointers(env).data());
  give_up(fmt::format("cannot run the interpreter '{}' of the script: {}", command.interpreter,
                      std::strerror(errno)));
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

base::Result<pid_t> start_job(const JobStart& start) {
  const auto script = script_in_memory(start.script);
  if (!script) return base::failure(script.error());
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::system_error("cannot create", "a pipe");
  const base::Descriptor reading(ends[0]);
  base::Descriptor writing(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return base::system_error("cannot start", "a process");
  if (child == 0) run_child(start, script->get(), writing.get(), parent);
  writing.reset();
  std::string error;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t count = ::read(reading.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    error.append(buffer.data(), static_cast<size_t>(count));
  }
  if (error.empty()) return child;
  ::waitpid(child, nullptr, 0);
  return base::failed(error);
}

}  // namespace goban::live::engine::local
