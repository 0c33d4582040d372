// Assigns jobs to GPUs of nodes, first come, first served.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

namespace goban::study::history {

struct PlacedGpu {
  int32_t node = 0;
  int32_t gpu = 0;
};

/// Nodes with four GPUs. Whole-node jobs take empty nodes; one-GPU jobs fill partly used nodes
/// first.
class Placement {
 public:
  static constexpr int32_t kGpusPerNode = 4;
  explicit Placement(int32_t nodes);

  struct Start {
    int64_t start_s = 0;
    std::vector<PlacedGpu> gpus;
  };
  /// Starts a job of `nodes` whole nodes, or of one GPU if nodes is 0, at the earliest time from
  /// `submit_s` and the previous start on at which it fits. `nodes` must not exceed the number of
  /// nodes.
  [[nodiscard]] Start start(int64_t submit_s, int64_t duration_s, int32_t nodes);

 private:
  struct Release {
    int64_t at_s = 0;
    int32_t node = 0;
    uint8_t mask = 0;
    friend bool operator>(const Release& a, const Release& b) { return a.at_s > b.at_s; }
  };
  void release_until(int64_t time_s);
  [[nodiscard]] bool has_room(int32_t nodes);
  PlacedGpu take_one();
  int32_t take_node();

  std::vector<uint8_t> busy_;   ///< mask of GPUs, by node
  std::vector<int32_t> empty_;  ///< empty nodes; may contain nodes that no longer are
  std::vector<int32_t> begun_;  ///< the same for nodes with a free and a busy GPU
  int32_t num_empty_ = 0;
  std::priority_queue<Release, std::vector<Release>, std::greater<>> releases_;
  int64_t now_s_ = 0;
};

}  // namespace goban::study::history
