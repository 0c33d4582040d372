// The claims of the batch-size experiment (S1 to S7), checked on a sweep.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "train/trainer/sweep.hpp"

namespace goban::train::trainer {

enum class Verdict : uint8_t { NotMeasured, Holds, Fails };
[[nodiscard]] const char* verdict_name(Verdict verdict);

struct Claim {
  std::string id, text;
  std::string rule;      ///< the criterion
  std::string measured;  ///< measured values with their margin to the criterion
  Verdict verdict = Verdict::NotMeasured;
};

/// Means over the seeds of one batch size, by epoch (or interval), with minimum and maximum.
struct Curve {
  std::vector<double> epoch, step;
  std::vector<double> accuracy, accuracy_low, accuracy_high;
  std::vector<double> loss, loss_low, loss_high, train_loss;
  int seeds = 0;
};

/// Selects runs of a sweep by everything except batch and seed.
struct Selection {
  Control control = Control::Plain;
  int64_t hidden = 0;
  std::string layout;
  double learning_rate = 0;
  friend bool operator==(const Selection&, const Selection&) = default;
};

/// Curves of the complete runs of the selection, by batch size; epochs that a seed lacks are
/// omitted. The largest batch is its own control: its plain runs are used under every control.
[[nodiscard]] std::map<int64_t, Curve> curves_of(const std::vector<SweepRun>& runs,
                                                 const Selection& selection);
/// The selections of one control that have complete runs, in the order of the grid.
[[nodiscard]] std::vector<Selection> selections_of(const std::vector<SweepRun>& runs,
                                                   Control control);

/// S1 to S7 on the first selection of the plain runs (S7: on the search for the largest batch);
/// with several layouts also L1, that all of them have the curves of the first.
[[nodiscard]] std::vector<Claim> claims_of(const SweepOptions& options, const SweepResult& result);

/// Maximum difference of training loss, relative to the first layout's, between layouts of
/// otherwise equal runs, and the number of runs compared.
struct LayoutAgreement {
  std::string layout;
  double worst = 0;
  int compared = 0;
};
[[nodiscard]] std::vector<LayoutAgreement> layout_agreement(const std::vector<SweepRun>& runs);

}  // namespace goban::train::trainer
