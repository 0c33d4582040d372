// For tests: stores filled from text, and what they hold.
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/date_time.hpp"
#include "records/record_csv.hpp"
#include "records/record_table.hpp"
#include "store/job_store.hpp"
#include "store/test_servers.hpp"

namespace goban::store {

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
                                 const ImportOptions& options = {}) {
  const TestFolder folder;
  write_file(folder.path() + "/jobs", text);
  auto summary = store.import_file(folder.path() + "/jobs", options);
  if (!summary) throw std::runtime_error(summary.error().text());
  return std::move(*summary);
}

/// All jobs as CSV, in the order of reading.
inline std::string export_of(JobStore& store, const Selection& selection = {}) {
  RecordTable table;
  const auto summary = store.read(selection, table);
  if (!summary) throw std::runtime_error(summary.error().text());
  if (summary->rejected != 0) throw std::runtime_error("a stored job was refused");
  std::string out = records::records_csv_header();
  RecordTable::RecordBuffers buffers;
  for (size_t i = 0; i < table.rows().size(); ++i) {
    records::append_records_csv(out, table.record(i, buffers));
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

}  // namespace goban::store
