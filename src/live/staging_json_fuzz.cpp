// Any order or report is refused, or written and read again as it was.
#include "live/staging_json.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/check.hpp"

namespace {

template <typename Message>
void check(const nlohmann::json& document) {
  Message message;
  goban::base::FieldReader in(document, "");
  read_fields(in, message);
  if (!in.good()) return;
  const nlohmann::json written = goban::live::to_json(message);
  Message again;
  goban::base::FieldReader second(written, "");
  read_fields(second, again);
  GOBAN_CHECK(second.good());
  GOBAN_CHECK(again == message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const nlohmann::json document = nlohmann::json::parse(data, data + size, nullptr, false);
  if (document.is_discarded()) return 0;
  check<goban::live::StageOrder>(document);
  check<goban::live::StageReport>(document);
  return 0;
}
