// Output of records: the CSV of format `records`, which is lossless, and SWF with GPU columns for
// tools that read SWF. Both can be read back (formats/records_csv.cpp, formats/swf.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/name_table.hpp"
#include "site/records/accounting_record.hpp"

namespace goban::site::records {

/// The header line of format `records`, with its line end.
[[nodiscard]] std::string records_csv_header();

/// Appends a record as one line. Line ends in texts become blanks.
void append_records_csv(std::string& out, const AccountingRecord& record);

// Lists inside one field.
/// `node|gpu|utilisation %|peak bytes|bytes of the GPU;...`; unknown numbers are empty.
[[nodiscard]] std::string gpu_list_text(std::span<const HeldGpu> gpus);
/// Views into the text. False if it is not such a list.
[[nodiscard]] bool parse_gpu_list(std::string_view text, std::vector<HeldGpu>& gpus);
/// Names separated by semicolons.
[[nodiscard]] std::string software_text(std::span<const std::string_view> software);
void parse_software(std::string_view text, std::vector<std::string_view>& software);

/// Writes SWF 2.2: the 18 fields, then GPUs and thousandths of a GPU (`; GpuFields: 19 20`, which
/// our reader prefers to the processors). SWF has numbers only: ids and names are numbered from 1
/// in order of first appearance and not listed; seconds are rounded to milliseconds. Records that
/// never ran have no SWF form.
class SwfWriter {
 public:
  /// Comments of the header; submission times count from `unix_start_ns`.
  [[nodiscard]] std::string header(TimeNs unix_start_ns);
  /// False if the record was omitted because its run time or size is unknown.
  [[nodiscard]] bool append(std::string& out, const AccountingRecord& record);

 private:
  TimeNs origin_ns_ = 0;
  int64_t jobs_ = 0;
  base::NameTable users_, groups_, partitions_;
};

}  // namespace goban::site::records
