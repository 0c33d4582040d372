#include "live/engine/slurm/client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/check.hpp"

namespace goban::live::engine::slurm {

namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kOutputMax = size_t{256} << 20;

struct Pipes {
  std::array<int, 2> in{-1, -1};
  std::array<int, 2> out{-1, -1};
  std::array<int, 2> err{-1, -1};

  [[nodiscard]] bool open() {
    return ::pipe2(in.data(), O_CLOEXEC) == 0 && ::pipe2(out.data(), O_CLOEXEC) == 0 &&
           ::pipe2(err.data(), O_CLOEXEC) == 0;
  }
  static void shut(int& file) {
    if (file >= 0) ::close(file);
    file = -1;
  }
  ~Pipes() {
    for (auto* pipe : {&in, &out, &err}) {
      for (int& file : *pipe) shut(file);
    }
  }
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

/// Starts it in a process group of its own; 0 on failure, with errno.
pid_t spawn(std::vector<std::string> words, std::vector<std::string> environment, Pipes& pipes) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, pipes.in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, pipes.out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, pipes.err[1], STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, words.front().c_str(), &files, &attributes,
                                 pointers(words).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  errno = error;
  return error == 0 ? pid : 0;
}

/// False: the file is closed or broken.
bool read_some(int file, std::string& out) {
  std::array<char, 65536> buffer{};
  const ssize_t count = ::read(file, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  out.append(buffer.data(), static_cast<size_t>(count));
  return count > 0;
}

/// False at the deadline, at an interrupt, or with too much output.
bool exchange(Pipes& pipes, std::string_view input, Clock::time_point deadline,
              const std::atomic<bool>* interrupted, ClientOutput& output) {
  if (input.empty()) Pipes::shut(pipes.in[1]);
  while (pipes.out[0] >= 0 || pipes.err[0] >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0 || (interrupted != nullptr && *interrupted)) return false;
    std::array<pollfd, 3> wait{
        pollfd{pipes.in[1], POLLOUT, 0}, {pipes.out[0], POLLIN, 0}, {pipes.err[0], POLLIN, 0}};
    constexpr int64_t kLookAgain_ms = 200;
    if (::poll(wait.data(), wait.size(), static_cast<int>(std::min(left + 1, kLookAgain_ms))) <= 0)
      continue;
    if (wait[0].revents != 0) {
      const ssize_t count =
          ::write(pipes.in[1], input.data(), std::min<size_t>(input.size(), 4096));
      if (count > 0) input.remove_prefix(static_cast<size_t>(count));
      if ((count < 0 && errno != EINTR) || input.empty()) Pipes::shut(pipes.in[1]);
    }
    if (wait[1].revents != 0 && !read_some(pipes.out[0], output.out)) Pipes::shut(pipes.out[0]);
    if (wait[2].revents != 0 && !read_some(pipes.err[0], output.errors)) Pipes::shut(pipes.err[0]);
    if (output.out.size() + output.errors.size() > kOutputMax) return false;
  }
  return true;
}

/// Waits for its exit until the deadline.
bool reap(pid_t pid, Clock::time_point deadline, int& status) {
  while (true) {
    const pid_t got = ::waitpid(pid, &status, WNOHANG);
    if (got == pid || (got < 0 && errno == ECHILD)) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Client::Client(std::string conf, double timeout_s, const std::atomic<bool>* interrupted)
    : timeout_s_(timeout_s), interrupted_(interrupted) {
  const char* path = std::getenv("PATH");
  const char* usual = std::getenv("SLURM_CONF");
  if (conf.empty() && usual != nullptr) conf = usual;
  environment_ = {fmt::format("PATH={}", path != nullptr ? path : "/usr/bin:/bin"), "LC_ALL=C",
                  "SLURM_TIME_FORMAT=%s"};
  if (!conf.empty()) environment_.push_back("SLURM_CONF=" + std::move(conf));
}

std::string Client::nonce() {
  std::array<uint64_t, 2> bits{};
  GOBAN_CHECK(::getrandom(bits.data(), sizeof bits, 0) == sizeof bits);
  return fmt::format("n{:016x}{:016x}", bits[0], bits[1]);
}

ClientOutput Client::run(const std::vector<std::string>& words, const std::string& input) const {
  ClientOutput output;
  Pipes pipes;
  if (!pipes.open()) {
    output.problem = fmt::format("cannot create a pipe: {}", std::strerror(errno));
    return output;
  }
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(timeout_s_));
  const pid_t pid = spawn(words, environment_, pipes);
  if (pid == 0) {
    output.problem = fmt::format("cannot run {}: {}", words.front(), std::strerror(errno));
    return output;
  }
  Pipes::shut(pipes.in[0]);
  Pipes::shut(pipes.out[1]);
  Pipes::shut(pipes.err[1]);
  int status = 0;
  output.ended =
      exchange(pipes, input, deadline, interrupted_, output) && reap(pid, deadline, status);
  if (!output.ended) {
    ::kill(-pid, SIGKILL);
    reap(pid, Clock::now() + std::chrono::seconds(2), status);
    output.problem = fmt::format("{} did not exit within {:g} s", words.front(), timeout_s_);
  } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    output.problem =
        fmt::format("{}: {}", words.front(), output.errors.substr(0, output.errors.find('\n')));
  }
  return output;
}

}  // namespace goban::live::engine::slurm
