// Parses an allocation line of sacct: names, times, sizes, limits. Measurements from steps and
// comments are in slurm.cpp.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "site/records/accounting_record.hpp"
#include "site/records/clock_reader.hpp"
#include "site/records/formats/slurm_header.hpp"
#include "site/records/record_reader.hpp"
#include "site/records/slurm_fields.hpp"

namespace goban::site::records {

/// GPUs per node by partition, from `name=count`; the names are views of the entries.
using GpusPerNode = std::unordered_map<std::string_view, int64_t>;
/// Errors: Usage.
[[nodiscard]] base::Result<GpusPerNode> parse_gpus_per_node(
    const std::vector<std::string>& entries);

class SlurmAllocation {
 public:
  /// `site` must outlive the object.
  SlurmAllocation(base::TimeZone zone, GpusPerNode gpus_per_node, const SiteOptions& site)
      : clock_(std::move(zone)), gpus_per_node_(std::move(gpus_per_node)), site_(site) {}

  /// Fills a default record from the line that `header` split last; returns what is wrong, empty =
  /// nothing. Its texts are views of the line, and of this object until the next call.
  [[nodiscard]] std::string parse(const SlurmHeader& header, const SlurmJobId& id,
                                  AccountingRecord& job);

  /// Remarks for the user on times, and on GPUs.
  void note_times(std::vector<std::string>& out) const;
  void note_gpus(std::vector<std::string>& out) const;

 private:
  std::string parse_names(const SlurmHeader& header, AccountingRecord& job);
  std::string parse_moment(const SlurmHeader& header, SlurmColumn column, std::string_view name,
                           Moment& moment);
  std::string parse_times(const SlurmHeader& header, AccountingRecord& job);
  std::string parse_sizes(const SlurmHeader& header, AccountingRecord& job);
  void parse_gpus(const SlurmHeader& header, AccountingRecord& job);
  void parse_memory(const SlurmHeader& header, AccountingRecord& job);

  ClockReader clock_;
  GpusPerNode gpus_per_node_;
  const SiteOptions& site_;
  SlurmTres tres_;
  std::string gpu_type_;  ///< of the record filled last
  int64_t inferred_gpus_ = 0;
  bool any_gpus_ = false;
};

}  // namespace goban::site::records
