// A year of Slurm's accounting: parse, group by user and partition, import into SQLite, and a
// question by user and month; against the bare floor (mmap, memchr, from_chars).
// Usage: history_bench [JOBS = 2500000] [STORED = JOBS] [SACCT_FILE: written and kept]
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <random>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>

#include "base/date_time.hpp"
#include "bench/measure.hpp"
#include "records/record_table.hpp"
#include "store/job_store.hpp"

namespace goban::bench {
namespace {

constexpr int64_t kFirst = 1'554'076'800;  // 2019-04-01
constexpr int64_t kYear = int64_t{365} * 86400;

std::string stamp(int64_t unix_s) {
  std::string text = base::date_time_text(unix_s * base::kSecond);
  text[10] = 'T';
  return text;
}

/// `sacct -P` as docs/traces.md recommends it: 1,000 users, one of them with a fifth of the jobs.
void write_sacct(const std::string& path, int64_t jobs) {
  std::mt19937_64 random(1);
  std::ofstream out(path, std::ios::binary);
  out << "JobID|JobIDRaw|Cluster|Partition|QOS|Account|Group|User|Submit|Eligible|Start|End|"
         "ElapsedRaw|ExitCode|State|NNodes|NCPUS|ReqMem|AllocTRES|TimelimitRaw|NodeList|JobName\n";
  for (int64_t i = 0; i < jobs; ++i) {
    const int64_t submit = kFirst + i * kYear / jobs;
    const int64_t start = submit + static_cast<int64_t>(random() % 3600);
    const int64_t run = static_cast<int64_t>(random() % 20000);
    const auto user = random() % 5 == 0 ? 0 : random() % 1000;
    const auto gpus = 1 + random() % 8;
    const std::string from = stamp(submit);
    out << fmt::format(
        "{0}|{0}|abci|gpu{1}|normal|acc{2}|grp|user{3}|{4}|{4}|{5}|{6}|{7}|0:0|{8}|1|{9}|64G|"
        "billing={9},cpu={9},gres/gpu={10},gres/gpu:v100={10},mem=64G,node=1|4320|g{11:04}|train\n",
        i + 1, user % 3, user % 120, user, from, stamp(start), stamp(start + run), run,
        random() % 9 == 0 ? "FAILED" : "COMPLETED", gpus * 5, gpus, random() % 1088);
  }
}

/// GPU-seconds and jobs by user and partition.
using Groups = std::unordered_map<std::string, std::pair<int64_t, int64_t>>;

/// Cuts the same fields and reads the same numbers, and trusts them all.
size_t floor_group(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY);
  const auto bytes = static_cast<size_t>(std::filesystem::file_size(path));
  auto* const data = static_cast<char*>(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0));
  const char* at = static_cast<char*>(std::memchr(data, '\n', bytes)) + 1;
  const char* const end = data + bytes;
  Groups groups;
  std::array<std::string_view, 22> fields;
  const auto number = [](std::string_view text) {
    int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  std::string key;
  while (at < end) {
    const char* const line_end =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
    for (size_t i = 0; i + 1 < fields.size(); ++i) {
      const char* const bar =
          static_cast<const char*>(std::memchr(at, '|', static_cast<size_t>(line_end - at)));
      fields[i] = {at, static_cast<size_t>(bar - at)};
      at = bar + 1;
    }
    at = line_end + 1;
    const size_t gpu = fields[18].find("gres/gpu=");
    key.assign(fields[7]);
    key += '|';
    key += fields[3];
    auto& group = groups[key];
    ++group.first;
    group.second += number(fields[12]) * number(fields[18].substr(gpu + 9));
  }
  munmap(data, bytes);
  close(file);
  return groups.size();
}

size_t goban_group(const std::string& path) {
  records::RecordTable table;
  const auto summary = records::read_records(path, {}, table);
  if (!summary || summary->rejected > 0) std::abort();
  std::unordered_map<uint64_t, std::pair<int64_t, int64_t>> groups;
  for (const records::RecordRow& row : table.rows()) {
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

void question(store::JobStore& jobs, const std::string& user) {
  for (const int month_days : {0, 180}) {
    const int64_t from_ns = (kFirst + month_days * 86400) * base::kSecond;
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
                [&count](const store::SqlRow& row) {
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
  const size_t groups = floor_group(file);
  const Cost floor = median_of(3, [&] { (void)floor_group(file); });
  const Cost goban = median_of(3, [&] {
    if (goban_group(file) != groups) std::abort();
  });
  fmt::print("  floor  {:6.2f} s CPU  {:6.2f} s wall\n", floor.cpu_s, floor.wall_s);
  fmt::print("  goban  {:6.2f} s CPU  {:6.2f} s wall  {:6.0f} MiB  {:.2f} x the floor\n",
             goban.cpu_s, goban.wall_s, goban.peak_mib, goban.cpu_s / floor.cpu_s);
  if (stored != jobs) write_sacct(file, stored);
  const std::string database = (folder / "jobs.db").string();
  const Cost import = median_of(1, [&] {
    auto store = store::JobStore::open(database, true).value();
    if (store.import_file(file, {}).value().written != stored) std::abort();
  });
  fmt::print(
      "  import into SQLite: {:.2f} s CPU, {:.2f} s wall: {:.0f} rows/s of CPU, {:.0f} of wall; "
      "{} bytes a row\n",
      import.cpu_s, import.wall_s, static_cast<double>(stored) / import.cpu_s,
      static_cast<double>(stored) / import.wall_s,
      static_cast<int64_t>(std::filesystem::file_size(database)) / stored);
  auto store = store::JobStore::open(database, false).value();
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
