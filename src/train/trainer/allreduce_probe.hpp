// Measures the bandwidth of all-reduces between the ranks, beside the link that they use.
#pragma once

#include <c10/core/Device.h>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"

namespace goban::train::trainer {

struct ProbeOptions {
  int64_t least_bytes = 1 << 12, most_bytes = 1 << 26;
  int repeats = 20;  ///< of each size; the fastest counts
};

/// One message size.
struct ProbeRow {
  int64_t bytes = 0;
  double seconds = 0;                ///< of one all-reduce, on the slowest rank
  double algorithm_bytes_per_s = 0;  ///< bytes / seconds
  /// 2 (n-1) / n of it: the rate on a link, comparable for any number of ranks.
  double bus_bytes_per_s = 0;
};

/// The link between two ranks and its rate.
struct Link {
  std::string name;
  double bytes_per_s = 0;  ///< 0: unknown
};

/// Sizes grow by factors of 4. Collective; all ranks get the same rows. Errors: those of the
/// communicator; Usage, for a single rank.
[[nodiscard]] base::Result<std::vector<ProbeRow>> probe_all_reduce(comm::Communicator& end,
                                                                   c10::Device device,
                                                                   const ProbeOptions& options);

/// The link of ranks on `device`: NVLink or PCIe between GPUs of this machine, its memory between
/// ranks on processors (measured by copying). `given_bytes_per_s` > 0 replaces it.
[[nodiscard]] Link link_of(c10::Device device, double given_bytes_per_s);

/// The table, and in its last line the share of the link that the largest message reached.
[[nodiscard]] std::string probe_text(const std::vector<ProbeRow>& rows, const Link& link,
                                     int ranks);
[[nodiscard]] std::string probe_json(const std::vector<ProbeRow>& rows, const Link& link,
                                     int ranks);

}  // namespace goban::train::trainer
