// Arbitrary bytes as a block: rejected, or read without leaving the bytes. The same bytes are
// scanned to their end as a file of records.
#include "site/series/block.hpp"

#include "base/check.hpp"
#include "site/series/record.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::site::series;
  const std::span<const uint8_t> bytes(data, size);
  if (const auto view = BlockView::parse(bytes); view && view->head().slots < 100'000) {
    CodeCounts counts(kLargestCode);
    const bool counted = view->count(0, view->head().slots, counts);
    std::vector<uint16_t> codes;
    if (view->decode(codes)) {
      GOBAN_CHECK(counted && codes.size() == view->head().slots);
      for (const uint16_t code : codes) GOBAN_CHECK(is_value(code) || code >= kNotAvailableCode);
    }
  }
  RecordScanner scanner(bytes);
  size_t end = 0;
  while (const auto record = scanner.next()) {
    GOBAN_CHECK(scanner.end() > end && scanner.end() <= size);
    end = scanner.end();
    (void)intact(*record);
  }
  GOBAN_CHECK(scanner.damaged_bytes() <= size);
  return 0;
}
