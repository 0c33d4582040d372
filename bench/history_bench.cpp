// A year of Slurm's accounting: parse, group by user and partition, import into SQLite, and a query
// by user and month; compared with a minimal loop (mmap, memchr, from_chars).
// Usage: history_bench [JOBS = 2500000] [STORED = JOBS] [SACCT_FILE: written and kept]
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>
#include <unordered_map>

#include "bench/measure.hpp"
#include "bench/sacct_file.hpp"
#include "site/records/record_table.hpp"
#include "site/store/job_store.hpp"

namespace goban::bench {
namespace {

constexpr int64_t kFirst = 1'554'076'800;  // 2019-04-01

size_t goban_group(const std::string& path) {
  site::records::RecordTable table;
  const auto summary = site::records::read_records(path, {}, table);
  if (!summary || summary->rejected > 0) std::abort();
  std::unordered_map<uint64_t, std::pair<int64_t, int64_t>> groups;
  for (const site::records::RecordRow& row : table.rows()) {
    auto& group = groups[uint64_t{row.user} << 32 | row.partition];
    ++group.first;
    group.second += row.run_ns / base::kSecond * row.num_gpus;
  }
  return groups.size();
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void question(site::store::JobStore& jobs, const std::string& user) {
  for (const int month_days : {0, 180}) {
    const int64_t from_ns = (kFirst + int64_t{month_days} * 86400) * base::kSecond;
    int64_t count = 0;
    double best_ms = 1e9;
    for (int i = 0; i < 5; ++i) {
      best_ms = std::min(
          best_ms,
          1000 * seconds_of([&] {
            const auto status = jobs.connection().query(
                fmt::format(
                    "SELECT COUNT(*),SUM(num_gpus*(end_ns-start_ns))/3.6e12 FROM goban_jobs "
                    "WHERE user_id=(SELECT id FROM goban_names WHERE kind=1 AND name='{}') "
                    "AND end_ns>={} AND end_ns<{}",
                    user, from_ns, from_ns + int64_t{30} * 86400 * base::kSecond),
                [&count](const site::store::SqlRow& row) {
                  count = row.whole(0);
                  return true;
                });
            if (!status) std::abort();
          }));
    }
    fmt::print("  {} in 30 days: {} jobs, {:.1f} ms\n", user, count, best_ms);
  }
}

int run(int64_t jobs, int64_t stored, const std::string& kept) {
  const auto folder = std::filesystem::temp_directory_path() / "goban-history-bench";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string file = kept.empty() ? (folder / "sacct.txt").string() : kept;
  write_sacct(file, jobs);
  fmt::print("{} lines of sacct, {} MB\n", jobs, std::filesystem::file_size(file) / 1'000'000);
  const size_t groups = floor_group_sacct(file);
  const Cost floor = median_of(3, [&] { (void)floor_group_sacct(file); });
  const Cost goban = median_of(3, [&] {
    if (goban_group(file) != groups) std::abort();
  });
  fmt::print("  floor  {:6.2f} s CPU  {:6.2f} s wall\n", floor.cpu_s, floor.wall_s);
  fmt::print("  goban  {:6.2f} s CPU  {:6.2f} s wall  {:6.0f} MiB  {:.2f} x the floor\n",
             goban.cpu_s, goban.wall_s, goban.peak_mib, goban.cpu_s / floor.cpu_s);
  if (stored != jobs) write_sacct(file, stored);
  const std::string database = (folder / "jobs.db").string();
  const Cost import = median_of(1, [&] {
    auto store = site::store::JobStore::open(database, true).value();
    if (store.import_file(file, {}).value().written != stored) std::abort();
  });
  fmt::print(
      "  import into SQLite: {:.2f} s CPU, {:.2f} s wall: {:.0f} rows/s of CPU, {:.0f} of wall; "
      "{} bytes per row\n",
      import.cpu_s, import.wall_s, static_cast<double>(stored) / import.cpu_s,
      static_cast<double>(stored) / import.wall_s,
      static_cast<int64_t>(std::filesystem::file_size(database)) / stored);
  auto store = site::store::JobStore::open(database, false).value();
  question(store, "user0");
  question(store, "user77");
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace goban::bench

int main(int argc, char** argv) {
  const int64_t jobs = argc > 1 ? std::atoll(argv[1]) : 2'500'000;
  return goban::bench::run(jobs, argc > 2 ? std::atoll(argv[2]) : jobs, argc > 3 ? argv[3] : "");
}
