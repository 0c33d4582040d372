// Which GPUs of which nodes jobs get, first come, first served.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

namespace goban::study::history {

struct PlacedGpu {
  int32_t node = 0;
  int32_t gpu = 0;
};

/// Nodes with four GPUs. Whole-node jobs take empty nodes, one-GPU jobs fill up begun nodes first.
class Placement {
 public:
  static constexpr int32_t kGpusPerNode = 4;
  explicit Placement(int32_t nodes);

  struct Start {
    int64_t start_s = 0;
    std::vector<PlacedGpu> gpus;
  };
  /// Starts a job of `nodes` whole nodes, or of one GPU if nodes is 0, at `submit_s` or as soon
  /// after it and after the job before as there is room. nodes must be at most those there are.
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
  std::vector<int32_t> empty_;  ///< nodes that are empty; some are not any more
  std::vector<int32_t> begun_;  ///< nodes with a free and a busy GPU; some are not any more
  int32_t num_empty_ = 0;
  std::priority_queue<Release, std::vector<Release>, std::greater<>> releases_;
  int64_t now_s_ = 0;
};

}  // namespace goban::study::history
