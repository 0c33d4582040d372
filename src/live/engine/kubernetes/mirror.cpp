#include "live/engine/kubernetes/mirror.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <random>

#include "base/number.hpp"
#include "live/engine/kubernetes/watch_lines.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using base::http::url_part;

constexpr int kForbidden = 403;
constexpr int kNotServed = 404;
constexpr int kGone = 410;

/// False if the object is known in a later version: events may come twice or late.
bool is_news(const Meta& known, const Meta& next) {
  if (known.uid != next.uid) return true;
  const auto before = base::parse_int(known.version);
  const auto after = base::parse_int(next.version);
  return !before || !after || *after > *before;
}

}  // namespace

Mirror::Mirror(std::shared_ptr<Credentials> credentials, MirrorTimes times,
               std::function<void()> changed)
    : credentials_(std::move(credentials)), times_(times), changed_(std::move(changed)) {
  threads_.emplace_back([this] { follow(nodes_, &Objects::nodes, read_node); });
  threads_.emplace_back([this] { follow(pods_, &Objects::pods, read_pod); });
  threads_.emplace_back([this] { follow(works_, &Objects::works, read_work); });
  const auto add = [this](Kind& kind, std::map<std::string, Group> Objects::* objects,
                          GroupKind which) {
    threads_.emplace_back([this, &kind, objects, which] {
      follow(kind, objects,
             [which](const nlohmann::json& object) { return read_group(object, which); });
    });
  };
  add(mpi_jobs_, &Objects::mpi_jobs, GroupKind::MpiJob);
  add(mpi2_jobs_, &Objects::mpi2_jobs, GroupKind::MpiJob2);
  add(pytorch_jobs_, &Objects::pytorch_jobs, GroupKind::PyTorchJob);
  add(job_sets_, &Objects::job_sets, GroupKind::JobSet);
  threads_.emplace_back([this] { follow(pod_groups_, &Objects::pod_groups, read_pod_group); });
  threads_.emplace_back([this] { follow(slices_, &Objects::slices, read_slice); });
  threads_.emplace_back([this] { follow(classes_, &Objects::classes, read_device_class); });
  threads_.emplace_back([this] { follow(claims_, &Objects::claims, read_claim); });
}

Mirror::~Mirror() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Mirror::Kind Mirror::kind_of(GroupKind kind) {
  const GroupFacts& facts = facts_of(kind);
  return {.path = fmt::format("{}/{}", facts.api, facts.plural), .is_optional = true};
}

std::vector<const Mirror::Kind*> Mirror::kinds() const {
  return {&nodes_,    &pods_,       &works_,  &mpi_jobs_, &mpi2_jobs_, &pytorch_jobs_,
          &job_sets_, &pod_groups_, &slices_, &classes_,  &claims_};
}

bool Mirror::is_complete() const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::all_of(kinds(), [](const Kind* kind) { return kind->listed; });
}

std::string Mirror::problem() const {
  const std::scoped_lock lock(mutex_);
  for (const Kind* kind : kinds()) {
    if (!kind->problem.empty()) return kind->problem;
  }
  return {};
}

void Mirror::read(const std::function<void(const Objects&)>& look) const {
  const std::scoped_lock lock(mutex_);
  look(objects_);
}

void Mirror::fail(Kind& kind, const std::string& problem) {
  const std::scoped_lock lock(mutex_);
  kind.problem = fmt::format("{}: {}", kind.path, problem);
}

void Mirror::pause(double seconds) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return ending_.load(); });
}

template <typename Object, typename Parse>
void Mirror::follow(Kind& kind, std::map<std::string, Object> Objects::* objects, Parse parse) {
  Api api(credentials_, ending_, times_.timeout_s);
  std::minstd_rand random(std::random_device{}());
  std::uniform_real_distribution<double> jitter(0.5, 1.5);
  double pause_s = times_.pause_s;
  std::string version;  // empty: to be listed
  while (!ending_) {
    double wait_s = 0;
    const bool fine = version.empty() ? list(api, kind, objects, parse, version, wait_s)
                                      : watch(api, kind, objects, parse, version);
    if (fine) {
      pause_s = times_.pause_s;
      continue;
    }
    pause(std::max(pause_s * jitter(random), std::min(wait_s, times_.pause_most_s)));
    pause_s = std::min(pause_s * 2, times_.pause_most_s);
  }
}

ApiAnswer Mirror::find_path(Api& api, Kind& kind) {
  ApiAnswer group = api.get("/apis/resource.k8s.io");
  if (!group.fine()) return group;
  const std::string found = devices_api_of(group.body);
  if (found.empty()) return {.status = kNotServed, .problem = "no version that is known"};
  const std::scoped_lock lock(mutex_);
  kind.path = found + "/" + kind.devices;
  objects_.devices_api = found;
  return {};
}

/// False: to be tried again after a pause.
template <typename Object, typename Parse>
bool Mirror::list(Api& api, Kind& kind, std::map<std::string, Object> Objects::* objects,
                  Parse parse, std::string& version, double& wait_s) {
  ++lists_;
  std::map<std::string, Object> found;
  std::string next;
  std::string last;
  const ApiAnswer known = kind.devices.empty() ? ApiAnswer{} : find_path(api, kind);
  do {
    std::string path = fmt::format("{}?limit={}", kind.path, times_.page);
    if (!next.empty()) path += "&continue=" + url_part(next);
    const ApiAnswer answer = known.fine() ? api.get(path) : known;
    auto page = answer.fine() ? parse_list_page(answer.body) : std::nullopt;
    if (!page) {
      // 410: the list took too long, and begins anew.
      wait_s = answer.retry_after_s;
      const bool is_absent = [&] {
        if (!kind.is_optional) return false;
        if (answer.status != kNotServed && answer.status != kForbidden) return false;
        const std::scoped_lock lock(mutex_);
        std::map<std::string, Object>& all = objects_.*objects;
        // An API server that has just started refuses what it allows: what is known stays.
        if (answer.status == kForbidden && !all.empty()) return false;
        all.clear();
        kind.listed = true;
        return true;
      }();
      if (is_absent) {
        wait_s = times_.pause_most_s;
        return false;
      }
      fail(kind, answer.fine() ? "the answer is not a list" : answer.problem);
      return answer.status == kGone && !next.empty() && !ending_;
    }
    for (const auto& item : *page->items) {
      if (auto object = parse(item)) found[object->meta.key()] = std::move(*object);
    }
    last = page->version;
    next = page->next;
  } while (!next.empty() && !ending_);
  {
    const std::scoped_lock lock(mutex_);
    objects_.*objects = std::move(found);
    kind.problem.clear();
    kind.listed = true;
  }
  version = last;
  changed_();
  return true;
}

/// Clears `version` where the objects have to be listed anew.
template <typename Object, typename Parse>
bool Mirror::watch(Api& api, Kind& kind, std::map<std::string, Object> Objects::* objects,
                   Parse parse, std::string& version) {
  const std::string path =
      fmt::format("{}?watch=1&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds=300",
                  kind.path, url_part(version));
  WatchLines lines;
  bool heard = false;
  bool broken = false;
  const auto take = [&](std::string_view piece) {
    lines.add(piece);
    bool changes = false;
    while (auto event = lines.next()) {
      if (event->kind == WatchEvent::Kind::Expired || event->kind == WatchEvent::Kind::Broken) {
        broken = true;
        break;
      }
      heard = true;
      version = event->version;
      if (event->kind == WatchEvent::Kind::Bookmark) continue;
      auto object = parse(*event->object);
      if (!object) continue;
      const std::scoped_lock lock(mutex_);
      kind.problem.clear();
      auto& all = objects_.*objects;
      const std::string key = object->meta.key();
      const auto known = all.find(key);
      const bool is_known = known != all.end();
      if (event->kind == WatchEvent::Kind::Deleted) {
        if (is_known && known->second.meta.uid == object->meta.uid) all.erase(known);
        changes = true;
      } else if (!is_known) {
        all[key] = std::move(*object);
        changes = true;
      } else if (is_news(known->second.meta, object->meta)) {
        if constexpr (requires { is_other(known->second, *object); }) {
          changes = changes || is_other(known->second, *object);
        } else {
          changes = true;
        }
        known->second = std::move(*object);
      }
    }
    if (changes) changed_();
    return !broken;
  };
  const ApiAnswer answer = api.stream(path, take, times_.silence_s);
  // A stream that ends by itself goes on where it ended. One that was silent may be of a version
  // that the server does not have, and would stay silent.
  if (broken || answer.status == kGone || (!answer.fine() && !heard)) version.clear();
  if (!answer.fine() && !broken && !ending_) fail(kind, answer.problem);
  return heard;
}

}  // namespace goban::live::engine::kubernetes
