#include "core/knowledge/measure/fleet_book.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"
#include "core/knowledge/measure/findings.hpp"

namespace goban::core::knowledge {

namespace {

constexpr size_t kPlacesMax = 1024;  // GPUs of a node
constexpr size_t kUuidBytesMax = 256;

std::string fleet_uuid(const std::string& node, const std::string& uuid) {
  return uuid.starts_with("GPU-") || uuid.starts_with("MIG-") ? uuid : node + "/" + uuid;
}

}  // namespace

void add_node(MeasureBook& fleet, GpuPlaces& places, const std::string& node,
              const MeasureBook& measured) {
  std::vector<std::string>& uuids = places[node];
  uuids.clear();
  for (const GpuBook& gpu : measured.gpus) {
    const std::string uuid = fleet_uuid(node, gpu.uuid);
    uuids.push_back(uuid);
    GpuBook& known = fleet.of(uuid);
    known.name = gpu.name;
    for (const GpuSession& session : gpu.sessions) add_session(known, session);
  }
  const bool is_first = fleet.since_unix_s == 0;
  if (is_first) fleet.since_unix_s = measured.since_unix_s;
  fleet.spent_s += measured.spent_s;
}

int64_t measured_unix_s(const MeasureBook& fleet, const GpuPlaces& places, const FleetNode& node) {
  const auto found = places.find(node.name);
  if (found == places.end() || std::ssize(found->second) != node.num_gpus) return 0;
  int64_t oldest = kUnixMax_s;
  for (const std::string& uuid : found->second) {
    const GpuBook* gpu = fleet.find(uuid);
    if (gpu == nullptr || gpu->sessions.empty()) return 0;
    oldest = std::min(oldest, gpu->sessions.back().unix_s);
  }
  return found->second.empty() ? 0 : oldest;
}

std::vector<std::vector<double>> fleet_scores(const MeasureBook& fleet, const GpuPlaces& places,
                                              std::span<const FleetNode> nodes,
                                              int64_t now_unix_s) {
  std::vector<GpuNow> gpus;
  for (const FleetNode& node : nodes) {
    const auto found = places.find(node.name);
    for (int32_t i = 0; i < node.num_gpus; ++i) {
      GpuNow& gpu = gpus.emplace_back();
      if (found == places.end() || static_cast<size_t>(i) >= found->second.size()) continue;
      gpu.uuid = found->second[static_cast<size_t>(i)];
      // What its driver is now is known by the next measurement alone.
      const GpuBook* known = fleet.find(gpu.uuid);
      if (known != nullptr && !known->sessions.empty()) {
        gpu.condition = known->sessions.back().condition;
      }
    }
  }
  return raw_by_class(scores_of(fleet, gpus, now_unix_s));
}

std::string places_path(const std::string& scores_path) {
  const std::string book = book_path(scores_path);
  constexpr std::string_view kBook = ".profile.json";
  return book.substr(0, book.size() - kBook.size()) + ".places.json";
}

std::string to_json(const GpuPlaces& places) {
  nlohmann::json out = {{"version", 1}, {"nodes", nlohmann::json::object()}};
  for (const auto& [node, uuids] : places) out["nodes"][node] = uuids;
  return out.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + '\n';
}

base::Result<GpuPlaces> parse_places(std::string_view json, const std::string& file) {
  const auto document = base::parse_json(json, file);
  if (!document) return base::failure(document.error());
  GpuPlaces out;
  base::FieldReader in(*document, "");
  int64_t version = 0;
  in.field("version", version, int64_t{1}, int64_t{1});
  if (in.good() && version != 1) in.fail("version", "is missing");
  const nlohmann::json* nodes = in.find("nodes");
  const bool has_nodes = nodes != nullptr && nodes->is_object();
  if (in.good() && !has_nodes) in.fail("nodes", "must be an object");
  if (in.good() && has_nodes) {
    in.within(*nodes, "nodes", [&](base::FieldReader& part) {
      for (const auto& [node, uuids] : nodes->items()) {
        std::vector<std::string>& into = out[node];
        part.field(node.c_str(), into);
        const bool fits =
            into.size() <= kPlacesMax && std::ranges::all_of(into, [](const std::string& uuid) {
              return uuid.size() <= kUuidBytesMax;
            });
        if (part.good() && !fits) part.fail(node, "has too many or too long UUIDs");
      }
    });
  }
  if (auto status = in.status(file); !status) return base::failure(status.error());
  return out;
}

}  // namespace goban::core::knowledge
