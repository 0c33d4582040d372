#include "base/gpus/smi_process.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/spawn.hpp"

namespace goban::base::gpus {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kOutputMax = size_t{4} << 20;

enum class Reading : uint8_t { Ended, TimedOut, TooLong, Interrupted };

Reading read_all(int file, Clock::time_point deadline, const std::atomic<bool>* interrupted,
                 std::string& out) {
  std::array<char, 65536> buffer{};
  while (true) {
    if (interrupted != nullptr && *interrupted) return Reading::Interrupted;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Reading::TimedOut;
    pollfd wait{file, POLLIN, 0};
    constexpr int64_t kLookAgain_ms = 200;
    if (::poll(&wait, 1, static_cast<int>(std::min<int64_t>(left + 1, kLookAgain_ms))) <= 0) {
      continue;
    }
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return Reading::Ended;
    out.append(buffer.data(), static_cast<size_t>(count));
    if (out.size() > kOutputMax) return Reading::TooLong;
  }
}

bool reaped(pid_t pid, int& status) {
  const pid_t got = ::waitpid(pid, &status, WNOHANG);
  return got == pid || (got < 0 && errno == ECHILD);
}

/// Waits until the program has exited; false at the deadline.
bool wait_until(pid_t pid, Clock::time_point deadline, int& status) {
  while (!reaped(pid, status)) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace

void SmiProcess::kill_and_wait(pid_t pid) {
  ::kill(-pid, SIGKILL);
  int status = 0;
  if (!wait_until(pid, Clock::now() + std::chrono::seconds(1), status)) stuck_ = pid;
}

ProgramOutput SmiProcess::run(const std::vector<std::string>& arguments, double timeout_s) {
  ProgramOutput result;
  int status = 0;
  if (stuck_ != 0 && !reaped(stuck_, status)) {
    result.problem = fmt::format("the {} that was killed earlier has not exited", program_);
    return result;
  }
  stuck_ = 0;
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    result.problem = fmt::format("cannot create a pipe: {}", std::strerror(errno));
    return result;
  }
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(timeout_s));
  std::vector<std::string> words{program_};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const pid_t pid = spawn(std::move(words), {.out = pipe[1], .group = SpawnGroup::Own});
  const int start_error = errno;
  ::close(pipe[1]);
  if (pid == 0) {
    ::close(pipe[0]);
    result.problem = fmt::format("cannot run {}: {}", program_, std::strerror(start_error));
    return result;
  }
  const Reading reading = read_all(pipe[0], deadline, interrupted_, result.out);
  ::close(pipe[0]);
  if (reading != Reading::Ended || !wait_until(pid, deadline, status)) {
    kill_and_wait(pid);
    result.problem = reading == Reading::Interrupted ? "interrupted"
                     : reading == Reading::TooLong
                         ? fmt::format("{} printed more than {} bytes", program_, kOutputMax)
                         : fmt::format("{} did not exit within {:g} s", program_, timeout_s);
  } else if (WIFSIGNALED(status)) {
    result.problem = fmt::format("{} was killed by signal {}", program_, WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    result.problem = fmt::format("{} exited with code {}: {}", program_, WEXITSTATUS(status),
                                 result.out.substr(0, result.out.find('\n')));
  }
  return result;
}

}  // namespace goban::base::gpus
