#include "live/engine/kubernetes/pod_logs.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <utility>

#include "base/http/http_client.hpp"
#include "live/engine/kubernetes/api.hpp"
#include "live/engine/kubernetes/groups.hpp"
#include "live/engine/kubernetes/object_fields.hpp"
#include "live/engine/kubernetes/pod_facts.hpp"
#include "live/engine/kubernetes/watch_lines.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using base::http::url_part;
using nlohmann::json;

constexpr double kLogTimeout_s = 30;
constexpr double kLogSilence_s = 24 * 3600;  // of a pod that says nothing while it is followed

std::string part_of(std::string_view gang, size_t at) {
  for (; at > 0; --at) gang.remove_prefix(std::min(gang.find('/'), gang.size() - 1) + 1);
  return std::string(gang.substr(0, gang.find('/')));
}

/// Whether the pod may belong to the gang. A gang's id does not say what kind of object it is of.
bool may_belong(const Pod& pod, const LogQuestion& question, LogSource& source) {
  const std::string name = part_of(question.gang, 1);
  const std::string uid = part_of(question.gang, 2);
  const auto is_label = [&](std::string_view label) { return pod.meta.label(label) == name; };
  cluster::Mark mark;
  const bool has_mark = cluster::parse_mark(pod.meta.note(kRunNote), mark);
  if (pod.meta.space != part_of(question.gang, 0) || (!pod.node.empty() && !has_mark)) return false;
  const bool is_group = uid == "pod-group";
  if (is_group || uid.empty()) {  // several jobs may have this id, one after the other
    const bool is_other = has_mark && job::job_number(mark.run.job) != question.job;
    if (question.job != 0 && is_other) return false;
  }
  if (is_group) return is_label(kPodGroupLabel) || is_label(kGroupNameLabel);
  source.by_label = plain_id_of(pod) != question.gang;
  source.by_object = !source.by_label && is_of_object(pod) && pod.owner_kind != kJob;
  return !source.by_label || is_label(kTrainingLabel) || is_label(kJobSetLabel);
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

base::Result<std::vector<LogSource>> log_sources(Api& api, const LogQuestion& question) {
  const std::string& gang = question.gang;
  std::vector<LogSource> out;
  std::string next;
  do {
    std::string path =
        fmt::format("/api/v1/namespaces/{}/pods?limit=500", url_part(part_of(gang, 0)));
    if (!next.empty()) path += "&continue=" + url_part(next);
    const ApiAnswer answer = api.get(path);
    if (!answer.fine()) {
      return base::failed("the pods of the job cannot be listed: " + answer.problem,
                          "ask an administrator for the right to read pods and pods/log");
    }
    const auto page = parse_list_page(answer.body);
    if (!page) return base::failed("the API server's answer is not a list of pods");
    add_log_sources(*page->items, question, out);
    next = page->next;
  } while (!next.empty());
  settle_log_sources(out);
  if (out.empty()) {
    return base::failed(fmt::format("Kubernetes has no pods of {} any more", gang),
                        "pods' output is gone with them");
  }
  std::set<std::string> names;
  for (const LogSource& each : out) names.insert(each.others.begin(), each.others.end());
  std::erase_if(out, [](const LogSource& each) { return each.container.empty(); });
  if (out.empty()) {
    return base::failed(fmt::format("no pod of the job has a container {}", question.container),
                        fmt::format("there are: {}", fmt::join(names, ", ")));
  }
  std::ranges::sort(out, {}, [](const LogSource& each) { return std::pair(each.index, each.pod); });
  return out;
}

}  // namespace

bool is_gang_id(std::string_view id) { return id.find('/') != std::string_view::npos; }

void add_log_sources(const json& items, const LogQuestion& question, std::vector<LogSource>& out) {
  for (const json& item : items) {
    const auto pod = read_pod(item);
    LogSource made;
    if (!pod || !may_belong(*pod, question, made)) continue;
    made.space = pod->meta.space;
    made.pod = pod->meta.name;
    made.index = pod->index;
    for (const char* kind : {"containers", "initContainers"}) {
      for (const json& container : list_at(member(item, "spec"), kind)) {
        std::string name = text_at(container, "name", kNameMost);
        const bool is_it =
            question.container.empty() ? made.container.empty() : name == question.container;
        if (is_it) {
          made.container = std::move(name);
        } else {
          made.others.push_back(std::move(name));
        }
      }
    }
    out.push_back(std::move(made));
  }
}

void settle_log_sources(std::vector<LogSource>& sources) {
  const bool is_alone = std::ranges::any_of(
      sources, [](const LogSource& each) { return !each.by_label && !each.by_object; });
  if (is_alone) std::erase_if(sources, [](const LogSource& each) { return each.by_label; });
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
  const auto sources = log_sources(first, question);
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
  if (problems.size() == sources->size()) return base::failed(problems.front());
  std::set<std::string> left;
  for (const LogSource& source : *sources) left.insert(source.others.begin(), source.others.end());
  if (question.container.empty() && !left.empty()) {
    problems.push_back(fmt::format("only the first container of each pod is printed, and not {}",
                                   fmt::join(left, ", ")));
  }
  return problems;
}

}  // namespace goban::live::engine::kubernetes
