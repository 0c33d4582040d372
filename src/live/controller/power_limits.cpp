#include "live/controller/power_limits.hpp"

#include <nlohmann/json.hpp>

#include "live/controller/id_fields.hpp"

namespace goban::live::controller {

Order PowerLimits::set(GpuId gpu, int8_t cap) {
  capped_.insert(gpu);
  return order(gpu, cap);
}

CapGpu PowerLimits::order(GpuId gpu, int8_t cap) const {
  const Site& site = core_.site();
  CapGpu out{.gpu = place_of(site.cluster, gpu), .watts = 0};
  if (cap < 0 || site.knowledge == nullptr || site.knowledge->power.empty()) return out;
  const uint32_t gpu_model = site.cluster.node(site.cluster.node_of(gpu)).gpu_model;
  const auto& caps = site.knowledge->power[gpu_model].caps;
  if (static_cast<size_t>(cap) < caps.size()) out.watts = caps[static_cast<size_t>(cap)].cap_w;
  return out;
}

std::vector<Order> PowerLimits::all() const {
  std::vector<Order> found;
  for (const GpuId gpu : capped_) found.emplace_back(order(gpu, core_.cap_of(gpu)));
  return found;
}

void PowerLimits::renumber(const core::scheduler::ClusterNumbers& numbers) {
  std::set<GpuId> moved;
  for (const GpuId gpu : capped_) {
    if (numbers.gpus[gpu.index()].valid()) moved.insert(numbers.gpus[gpu.index()]);
  }
  capped_ = std::move(moved);
}

void PowerLimits::write(nlohmann::json& snapshot) const {
  // A policy without power limits has already lifted those of its predecessor.
  if (!capped_.empty() && core_.caps_power()) snapshot["capped"] = numbers_of(capped_);
}

void PowerLimits::read(base::FieldReader& snapshot) {
  read_ids(snapshot, "capped", capped_, core_.site().cluster.num_gpus());
}

}  // namespace goban::live::controller
