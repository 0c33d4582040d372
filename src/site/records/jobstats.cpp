#include "site/records/jobstats.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/gzip.hpp"

namespace goban::site::records {
namespace {

using nlohmann::json;

constexpr std::string_view kMark = "JS1:";
constexpr size_t kJsonBytesMax = size_t{16} << 20;
constexpr int64_t kMemBytesMax = int64_t{1} << 60;

/// A member that is a number >= 0; none if it is missing or is not one.
std::optional<double> number_of(const json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const auto value = found->get<double>();
  if (!(value >= 0 && value < 1e15)) return std::nullopt;
  return value;
}

std::optional<double> of_gpu(const json& node, const char* what, const std::string& gpu) {
  const auto found = node.find(what);
  if (found == node.end() || !found->is_object()) return std::nullopt;
  return number_of(*found, gpu);
}

int64_t bytes_or_unknown(std::optional<double> value) {
  return value ? static_cast<int64_t>(*value) : -1;
}

}  // namespace

Jobstats::Outcome Jobstats::parse(std::string_view comment) {
  gpus_.clear();
  names_.clear();
  mem_bytes_max_ = -1;
  cpu_s_ = -1;
  if (!comment.starts_with(kMark)) return Outcome::NotThere;
  comment.remove_prefix(kMark.size());
  if (comment.empty() || comment == "Short" || comment == "None") return Outcome::NotThere;
  const auto packed = base::from_base64(comment);
  const auto text = packed ? base::gunzip(*packed, kJsonBytesMax) : std::nullopt;
  if (!text) return Outcome::Damaged;
  const json root = json::parse(*text, nullptr, false);
  if (!root.is_object()) return Outcome::Damaged;
  const auto nodes = root.find("nodes");
  if (nodes == root.end() || !nodes->is_object()) return Outcome::Damaged;

  struct Found {
    size_t node;
    size_t gpu;
    HeldGpu use;
  };
  std::vector<Found> found;
  for (const auto& [host, node] : nodes->items()) {
    if (!node.is_object()) return Outcome::Damaged;
    names_.push_back(host);
    const size_t node_name = names_.size() - 1;
    if (const auto mem = number_of(node, "used_memory")) {
      mem_bytes_max_ =
          std::min(std::max<int64_t>(mem_bytes_max_, 0) + static_cast<int64_t>(*mem), kMemBytesMax);
    }
    if (const auto cpu = number_of(node, "total_time")) cpu_s_ = std::max(cpu_s_, 0.0) + *cpu;
    // The memory lists name every GPU of the job; the utilisation lists only those with samples.
    for (const char* list : {"gpu_total_memory", "gpu_utilization"}) {
      const auto gpus = node.find(list);
      if (gpus == node.end() || !gpus->is_object()) continue;
      for (const auto& [gpu, value] : gpus->items()) {
        const bool known = std::ranges::any_of(found, [&](const Found& each) {
          return each.node == node_name && names_[each.gpu] == gpu;
        });
        if (known) continue;
        names_.push_back(gpu);
        HeldGpu use;
        if (const auto util = of_gpu(node, "gpu_utilization", gpu)) {
          use.util_pct = static_cast<float>(*util);
        }
        use.mem_used_bytes = bytes_or_unknown(of_gpu(node, "gpu_used_memory", gpu));
        use.mem_total_bytes = bytes_or_unknown(of_gpu(node, "gpu_total_memory", gpu));
        found.push_back({node_name, names_.size() - 1, use});
      }
    }
  }
  for (const Found& each : found) {
    gpus_.push_back(each.use);
    gpus_.back().node = names_[each.node];
    gpus_.back().gpu = names_[each.gpu];
  }
  return Outcome::Read;
}

}  // namespace goban::site::records
