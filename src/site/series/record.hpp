// A series file is a sequence of records, each with a checksum, so that it can be appended to and
// torn writes are detected.
//
//   16 bytes: magic "GSR1", type (2), check of these 16 bytes (2), payload bytes (4), CRC-32 (4)
//   payload
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goban::site::series {

enum class RecordType : uint16_t {
  Header = 1,  ///< first in a file: version, metric, quantum, step
  Series = 2,  ///< assigns a number to a device
  Block = 3,   ///< samples of one series
};

inline constexpr size_t kRecordHead = 16;
inline constexpr uint32_t kRecordBytesMax = 1U << 26;

void append_record(std::string& out, RecordType type, std::string_view payload);

struct Record {
  RecordType type = RecordType::Header;
  size_t offset = 0;  ///< of its first byte in the file
  uint32_t crc = 0;
  std::span<const uint8_t> payload;
};

/// True if the payload matches its checksum.
[[nodiscard]] bool intact(const Record& record);

/// Iterates over the records of a file by their heads. Bytes that are not a record are skipped up
/// to the next one and counted: after the last record they are a torn tail, before it damage.
class RecordScanner {
 public:
  explicit RecordScanner(std::span<const uint8_t> file) : file_(file) {}
  [[nodiscard]] std::optional<Record> next();

  /// End of the last record found so far.
  [[nodiscard]] size_t end() const { return end_; }
  [[nodiscard]] size_t damaged_bytes() const { return damaged_bytes_; }
  /// Heads whose payload would end past the end of the file. Once the file is longer, such a head
  /// before an intact record could be taken for a record, and hide appended ones.
  [[nodiscard]] const std::vector<size_t>& torn_heads() const { return torn_heads_; }

 private:
  [[nodiscard]] std::optional<Record> at(size_t offset);

  std::span<const uint8_t> file_;
  size_t end_ = 0;
  size_t damaged_bytes_ = 0;
  std::vector<size_t> torn_heads_;
};

}  // namespace goban::site::series
