// Dynamic resource allocation (resource.k8s.io): devices that drivers publish in slices, and claims
// of pods to them. All of it is untrusted, like all of Kubernetes' objects. Versions v1 and v1beta2
// wrap a request in `exactly`; v1beta1 does not, and wraps a device in `basic`. Both are read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "live/engine/kubernetes/objects.hpp"

namespace goban::live::engine::kubernetes {

struct Device {
  std::string name{};
  int32_t index = -1;  ///< attribute `index`; -1: it has none
  std::string model{};
  int64_t mem_bytes = 0;
};

/// Devices of one node; those of several nodes have an empty `node`.
struct Slice {
  Meta meta{};
  std::string driver{};
  std::string pool{};
  std::string node{};
  int64_t generation = 0;  ///< of the pool; older slices do not count any more
  /// Whole GPUs: no part of one, nothing that shares counters with a part, without taints.
  std::vector<Device> devices{};
};

struct DeviceClass {
  Meta meta{};
  std::string config{};  ///< a JSON array; empty: none
};

struct DeviceRequest {
  std::string name{};
  std::string device_class{};
  int32_t count = 1;
};

struct DeviceResult {
  std::string request{};
  std::string driver{};
  DeviceName device{};
  friend bool operator==(const DeviceResult&, const DeviceResult&) = default;
};

struct Claim {
  Meta meta{};
  std::vector<DeviceRequest> requests{};
  std::string unclear{};  ///< what it asks for and Goban does not carry out
  std::string config{};   ///< a JSON array; empty: none
  std::vector<std::string> finalizers{};
  bool is_allocated = false;
  std::vector<DeviceResult> results{};  ///< without those for monitoring (adminAccess)
  std::vector<std::string> users{};     ///< uids of pods that it is reserved for; "": of others
  bool is_of_pod = false;               ///< made from a template for one pod, and ends with it
};

/// It is reserved for nobody, or for the pod with this uid alone.
[[nodiscard]] bool is_free_for(const Claim& claim, const std::string& pod);

/// nullopt: not an object of this kind, or it has no name or uid.
[[nodiscard]] std::optional<Slice> read_slice(const nlohmann::json& object);
[[nodiscard]] std::optional<DeviceClass> read_device_class(const nlohmann::json& object);
[[nodiscard]] std::optional<Claim> read_claim(const nlohmann::json& object);

/// The newest version that is served and understood, as a path; `group`: the body of
/// GET /apis/resource.k8s.io. Empty: none.
[[nodiscard]] std::string devices_api_of(std::string_view group);

/// What keeps a claim that is in use; the claim's controller removes it, and the allocation with
/// it.
inline constexpr std::string_view kClaimFinalizer = "resource.kubernetes.io/delete-protection";

}  // namespace goban::live::engine::kubernetes
