#include "train/trainer/run_files.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/output_file.hpp"
#include "base/reports/job_profile.hpp"
#include "train/mesh/device.hpp"

namespace goban::train::trainer {
namespace {

/// Bytes that a device contributes to all-reduces in one step.
int64_t reduced_bytes(const mesh::Plan& plan, int micro_batches) {
  const auto sum = [](const std::vector<mesh::Collective>& all) {
    int64_t bytes = 0;
    for (const mesh::Collective& each : all) {
      if (each.operation == comm::Operation::AllReduce) bytes += each.bytes;
    }
    return bytes;
  };
  int64_t bytes = sum(plan.last_collectives);
  for (const mesh::Step& step : plan.steps) {
    bytes += sum(step.collectives) * (step.inner ? micro_batches : 1);
  }
  return bytes;
}

}  // namespace

std::string divergence_mark(const std::string& out) { return out + "/diverged.txt"; }

void remove_results(const std::string& out) {
  std::error_code ignored;
  for (const char* name : {"time_table.json", "profile.json", "metrics.prom"}) {
    std::filesystem::remove(std::filesystem::path(out) / name, ignored);
  }
}

base::Status write_metrics(const TrainOptions& options, const EpochResult& result) {
  if (options.out.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  const std::string csv = options.out + "/metrics.csv";
  std::string columns = "batch,seed,epoch,step,train_loss,test_loss,test_acc,wall_s,images_s";
  std::string line =
      fmt::format("{},{},{},{},{:.9g},{:.9g},{:.9g},{:.4f},{:.1f}", options.batch_size,
                  options.seed, result.epoch, result.step, result.train_loss, result.test_loss,
                  result.test_accuracy, result.train_s, result.samples_per_s);
  for (const auto& [name, value] : result.summaries) {
    columns += "," + name;
    line += fmt::format(",{:.9g}", value);
  }
  std::string before;
  std::getline(std::ifstream(csv), before);
  if (!before.empty() && before != columns) {
    return base::bad_data({csv, 1, 1, before}, "has different columns from this run: " + columns,
                          "use another --out folder, or the same options");
  }
  std::ofstream out(csv, std::ios::app);
  if (before.empty()) out << columns << "\n";
  out << line << "\n";
  if (!out.flush()) {
    return base::failed(fmt::format("cannot write '{}': {}", csv, std::strerror(errno)),
                        "free space on this disk; --out must be a writable folder");
  }
  std::string text;
  const auto gauge = [&](const char* name, const char* help, double value) {
    text += fmt::format(
        "# HELP goban_train_{0} {1}\n# TYPE goban_train_{0} gauge\n"
        "goban_train_{0} {2}\n",
        name, help, value);
  };
  gauge("epoch", "Epochs completed.", static_cast<double>(result.epoch));
  gauge("step", "Steps completed.", static_cast<double>(result.step));
  gauge("loss", "Mean training loss of the last epoch.", result.train_loss);
  gauge("test_loss", "Mean test loss after the last epoch.", result.test_loss);
  gauge("test_accuracy", "Share of correct predictions on the test set.", result.test_accuracy);
  gauge("samples_per_second", "Training samples per second.", result.samples_per_s);
  if (!result.summaries.empty()) {
    text +=
        "# HELP goban_train_summary Mean over the steps since the last evaluation.\n"
        "# TYPE goban_train_summary gauge\n";
  }
  for (const auto& [name, value] : result.summaries) {
    text += fmt::format("goban_train_summary{{name=\"{}\"}} {}\n", name, value);
  }
  return base::write_file(options.out + "/metrics.prom", text);
}

base::Status write_profile(const TrainOptions& options, const EpochResult& result,
                           const StepStatistics& steps, const mesh::Plan& plan, int micro_batches,
                           const mesh::DeviceMemory& memory,
                           const base::reports::TimeTable* table) {
  if (options.out.empty() || steps.steps == 0) return {};
  const auto n = static_cast<double>(steps.steps);
  const double mean = steps.sum_s / n;
  const double variance = std::max(0.0, steps.sum_s2 / n - mean * mean);
  base::reports::JobProfile profile;
  profile.model = options.task + "-" + options.model;
  profile.input = fmt::format("batch {} layout \"{}\" mesh \"{}\"", options.batch_size,
                              plan.rules.text(), plan.mesh.text());
  profile.gpu_type = mesh::device_name(memory.device());
  profile.source = "goban-train";
  profile.iteration_s = base::reports::Measured{mean, std::sqrt(variance / n)};
  // A run that was stopped in its first epoch has no time of one.
  if (result.train_s > 0) profile.epoch_s = base::reports::Measured{result.train_s, 0};
  profile.bytes_per_step =
      base::reports::Measured{static_cast<double>(reduced_bytes(plan, micro_batches)), 0};
  if (plan.totals.collectives > 0) {
    profile.sync_interval_s =
        base::reports::Measured{mean / static_cast<double>(plan.totals.collectives), 0};
  }
  profile.peak_mem_bytes = base::reports::Measured{static_cast<double>(memory.peak_bytes()), 0};
  profile.input_stall_pct = base::reports::Measured{100 * steps.input_s / steps.sum_s, 0};
  if (table != nullptr && table->wall_s > 0) {
    for (const base::reports::TimePart& part : table->parts) {
      profile.time_pct[part.name] = std::min(100.0, 100 * part.seconds / table->wall_s);
    }
  }
  return base::write_file(options.out + "/profile.json", base::reports::to_json(profile));
}

ProgressBar::ProgressBar(bool visible, int64_t epoch, int64_t epochs, int64_t steps)
    : visible_(visible && isatty(STDERR_FILENO) != 0),
      epoch_(epoch),
      epochs_(epochs),
      steps_(steps) {}

void ProgressBar::show(int64_t position, const Progress& progress) {
  constexpr double kInterval = 0.2;
  constexpr size_t kWidth = 24;
  if (!visible_ || base::steady_s() - last_s_ < kInterval) return;
  last_s_ = base::steady_s();
  drawn_ = true;
  const auto filled = static_cast<size_t>(position * static_cast<int64_t>(kWidth) / steps_);
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
  fmt::print(stderr, "\repoch {}/{} [{}] loss {:.4f} accuracy {:.4f} {:.0f}/s ETA {:.0f} s ",
             epoch_, epochs_, bar, progress.loss, progress.accuracy, progress.samples_per_s,
             progress.eta_s);
}

ProgressBar::~ProgressBar() {
  if (drawn_) fmt::print(stderr, "\r{:100}\r", "");
}

}  // namespace goban::train::trainer
