// Reads arbitrary bytes as a TFRecord file and as an Example; what was read must read back equal.
#include "train/data/tfrecord.hpp"

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::train::data;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto reader = read_tfrecords(bytes, "fuzz.tfrecord");
  Sample sample;
  while (reader->next(sample).value_or(false)) {
  }
  Sample example;
  if (!from_example(bytes, example)) return 0;
  Sample again;
  GOBAN_CHECK(from_example(to_example(example), again).has_value());
  GOBAN_CHECK(again.key == example.key && again.fields.size() == example.fields.size());
  for (const Field& each : example.fields) GOBAN_CHECK(*again.find(each.name) == each.bytes);
  return 0;
}
