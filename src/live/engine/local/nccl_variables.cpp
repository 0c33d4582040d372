#include "live/engine/local/nccl_variables.hpp"

#include <algorithm>

#include "base/topology/nccl_advice.hpp"

namespace goban::live::engine::local {
namespace {

bool uses_nccl(const RunOrder& order) {
  return order.gpus.size() > 1 &&
         std::ranges::none_of(order.gpus, &base::gpus::LocalGpu::is_virtual);
}

}  // namespace

std::map<std::string, std::string> nccl_variables(const RunOrder& order,
                                                  const base::topology::NodeFacts& facts) {
  std::map<std::string, std::string> out;
  if (!uses_nccl(order)) return out;
  const auto topology = base::topology::topology_of(facts);
  if (!topology) return out;
  for (const auto& each : base::topology::nccl_advice(*topology, {}).set) {
    out[each.name] = each.value;
  }
  return out;
}

std::map<std::string, std::string> nccl_variables(const RunOrder& order) {
  if (!uses_nccl(order)) return {};
  // The driver's table names ways; what is derived needs none that hwloc does not know.
  const auto facts = base::topology::read_machine(base::topology::Driver::Skip);
  return facts ? nccl_variables(order, *facts) : std::map<std::string, std::string>{};
}

}  // namespace goban::live::engine::local
