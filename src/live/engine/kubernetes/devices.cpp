#include "live/engine/kubernetes/devices.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/import/kubernetes_nodes.hpp"
#include "live/engine/kubernetes/object_fields.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using nlohmann::json;

constexpr int32_t kDevicesMost = 1024;
constexpr size_t kConfigMost = size_t{64} << 10;

/// An attribute, by its name with or without the driver's domain.
const json& attribute(const json& device, const std::string& driver, const char* name) {
  const json& all = member(device, "attributes");
  const json& plain = member(all, name);
  return plain.is_null() ? member(all, driver + "/" + name) : plain;
}

bool has_entries(const json& from, const char* name) {
  const json& found = member(from, name);
  return found.is_array() && !found.empty();
}

/// Drivers publish parts of GPUs beside whole ones, and say so by `type`.
bool is_whole_gpu(const json& device, const std::string& driver) {
  const std::string type = text_at(attribute(device, driver, "type"), "string");
  const bool is_gpu = type.empty() || type == "gpu" || type == "amdgpu";
  return is_gpu && !has_entries(device, "consumesCounters") && !has_entries(device, "taints");
}

int64_t memory_of(const json& device) {
  const json& value = member(member(member(device, "capacity"), "memory"), "value");
  if (!value.is_string() || value.get_ref<const std::string&>().size() > kNameMost) return 0;
  return core::model::parse_kubernetes_quantity(value.get<std::string>()).value_or(0);
}

void add_request(const json& from, Claim& claim) {
  const bool is_wrapped = member(from, "exactly").is_object();
  const json& wanted = is_wrapped ? member(from, "exactly") : from;
  DeviceRequest request{.name = text_at(from, "name"),
                        .device_class = text_at(wanted, "deviceClassName", kNameMost)};
  request.count = static_cast<int32_t>(whole_at(wanted, "count", 0, kDevicesMost, 1));
  const std::string mode = text_at(wanted, "allocationMode");
  if (!mode.empty() && mode != "ExactCount") claim.unclear = "a ResourceClaim to all devices";
  if (has_entries(from, "firstAvailable")) claim.unclear = "a ResourceClaim with alternatives";
  if (has_entries(wanted, "selectors")) claim.unclear = "a ResourceClaim with selectors";
  if (flag_at(wanted, "adminAccess")) claim.unclear = "a ResourceClaim with adminAccess";
  if (!member(wanted, "capacity").is_null())
    claim.unclear = "a ResourceClaim to a part of a device";
  claim.requests.push_back(std::move(request));
}

/// Its text, as it is copied into the allocation.
std::string config_of(const json& from, bool& too_long) {
  const json& config = member(from, "config");
  if (!config.is_array() || config.empty()) return {};
  std::string text = config.dump(-1, ' ', true, json::error_handler_t::replace);
  too_long = text.size() > kConfigMost;
  return too_long ? std::string() : text;
}

void read_allocation(const json& status, Claim& claim) {
  const json& allocation = member(status, "allocation");
  claim.is_allocated = allocation.is_object();
  for (const json& each : list_at(member(allocation, "devices"), "results")) {
    if (flag_at(each, "adminAccess")) continue;
    claim.results.push_back(
        {.request = text_at(each, "request"),
         .driver = text_at(each, "driver", kNameMost),
         .device = {.pool = text_at(each, "pool"), .name = text_at(each, "device", kNameMost)}});
  }
  for (const json& each : list_at(status, "reservedFor")) {
    const bool is_pod = text_at(each, "resource") == "pods";
    claim.users.push_back(is_pod ? text_at(each, "uid", kNameMost) : std::string());
  }
}

}  // namespace

std::optional<Slice> read_slice(const json& object) {
  Slice slice;
  if (!read_meta(object, slice.meta)) return std::nullopt;
  const json& spec = member(object, "spec");
  slice.driver = text_at(spec, "driver", kNameMost);
  slice.pool = text_at(member(spec, "pool"), "name");
  slice.generation = whole_at(member(spec, "pool"), "generation", 0, INT64_MAX, 0);
  slice.node = text_at(spec, "nodeName", kNameMost);
  for (const json& each : list_at(spec, "devices")) {
    const json& basic = member(each, "basic");
    const json& device = basic.is_object() ? basic : each;
    Device made{.name = text_at(each, "name", kNameMost)};
    if (made.name.empty() || !is_whole_gpu(device, slice.driver)) continue;
    made.index = static_cast<int32_t>(
        whole_at(attribute(device, slice.driver, "index"), "int", -1, kDevicesMost, -1));
    made.model = text_at(attribute(device, slice.driver, "productName"), "string");
    made.mem_bytes = memory_of(device);
    slice.devices.push_back(std::move(made));
  }
  return slice;
}

std::optional<DeviceClass> read_device_class(const json& object) {
  DeviceClass out;
  if (!read_meta(object, out.meta)) return std::nullopt;
  bool too_long = false;
  out.config = config_of(member(object, "spec"), too_long);
  return too_long ? std::nullopt : std::optional(std::move(out));
}

std::optional<Claim> read_claim(const json& object) {
  Claim claim;
  if (!read_meta(object, claim.meta)) return std::nullopt;
  const json& devices = member(member(object, "spec"), "devices");
  const json& requests = member(devices, "requests");
  if (requests.is_array() && requests.size() > kListMost) claim.unclear = "a ResourceClaim so long";
  for (const json& each : list_at(devices, "requests")) add_request(each, claim);
  if (has_entries(devices, "constraints")) claim.unclear = "a ResourceClaim with constraints";
  bool too_long = false;
  claim.config = config_of(devices, too_long);
  if (too_long) claim.unclear = "a ResourceClaim with so long a configuration";
  const json& meta = member(object, "metadata");
  for (const json& each : list_at(meta, "finalizers")) {
    if (each.is_string()) claim.finalizers.push_back(each.get<std::string>().substr(0, kTextMost));
  }
  for (const json& owner : list_at(meta, "ownerReferences")) {
    claim.is_of_pod = claim.is_of_pod || text_at(owner, "kind") == "Pod";
  }
  read_allocation(member(object, "status"), claim);
  return claim;
}

bool is_free_for(const Claim& claim, const std::string& pod) {
  return std::ranges::all_of(claim.users, [&](const std::string& user) { return user == pod; });
}

std::string devices_api_of(std::string_view group) {
  constexpr std::array kKnown = {"v1", "v1beta2", "v1beta1"};
  const json document = json::parse(group, nullptr, false);
  for (const char* version : kKnown) {
    const json& served = list_at(document, "versions");
    const bool is_served = std::ranges::any_of(
        served, [&](const json& each) { return text_at(each, "version") == version; });
    if (is_served) return fmt::format("/apis/resource.k8s.io/{}", version);
  }
  return {};
}

}  // namespace goban::live::engine::kubernetes
