// Reads arbitrary bytes as CSV: rows and fields must lie inside the text, and fields must read back
// as written.
#include "base/csv.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using goban::base::CsvReader;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CsvReader csv(text, "fuzz.csv");
  std::vector<std::string> fields;
  int line = 0;
  while (csv.next()) {
    GOBAN_CHECK(csv.line() > line && csv.num_fields() > 0);
    line = csv.line();
    fields.clear();
    for (size_t i = 0; i < csv.num_fields(); ++i) {
      fields.emplace_back(csv.field(i));
      GOBAN_CHECK(csv.place(i).line >= line && csv.place(i).column >= 1);
    }
    std::string again = "header\n";
    for (const std::string& field : fields) {
      if (&field != &fields.front()) again += ',';
      goban::base::append_csv_field(again, field);
    }
    if (again.ends_with("header\n")) continue;  // one empty field, written as a blank line
    CsvReader second(again, "again.csv");
    GOBAN_CHECK(second.next() && second.num_fields() == fields.size());
    for (size_t i = 0; i < fields.size(); ++i) GOBAN_CHECK(second.field(i) == fields[i]);
  }
  (void)csv.status().has_value();
  return 0;
}
