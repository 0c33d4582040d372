// Storage tiers of a cluster file: where data lies, and where jobs read it. In the cluster file:
//
//   [[tier]]
//   name = "lustre"              # *
//   kind = "slow"                # * "slow": large, data lies there; "fast": jobs read there
//   path = "/lustre"             # informs users; the fast tier's is required for goban serve
//   size = "10000 TB"               # * of the fast tier
//   bandwidth = "8 GB/s"         # of all copies together; required for goban simulate
//   gateway = "gw1"              # of the fast tier: the node that copies; default: this machine
//   streams = 2                  # of the fast tier: copies at a time; default 1
//   copy_limit = "1 GB/s"        # of the fast tier: most of one copy; default: no limit
//
// At most one tier of each kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/config.hpp"
#include "base/result.hpp"

namespace goban::core::model {

struct StorageTier {
  std::string name{};
  std::string path{};
  int64_t size_bytes = 0;            ///< 0 = unknown
  double bandwidth_bytes_per_s = 0;  ///< 0 = unknown
  std::string gateway{};             ///< empty: this machine
  int32_t streams = 1;
  double copy_limit_bytes_per_s = 0;  ///< 0 = none
  friend bool operator==(const StorageTier&, const StorageTier&) = default;
};

struct StorageTiers {
  std::optional<StorageTier> slow{};
  std::optional<StorageTier> fast{};
  /// Bytes a second between both: the lower bandwidth; 0 = unknown.
  [[nodiscard]] double copy_bytes_per_s() const;
  friend bool operator==(const StorageTiers&, const StorageTiers&) = default;
};

/// Reads the tables [[tier]]; problems go to the reader.
[[nodiscard]] StorageTiers read_storage_tiers(base::TableReader& root);
/// The tiers of a cluster file, whose other keys are not read. Errors: BadData with line, field and
/// remedy.
[[nodiscard]] base::Result<StorageTiers> parse_storage_tiers(std::string_view toml,
                                                             const std::string& file);

}  // namespace goban::core::model
