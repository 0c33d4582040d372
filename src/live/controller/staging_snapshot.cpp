// What of the staging is kept in a snapshot besides the jobs: the contents of
// the fast tier.
#include <limits>
#include <nlohmann/json.hpp>

#include "live/controller/staging.hpp"

namespace goban::live::controller {

using core::staging::DataItem;
using core::staging::FastTier;
using nlohmann::json;
using Stage = JobStaging::Stage;

void Staging::write(json& snapshot) const {
  if (tier_.entries().empty()) return;
  for (const auto& [key, entry] : tier_.entries()) {
    json one{{"key", key}, {"bytes", entry.bytes}, {"used", entry.used_ns}};
    if (entry.is_there) one["there"] = true;
    if (entry.is_leaving) one["leaving"] = true;
    const auto actor = actors_.find(key);
    if (actor != actors_.end()) {
      one["owner"] = {
          {"uid", actor->second.uid}, {"gid", actor->second.gid}, {"user", actor->second.user}};
    }
    snapshot["staged"].push_back(std::move(one));
  }
}

void Staging::read(base::FieldReader& snapshot) {
  std::map<std::string, uint32_t> users;
  for (const auto& [id, job] : book_.jobs) {
    const JobStaging& staging = job.staging;
    if (staging.is_staging_in() || staging.stage == Stage::Out || staging.is_ordered)
      active_.insert(id);
    if (!staging.keeps) continue;
    std::set<std::string> keys;
    for (const DataItem& item : staging.items) keys.insert(item.key);
    for (const std::string& key : keys) ++users[key];
  }
  snapshot.list("staged", [&](base::FieldReader& in) {
    constexpr uint32_t kIdMax = std::numeric_limits<uint32_t>::max();
    std::string key;
    FastTier::Entry entry;
    in.field("key", key);
    in.field("bytes", entry.bytes, int64_t{0}, int64_t{1} << 62);
    in.field("used", entry.used_ns, TimeNs{0}, base::kNever);
    in.field("there", entry.is_there);
    in.field("leaving", entry.is_leaving);
    job::Owner actor;
    in.object("owner", [&](base::FieldReader& part) {
      part.field("uid", actor.uid, uint32_t{0}, kIdMax);
      part.field("gid", actor.gid, uint32_t{0}, kIdMax);
      part.field("user", actor.user);
    });
    if (!in.good()) return;
    const auto used = users.find(key);
    if (used != users.end()) entry.users = used->second;
    if (entry.users > 0) entry.is_leaving = false;
    actors_.emplace(key, std::move(actor));
    tier_.restore(key, entry);
  });
}

}  // namespace goban::live::controller
