#include "live/engine/kubernetes/events.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

#include "base/http/http_client.hpp"
#include "base/printable.hpp"
#include "live/engine/kubernetes/object_fields.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using nlohmann::json;

constexpr size_t kWordsMost = 250;  ///< bytes; each may become four, and Kubernetes takes 1,024
constexpr TimeNs kAgain_ns = base::kMinute;
constexpr size_t kLastMost = 10'000;

struct EventFacts {
  const char* reason;
  const char* type;
};
constexpr std::array<EventFacts, 3> kEventFacts = {
    {{"Placed", "Normal"}, {"Preempted", "Normal"}, {"BindFailed", "Warning"}}};

Told object_of(const Meta& meta, std::string api, std::string kind) {
  return {.api = std::move(api),
          .kind = std::move(kind),
          .space = meta.space,
          .name = meta.name,
          .uid = meta.uid};
}

std::optional<Told> object_of(const Gang& gang) {
  if (gang.group != nullptr) {
    const GroupFacts& facts = facts_of(gang.group->kind);
    return object_of(gang.group->meta, std::string(facts.api).substr(std::string("/apis/").size()),
                     facts.kind);
  }
  if (gang.work != nullptr) return object_of(gang.work->meta, "batch/v1", "Job");
  if (gang.pods.empty()) return std::nullopt;
  return object_of(gang.pods.front()->meta, "v1", "Pod");
}

}  // namespace

std::optional<Told> told_of(const Gang& gang, Happened what, std::string words) {
  auto told = object_of(gang);
  if (!told) return told;
  told->what = what;
  words.resize(std::min(words.size(), kWordsMost));
  std::ranges::replace(words, '\n', ' ');
  told->words = base::printable(words);
  return told;
}

std::string placed_words(const std::vector<Binding>& bindings) {
  constexpr size_t kNodesMost = 8;
  std::set<std::string> nodes;
  size_t gpus = 0;
  for (const Binding& binding : bindings) {
    nodes.insert(binding.node);
    gpus += binding.gpus.size();
  }
  std::string names;
  size_t named = 0;
  for (const std::string& node : nodes) {
    if (named++ == kNodesMost) break;
    names += (names.empty() ? "" : ", ") + node;
  }
  if (nodes.size() > kNodesMost) names += fmt::format(" and {} more", nodes.size() - kNodesMost);
  const size_t pods = bindings.size();
  return fmt::format("{} pod{} with {} GPU{} on {}", pods, pods == 1 ? "" : "s", gpus,
                     gpus == 1 ? "" : "s", names);
}

std::string events_path(const Told& told) {
  return fmt::format("/api/v1/namespaces/{}/events", base::http::url_part(told.space));
}

std::string event_body(const Told& told, int32_t count, TimeNs wall_ns) {
  const EventFacts& facts = kEventFacts.at(static_cast<size_t>(told.what));
  const std::string now = time_text(wall_ns);
  return json{{"apiVersion", "v1"},
              {"kind", "Event"},
              {"metadata", {{"generateName", "goban-"}, {"namespace", told.space}}},
              {"involvedObject",
               {{"apiVersion", told.api},
                {"kind", told.kind},
                {"namespace", told.space},
                {"name", told.name},
                {"uid", told.uid}}},
              {"reason", facts.reason},
              {"message", told.words},
              {"type", facts.type},
              {"source", {{"component", "goban"}}},
              {"reportingComponent", "goban"},
              {"count", count},
              {"firstTimestamp", now},
              {"lastTimestamp", now}}
      .dump();
}

int32_t EventFilter::take(const Told& told, TimeNs now_ns) {
  const auto key = std::pair(told.uid, told.what);
  const auto found = last_.find(key);
  if (found != last_.end() && now_ns < found->second.told_ns + kAgain_ns) {
    ++found->second.untold;
    return 0;
  }
  const int32_t count = 1 + (found == last_.end() ? 0 : found->second.untold);
  // What is older than the pause is needed for its count only.
  if (last_.size() >= kLastMost) {
    std::erase_if(last_,
                  [&](const auto& each) { return now_ns >= each.second.told_ns + kAgain_ns; });
  }
  if (last_.size() >= kLastMost) return 0;
  last_[key] = {.told_ns = now_ns};
  return count;
}

}  // namespace goban::live::engine::kubernetes
