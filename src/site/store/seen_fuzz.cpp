// Arbitrary bytes as hook records: every line is taken or counted as rejected, and the same bytes
// again change nothing.
#include "base/check.hpp"
#include "base/test_memory_file.hpp"
#include "site/store/job_store.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::site::store;
  const goban::base::MemoryFile file;
  file.write(data, size);
  auto store = JobStore::open("sqlite::memory:", true);
  GOBAN_CHECK(store.has_value());
  const auto first = store->import_seen_file(file.path(), {});
  if (!first) {
    GOBAN_CHECK(!first.error().message.empty());
    return 0;
  }
  GOBAN_CHECK(first->read.rejected <= first->read.records);
  const auto again = store->import_seen_file(file.path(), {});
  GOBAN_CHECK(again && again->written == 0);
  return 0;
}
