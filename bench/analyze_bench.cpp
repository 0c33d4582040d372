// From a year of Slurm's accounting to the complete job-level report, compared with a minimal loop
// over the same file. Usage: analyze_bench [JOBS = 2500000] [SACCT_FILE: written and kept]
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <string>

#include "bench/measure.hpp"
#include "bench/sacct_file.hpp"
#include "site/analysis/analyse.hpp"
#include "site/analysis/writers.hpp"
#include "site/records/record_reader.hpp"

namespace goban::bench {
namespace {

void read(const std::string& path, site::records::RecordTable& table) {
  const auto summary = site::records::read_records(path, {}, table);
  if (!summary || summary->rejected > 0) std::abort();
}

/// Makes all tables and figures as text; returns its length.
size_t report(const std::string& path) {
  site::records::RecordTable table;
  read(path, table);
  const site::analysis::Rules rules;
  site::analysis::Population population = site::analysis::make_population(table, rules, nullptr);
  site::analysis::extract(population, rules);
  const site::analysis::ReportData data = site::analysis::analyse(
      population, rules, site::analysis::Labels(site::analysis::Language::English));
  return site::analysis::report_json(data).size();
}

int run(int64_t jobs, const std::string& kept) {
  const auto folder = std::filesystem::temp_directory_path() / "goban-analyze-bench";
  std::filesystem::create_directories(folder);
  const std::string file = kept.empty() ? (folder / "sacct.txt").string() : kept;
  write_sacct(file, jobs);
  fmt::print("{} lines of sacct, {} MB\n", jobs, std::filesystem::file_size(file) / 1'000'000);
  const Cost floor = median_of(3, [&] { (void)floor_group_sacct(file); });
  const Cost reading = median_of(3, [&] {
    site::records::RecordTable table;
    read(file, table);
  });
  const Cost all = median_of(3, [&] { (void)report(file); });
  fmt::print("  floor (map, split, add)  {:6.2f} s CPU\n", floor.cpu_s);
  fmt::print("  read into a table        {:6.2f} s CPU  {:6.0f} MiB\n", reading.cpu_s,
             reading.peak_mib);
  fmt::print("  complete report          {:6.2f} s CPU  {:6.0f} MiB  {:.2f} x the floor\n",
             all.cpu_s, all.peak_mib, all.cpu_s / floor.cpu_s);
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace goban::bench

int main(int argc, char** argv) {
  return goban::bench::run(argc > 1 ? std::atoll(argv[1]) : 2'500'000, argc > 2 ? argv[2] : "");
}
