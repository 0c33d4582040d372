// AdminComment of sites that run Jobstats (Princeton): means per GPU, measured by Prometheus.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "site/records/accounting_record.hpp"

namespace goban::site::records {

/// The GPUs of a job and their mean utilisation.
class Jobstats {
 public:
  enum class Outcome : uint8_t { NotThere, Read, Damaged };

  /// Parses `JS1:` + base64 of gzip of JSON. NotThere for other comments, and for `JS1:Short` and
  /// `JS1:None`, which Jobstats writes for jobs too short to measure.
  [[nodiscard]] Outcome parse(std::string_view admin_comment);
  /// Views are valid until the next parse.
  [[nodiscard]] const std::vector<HeldGpu>& gpus() const { return gpus_; }
  /// Peak host memory, summed over the nodes; -1 = unknown.
  [[nodiscard]] int64_t mem_bytes_max() const { return mem_bytes_max_; }
  [[nodiscard]] double cpu_s() const { return cpu_s_; }

 private:
  std::vector<HeldGpu> gpus_;
  std::vector<std::string> names_;  ///< of nodes and GPUs
  int64_t mem_bytes_max_ = -1;
  double cpu_s_ = -1;
};

}  // namespace goban::site::records
