// Reads arbitrary bytes as the table of nvidia-smi topo -m.
#include "base/topology/smi_matrix.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::base::topology;
  const auto matrix = parse_smi_matrix({reinterpret_cast<const char*>(data), size}, "fuzz.txt");
  if (!matrix) return 0;
  for (const auto& [pair, path] : *matrix) GOBAN_CHECK(!pair.second.empty());
  return 0;
}
