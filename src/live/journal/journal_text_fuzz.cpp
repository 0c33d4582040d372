// Reads any bytes as a journal: records stay within the text and read back identical.
#include "live/journal/journal_text.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::live::journal;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto check = [](std::string_view whole) {
    const auto lines = read_journal_text(whole, "fuzz.log");
    if (!lines) return;
    GOBAN_CHECK(lines->header_bytes <= lines->good_bytes && lines->good_bytes <= whole.size());
    const auto again = read_journal_text(whole.substr(0, lines->good_bytes), "again.log");
    GOBAN_CHECK(again && again->records == lines->records);
    GOBAN_CHECK(again->good_bytes == lines->good_bytes);
  };
  check(text);
  // A valid header, then the input as a record and as the bytes after it.
  std::string made;
  append_line(made, {}, to_text(JournalHeader{.kind = "journal", .generation = {1, 1}}));
  std::string record(text);
  std::erase(record, '\n');
  append_line(made, {.commit = 1, .index = 0}, record);
  made += text;
  check(made);
  (void)parse_header(text, "fuzz.log").has_value();
  return 0;
}
