#include "site/store/status.hpp"

#include <fmt/format.h>

#include "site/records/overlap_check.hpp"
#include "site/records/record_table.hpp"

namespace goban::site::store {
namespace {

base::Status count(JobStore& jobs, const char* what, int64_t& out) {
  const auto found = jobs.connection().query_whole(fmt::format("SELECT COUNT(*) FROM {}", what));
  if (!found) return base::failure(found.error());
  out = found->value_or(0);
  return {};
}

}  // namespace

base::Result<StoreStatus> store_status(JobStore& jobs) {
  StoreStatus out;
  const auto facts = jobs.partition_facts();
  if (!facts) return base::failure(facts.error());
  auto reduced = reduced_years(jobs.connection());
  if (!reduced) return base::failure(reduced.error());
  out.reduced_years = std::move(*reduced);
  for (const PartitionFacts& each : *facts) {
    out.years.push_back(
        {each.fiscal_year, each.jobs, fiscal_year_begin(each.fiscal_year, jobs.fiscal_month())});
    out.jobs += each.jobs;
  }
  // Records appended by a daemon (JobStore::append) are not an import: no start, no end.
  for (const base::Status& counted :
       {count(jobs, "goban_open", out.not_ended),
        count(jobs, "goban_imports WHERE begun_unix_s > 0", out.imports),
        count(jobs, "goban_imports WHERE begun_unix_s > 0 AND done_unix_s IS NULL",
              out.imports_cut),
        count(jobs, "goban_seen", out.sightings)}) {
    if (!counted) return base::failure(counted.error());
  }
  return out;
}

base::Result<StoreCheck> check_store(JobStore& jobs) {
  StoreCheck out;
  const auto lone = jobs.lone_sightings();
  if (!lone) return base::failure(lone.error());
  out.lone_sightings = *lone;
  records::RecordTable table;
  const auto read = jobs.read({}, table);
  if (!read) return base::failure(read.error());
  const records::GpuOverlaps overlaps = records::find_gpu_overlaps(table);
  out.gpu_overlaps = overlaps.count;
  for (const records::GpuOverlap& each : overlaps.first) {
    out.first_overlaps.push_back(records::overlap_text(table, each));
  }
  return out;
}

}  // namespace goban::site::store
