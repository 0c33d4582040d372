#include "live/staging/stager.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/host_name.hpp"
#include "base/printable.hpp"
#include "base/spawn.hpp"
#include "live/staging_json.hpp"

namespace goban::live::staging {

namespace {

constexpr const char* kCommand = "stage-worker";
constexpr const char* kNodeWord = "{node}";
/// Orders that only measure or remove; and as many that look, as a job holds its GPUs meanwhile.
constexpr size_t kQuickAtOnce = 4;

bool is_copy(const StageOrder& order) {
  const bool copies = order.task == StageTask::In || order.task == StageTask::Out;
  return copies && !order.paths.empty() && !order.gives_up;
}

/// Orders of the same thing.
bool is_same(const StageOrder& one, const StageOrder& other) {
  if (one.task != other.task || one.job != other.job || one.gives_up != other.gives_up)
    return false;
  return one.task == StageTask::Remove ? one.paths == other.paths
                                       : one.paths.empty() == other.paths.empty();
}

std::string end_words(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("the copying process was ended by signal {}", WTERMSIG(status));
  }
  return fmt::format("the copying process ended with exit code {}", WEXITSTATUS(status));
}

StageReport failure_of(const StageOrder& order, std::string problem) {
  return {.task = order.task,
          .job = order.job,
          .key = order.task == StageTask::Remove ? order.paths.front().to : std::string{},
          .is_over = true,
          .problem = std::move(problem)};
}

}  // namespace

Stager::Stager(StagerOptions options) : options_(std::move(options)) {
  if (!options_.worker.empty()) return;
  std::error_code none;
  options_.worker = {std::filesystem::read_symlink("/proc/self/exe", none).string(), kCommand};
}

Stager::~Stager() {
  for (Running& each : running_) {
    each.talk.reset();
    // Who waits for a gateway that hangs does not look at its input.
    ::kill(-each.pid, SIGTERM);
  }
}

void Stager::order(const StageOrder& order) {
  const auto is_meant = [&](const StageOrder& other) {
    return order.withdrawn ? other.job == order.job && other.task == order.task
                           : is_same(order, other);
  };
  if (order.withdrawn) {
    std::erase_if(waiting_, is_meant);
    for (Running& each : running_) {
      if (!is_meant(each.order)) continue;
      each.is_withdrawn = true;
      each.talk.reset();
      each.kill = Steady::now() + options_.grace;
    }
    return;
  }
  const bool is_known =
      std::ranges::any_of(waiting_, is_meant) || std::ranges::any_of(running_, [&](Running& each) {
        return !each.is_withdrawn && is_meant(each.order);
      });
  if (!is_known) waiting_.push_back(order);
}

std::vector<std::string> Stager::words_for(const StageOrder& order) const {
  if (order.gateway.empty() || order.gateway == options_.node ||
      order.gateway == base::host_name()) {
    return options_.worker;
  }
  std::vector<std::string> words = options_.gateway_command;
  for (std::string& word : words) {
    const size_t found = word.find(kNodeWord);
    if (found != word.npos) word.replace(found, std::strlen(kNodeWord), order.gateway);
  }
  words.emplace_back(kCommand);
  return words;
}

std::optional<Stager::Running> Stager::start(const StageOrder& order, std::string& problem) const {
  std::array<int, 2> talk{-1, -1};
  std::array<int, 2> hear{-1, -1};
  const bool made = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, talk.data()) == 0 &&
                    ::pipe2(hear.data(), O_CLOEXEC) == 0;
  Running running{.order = order, .heard = Steady::now()};
  running.talk.reset(talk[0]);
  running.hear.reset(hear[0]);
  const base::Descriptor its_input(talk[1]);
  const base::Descriptor its_output(hear[1]);
  if (made) {
    running.pid = base::spawn(words_for(order), {.in = its_input.get(),
                                                 .out = its_output.get(),
                                                 .err = its_output.get(),
                                                 .group = base::SpawnGroup::OwnSession});
  }
  if (running.pid == 0) {
    problem = fmt::format("cannot start {}: {}", words_for(order).front(), std::strerror(errno));
    return std::nullopt;
  }
  for (const int file : {running.talk.get(), running.hear.get()}) {
    ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) | O_NONBLOCK);
  }
  running.unsent =
      to_json(order).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return running;
}

void Stager::start_all() {
  size_t copies = 0;
  size_t looks = 0;
  size_t others = 0;
  const auto count_of = [&](const StageOrder& order) -> size_t& {
    if (order.task == StageTask::Look) return looks;
    return is_copy(order) ? copies : others;
  };
  for (const Running& each : running_) {
    if (!each.is_withdrawn && !each.is_answered) ++count_of(each.order);
  }
  const auto streams = static_cast<size_t>(std::max(options_.streams, 1));
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    const bool copy = is_copy(*each);
    // What was withdrawn may still write where this removes.
    const bool is_busy = !copy && each->task == StageTask::Out &&
                         std::ranges::any_of(running_, [&](const Running& one) {
                           return one.order.job == each->job;
                         });
    if (is_busy || count_of(*each) >= (copy ? streams : kQuickAtOnce)) {
      ++each;
      continue;
    }
    std::string problem;
    if (auto started = start(*each, problem)) {
      running_.push_back(std::move(*started));
      ++count_of(running_.back().order);
    } else {
      reports_.push_back(failure_of(*each, std::move(problem)));
    }
    each = waiting_.erase(each);
  }
}

void Stager::send(Running& running) {
  while (!running.unsent.empty() && running.talk) {
    const ssize_t sent =
        ::send(running.talk.get(), running.unsent.data(), running.unsent.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    running.unsent.erase(0, static_cast<size_t>(sent));
  }
}

void Stager::read_line(Running& running, std::string_view line, std::vector<StageReport>& out) {
  const nlohmann::json document = nlohmann::json::parse(line, nullptr, false);
  StageReport report;
  bool is_good = !document.is_discarded() && document.is_object();
  if (is_good) {
    base::FieldReader fields(document, "");
    read_fields(fields, report);
    // What it says of others counts for nothing.
    is_good = fields.good() && report.task == running.order.task && report.job == running.order.job;
  }
  if (!is_good) {
    constexpr size_t kWordsMax = 200;
    if (!line.empty()) running.last_words = base::printable(line.substr(0, kWordsMax));
    return;
  }
  running.heard = Steady::now();
  if (running.is_answered || running.is_withdrawn) return;
  running.is_answered = report.is_over;
  if (report.task == StageTask::Remove) report.key = running.order.paths.front().to;
  out.push_back(std::move(report));
}

bool Stager::listen(Running& running, std::vector<StageReport>& out) {
  constexpr size_t kLineMax = size_t{4} << 20;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t got = ::read(running.hear.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno != EAGAIN;
    if (got == 0) return true;
    running.unread.append(buffer.data(), static_cast<size_t>(got));
    size_t end = 0;
    while ((end = running.unread.find('\n')) != std::string::npos) {
      read_line(running, std::string_view(running.unread).substr(0, end), out);
      running.unread.erase(0, end + 1);
    }
    if (running.unread.size() > kLineMax) running.unread.clear();
  }
}

void Stager::watch(Running& running, Steady::time_point now, std::vector<StageReport>& out) const {
  if (!running.kill && now - running.heard >= options_.silence) {
    if (!running.is_answered && !running.is_withdrawn) {
      const auto seconds = std::chrono::duration<double>(options_.silence).count();
      std::string problem =
          fmt::format("the copying process reported nothing for {} s, and was ended", seconds);
      if (!running.last_words.empty()) problem += ": " + running.last_words;
      out.push_back(failure_of(running.order, std::move(problem)));
    }
    running.is_withdrawn = true;
    running.talk.reset();
    running.kill = now;
  }
  if (!running.kill || now < *running.kill || running.is_killed) return;
  // All of its session: what a shell has started, too.
  ::kill(-running.pid, SIGKILL);
  running.is_killed = true;
}

std::vector<StageReport> Stager::take() {
  start_all();
  std::vector<StageReport> out = std::exchange(reports_, {});
  const Steady::time_point now = Steady::now();
  for (auto each = running_.begin(); each != running_.end();) {
    send(*each);
    int status = 0;
    // What a killed process has started elsewhere may keep its output open.
    const bool has_ended = listen(*each, out) || each->is_killed;
    watch(*each, now, out);
    if (!has_ended || ::waitpid(each->pid, &status, WNOHANG) == 0) {
      ++each;
      continue;
    }
    if (!each->unread.empty()) read_line(*each, each->unread, out);
    if (!each->is_answered && !each->is_withdrawn) {
      std::string problem = end_words(status);
      if (!each->last_words.empty()) problem += ": " + each->last_words;
      out.push_back(failure_of(each->order, std::move(problem)));
    }
    each = running_.erase(each);
  }
  return out;
}

}  // namespace goban::live::staging
