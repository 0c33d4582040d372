// Facts from helper metrics: at which times a node's samples are stale, and the index of a UUID.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "site/series/input/adapter.hpp"

namespace goban::site::series {

class SideFacts {
 public:
  /// Adds a line of a helper metric (role Freshness, Success or Index).
  void add(const Adapter& helper, const DeviceKey& device, int64_t time_ms, double value);
  /// Call after the last add().
  void sort();

  /// True if the measurement of a sample was served before (the freshness value has not advanced
  /// since the previous sampling), or failed. Nodes without such facts are never stale.
  [[nodiscard]] bool stale(const Adapter& adapter, const std::string& node, int64_t time_ms) const;
  /// Sets the index of a GPU that has only a UUID.
  void complete(DeviceKey& device) const;

 private:
  struct Moment {
    int64_t time_ms = 0;
    double value = 0;
  };
  struct Moments {
    Role role = Role::Freshness;
    std::vector<Moment> of_node;
  };
  /// By helper metric and node; 16 bytes per sampling of a node.
  std::map<std::pair<std::string, std::string>, Moments> moments_;
  std::map<std::string, std::string> index_of_uuid_;
};

}  // namespace goban::site::series
