// Any bytes are rejected with a place, or give rules whose accounts form a tree.
#include <cstdint>

#include "base/check.hpp"
#include "core/model/site_rules_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  goban::core::model::JobHistory history;
  const auto rules = goban::core::model::parse_site_rules(
      {reinterpret_cast<const char*>(data), size}, "fuzz.toml", history);
  if (!rules) {
    GOBAN_CHECK(!rules.error().message.empty() && rules.error().place.file == "fuzz.toml");
    return 0;
  }
  GOBAN_CHECK(rules->accounts.size() <= history.accounts.size());
  for (size_t i = 0; i < rules->accounts.size(); ++i) {
    size_t steps = 0;
    for (auto at = rules->accounts[i].parent; at.valid(); at = rules->accounts[at.index()].parent) {
      GOBAN_CHECK(++steps <= rules->accounts.size());
    }
  }
  return 0;
}
