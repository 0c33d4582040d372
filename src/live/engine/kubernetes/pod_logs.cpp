#include "live/engine/kubernetes/pod_logs.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/http/http_client.hpp"
#include "live/engine/kubernetes/api.hpp"
#include "live/engine/kubernetes/groups.hpp"
#include "live/engine/kubernetes/object_fields.hpp"
#include "live/engine/kubernetes/watch_lines.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using base::http::url_part;
using nlohmann::json;

constexpr double kLogTimeout_s = 30;
constexpr double kLogSilence_s = 24 * 3600;  // of a pod that says nothing while it is followed

/// The parts of a gang's id.
struct GangNames {
  std::string space{};
  std::string name{};
  std::string uid{};
};

GangNames gang_names(std::string_view gang) {
  GangNames out;
  const auto next = [&] {
    const size_t end = std::min(gang.find('/'), gang.size());
    std::string part(gang.substr(0, end));
    gang.remove_prefix(std::min(end + 1, gang.size()));
    return part;
  };
  out.space = next();
  out.name = next();
  out.uid = next();
  return out;
}

bool belongs_to(const Pod& pod, const GangNames& gang) {
  if (!gang.uid.empty() && (pod.meta.uid == gang.uid || pod.owner_uid == gang.uid)) return true;
  return std::ranges::any_of(
      std::array{kGangLabel, kTrainingLabel, kJobSetLabel, kPodGroupLabel, kGroupNameLabel},
      [&](std::string_view label) { return pod.meta.label(label) == gang.name; });
}

/// Whole lines, each behind the name of its pod.
class NamedLines {
 public:
  NamedLines(std::string pod, std::mutex& mutex, const std::function<bool(std::string_view)>& take)
      : prefix_("[" + std::move(pod) + "] "), mutex_(mutex), take_(take) {}
  bool add(std::string_view piece) {
    constexpr size_t kMost = size_t{1} << 20;
    rest_ += piece;
    const size_t end = rest_.rfind('\n');
    if (end == std::string::npos && rest_.size() < kMost) return true;
    const size_t whole = end == std::string::npos ? rest_.size() : end + 1;
    const bool goes_on = give(std::string_view(rest_).substr(0, whole));
    rest_.erase(0, whole);
    return goes_on;
  }
  void end() {
    if (!rest_.empty()) (void)give(rest_);
  }

 private:
  bool give(std::string_view text) {
    std::string out;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      out += prefix_ + std::string(text.substr(0, end)) + "\n";
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    const std::scoped_lock lock(mutex_);
    return take_(out);
  }
  std::string prefix_;
  std::mutex& mutex_;
  const std::function<bool(std::string_view)>& take_;
  std::string rest_{};
};

base::Result<std::vector<LogSource>> log_sources(Api& api, const std::string& gang) {
  std::vector<LogSource> out;
  std::string next;
  do {
    std::string path =
        fmt::format("/api/v1/namespaces/{}/pods?limit=500", url_part(gang_names(gang).space));
    if (!next.empty()) path += "&continue=" + url_part(next);
    const ApiAnswer answer = api.get(path);
    if (!answer.fine()) {
      return base::failed("the pods of the job cannot be listed: " + answer.problem,
                          "ask an administrator for the right to read pods and pods/log");
    }
    const auto page = parse_list_page(answer.body);
    if (!page) return base::failed("the API server's answer is not a list of pods");
    add_log_sources(*page->items, gang, out);
    next = page->next;
  } while (!next.empty());
  if (out.empty()) {
    return base::failed(fmt::format("Kubernetes has no pods of {} any more", gang),
                        "pods' output is gone with them");
  }
  std::ranges::sort(out, {}, [](const LogSource& each) { return std::pair(each.index, each.pod); });
  return out;
}

}  // namespace

bool is_gang_id(std::string_view id) { return id.find('/') != std::string_view::npos; }

void add_log_sources(const json& items, const std::string& gang, std::vector<LogSource>& out) {
  const GangNames names = gang_names(gang);
  for (const json& item : items) {
    const auto pod = read_pod(item);
    if (!pod || pod->meta.space != names.space || !belongs_to(*pod, names)) continue;
    LogSource& made = out.emplace_back(LogSource{.space = pod->meta.space, .pod = pod->meta.name});
    made.index = pod->index;
    for (const json& container : list_at(member(item, "spec"), "containers")) {
      if (made.container.empty()) made.container = text_at(container, "name", kNameMost);
    }
  }
}

std::string log_path(const LogSource& source, const LogQuestion& question) {
  std::string path =
      fmt::format("/api/v1/namespaces/{}/pods/{}/log?container={}", url_part(source.space),
                  url_part(source.pod), url_part(source.container));
  if (question.follow) path += "&follow=true";
  if (question.lines > 0) path += fmt::format("&tailLines={}", question.lines);
  return path;
}

base::Result<std::vector<std::string>> read_logs(const Access& access, const LogQuestion& question,
                                                 const std::function<bool(std::string_view)>& take,
                                                 const std::atomic<bool>& ending) {
  const auto credentials = std::make_shared<Credentials>(access);
  Api first(credentials, ending, kLogTimeout_s);
  const auto sources = log_sources(first, question.gang);
  if (!sources) return base::failure(sources.error());
  constexpr size_t kFollowedMost = 64;
  if (question.follow && sources->size() > kFollowedMost) {
    return base::failed(fmt::format("{} pods are too many to follow", sources->size()),
                        "kubectl logs -f follows one of them");
  }
  std::mutex mutex;
  std::vector<std::string> problems;
  const auto read = [&](Api& api, const LogSource& source) {
    NamedLines lines(source.pod, mutex, take);
    const bool is_alone = sources->size() == 1;
    const auto piece = [&](std::string_view text) {
      return is_alone ? take(text) : lines.add(text);
    };
    const double silence_s = question.follow ? kLogSilence_s : kLogTimeout_s;
    const ApiAnswer answer = api.stream(log_path(source, question), piece, silence_s);
    lines.end();
    if (answer.fine() || ending) return;
    const std::scoped_lock lock(mutex);
    problems.push_back(fmt::format("{}: {}", source.pod, answer.problem));
  };
  if (!question.follow) {
    for (const LogSource& source : *sources) read(first, source);
  } else {
    std::vector<std::thread> threads;
    for (const LogSource& source : *sources) {
      threads.emplace_back([&] {
        Api api(credentials, ending, kLogTimeout_s);
        read(api, source);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  if (problems.size() < sources->size()) return problems;
  return base::failed(problems.front());
}

}  // namespace goban::live::engine::kubernetes
