// Submissions over the daemon's Unix socket: everything but the launch itself. Each one is a
// payload on disk, a record in the journal, a decision; the answer comes when it is safe. Usage:
// submit_bench [SUBMISSIONS = 10000] [CLIENTS = 16] [QUEUED_BEFORE = 10000] [FOLDER]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <thread>

#include "live/daemon.hpp"
#include "live/journal/journal_file.hpp"
#include "model/cluster_presets.hpp"
#include "policy/compose.hpp"
#include "service/api_client.hpp"
#include "service/daemon_desk.hpp"
#include "service/service.hpp"

namespace goban::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Runs nothing and ends nothing.
class IdleEngine final : public live::Engine {
 public:
  void launch(const live::LaunchOrder& order) override {
    reports_.push_back({.kind = live::ReportKind::Started, .run = order.run});
  }
  void stop(live::RunId, live::StopReason) override {}
  void resume(const live::LaunchOrder&) override {}
  void forget(live::RunId, bool) override {}
  std::vector<live::Report> take_reports() override { return std::exchange(reports_, {}); }

 private:
  std::vector<live::Report> reports_;
};

class NoAccounting final : public live::Accounting {
 public:
  base::Status record(const std::vector<live::LiveJob>&) override { return {}; }
};

[[noreturn]] void give_up(const base::Error& error) {
  fmt::print(stderr, "submit_bench: {}\n", error.text());
  std::exit(1);
}

template <typename T>
T value_of(base::Result<T> result) {
  if (!result) give_up(result.error());
  return std::move(*result);
}

live::Site make_site() {
  live::Site site;
  site.cluster = value_of(model::make_preset("64x4"));
  site.scores = profile::PmScores::uniform(site.cluster.num_gpus());
  site.penalties = profile::LocalityPenalties(site.cluster, 1.5);
  site.composition = value_of(policy::compose("las+pal"));
  return site;
}

/// The daemon with all its doors, in a folder.
struct Server {
  explicit Server(const std::string& folder)
      : payloads(value_of(service::PayloadStore::open(folder + "/payloads"))) {
    auto journal = value_of(live::open_journal(folder + "/journal", {}));
    daemon = value_of(live::Daemon::start(make_site(), journal.recovered, std::move(journal.log),
                                          std::make_unique<IdleEngine>(),
                                          std::make_unique<NoAccounting>(), {}));
    desk = std::make_unique<service::DaemonDesk>(*daemon);
    service::ServiceOptions options{.socket = folder + "/sock"};
    options.requests_per_s = options.requests_burst = 1e9;
    doors = value_of(service::Service::start(options, *desk, payloads, {}));
  }
  service::PayloadStore payloads;
  std::unique_ptr<live::Daemon> daemon;
  std::unique_ptr<service::DaemonDesk> desk;
  std::unique_ptr<service::Service> doors;
};

/// Jobs that wait before the first is submitted.
void fill_queue(live::Daemon& daemon, int count) {
  constexpr int kAtOnce = 1000;
  for (int done = 0; done < count; done += kAtOnce) {
    live::Submit submit;
    submit.jobs.resize(static_cast<size_t>(std::min(kAtOnce, count - done)));
    for (live::JobSpec& job : submit.jobs) {
      job.num_gpus = 4;
      job.owner.user = "nobody";
      job.work_folder = "/tmp";
    }
    value_of(daemon.ask(std::move(submit)));
  }
}

struct Result {
  double seconds = 0;
  std::vector<double> latency_s{};  ///< ascending
};

Result submit(const std::string& socket, int count, int clients) {
  const std::string body =
      R"({"script":"#!/bin/sh\nexec python3 train.py --epochs 90\n","name":"resnet50","num_gpus":4,)"
      R"("walltime_s":7200,"work_folder":"/home/ann/run","env":{"HOME":"/home/ann","USER":"ann"}})";
  std::atomic<int> left = count;
  std::vector<std::vector<double>> latency_s(static_cast<size_t>(clients));
  std::vector<std::thread> threads;
  const auto begin = Clock::now();
  for (std::vector<double>& mine : latency_s) {
    threads.emplace_back([&] {
      service::ApiClient client({.socket = socket});
      while (left.fetch_sub(1) > 0) {
        const auto from = Clock::now();
        value_of(client.post("/v1/jobs", body));
        mine.push_back(std::chrono::duration<double>(Clock::now() - from).count());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Result result{.seconds = std::chrono::duration<double>(Clock::now() - begin).count()};
  for (const auto& each : latency_s) {
    result.latency_s.insert(result.latency_s.end(), each.begin(), each.end());
  }
  std::sort(result.latency_s.begin(), result.latency_s.end());
  return result;
}

double at(const std::vector<double>& ascending, double part) {
  if (ascending.empty()) return 0;
  return ascending[static_cast<size_t>(part * static_cast<double>(ascending.size() - 1))];
}

void measure(int count, int clients, int queued, const std::string& folder) {
  Server server(folder);
  fill_queue(*server.daemon, queued);
  const live::DaemonStats before = server.daemon->stats();
  const Result result = submit(folder + "/sock", count, clients);
  live::DaemonStats stats = server.daemon->stats();
  std::sort(stats.decide_s_last.begin(), stats.decide_s_last.end());
  fmt::print("{} submissions by {} clients, {} jobs queued before\n", count, clients, queued);
  fmt::print("{:10.0f} a second\n", count / result.seconds);
  fmt::print("{:10.2f} ms p50, {:.2f} ms p99, {:.2f} ms longest answer\n",
             1e3 * at(result.latency_s, 0.5), 1e3 * at(result.latency_s, 0.99),
             1e3 * at(result.latency_s, 1));
  fmt::print("{:10.2f} ms p50, {:.2f} ms p99 of the last 1,000 turns with a decision\n",
             1e3 * at(stats.decide_s_last, 0.5), 1e3 * at(stats.decide_s_last, 0.99));
  fmt::print("{:10.1f} submissions a turn\n",
             double(count) / double(std::max<int64_t>(1, stats.turns - before.turns)));
}

}  // namespace
}  // namespace goban::bench

int main(int argc, char** argv) {
  const auto number = [&](int index, int otherwise) {
    return argc > index ? std::atoi(argv[index]) : otherwise;
  };
  constexpr int kCount = 10'000;
  constexpr int kClients = 16;
  const std::string folder =
      argc > 4 ? argv[4] : (std::filesystem::temp_directory_path() / "goban_submit_bench").string();
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  goban::bench::measure(number(1, kCount), number(2, kClients), number(3, kCount), folder);
  std::filesystem::remove_all(folder);
  return 0;
}
