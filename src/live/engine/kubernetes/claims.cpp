#include "live/engine/kubernetes/claims.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/http/http_client.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using base::http::url_part;
using nlohmann::json;

constexpr int kNoSuchClaim = 404;
constexpr int kClaimChanged = 409;

/// resource.k8s.io/v1, of the path of the group and version.
std::string version_of(const std::string& api) {
  constexpr std::string_view kBefore = "/apis/";
  return api.substr(std::min(kBefore.size(), api.size()));
}

json claim_of(const std::string& api, const Meta& meta, const std::string& version) {
  return {{"apiVersion", version_of(api)},
          {"kind", "ResourceClaim"},
          {"metadata",
           {{"name", meta.name},
            {"namespace", meta.space},
            {"uid", meta.uid},
            {"resourceVersion", version}}}};
}

bool has_finalizer(const Claim& claim) {
  return std::ranges::find(claim.finalizers, kClaimFinalizer) != claim.finalizers.end();
}

/// What is to be sent next.
ApiAnswer send_next(Api& api, const Grant& grant, const Claim& claim) {
  const std::string status = claim_path(grant.api, claim.meta, "/status");
  if (claim.is_allocated) return api.write("PUT", status, release_body(grant.api, claim.meta));
  if (!has_finalizer(claim)) {
    return api.write("PATCH", claim_path(grant.api, claim.meta), finalizer_body(claim));
  }
  return api.write("PUT", status, allocation_body(grant, claim.meta.version));
}

}  // namespace

std::string claim_path(const std::string& api, const Meta& meta, std::string_view below) {
  return fmt::format("{}/namespaces/{}/resourceclaims/{}{}", api, url_part(meta.space),
                     url_part(meta.name), below);
}

std::string finalizer_body(const Claim& claim) {
  json all = claim.finalizers;
  all.push_back(kClaimFinalizer);
  return json{{"metadata",
               {{"uid", claim.meta.uid},
                {"resourceVersion", claim.meta.version},
                {"finalizers", std::move(all)}}}}
      .dump();
}

std::string allocation_body(const Grant& grant, const std::string& version) {
  json results = json::array();
  for (const DeviceResult& each : grant.results) {
    results.push_back({{"request", each.request},
                       {"driver", each.driver},
                       {"pool", each.device.pool},
                       {"device", each.device.name}});
  }
  const json node{{"key", "metadata.name"}, {"operator", "In"}, {"values", {grant.node}}};
  json devices{{"results", std::move(results)}};
  if (!grant.config.empty()) devices["config"] = json::parse(grant.config, nullptr, false);
  json body = claim_of(grant.api, grant.claim.meta, version);
  body["status"] = {
      {"allocation",
       {{"devices", std::move(devices)},
        {"nodeSelector",
         {{"nodeSelectorTerms", json::array({json{{"matchFields", json::array({node})}}})}}}}},
      {"reservedFor",
       json::array(
           {json{{"resource", "pods"}, {"name", grant.pod.name}, {"uid", grant.pod.uid}}})}};
  return body.dump();
}

std::string release_body(const std::string& api, const Meta& meta) {
  json body = claim_of(api, meta, meta.version);
  body["status"] = json::object();
  return body.dump();
}

bool is_granted(const Claim& claim, const Grant& grant) {
  const bool is_ours = claim.users.size() == 1 && claim.users.front() == grant.pod.uid;
  return claim.is_allocated && is_ours && claim.results == grant.results;
}

ApiAnswer grant_claim(Api& api, const Grant& grant, const MayWrite& may_write) {
  constexpr int kTries = 4;
  constexpr int kWritesMost = 12;
  Claim claim = grant.claim;
  ApiAnswer answer;
  for (int failed = 0, sent = 0; failed < kTries && sent < kWritesMost; ++sent) {
    if (is_granted(claim, grant)) return {};
    if (!is_free_for(claim, grant.pod.uid) || claim.meta.uid != grant.claim.meta.uid) {
      return {.status = kClaimChanged,
              .problem = fmt::format("its ResourceClaim {} is reserved for another pod",
                                     grant.claim.meta.name)};
    }
    if (!may_write())
      return {.unknown = answer.unknown, .problem = "another daemon may hold the Lease"};
    answer = send_next(api, grant, claim);
    if (!answer.fine()) {
      if (answer.status != kClaimChanged && !answer.unknown) return answer;
      ++failed;
      const ApiAnswer now = api.get(claim_path(grant.api, grant.claim.meta));
      if (now.status == kNoSuchClaim) {
        return {.status = kNoSuchClaim, .problem = "its ResourceClaim is gone"};
      }
      if (!now.fine()) return {.unknown = true, .problem = now.problem};
      answer.body = now.body;
    }
    auto next = read_claim(json::parse(answer.body, nullptr, false));
    if (!next) return {.unknown = true, .problem = "the answer is no ResourceClaim"};
    claim = std::move(*next);
  }
  if (is_granted(claim, grant)) return {};
  if (!answer.fine()) return answer;
  return {.status = kClaimChanged,
          .problem = fmt::format("somebody else changes its ResourceClaim {}, too",
                                 grant.claim.meta.name)};
}

}  // namespace goban::live::engine::kubernetes
