#include "site/telemetry/collect.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <mutex>
#include <thread>
#include <utility>

#include "base/output_file.hpp"
#include "site/telemetry/exporter.hpp"

namespace goban::site::telemetry {
namespace {

using std::chrono::steady_clock;

/// Sleeps until a time, or until cancelled.
void sleep_until(steady_clock::time_point moment, const base::Progress& progress) {
  constexpr auto kLook = std::chrono::milliseconds(100);
  while (!progress.is_cancelled() && steady_clock::now() < moment) {
    std::this_thread::sleep_for(
        std::min<steady_clock::duration>(kLook, moment - steady_clock::now()));
  }
}

/// Calls take(sampling) immediately and then every interval until cancelled; once if the interval
/// is 0.
template <typename Take>
base::Result<bool> sample_loop(const CollectOptions& options, const base::Progress& progress,
                               const Take& take) {
  GpuSampler sampler({.program = options.program,
                      .timeout_s = options.timeout_s,
                      .interrupted = progress.cancel()});
  // The CPU utilisation is measured between two readings.
  constexpr auto kFirstLook = std::chrono::milliseconds(200);
  std::this_thread::sleep_for(kFirstLook);
  const auto interval = std::chrono::duration_cast<steady_clock::duration>(
      std::chrono::duration<double>(options.interval_s));
  auto next = steady_clock::now();
  std::string last_problem;
  while (true) {
    const Sampling sampling = sampler.sample();
    if (progress.is_cancelled()) return true;
    const bool is_new = !sampling.problem.empty() && sampling.problem != last_problem;
    if (is_new && options.warn) options.warn(sampling.problem);
    last_problem = sampling.problem;
    if (const base::Status taken = take(sampling); !taken) return base::failure(taken.error());
    if (options.interval_s <= 0) return sampling.problem.empty();
    // Missed samplings are skipped, not caught up.
    next = std::max(next + interval, steady_clock::now());
    sleep_until(next, progress);
    if (progress.is_cancelled()) return true;
  }
}

/// The last sampling, shared with the threads of the server.
class LastPage {
 public:
  void set(Sampling sampling) {
    const std::lock_guard lock(mutex_);
    sampling_ = std::move(sampling);
    at_ = steady_clock::now();
  }
  /// An old sampling is reported as a failure: its values are not served again.
  [[nodiscard]] std::string text(double old_after_s) const {
    const std::lock_guard lock(mutex_);
    const std::chrono::duration<double> age = steady_clock::now() - at_;
    if (age.count() <= old_after_s) return metrics_page(sampling_);
    Sampling none;
    none.problem = "old";
    none.duration_s = age.count();
    return metrics_page(none);
  }

 private:
  mutable std::mutex mutex_;
  Sampling sampling_;
  steady_clock::time_point at_;
};

}  // namespace

base::Result<bool> collect_to_file(const CollectOptions& options, const std::string& folder,
                                   const base::Progress& progress) {
  return sample_loop(options, progress, [&folder](const Sampling& sampling) {
    return base::write_file(folder + "/goban_gpu.prom", metrics_page(sampling));
  });
}

base::Result<bool> collect_over_http(const CollectOptions& options, const std::string& listen,
                                     const base::Progress& progress,
                                     const std::function<void(const std::string& url)>& started) {
  const auto address = parse_listen(listen);
  if (!address) return base::failure(address.error());
  const auto& [host, port] = *address;
  LastPage page;
  Sampling none;
  none.problem = "nothing sampled yet";
  page.set(none);
  constexpr double kOldAfterIntervals = 3;
  const double old_after_s = kOldAfterIntervals * options.interval_s + options.timeout_s;
  const auto exporter =
      Exporter::start(host, port, [&page, old_after_s] { return page.text(old_after_s); });
  if (!exporter) return base::failure(exporter.error());
  started(fmt::format("http://{}:{}/metrics",
                      host.find(':') == std::string::npos ? host : fmt::format("[{}]", host),
                      exporter->port()));
  return sample_loop(options, progress, [&page](const Sampling& sampling) -> base::Status {
    page.set(sampling);
    return {};
  });
}

}  // namespace goban::site::telemetry
