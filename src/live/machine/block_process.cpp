#include "live/machine/block_process.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/spawn.hpp"

namespace goban::live::machine {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kOutputMax = 1 << 20;
constexpr int kLookAgain_ms = 20;

/// This process's environment; for a real GPU, with CUDA_VISIBLE_DEVICES set to this GPU only.
std::vector<std::string> environment_for(const base::gpus::LocalGpu& gpu) {
  std::vector<std::string> out;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry = *each;
    if (!gpu.is_virtual && entry.starts_with("CUDA_VISIBLE_DEVICES=")) continue;
    out.emplace_back(entry);
  }
  if (!gpu.is_virtual) out.push_back("CUDA_VISIBLE_DEVICES=" + gpu.uuid);
  return out;
}

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    shut(0);
    shut(1);
  }
  void shut(size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

/// Reads both pipes to their end; false at the deadline or when interrupted.
bool read_both(Pipe& out, Pipe& err, std::string& out_text, std::string& err_text,
               Clock::time_point deadline, const std::atomic<bool>& interrupted) {
  std::array<char, 4096> buffer{};
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    if (interrupted || Clock::now() >= deadline) return false;
    std::array<pollfd, 2> waits{pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0}};
    if (::poll(waits.data(), waits.size(), kLookAgain_ms) <= 0) continue;
    for (size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].revents == 0) continue;
      Pipe& pipe = i == 0 ? out : err;
      std::string& text = i == 0 ? out_text : err_text;
      const ssize_t count = ::read(pipe.ends[0], buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0 || text.size() > kOutputMax) {
        pipe.shut(0);
      } else {
        text.append(buffer.data(), static_cast<size_t>(count));
      }
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> block_arguments(const base::gpus::LocalGpu& gpu, int runs) {
  std::vector<std::string> out{"--runs", std::to_string(runs)};
  if (!gpu.is_virtual) {
    out.emplace_back("--cuda");
    return out;
  }
  for (std::string word : {std::string("--cpus"), fmt::format("{}", fmt::join(gpu.cpus, ",")),
                           std::string("--slowness"), fmt::format("{}", gpu.slowness)}) {
    out.push_back(std::move(word));
  }
  return out;
}

base::Result<KernelRuns> run_block(const base::gpus::LocalGpu& gpu, const BlockOptions& options,
                                   const std::atomic<bool>& interrupted) {
  const auto problem = [&](const std::string& what) {
    return base::failed(fmt::format("GPU {} ({}): {}", gpu.index, gpu.uuid, what),
                        "exclude it with --gpus, or check it with nvidia-smi");
  };
  Pipe out;
  Pipe err;
  if (out.ends[0] < 0 || err.ends[0] < 0)
    return problem("cannot create a pipe for the measuring process");
  std::vector<std::string> words = options.program;
  for (std::string& word : block_arguments(gpu, options.runs)) words.push_back(std::move(word));
  const pid_t pid =
      base::spawn(std::move(words),
                  {.environment = environment_for(gpu), .out = out.ends[1], .err = err.ends[1]});
  if (pid == 0) {
    return problem(fmt::format("cannot start {}: {}", options.program[0], std::strerror(errno)));
  }
  out.shut(1);
  err.shut(1);
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(options.timeout_s));
  std::string out_text;
  std::string err_text;
  const bool ended = read_both(out, err, out_text, err_text, deadline, interrupted);
  if (!ended) ::kill(pid, SIGKILL);
  const int status = base::wait_for(pid);
  if (interrupted) return problem("interrupted");
  if (!ended) return problem(fmt::format("the kernels took longer than {} s", options.timeout_s));
  if (WIFSIGNALED(status)) {
    return problem(fmt::format("the kernels were killed by signal {}", WTERMSIG(status)));
  }
  while (err_text.ends_with('\n')) err_text.pop_back();
  if (WEXITSTATUS(status) != 0) {
    return problem(err_text.empty() ? fmt::format("exit code {}", WEXITSTATUS(status)) : err_text);
  }
  return parse_runs(out_text);
}

void die_with_parent() { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }

}  // namespace goban::live::machine
