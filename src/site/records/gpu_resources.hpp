// Which requested resources are GPUs: names differ between sites.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::site::records {

/// What the requested amount of a resource is multiplied by.
enum class CountedBy : uint8_t { Job, Slot, Host };

/// A resource that jobs request, such as `gpu=2` or ABCI's `rt_F=16`.
struct GpuResource {
  std::string name;
  int64_t gpus = 1;           ///< per unit; 0 = a resource type without GPUs
  std::string resource_type;  ///< of jobs that request it; empty = GPUs only
  CountedBy counted_by = CountedBy::Job;
};

/// The resources of a site, followed by the built-in ones: `gpu`, `gpus`, `ngpus`, and ABCI's
/// `rt_F=4:Full`, `rt_G.large=4:G.large`, `rt_G.small=1:G.small`, `rt_C.large=0:C.large`,
/// `rt_C.small=0:C.small`.
class GpuResources {
 public:
  /// Entries `NAME=GPUS[:TYPE][*slots|*hosts]`. Errors: Usage.
  [[nodiscard]] static base::Result<GpuResources> parse(std::span<const std::string> entries);
  /// Null if the name does not stand for GPUs.
  [[nodiscard]] const GpuResource* find(std::string_view name) const;

 private:
  std::vector<GpuResource> resources_;
};

}  // namespace goban::site::records
