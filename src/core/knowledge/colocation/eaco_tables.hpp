// Tables 1 to 4 of EaCO (Haghshenas and Hashemi, arXiv 2412.08294v1): four models alone and six
// sets of them on one node of 8 V100, as a history and as reference of the power model.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/knowledge/colocation/colocation_history.hpp"
#include "core/knowledge/energy/power_model.hpp"

namespace goban::core::knowledge {

/// A row of one job alone or of a set. The tables name members J1, J2, ...
struct EacoRow {
  std::string set;    ///< "J1" or "J1+J3"
  std::string model;  ///< of a job alone, such as AlexNet
  double node_w = 0;
  double energy_kwh = 0;
  double jct_h = 0;  ///< of a set: the mean of its jobs
  double util_pct = 0;
  [[nodiscard]] std::vector<std::string> members() const;
};

/// The ten rows as published.
[[nodiscard]] std::vector<EacoRow> eaco_rows();

/// Parses a table with a header of `job` and `model`, or of `job_set`, and the columns of EacoRow.
/// Errors: BadData with line and column.
[[nodiscard]] base::Result<std::vector<EacoRow>> parse_eaco_table(std::string_view text,
                                                                  const std::string& file);

/// The rows as measured sets on V100. The tables give one JCT per set, so all its members have the
/// same slowdown: set JCT / mean JCT alone. Power is that of the node / 8. Errors: BadData if a
/// member of a set has no row alone, or rows contradict each other.
[[nodiscard]] base::Result<ColocationHistory> eaco_history(std::span<const EacoRow> rows);

/// A row and the results of the model.
struct EacoReplay {
  EacoRow row;
  double lookup_jct_h = 0;  ///< by multiset look-up
  double lookup_w = 0;      ///< by multiset look-up
  double curve_w = 0;       ///< from the measured utilisation
  double composed_w = 0;    ///< from the members alone and the set's JCT
  double blind_jct_h = 0;   ///< predicted from the members alone
  double blind_w = 0;       ///< predicted from the members alone
  std::string_view blind_level;
  double alone_kwh = 0;  ///< of the members run one after the other
};

/// Mean and maximum relative error.
struct FitError {
  double mean = 0;
  double max = 0;
};

struct EacoReplayResult {
  std::vector<EacoReplay> rows;
  FitError lookup;       ///< JCT and watts of all rows
  FitError curve;        ///< watts of all rows
  FitError composition;  ///< watts of the sets
  FitError blind_jct;    ///< of the sets
  FitError blind_w;      ///< of the sets
};

/// Compares the rows with a model of the same node. Errors: those of eaco_history.
[[nodiscard]] base::Result<EacoReplayResult> replay_eaco(std::span<const EacoRow> rows,
                                                         const PowerModel& model);

}  // namespace goban::core::knowledge
