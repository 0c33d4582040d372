// Arbitrary bytes as the tables of Alibaba's PAI, separated by a line ===: every job is taken or
// counted as rejected.
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include "base/check.hpp"
#include "site/records/record_reader.hpp"
#include "site/records/record_table.hpp"

namespace {

/// A folder in memory.
class Folder {
 public:
  Folder() { GOBAN_CHECK(::mkdtemp(path_.data()) != nullptr); }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = "/dev/shm/goban-fuzz-XXXXXX";
};

/// One folder for the lifetime of the fuzzer.
const std::string& folder() {
  static const Folder made;
  return made.path();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (const char* table :
       {"pai_job_table", "pai_task_table", "pai_sensor_table", "pai_instance_table"}) {
    constexpr std::string_view kBetween = "===\n";
    const std::string_view part = rest.substr(0, rest.find(kBetween));
    std::ofstream(folder() + "/" + table + ".csv", std::ios::binary) << part;
    rest.remove_prefix(std::min(part.size() + kBetween.size(), rest.size()));
  }
  goban::site::records::ReadOptions options;
  options.format = "alibaba-pai";
  goban::site::records::RecordTable records;
  const auto read = goban::site::records::read_records(folder(), options, records);
  if (!read) {
    GOBAN_CHECK(!read.error().message.empty());
    return 0;
  }
  GOBAN_CHECK(read->rejected <= read->records);
  return 0;
}
