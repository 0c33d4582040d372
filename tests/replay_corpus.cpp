// Stands in for libFuzzer where there is none: runs a fuzz target once over each file of its corpus
// and over its prefixes (the first 4096), so that cut-off inputs are tried too.
// usage: fuzz_X FILE_OR_FOLDER...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kPrefixesMax = 4096;

// A copy of exactly `size` bytes, so that the sanitizer sees a read past the end.
void try_bytes(const std::string& bytes, size_t size) {
  const std::vector<uint8_t> copy(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

bool try_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.good() && !in.eof()) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  const size_t prefixes = std::min(bytes.size(), kPrefixesMax);
  for (size_t size = 0; size < prefixes; ++size) try_bytes(bytes, size);
  try_bytes(bytes, bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::fprintf(stderr, "no corpus: each fuzz target needs a few seeds in tests/corpus\n");
    return 1;
  }
  for (const auto& file : files) {
    if (!try_file(file)) return 1;
  }
  std::printf("%zu files\n", files.size());
  return 0;
}
