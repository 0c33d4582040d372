// Facts from helping metrics: which moments of a node are stale, which index a UUID has.
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
  /// Takes a line of a helping metric (role Freshness, Success or Index).
  void add(const Adapter& helper, const DeviceKey& device, int64_t time_ms, double value);
  /// After the last add().
  void sort();

  /// Whether the measurement behind a sample was served before (the freshness at that time is what
  /// it was at the sampling before), or failed. Nodes without such facts are never stale.
  [[nodiscard]] bool stale(const Adapter& adapter, const std::string& node, int64_t time_ms) const;
  /// Fills in the index of a GPU that has only a UUID.
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
  /// By helping metric and node; 16 bytes a sampling of a node.
  std::map<std::pair<std::string, std::string>, Moments> moments_;
  std::map<std::string, std::string> index_of_uuid_;
};

}  // namespace goban::site::series
