// What the users of the cluster are told: by Events, and by conditions of pods.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/clock.hpp"
#include "base/printable.hpp"
#include "live/engine/kubernetes/kubernetes_engine.hpp"
#include "live/engine/kubernetes/pod_facts.hpp"

namespace goban::live::engine::kubernetes {

using base::steady_ns;
using base::TimeNs;

void KubernetesEngine::tell(const Gang& gang, Happened what, std::string words) {
  if (!events_) return;
  if (const auto told = told_of(gang, what, std::move(words))) events_->say(*told);
}

void KubernetesEngine::tell_start(const Gang& gang, const Start& start) {
  if (std::ranges::all_of(start.answers, &ApiAnswer::fine)) {
    return tell(gang, Happened::Placed, placed_words(start.bindings));
  }
  // What the API server did not answer is not known to have failed.
  const auto refused = std::ranges::find_if(start.answers, [](const ApiAnswer& each) {
    return !each.fine() && each.status != 0 && !each.unknown;
  });
  if (refused == start.answers.end()) return;
  const auto at = static_cast<size_t>(refused - start.answers.begin());
  tell(gang, Happened::BindFailed,
       fmt::format("pod {} was not bound to {}: {}", start.bindings[at].pod->meta.name,
                   start.bindings[at].node, refused->problem));
}

void KubernetesEngine::name_pods(const Gangs& gangs) {
  const TimeNs now_ns = steady_ns();
  if (!options_.pods || now_ns < named_ns_ + base::kSecond) return;
  named_ns_ = now_ns;
  std::map<std::string, std::string> names;
  for (const auto& [id, gang] : gangs) {
    for (const auto* pods : {&gang.pods, &gang.over}) {
      for (const Pod* pod : *pods) {
        if (!pod->node.empty() && id_of(pod->meta) != id) names[pod->meta.uid] = id;
      }
    }
  }
  const std::scoped_lock lock(options_.pods->mutex);
  options_.pods->gangs = std::move(names);
}

void KubernetesEngine::say_reasons(const Gangs& gangs) {
  if (!options_.reasons) return;
  constexpr TimeNs kPatience_ns = 10 * base::kSecond;
  constexpr TimeNs kAgain_ns = base::kMinute;
  constexpr size_t kMost = 50;
  constexpr size_t kWordsMost = 400;
  const TimeNs now_ns = steady_ns();
  std::map<std::string, std::string> texts;
  {
    const std::scoped_lock lock(options_.reasons->mutex);
    texts = options_.reasons->texts;
  }
  std::map<std::string, TimeNs> said_ns;
  std::vector<Write> writes;
  for (const auto& [id, gang] : gangs) {
    const auto text = texts.find(id);
    for (const Pod* pod : gang.pods) {
      if (!pod->node.empty() || pod->meta.deleting || pod->gated) continue;
      // Most start at once and need no word; a reason that changes all the time is not worth one.
      const auto before = said_ns_.find(pod->meta.uid);
      TimeNs& next_ns = said_ns[pod->meta.uid];
      next_ns = before == said_ns_.end() ? now_ns + kPatience_ns : before->second;
      if (text == texts.end() || now_ns < next_ns || writes.size() == kMost) continue;
      const std::string words = base::printable(text->second.substr(0, kWordsMost));
      if (words.empty() || words == pod->said) continue;
      next_ns = now_ns + kAgain_ns;
      writes.push_back({.method = "PATCH",
                        .path = pod_path(pod->meta, "/status"),
                        .body = reason_body(pod->meta, words, base::wall_ns())});
    }
  }
  said_ns_ = std::move(said_ns);
  (void)send(std::move(writes));
}

}  // namespace goban::live::engine::kubernetes
