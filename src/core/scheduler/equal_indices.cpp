#include "core/scheduler/equal_indices.hpp"

#include <array>
#include <bit>
#include <map>

namespace goban::core::scheduler {

namespace {

constexpr uint32_t kAllSets = 16;  ///< GPUs of a node of which every set is tried

/// A set of GPU indices, of which a node has at most 255.
class Indices {
 public:
  void insert(uint32_t index) { words_[index / kBits] |= uint64_t{1} << (index % kBits); }
  [[nodiscard]] bool contains(uint32_t index) const {
    return (words_[index / kBits] >> (index % kBits) & 1U) != 0;
  }
  [[nodiscard]] bool covers(const Indices& other) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != other.words_[i]) return false;
    }
    return true;
  }
  [[nodiscard]] std::vector<uint32_t> list() const {
    std::vector<uint32_t> out;
    for (uint32_t i = 0; i < kBits * words_.size(); ++i) {
      if (contains(i)) out.push_back(i);
    }
    return out;
  }
  friend auto operator<=>(const Indices&, const Indices&) = default;

 private:
  static constexpr uint32_t kBits = 64;
  std::array<uint64_t, 4> words_{};
};

Indices of_bits(uint32_t bits) {
  Indices out;
  for (; bits != 0; bits &= bits - 1) out.insert(static_cast<uint32_t>(std::countr_zero(bits)));
  return out;
}

/// The next number with as many bits (Gosper).
uint32_t next_set(uint32_t set) {
  const uint32_t low = set & (~set + 1);
  const uint32_t ripple = set + low;
  return ripple | (((set ^ ripple) >> 2U) / low);
}

}  // namespace

std::optional<std::vector<uint32_t>> first_equal(const model::Cluster& cluster,
                                                 const model::FreeGpus& free, int32_t count,
                                                 int32_t nodes) {
  const uint32_t most = cluster.node_gpus_max();
  const auto size = static_cast<uint32_t>(count);
  if (count < 1 || size > most) return std::nullopt;
  std::map<Indices, int32_t> kinds;  // equal nodes are counted together
  for (uint32_t i = 0; i < cluster.nodes().size(); ++i) {
    if (free.on_node(model::NodeId(i)) < size) continue;
    const model::Node& node = cluster.nodes()[i];
    Indices has;
    for (uint32_t gpu = 0; gpu < node.num_gpus; ++gpu) {
      if (free.is_free(model::GpuId(node.first_gpu + gpu))) has.insert(gpu);
    }
    ++kinds[has];
  }
  const auto fits = [&](const Indices& wanted) {
    int32_t found = 0;
    for (const auto& [has, number] : kinds) found += has.covers(wanted) ? number : 0;
    return found >= nodes;
  };
  if (most <= kAllSets) {
    for (uint32_t set = (1U << size) - 1; set < (1U << most); set = next_set(set)) {
      const Indices wanted = of_bits(set);
      if (fits(wanted)) return wanted.list();
    }
    return std::nullopt;
  }
  for (uint32_t first = 0; first + size <= most; ++first) {
    Indices wanted;
    for (uint32_t i = 0; i < size; ++i) wanted.insert(first + i);
    if (fits(wanted)) return wanted.list();
  }
  return std::nullopt;
}

}  // namespace goban::core::scheduler
