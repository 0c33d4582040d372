// For tests: stores filled from text, and their contents.
#pragma once

#include <fmt/format.h>
#include <fstream>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/date_time.hpp"
#include "base/test_folder.hpp"
#include "site/records/record_csv.hpp"
#include "site/records/record_table.hpp"
#include "site/store/job_store.hpp"
#include "site/store/test_servers.hpp"

namespace goban::site::store {

using records::RecordTable;

inline base::TimeNs at(const std::string& text) { return base::parse_date_time(text)->unix_ns; }

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline JobStore open_store(const std::string& location) {
  auto store = JobStore::open(location, true);
  if (!store) throw std::runtime_error(store.error().text());
  return std::move(*store);
}

inline ImportSummary import_text(JobStore& store, const std::string& text,
                                 const JobImportOptions& options = {}) {
  const base::TestFolder folder;
  write_file(folder.path() + "/jobs", text);
  auto summary = store.import_file(folder.path() + "/jobs", options);
  if (!summary) throw std::runtime_error(summary.error().text());
  return std::move(*summary);
}

/// Jobs of many kinds, a few of them unusual; the same for the same seed.
inline std::string many_jobs(int count, uint32_t seed) {
  std::mt19937 random(seed);
  std::string out = records::records_csv_header();
  const std::vector<records::HeldGpu> gpus = {
      {.node = "g1", .gpu = "0", .util_pct = 12.5F, .mem_used_bytes = 5},
      {.node = "g2", .gpu = "GPU-2"}};
  const std::vector<std::string_view> software = {"cuda/12", "nccl"};
  base::TimeNs submit_ns = at("2019-03-20 00:00:00");
  for (int i = 0; i < count; ++i) {
    const std::string id = fmt::format("{}{}", i, i % 7 == 0 ? "_3" : "");
    const std::string user = fmt::format("user{}", random() % 20);
    records::AccountingRecord r;
    submit_ns += static_cast<base::TimeNs>(random() % 20'000) * 1'000'000'000 + i % 3;
    r.id = id;
    r.job_number = i;
    r.array_task = i % 7 == 0 ? 3 : -1;
    r.user = user;
    r.account = i % 2 == 0 ? "a" : "b";
    r.partition = i % 5 == 0 ? "" : "gpu";
    r.submit_ns = submit_ns;
    r.state = static_cast<records::RecordedState>(5 + random() % 8);
    r.num_gpus = random() % 9;
    r.num_nodes = 1;
    r.priority = static_cast<int32_t>(random() % 7) - 3;
    if (i % 11 != 0) {
      r.start_ns = submit_ns + static_cast<base::TimeNs>(random() % 1000) * 1'000'000'000;
      r.end_ns = r.start_ns + static_cast<base::TimeNs>(random());
      r.node_list = "g[1-2]";
    }
    if (i % 4 == 0) r.gpus = gpus;
    if (i % 3 == 0) r.software = software;
    if (i % 6 == 0) r.usage = {.gpu_util_pct_max = 50.25F, .read_bytes = 7, .cpu_s = 1.0 / 3};
    // Not for the first jobs: a store of an older version has no column for it.
    if (i >= 100) r.usage.energy_j = i / 8.0;
    records::append_records_csv(out, r);
  }
  return out;
}

/// All jobs as CSV, in reading order.
inline std::string export_of(JobStore& store, const Selection& selection = {}) {
  RecordTable table;
  const auto summary = store.read(selection, table);
  if (!summary) throw std::runtime_error(summary.error().text());
  if (summary->rejected != 0) throw std::runtime_error("a stored job was rejected");
  std::string out = records::records_csv_header();
  RecordTable::RecordBuffers buffers;
  for (size_t i = 0; i < table.rows().size(); ++i) {
    records::append_records_csv(out, table.record(i, buffers));
  }
  return out;
}

inline std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out.insert(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

inline std::vector<int> years_of(JobStore& store) {
  std::vector<int> out;
  const auto facts = store.partition_facts();
  for (const PartitionFacts& each : *facts) out.push_back(each.fiscal_year);
  return out;
}

inline std::string sacct(const std::string& id, const std::string& submit, const std::string& start,
                         const std::string& end, const std::string& state) {
  return id + "|ann|acc|" + submit + "|" + start + "|" + end + "|" + state +
         "|cpu=8,gres/gpu=2,mem=1G,node=1|g1\n";
}
inline const std::string kSacct = "JobID|User|Account|Submit|Start|End|State|AllocTRES|NodeList\n";

}  // namespace goban::site::store
