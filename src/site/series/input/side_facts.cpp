#include "site/series/input/side_facts.hpp"

#include <algorithm>

namespace goban::site::series {

void SideFacts::add(const Adapter& helper, const DeviceKey& device, int64_t time_ms, double value) {
  constexpr double kGpusMax = 4096;
  if (helper.role == Role::Sample || helper.role == Role::NotAvailable) return;
  if (helper.role == Role::Index) {
    if (value >= 0 && value < kGpusMax && !device.uuid.empty()) {
      index_of_uuid_[device.uuid] = std::to_string(static_cast<int>(value));
    }
    return;
  }
  Moments& moments = moments_[{helper.name, device.node}];
  moments.role = helper.role;
  moments.of_node.push_back({time_ms, value});
}

void SideFacts::sort() {
  for (auto& [key, moments] : moments_) {
    std::ranges::stable_sort(moments.of_node, {}, &Moment::time_ms);
    const auto repeated = std::ranges::unique(moments.of_node, {}, &Moment::time_ms);
    moments.of_node.erase(repeated.begin(), repeated.end());
  }
}

bool SideFacts::stale(const Adapter& adapter, const std::string& node, int64_t time_ms) const {
  if (adapter.freshness.empty()) return false;
  const auto found = moments_.find({adapter.freshness, node});
  if (found == moments_.end()) return false;
  const auto& moments = found->second.of_node;
  const auto behind = std::ranges::upper_bound(moments, time_ms, {}, &Moment::time_ms);
  if (behind == moments.begin()) return false;
  const auto scraped = std::prev(behind);  // scraped together with the sample
  if (found->second.role == Role::Success) return scraped->value == 0;
  return scraped != moments.begin() && scraped->value <= std::prev(scraped)->value;
}

void SideFacts::complete(DeviceKey& device) const {
  if (!device.device.empty() || device.uuid.empty()) return;
  if (const auto found = index_of_uuid_.find(device.uuid); found != index_of_uuid_.end()) {
    device.device = found->second;
  }
}

}  // namespace goban::site::series
