// Reads any bytes as an energy ledger; a valid ledger is identical after writing and reading.
#include "live/engine/local/energy_ledger.hpp"

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using goban::live::engine::local::parse_energy_book;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto book = parse_energy_book(text, "book");
  if (!book) return 0;
  const auto again = parse_energy_book(to_text(*book), "again");
  GOBAN_CHECK(again && *again == *book);
  return 0;
}
