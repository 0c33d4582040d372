// Tables 1 to 4 of EaCO (Haghshenas and Hashemi, arXiv 2412.08294v1): four models alone and six
// sets of them on one node of 8 V100, as a history and as what the power model is compared with.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/knowledge/colocation/colocation_history.hpp"
#include "core/knowledge/energy/power_model.hpp"

namespace goban::core::knowledge {

/// A row: alone (one member) or together. Members are named J1, J2, ... in the tables.
struct EacoRow {
  std::string set;    ///< "J1" or "J1+J3"
  std::string model;  ///< of one alone, such as AlexNet
  double node_w = 0;
  double energy_kwh = 0;
  double jct_h = 0;  ///< of a set: the mean of its jobs
  double util_pct = 0;
  [[nodiscard]] std::vector<std::string> members() const;
};

/// The ten rows as published.
[[nodiscard]] std::vector<EacoRow> eaco_rows();

/// A table of these columns (a header with `job` and `model`, or with `job_set`), as in the retyped
/// files. Errors: BadData with line and column.
[[nodiscard]] base::Result<std::vector<EacoRow>> parse_eaco_table(std::string_view text,
                                                                  const std::string& file);

/// The rows as measured sets on V100. The tables give one JCT a set, so all its members have one
/// slowdown: set JCT / mean JCT alone. Watts are those of the node / 8. Errors: BadData if a set
/// has a member without a row of its own, or rows contradict each other.
[[nodiscard]] base::Result<ColocationHistory> eaco_history(std::span<const EacoRow> rows);

/// A row beside what the model says.
struct EacoReplay {
  EacoRow row;
  double lookup_jct_h = 0;  ///< by multiset look-up
  double lookup_w = 0;      ///< likewise
  double curve_w = 0;       ///< from the measured utilisation
  double composed_w = 0;    ///< from the members alone and the set's JCT; a row alone: itself
  double blind_jct_h = 0;   ///< predicted from the members alone
  double blind_w = 0;       ///< likewise
  std::string_view blind_level;
  double alone_kwh = 0;  ///< of the members one after the other
};

/// Mean and largest relative error.
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
