#include "site/series/holdings.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace goban::site::series {
namespace {

void add_block(Holding& holding, const BlockRef& block) {
  ++holding.blocks;
  holding.first_ms = std::min(holding.first_ms, block.head.start_ms);
  holding.last_ms = std::max(holding.last_ms, block.head.last_ms());
  uint64_t known = 0;
  const auto view = StoreReader::view(block);
  const bool good = view && view->for_each_hour([&](const Hour& hour) {
    holding.values += hour.values;
    holding.not_available += hour.not_available;
    holding.stale += hour.stale;
    known += hour.values + hour.not_available + hour.stale;
    return true;
  });
  holding.damaged_blocks += good ? 0 : 1;
  holding.missing += block.head.slots - std::min<uint64_t>(known, block.head.slots);
}

base::Result<Holding> holding_of(const std::string& store, const MetricInfo& metric) {
  const auto reader = StoreReader::open(store, metric.metric);
  if (!reader) return base::failure(reader.error());
  Holding holding;
  holding.metric = &metric;
  holding.devices = reader->tracks().size();
  holding.bytes = reader->file_bytes();
  holding.step_ms = reader->step_ms();
  holding.damage = reader->damage();
  std::vector<std::string_view> nodes;
  for (const Track& track : reader->tracks()) {
    nodes.push_back(track.device.node);
    for (const BlockRef& block : track.blocks) add_block(holding, block);
  }
  std::ranges::sort(nodes);
  holding.nodes = static_cast<size_t>(std::ranges::unique(nodes).begin() - nodes.begin());
  return holding;
}

}  // namespace

base::Result<std::vector<Holding>> store_holdings(const std::string& store) {
  std::vector<Holding> out;
  for (const MetricInfo& metric : metrics()) {
    auto holding = holding_of(store, metric);
    if (!holding) return base::failure(holding.error());
    if (holding->blocks > 0 || !holding->damage.empty()) out.push_back(std::move(*holding));
  }
  return out;
}

}  // namespace goban::site::series
