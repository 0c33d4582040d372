// Submissions over the daemon's Unix socket, including everything but the launch. Each one stores a
// payload, writes a journal record and makes a decision; the response is sent when they are
// durable. Usage:
// submit_bench [jobs=10000] [clients=16] [queued=10000] [tasks=0] [policy=las+pal]
//              [folder=FOLDER | socket=SOCKET]
// tasks: array size of each submission; 0 = single jobs. socket: of a running `goban serve`,
// instead of a daemon in this process with 256 GPUs and an engine that starts nothing.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <thread>

#include "core/model/cluster_presets.hpp"
#include "core/policy/compose.hpp"
#include "live/journal/journal_file.hpp"
#include "live/loop/live_scheduler.hpp"
#include "serve/api/api_client.hpp"
#include "serve/api/service.hpp"
#include "serve/stores/payload_store.hpp"

namespace goban::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// An engine that starts and stops nothing.
class IdleEngine final : public live::Engine {
 public:
  void launch(const live::LaunchOrder& order) override {
    reports_.emplace_back(live::Report{.kind = live::ReportKind::Started, .run = order.run});
  }
  void stop(live::RunId, live::StopReason) override {}
  void resume(const live::LaunchOrder&) override {}
  void forget(core::model::JobId, const std::string&) override {}
  std::vector<live::EngineEvent> take_events() override { return std::exchange(reports_, {}); }

 private:
  std::vector<live::EngineEvent> reports_;
};

class NoAccounting final : public live::loop::Accounting {
 public:
  base::Status record(const std::vector<live::loop::FinishedJob>&) override { return {}; }
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

live::controller::Site make_site(const std::string& policy) {
  live::controller::Site site;
  site.cluster = value_of(core::model::make_preset("64x4"));
  site.scores = core::knowledge::PmScores::uniform(site.cluster.num_gpus());
  site.penalties = core::knowledge::LocalityPenalties(site.cluster, 1.5);
  site.composition = value_of(core::policy::compose(policy));
  return site;
}

/// The daemon and its service, in a folder.
struct Server {
  Server(const std::string& folder, const std::string& policy)
      : payloads(value_of(serve::stores::PayloadStore::open(folder + "/payloads"))) {
    auto journal = value_of(live::journal::open_journal(folder + "/journal", {}));
    daemon = value_of(live::loop::Daemon::start(
        make_site(policy), journal.recovered, std::move(journal.log),
        std::make_unique<IdleEngine>(), std::make_unique<NoAccounting>(), {}));
    serve::api::ServiceOptions options{.socket = folder + "/sock"};
    options.requests_per_s = options.requests_burst = 1e9;
    service = value_of(serve::api::Service::start(options, *daemon, payloads));
  }
  serve::stores::PayloadStore payloads;
  std::unique_ptr<live::loop::Daemon> daemon;
  std::unique_ptr<serve::api::Service> service;
};

struct Options {
  int jobs = 10'000;
  int clients = 16;
  int queued = 10'000;
  int tasks = 0;
  std::string policy = "las+pal";
  std::string folder{};
  std::string socket{};
};

/// The body of a submission: a job of four GPUs, or an array of such jobs.
std::string submission(int tasks) {
  std::string body =
      R"({"script":"#!/bin/sh\nsleep 86400\n","name":"resnet50","num_gpus":4,"walltime_s":86400,)"
      R"("work_folder":"/tmp","stdout_path":"/dev/null","env":{"HOME":"/home/ann","USER":"ann"})";
  if (tasks > 0) {
    body += R"(,"array_tasks":[0)";
    for (int i = 1; i < tasks; ++i) body += fmt::format(",{}", i);
    body += ']';
  }
  return body + '}';
}

/// Submits the jobs that wait before the measurement starts.
void fill_queue(const std::string& socket, int count) {
  constexpr int kAtOnce = 1000;
  serve::api::ApiClient client({.socket = socket});
  for (int done = 0; done < count; done += kAtOnce) {
    value_of(client.post("/v1/jobs", submission(std::min(kAtOnce, count - done))));
  }
}

struct Result {
  double seconds = 0;
  std::vector<double> latency_s{};  ///< ascending
};

Result submit(const std::string& socket, const Options& options) {
  const std::string body = submission(options.tasks);
  std::atomic<int> left = options.jobs;
  std::vector<std::vector<double>> latency_s(static_cast<size_t>(options.clients));
  std::vector<std::thread> threads;
  const auto begin = Clock::now();
  for (std::vector<double>& mine : latency_s) {
    threads.emplace_back([&] {
      serve::api::ApiClient client({.socket = socket});
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

/// Prints the lines of /metrics about decisions.
void print_decisions(const std::string& socket) {
  serve::api::ApiClient client({.socket = socket});
  const std::string page = value_of(client.get("/metrics"));
  for (size_t begin = 0; begin < page.size();) {
    const size_t end = std::min(page.find('\n', begin), page.size());
    const std::string_view line = std::string_view(page).substr(begin, end - begin);
    if (line.starts_with("goban_decision_seconds{") || line.starts_with("goban_turns_total")) {
      fmt::print("           {}\n", line);
    }
    begin = end + 1;
  }
}

void measure(const Options& options) {
  std::optional<Server> server;
  if (options.socket.empty()) server.emplace(options.folder, options.policy);
  const std::string socket = server ? options.folder + "/sock" : options.socket;
  fill_queue(socket, options.queued);
  const Result result = submit(socket, options);
  fmt::print("{} submissions of {} by {} clients, {} jobs queued before\n", options.jobs,
             options.tasks > 0 ? fmt::format("{} tasks", options.tasks) : "one job",
             options.clients, options.queued);
  fmt::print("{:10.0f} per second\n", options.jobs / result.seconds);
  fmt::print("{:10.2f} ms p50, {:.2f} ms p99, {:.2f} ms maximum\n", 1e3 * at(result.latency_s, 0.5),
             1e3 * at(result.latency_s, 0.99), 1e3 * at(result.latency_s, 1));
  print_decisions(socket);
}

/// Sets an option from `name=value`. Returns false if there is no such option.
bool set_option(Options& options, std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = word.substr(0, equals);
  const std::string value(word.substr(equals + 1));
  int* const number = name == "jobs"      ? &options.jobs
                      : name == "clients" ? &options.clients
                      : name == "queued"  ? &options.queued
                      : name == "tasks"   ? &options.tasks
                                          : nullptr;
  std::string* const text = name == "policy"   ? &options.policy
                            : name == "folder" ? &options.folder
                            : name == "socket" ? &options.socket
                                               : nullptr;
  if (number != nullptr) *number = std::atoi(value.c_str());
  if (text != nullptr) *text = value;
  return number != nullptr || text != nullptr;
}

}  // namespace
}  // namespace goban::bench

int main(int argc, char** argv) {
  goban::bench::Options options;
  for (int i = 1; i < argc; ++i) {
    if (goban::bench::set_option(options, argv[i])) continue;
    fmt::print(stderr, "submit_bench: unknown option '{}'; see bench/submit_bench.cpp\n", argv[i]);
    return 2;
  }
  const bool own_folder = options.folder.empty();
  if (own_folder) {
    options.folder = (std::filesystem::temp_directory_path() / "goban_submit_bench").string();
    std::filesystem::remove_all(options.folder);
  }
  std::filesystem::create_directories(options.folder);
  goban::bench::measure(options);
  if (own_folder) std::filesystem::remove_all(options.folder);
  return 0;
}
