// Reads the traces, rates, batch sizes and shares of published schedulers (Shockwave, ElasticFlow:
// docs/studies/rivals.md). Each error names file, line and field.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.hpp"
#include "study/rivals/decisions.hpp"

namespace goban::study::rivals {

/// Measured steps per second by model, global batch size and number of GPUs.
class RateTable {
 public:
  /// False if the three are in the table already.
  bool add(std::string_view model, int32_t batch, int32_t gpus, double steps_per_s);
  /// Nullopt: not measured.
  [[nodiscard]] std::optional<double> find(std::string_view model, int32_t batch,
                                           int32_t gpus) const;
  /// The numbers of GPUs at which a model was measured with this batch size, ascending.
  [[nodiscard]] std::vector<int32_t> levels(std::string_view model, int32_t batch) const;
  /// The error of a rate that is not in the table. `used_by`: the job and why it needs it.
  [[nodiscard]] base::Error missing(std::string_view model, int32_t batch, int32_t gpus,
                                    const std::string& used_by) const;
  [[nodiscard]] size_t size() const { return rates_.size(); }
  void set_file(std::string file) { file_ = std::move(file); }

 private:
  using Key = std::tuple<std::string, int32_t, int32_t>;
  std::map<Key, double> rates_;
  std::string file_;
};

/// Columns model, batch_size, num_gpus, steps_per_s. Errors: BadData.
[[nodiscard]] base::Result<RateTable> parse_rates(std::string_view text, const std::string& file);

/// How the batch size of a Shockwave job changes.
enum class BatchMode : uint8_t {
  Static,
  Accordion,      ///< large outside critical epochs
  GradientNoise,  ///< grows in recorded phases (gns)
};

/// A job of Shockwave's trace. Its id is its position.
struct ShockwaveJob {
  std::string model;
  int32_t batch = 1;
  int32_t gpus = 1;
  BatchMode mode = BatchMode::Static;
  int64_t steps = 1;
  double submit_s = 0;
};

/// Columns job_id (0, 1, ... in order of submission), model, batch_size, num_gpus, mode (static,
/// accordion, gns), total_steps, duration_s (not used), submit_s. Errors: BadData.
[[nodiscard]] base::Result<std::vector<ShockwaveJob>> parse_shockwave_trace(
    std::string_view text, const std::string& file);

/// From `from_epoch` on the batch size is the first one times `factor`.
struct BatchPhase {
  int64_t from_epoch = 0;
  int32_t factor = 1;
};

/// The phases of the mode gns by model, first batch size and number of GPUs, in order of epochs.
using BatchPhases = std::map<std::tuple<std::string, int32_t, int32_t>, std::vector<BatchPhase>>;

/// Columns model, batch_size, num_gpus, from_epoch, factor. Errors: BadData, also for phases whose
/// epochs do not ascend.
[[nodiscard]] base::Result<BatchPhases> parse_batch_sizes(std::string_view text,
                                                          const std::string& file);

/// A job of ElasticFlow's trace. Its id is its position.
struct ElasticJob {
  double submit_s = 0;
  double iterations = 1;
  std::string model;
  double deadline_s = 0;
  int32_t batch = 1;
  int32_t gpus = 1;  ///< that it asked for; elastic policies choose their own number
  double duration_s = 0;
};

/// Columns job_id (0, 1, ...), submit_time, iteration, model_name, ddl, batch_size, num_gpu,
/// duration, best_effort (0). Errors: BadData.
[[nodiscard]] base::Result<std::vector<ElasticJob>> parse_elasticflow_trace(
    std::string_view text, const std::string& file);

/// Recorded shares in the order of their computation.
struct ShareRecord {
  std::vector<ShareSet> sets;  ///< a line each
  std::string file;

  /// The shares of computation `index`, checked: it was made at `now_s` for `jobs`, in that order.
  /// Errors: BadData naming the line.
  [[nodiscard]] base::Result<std::vector<double>> take(size_t index, double now_s,
                                                       const std::vector<int32_t>& jobs) const;
  /// Errors: BadData naming the first line that no computation took, of the `used` ones before.
  [[nodiscard]] base::Status check_end(size_t used) const;
};

/// A line `[now, [[job, share], ...]]` for each computation. Errors: BadData.
[[nodiscard]] base::Result<ShareRecord> parse_shares(std::string_view text,
                                                     const std::string& file);

}  // namespace goban::study::rivals
