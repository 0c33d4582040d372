// How gangs are started: each pod is bound once, and what could not be is free again.
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.hpp"
#include "live/engine/kubernetes/device_books.hpp"
#include "live/engine/kubernetes/gpu_holdings.hpp"
#include "live/engine/kubernetes/kubernetes_engine.hpp"

namespace goban::live::engine::kubernetes {

using base::steady_ns;
using base::TimeNs;
using cluster::Task;

/// One pod. A write of unknown outcome is looked up, and repeated only if it was not carried out.
ApiAnswer KubernetesEngine::bind(Api& api, const Binding& binding, const cluster::Mark& mark) {
  constexpr int kTries = 4;
  const Meta& meta = binding.pod->meta;
  std::string version = meta.version;
  ApiAnswer answer;
  for (int tried = 0; tried < kTries && !ending_; ++tried) {
    if (!may_write()) return {.unknown = answer.unknown, .problem = kNotLeading};
    answer = api.write("POST", pod_path(meta, "/binding"), binding_body(binding, version, mark));
    if (answer.fine() || (answer.status != kApiConflict && !answer.unknown)) return answer;
    const ApiAnswer now = api.get(pod_path(meta));
    if (now.status == kApiNotFound) return {.status = kApiNotFound, .problem = "the pod is gone"};
    const auto pod =
        now.fine() ? read_pod(nlohmann::json::parse(now.body, nullptr, false)) : std::nullopt;
    if (!pod) return {.unknown = true, .problem = now.problem};
    cluster::Mark there;
    const bool ours = pod->meta.uid == meta.uid && pod->node == binding.node &&
                      cluster::parse_mark(pod->meta.note(kRunNote), there) && there == mark;
    if (ours) return {.status = now.status};
    if (pod->meta.uid != meta.uid || pod->meta.deleting || !pod->node.empty()) {
      return {.status = kApiConflict, .problem = "the pod was changed by somebody else"};
    }
    version = pod->meta.version;
  }
  return answer;
}

base::Result<std::vector<Binding>> KubernetesEngine::plan(const Task& task, const Gang& gang,
                                                          const Objects& objects) const {
  const bool shares = task.order.shares;
  if (shares && !options_.rules.shares) return base::failed("GPUs are not shared on this cluster");
  if (gang.is_marked && gang.mark.epoch > options_.epoch) {
    return base::failed(fmt::format("a later daemon, of epoch {}, decides", gang.mark.epoch));
  }
  auto bindings = bindings_of(gang, task.order.parts, [&](const Pod& pod, const std::string& name) {
    const auto node = objects.nodes.find("/" + name);
    return node != objects.nodes.end() && may_run_on(pod, node->second);
  });
  if (!bindings) return bindings;
  for (Binding& each : *bindings) each.shares = shares;
  if (auto status = grant_devices(*bindings, objects, options_.rules); !status) {
    return base::failure(status.error());
  }
  return bindings;
}

std::vector<NodePart> KubernetesEngine::forbidden(const Task& task, const Gang& gang,
                                                  const Objects& objects) {
  std::vector<NodePart> out;
  for (const NodePart& part : task.order.parts) {
    const auto node = objects.nodes.find("/" + part.node);
    const bool is_open =
        node != objects.nodes.end() && std::ranges::any_of(gang.pods, [&](const Pod* pod) {
          return pod->gpus > 0 && may_run_on(*pod, node->second);
        });
    if (!is_open) out.push_back(part);
  }
  return out;
}

/// What a pod's claims get is written before it is bound: its kubelet asks for it at once.
ApiAnswer KubernetesEngine::grant_and_bind(Api& api, const Binding& binding,
                                           const cluster::Mark& mark) {
  for (const Grant& grant : binding.grants) {
    ApiAnswer granted = grant_claim(api, grant, [this] { return may_write() && !ending_; });
    if (!granted.fine()) return granted;
  }
  return bind(api, binding, mark);
}

/// The pods of all gangs together, as most gangs are small.
void KubernetesEngine::bind_all(std::vector<Start>& starts) {
  std::vector<std::pair<Start*, size_t>> each;
  for (Start& start : starts) {
    start.answers.resize(start.bindings.size());
    for (size_t i = 0; i < start.bindings.size(); ++i) each.emplace_back(&start, i);
  }
  spread(each.size(), [&](Api& api, size_t i) {
    auto& [start, pod] = each[i];
    start->answers[pod] = grant_and_bind(api, start->bindings[pod], start->mark);
  });
}

KubernetesEngine::Outcome KubernetesEngine::outcome_of(const Start& start) {
  Outcome out;
  size_t bound = 0;
  for (size_t i = 0; i < start.answers.size(); ++i) {
    const Binding& binding = start.bindings[i];
    const ApiAnswer& answer = start.answers[i];
    for (const Grant& grant : binding.grants) {
      // A pod that was bound after all is seen until then.
      const TimeNs wait_ns = answer.unknown ? options_.patience.repeat_ns : base::kSecond;
      granted_ns_[grant.claim.meta.uid] = steady_ns() + wait_ns;
    }
    if (answer.fine()) {
      ++bound;
      assumed_[binding.pod->meta.uid] = {.node = binding.node,
                                         .gpus = gpu_list_text(binding.gpus),
                                         .mark = cluster::mark_text(start.mark),
                                         .shares = binding.shares};
      continue;
    }
    out.unsure = out.unsure || answer.unknown;
    out.problem = fmt::format("{}: {}", binding.pod->meta.name, answer.problem);
    if (is_refusal(answer)) out.because = {NodePart{}};
  }
  // Some have a node: the next look finds the gang in parts and takes it back.
  if (bound > 0 && !out.problem.empty() && !out.unsure) out.problem.clear();
  return out;
}

void KubernetesEngine::note_refusal(const std::string& id, const Start& start) {
  // An API server that has just started refuses what it allows.
  constexpr TimeNs kFirst_ns = 3 * base::kSecond, kAgain_ns = base::kMinute;
  for (size_t i = 0; i < start.answers.size(); ++i) {
    note_answer("POST", pod_path(start.bindings[i].pod->meta, "/binding"), start.answers[i]);
  }
  const auto refused = std::ranges::find_if(start.answers, is_refusal);
  if (refused == start.answers.end()) return void(refused_.erase(id));
  const Meta& pod = start.bindings[static_cast<size_t>(refused - start.answers.begin())].pod->meta;
  Refused& noted = refused_[id];
  noted.words = with_remedy(
      fmt::format("the API server refuses to bind pod {}: {}", pod.name, refused->problem));
  noted.pause_ns = std::clamp(2 * noted.pause_ns, kFirst_ns, kAgain_ns);
  noted.until_ns = steady_ns() + noted.pause_ns;
}

void KubernetesEngine::name_refused(View& view) {
  const TimeNs now_ns = steady_ns();
  std::erase_if(refused_,
                [&](const auto& each) { return !view.picture.jobs.contains(each.first); });
  for (const auto& [id, refused] : refused_) {
    JobSeen& job = view.picture.jobs.at(id);
    const auto stand = view.stands.find(id);
    const bool waits = stand != view.stands.end() && stand->second.stand == cluster::Stand::Held &&
                       job.blocked.empty();
    if (waits && now_ns < refused.until_ns) job.blocked = refused.words;
  }
}

void KubernetesEngine::note_answer(const std::string& method, const std::string& path,
                                   const ApiAnswer& answer) {
  const std::scoped_lock lock(mutex_);
  if (answer.fine() && refusals_.empty()) return;
  const std::string kind = kind_of_request(method, path);
  if (answer.fine()) {
    refusals_.erase(kind);
  } else if (is_refusal(answer)) {
    refusals_[kind] = fmt::format("{}: {}", kind, answer.problem);
  }
}

void KubernetesEngine::release_claims(const Objects& objects) {
  constexpr TimeNs kAgain_ns = 5 * base::kSecond;
  const TimeNs now_ns = steady_ns();
  std::erase_if(granted_ns_, [&](const auto& each) { return each.second < now_ns; });
  std::vector<Write> writes;
  for (const Claim& claim : left_granted(objects, options_.rules)) {
    if (!granted_ns_.emplace(claim.meta.uid, now_ns + kAgain_ns).second) continue;
    writes.push_back({.method = "PUT",
                      .path = claim_path(objects.devices_api, claim.meta, "/status"),
                      .body = release_body(objects.devices_api, claim.meta)});
  }
  (void)send(std::move(writes));
}

}  // namespace goban::live::engine::kubernetes
