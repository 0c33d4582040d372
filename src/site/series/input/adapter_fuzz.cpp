// Arbitrary bytes as an adapter file: rejected, or read with units that fit their metric.
#include "site/series/input/adapter.hpp"

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::site::series;
  AdapterTable table;
  const bool good =
      table.add_toml({reinterpret_cast<const char*>(data), size}, "fuzz.toml").has_value();
  GOBAN_CHECK(good || table.all().empty());
  for (const auto& [name, adapter] : table.all()) {
    GOBAN_CHECK(!name.empty() && name == adapter.name);
    GOBAN_CHECK(adapter.role != Role::Sample || factor(adapter.unit, info(adapter.metric).unit));
  }
  return 0;
}
