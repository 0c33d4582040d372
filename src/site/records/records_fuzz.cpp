// Arbitrary bytes as accounting records: every record is taken or counted as rejected, the block
// boundaries make no difference, and the table accepts what it returns.
#include <cstdint>

#include "base/check.hpp"
#include "site/records/record_format.hpp"
#include "site/records/record_table.hpp"
#include "site/records/slurm_fields.hpp"

namespace {

using goban::site::records::RecordTable;

struct Outcome {
  goban::base::Result<goban::site::records::ReadSummary> summary;
  RecordTable table;
};

Outcome read_in_blocks(std::string_view text, const goban::site::records::ReadOptions& options,
                       size_t block_bytes) {
  RecordTable table;
  goban::base::MemorySource source(text, block_bytes);
  auto summary = goban::site::records::read_records(source, "fuzz", options, table);
  return {std::move(summary), std::move(table)};
}

void check_rows(const RecordTable& table) {
  RecordTable again;
  RecordTable::RecordBuffers buffers;
  for (size_t i = 0; i < table.rows().size(); ++i) {
    const auto& row = table.rows()[i];
    GOBAN_CHECK(!table.id(i).empty());
    GOBAN_CHECK(!goban::site::records::is_task_of_rest(-1, table.id(i)));
    GOBAN_CHECK(row.start_ns < 0 || row.end_ns < 0 || row.end_ns >= row.start_ns);
    GOBAN_CHECK(row.num_gpus >= -1 && row.num_nodes >= -1 && row.cpu_cores >= 0);
    GOBAN_CHECK(again.take(table.record(i, buffers)).empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto formats = goban::site::records::record_formats();
  for (const std::string_view format : {std::string_view(), formats[size % formats.size()].name}) {
    goban::site::records::ReadOptions options;
    options.format = format;
    options.procs_per_gpu = 3;
    if (size % 3 == 0) options.site.zone = "+09:00";
    if (size % 2 == 0) {
      options.site.gpus_per_node = {"gpu=4"};
      options.site.keep_job_names = options.site.keep_command_lines = true;
    }
    const Outcome whole = read_in_blocks(text, options, SIZE_MAX);
    const Outcome pieces = read_in_blocks(text, options, 7);
    GOBAN_CHECK(whole.summary.has_value() == pieces.summary.has_value());
    check_rows(whole.table);
    GOBAN_CHECK(whole.table.rows().size() == pieces.table.rows().size());
    if (!whole.summary) continue;
    GOBAN_CHECK(whole.summary->rejected <= whole.summary->records);
    GOBAN_CHECK(whole.summary->records == pieces.summary->records);
    GOBAN_CHECK(whole.summary->rejected == pieces.summary->rejected);
  }
  return 0;
}
