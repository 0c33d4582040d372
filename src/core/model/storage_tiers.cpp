#include "core/model/storage_tiers.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::core::model {
namespace {

constexpr int64_t kStreamsMax = 64;

/// The path is a prefix of what is written and removed: it has one meaning, whatever follows.
bool is_plain_folder(const std::string& path) {
  if (path.size() < 2 || path[0] != '/' || path.ends_with('/')) return false;
  const std::string ended = path + "/";
  return ended.find("//") == std::string::npos && ended.find("/./") == std::string::npos &&
         ended.find("/../") == std::string::npos;
}

}  // namespace

double StorageTiers::copy_bytes_per_s() const {
  const double from = slow ? slow->bandwidth_bytes_per_s : 0;
  const double to = fast ? fast->bandwidth_bytes_per_s : 0;
  if (from == 0 || to == 0) return std::max(from, to);
  return std::min(from, to);
}

StorageTiers read_storage_tiers(base::TableReader& root) {
  StorageTiers tiers;
  for (base::TableReader& table : root.tables("tier")) {
    table.require("name", "name the tier");
    table.require("kind", "\"slow\" or \"fast\"");
    StorageTier tier;
    tier.name = table.text("name");
    const std::string kind = table.text("kind");
    tier.path = table.text("path");
    tier.size_bytes = table.bytes("size");
    tier.bandwidth_bytes_per_s = table.bandwidth("bandwidth");
    tier.gateway = table.text("gateway");
    tier.streams = static_cast<int32_t>(table.whole("streams", 1, kStreamsMax, 1));
    tier.copy_limit_bytes_per_s = table.bandwidth("copy_limit");
    const bool is_fast = kind == "fast";
    if (!is_fast && kind != "slow" && table.has("kind")) {
      table.refuse("kind", fmt::format("\"{}\" is not a kind of tier", kind),
                   "must be \"slow\" or \"fast\"");
    }
    if (is_fast && tier.size_bytes <= 0) {
      table.refuse("size", "is missing or zero",
                   "give the size of the fast tier, such as \"10 TB\"");
    }
    if (!tier.path.empty() && !is_plain_folder(tier.path)) {
      table.refuse("path", fmt::format("\"{}\" is not an absolute path of a folder", tier.path),
                   "write it without . and .. and without / at its end");
    }
    if (tier.gateway.starts_with('-')) {
      table.refuse("gateway", fmt::format("\"{}\" would be read as an option", tier.gateway),
                   "write the name of a node");
    }
    for (const char* key : {"gateway", "streams", "copy_limit"}) {
      if (!is_fast && table.has(key)) {
        table.refuse(key, "is of the fast tier", "move it there: it says who fills that tier");
      }
    }
    std::optional<StorageTier>& place = is_fast ? tiers.fast : tiers.slow;
    if (place && table.has("kind")) {
      table.refuse("kind", fmt::format("{} and {} are both {}", place->name, tier.name, kind),
                   "give one slow and one fast tier");
    }
    if (tiers.slow && tiers.slow->name == tier.name && is_fast) {
      table.refuse("name", fmt::format("two tiers are named {}", tier.name),
                   "names must be unique");
    }
    table.finish();
    place = std::move(tier);
  }
  return tiers;
}

base::Result<StorageTiers> parse_storage_tiers(std::string_view toml, const std::string& file) {
  const auto document = base::parse_config(toml, file);
  if (!document) return base::failure(document.error());
  base::ConfigProblems problems(file);
  base::TableReader root(*document, "", problems);
  StorageTiers tiers = read_storage_tiers(root);
  if (auto status = problems.status(); !status) return base::failure(status.error());
  return tiers;
}

}  // namespace goban::core::model
