#include "live/engine/kubernetes/node_sleep.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "base/clock.hpp"
#include "base/http/http_client.hpp"
#include "base/number.hpp"
#include "base/spawn.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using nlohmann::json;

constexpr std::string_view kAsleep = "asleep";
constexpr std::string_view kWaking = "waking ";
constexpr TimeNs kCommandMost_ns = 10 * base::kMinute;

/// A Unix time in seconds, to the first space.
std::optional<TimeNs> time_of(std::string_view text) {
  constexpr int64_t kMost = int64_t{1} << 33;
  const auto seconds = base::parse_int(text.substr(0, text.find(' ')));
  if (!seconds || *seconds < 0 || *seconds >= kMost) return std::nullopt;
  return *seconds * base::kSecond;
}

std::string note_body(const json& cordoned, const json& note) {
  return json{{"metadata", {{"annotations", {{kSleepNote, note}}}}},
              {"spec", {{"unschedulable", cordoned}}}}
      .dump();
}

}  // namespace

bool is_asleep(const Node& node) { return node.meta.note(kSleepNote) == kAsleep; }

bool is_taken_out(const Node& node) {
  return node.is_cordoned && node.meta.note(kSleepNote).empty();
}

TimeNs waking_since(const Node& node) {
  const std::string note = node.meta.note(kSleepNote);
  return note.starts_with(kWaking) ? time_of(note.substr(kWaking.size())).value_or(0) : -1;
}

bool is_awake(const Node& node) {
  const std::string note = node.meta.note(kSleepNote);
  const size_t second = note.find(' ', kWaking.size());
  const bool is_timed = note.starts_with(kWaking) && second != note.npos;
  const TimeNs before_ns = is_timed ? time_of(note.substr(second + 1)).value_or(-1) : -1;
  return node.is_ready && (before_ns < 0 || node.heard_ns > before_ns);
}

bool is_woken(const Node& node, TimeNs wall_ns, TimeNs patience_ns) {
  const TimeNs since_ns = waking_since(node);
  if (since_ns < 0) return false;
  return is_awake(node) || wall_ns > since_ns + patience_ns;
}

std::set<std::string> nodes_in_use(const std::map<std::string, Pod>& pods) {
  std::set<std::string> nodes;
  for (const auto& [key, pod] : pods) {
    const bool is_of_node = pod.owner_kind == "DaemonSet" || pod.owner_kind == "Node";
    if (!pod.node.empty() && !pod.is_over() && !is_of_node) nodes.insert(pod.node);
  }
  return nodes;
}

std::string node_path(const std::string& name) {
  return "/api/v1/nodes/" + base::http::url_part(name);
}

std::string sleep_body() { return note_body(true, kAsleep); }

std::string wake_body(TimeNs wall_ns, TimeNs heard_ns) {
  std::string note = fmt::format("{}{}", kWaking, wall_ns / base::kSecond);
  if (heard_ns >= 0) note += fmt::format(" {}", heard_ns / base::kSecond);
  return note_body(true, note);
}

std::string woken_body() { return note_body(nullptr, nullptr); }

SleepCommand::~SleepCommand() {
  for (const auto& [node, each] : running_) {
    ::kill(-each.pid, SIGKILL);
    ::waitpid(each.pid, nullptr, 0);
  }
}

void SleepCommand::run(const std::string& what, const std::string& node) {
  if (running_.contains(node)) {
    waiting_[node] = what;
  } else {
    start(what, node);
  }
}

void SleepCommand::start(const std::string& what, const std::string& node) {
  const pid_t pid = base::spawn({command_, what, node}, {.group = base::SpawnGroup::OwnSession});
  if (pid == 0) {
    failures_.push_back(fmt::format("{} {} {}: {}", command_, what, node, std::strerror(errno)));
    return;
  }
  running_[node] = {.pid = pid, .what = what, .since_ns = base::steady_ns()};
}

std::vector<std::string> SleepCommand::look() {
  for (auto each = running_.begin(); each != running_.end();) {
    auto& [node, command] = *each;
    int status = 0;
    if (base::steady_ns() > command.since_ns + kCommandMost_ns) ::kill(-command.pid, SIGKILL);
    if (::waitpid(command.pid, &status, WNOHANG) == 0) {
      ++each;
      continue;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      const std::string how = WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                                                : fmt::format("signal {}", WTERMSIG(status));
      failures_.push_back(fmt::format("{} {} {}: {}", command_, command.what, node, how));
    }
    each = running_.erase(each);
  }
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    const auto& [node, what] = *each;
    if (running_.contains(node)) {
      ++each;
      continue;
    }
    start(what, node);
    each = waiting_.erase(each);
  }
  return std::exchange(failures_, {});
}

}  // namespace goban::live::engine::kubernetes
