#include "serve/agent/agent.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/http/http_client.hpp"
#include "base/http/http_message.hpp"
#include "serve/agent/job_scan.hpp"
#include "serve/agent/progress_hub.hpp"
#include "serve/agent/report_queue.hpp"
#include "serve/agent/sample_means.hpp"
#include "serve/api/api_client.hpp"

namespace goban::serve::agent {

using base::TimeNs;
using site::telemetry::AgentGpu;
using site::telemetry::AgentJob;
using site::telemetry::AgentReport;
using site::telemetry::Sampling;

namespace {

/// New progress is reported this often, samples once an interval.
constexpr double kProgressEvery_s = 10;
constexpr double kPatience_s = 20;  ///< for an answer of the daemon

std::string random_word() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}", source(), source());
}

/// Software and ranks of all jobs in one report: the daemon takes 4 MiB, and what it refuses once
/// it refuses again and again. Users can give their jobs any number of names.
constexpr size_t kSoftwareBytesMax = size_t{256} << 10;
constexpr size_t kReportRanksMax = 2048;

void bound_sizes(std::vector<AgentJob>& jobs) {
  if (jobs.size() > site::telemetry::kAgentJobsMax) jobs.resize(site::telemetry::kAgentJobsMax);
  size_t ranks = 0;
  for (AgentJob& job : jobs) {
    if (!job.progress) continue;
    ranks += job.progress->ranks.size();
    if (ranks > kReportRanksMax) job.progress->ranks.clear();
  }
  // Names of one job, halved until all fit.
  for (size_t most = site::telemetry::kAgentSoftwareMax; most > 0; most /= 2) {
    size_t bytes = 0;
    for (AgentJob& job : jobs) {
      job.software.resize(std::min(job.software.size(), most));
      for (const std::string& name : job.software) bytes += name.size() + 3;
    }
    if (bytes <= kSoftwareBytesMax) return;
  }
}

/// What is known between the threads.
class Board {
 public:
  explicit Board(const AgentOptions& options)
      : options_(options), queue_(random_word(), options.samples_max) {}

  void put(TimeNs at_ns, std::vector<site::telemetry::AgentSample> samples) {
    const std::scoped_lock lock(mutex_);
    queue_.add(at_ns, std::move(samples));
    due_ = true;
    wake_.notify_all();
  }
  void put(const Sampling& sampling, const ScannedJobs& jobs) {
    const std::scoped_lock lock(mutex_);
    problem_ = sampling.problem;
    if (sampling.problem.empty()) {
      gpus_.clear();
      for (const auto& gpu : sampling.gpus) gpus_.push_back({gpu.index, gpu.uuid, gpu.name});
    }
    jobs_.clear();
    for (const auto& [id, job] : jobs) jobs_.push_back(job.job);
  }
  [[nodiscard]] AgentReport next(std::vector<AgentJob> heard) {
    const std::scoped_lock lock(mutex_);
    AgentReport out = queue_.next(base::steady_ns());
    out.interval_s = options_.interval_s;
    out.clock_s = base::to_seconds(base::wall_ns());
    out.problem = problem_;
    out.gpus = gpus_;
    out.jobs = jobs_;
    for (AgentJob& each : heard) {
      const auto same = std::ranges::find_if(
          out.jobs, [&](const AgentJob& job) { return job.id == each.id && job.uid == each.uid; });
      if (same == out.jobs.end()) {
        out.jobs.push_back(std::move(each));
      } else {
        same->progress = std::move(each.progress);
      }
    }
    bound_sizes(out.jobs);
    return out;
  }
  /// True: there is more to send at once.
  [[nodiscard]] bool delivered() {
    const std::scoped_lock lock(mutex_);
    queue_.delivered();
    return queue_.has_more();
  }
  /// Until samples are due, or for a while.
  void wait(double most_s) {
    std::unique_lock lock(mutex_);
    (void)wake_.wait_for(lock, std::chrono::duration<double>(most_s), [this] { return due_; });
    due_ = false;
  }
  void wake() {
    const std::scoped_lock lock(mutex_);
    due_ = true;
    wake_.notify_all();
  }

 private:
  const AgentOptions& options_;
  std::mutex mutex_{};
  std::condition_variable wake_{};
  bool due_ = false;
  ReportQueue queue_;
  std::string problem_{};
  std::vector<AgentGpu> gpus_{};
  std::vector<AgentJob> jobs_{};
};

/// Sleeps in steps, so that an end is noticed. False: cancelled.
bool sleep_until(TimeNs moment_ns, const base::Progress& progress) {
  constexpr TimeNs kStep = 100 * base::kMillisecond;
  while (!progress.is_cancelled()) {
    const TimeNs left = moment_ns - base::steady_ns();
    if (left <= 0) return true;
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(left, kStep)));
  }
  return false;
}

/// The readings of the node, of real or virtual GPUs.
class Sampler {
 public:
  Sampler(const AgentOptions& options, const base::Progress& progress)
      : options_(options), scan_(options.node, options.proc) {
    if (options.virtual_gpus > 0) return;
    real_.emplace(site::telemetry::SamplerOptions{.program = options.program,
                                                  .timeout_s = options.timeout_s,
                                                  .interrupted = progress.cancel()});
  }
  [[nodiscard]] Sampling sample() {
    const TimeNs now = base::steady_ns();
    scan_.scan(now);
    const double over_s = last_ns_ == 0 ? 0 : base::to_seconds(now - last_ns_);
    last_ns_ = now;
    if (real_) return real_->sample();
    return virtual_sampling(options_.node, options_.virtual_gpus, scan_.jobs(), over_s);
  }
  [[nodiscard]] const ScannedJobs& jobs() const { return scan_.jobs(); }

 private:
  const AgentOptions& options_;
  JobScan scan_;
  std::optional<site::telemetry::GpuSampler> real_{};
  TimeNs last_ns_ = 0;
};

void sample_until_cancelled(const AgentOptions& options, const base::Progress& progress,
                            Board& board) {
  Sampler sampler(options, progress);
  SampleMeans means;
  std::string said;
  (void)sampler.sample();  // use and utilisation are those between two readings
  TimeNs next_sample = base::steady_ns();
  TimeNs next_report = next_sample + base::from_seconds(options.interval_s);
  while (sleep_until(next_sample += base::from_seconds(options.sample_s), progress)) {
    const Sampling sampling = sampler.sample();
    if (progress.is_cancelled()) return;
    if (options.say && sampling.problem != said && !sampling.problem.empty()) {
      options.say("no readings of GPUs: " + sampling.problem);
    }
    said = sampling.problem;
    means.add(sampling);
    board.put(sampling, sampler.jobs());
    const TimeNs now = base::steady_ns();
    next_sample = std::max(next_sample, now - base::from_seconds(options.sample_s));
    if (now + base::from_seconds(options.sample_s) / 2 < next_report) continue;
    next_report = std::max(next_report + base::from_seconds(options.interval_s), now);
    board.put(now, means.take());
  }
}

/// Sends reports over a connection that is made anew after a failure.
class Sender {
 public:
  explicit Sender(const AgentOptions& options) : options_(options) {}

  [[nodiscard]] base::Status send(const AgentReport& report) {
    if (!client_) {
      auto server = api::find_server(options_.server);
      if (!server) return base::failure(server.error());
      client_.emplace(std::move(*server));
      client_->set_timeout(kPatience_s);
    }
    const auto answer = client_->post(
        fmt::format("/v1/nodes/{}/agent", base::http::url_part(options_.node)), to_json(report));
    if (answer) return {};
    // Tokens are read again, and a tunnel is opened anew.
    client_.reset();
    return base::failure(answer.error());
  }

 private:
  const AgentOptions& options_;
  std::optional<api::ApiClient> client_{};
};

void send_until_cancelled(const AgentOptions& options, const base::Progress& progress, Board& board,
                          ProgressHub* hub) {
  Sender sender(options);
  BackOff back_off;
  std::mt19937 random(std::random_device{}());
  std::string said;
  std::vector<AgentJob> known;
  TimeNs last_sent = base::steady_ns() - base::from_seconds(options.interval_s);
  bool has_more = false;
  while (!progress.is_cancelled()) {
    if (!has_more) board.wait(std::min(kProgressEvery_s, options.interval_s));
    if (progress.is_cancelled()) return;
    std::vector<AgentJob> heard;
    if (hub != nullptr) heard = hub->heard(base::steady_ns());
    AgentReport report = board.next(std::move(heard));
    const TimeNs now = base::steady_ns();
    const bool is_due = now - last_sent >= base::from_seconds(options.interval_s);
    if (report.samples.empty() && report.jobs == known && !is_due) continue;
    const base::Status sent = sender.send(report);
    if (sent) {
      has_more = board.delivered();
      known = std::move(report.jobs);
      last_sent = now;
      back_off.succeeded();
      if (!said.empty() && options.say) options.say("the daemon takes reports again");
      said.clear();
      continue;
    }
    has_more = false;
    std::string problem = sent.error().text();
    if (problem != said && options.say) options.say(problem);
    said = std::move(problem);
    const double part = std::uniform_real_distribution<double>(0, 1)(random);
    if (!sleep_until(base::steady_ns() + back_off.failed(part), progress)) return;
    board.wake();
  }
}

}  // namespace

base::Status run_agent(const AgentOptions& options, const base::Progress& progress) {
  std::unique_ptr<ProgressHub> hub;
  if (!options.socket.empty()) {
    const JobScan peers(options.node, options.proc);
    auto opened = ProgressHub::open(
        options.socket, [peers](pid_t process) { return peers.job_of_process(process); });
    if (!opened) return base::failure(opened.error());
    hub = std::move(*opened);
  }
  Board board(options);
  std::thread sampling([&] {
    sample_until_cancelled(options, progress, board);
    board.wake();  // the sender waits for the board: an end is no news of it
  });
  send_until_cancelled(options, progress, board, hub.get());
  sampling.join();
  return {};
}

AgentReport one_report(const AgentOptions& options, const base::Progress& progress) {
  Board board(options);
  Sampler sampler(options, progress);
  SampleMeans means;
  (void)sampler.sample();
  (void)sleep_until(base::steady_ns() + base::from_seconds(options.sample_s), progress);
  const Sampling sampling = sampler.sample();
  means.add(sampling);
  board.put(sampling, sampler.jobs());
  board.put(base::steady_ns(), means.take());
  return board.next({});
}

}  // namespace goban::serve::agent
