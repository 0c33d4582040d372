#include "train/data/tar_headers.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "train/data/packed_bytes.hpp"
#include "train/data/sample.hpp"

namespace goban::train::data {
namespace {

constexpr size_t kHeaderBlock = 512;
constexpr int64_t kLargestExtension = int64_t{1} << 20;
constexpr int64_t kLargestMember = int64_t{1} << 50;

/// A field of a header: octal digits between spaces and NULs, or a number of base 256.
std::optional<int64_t> number_of(std::string_view field) {
  if ((static_cast<unsigned char>(field[0]) & 0x80U) != 0) {
    int64_t value = static_cast<unsigned char>(field[0]) & 0x7fU;
    for (const char c : field.substr(1)) {
      if (value > kLargestMember) return std::nullopt;
      value = value * 256 + static_cast<unsigned char>(c);
    }
    return value <= kLargestMember ? std::optional(value) : std::nullopt;
  }
  constexpr std::string_view kBlank("\0 ", 2);
  const size_t first = field.find_first_not_of(' ');
  if (first == std::string_view::npos) return 0;
  const size_t last = field.find_last_not_of(kBlank);
  if (last == std::string_view::npos || last < first) return 0;  // blank
  const std::string_view digits = field.substr(first, last + 1 - first);
  int64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  const bool whole = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  return whole && value >= 0 ? std::optional(value) : std::nullopt;
}

/// Something follows the first NUL.
bool has_nul_inside(std::string_view name) {
  const size_t nul = name.find('\0');
  return nul != std::string_view::npos &&
         name.find_first_not_of('\0', nul) != std::string_view::npos;
}

/// A header of any format, also of those before "ustar".
bool has_sum(std::string_view block) {
  constexpr size_t kSum = 148, kSumSize = 8;
  const auto told = number_of(block.substr(kSum, kSumSize));
  int64_t sum = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    sum += i >= kSum && i < kSum + kSumSize ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return told == sum && block[0] != '\0';
}

class Headers {
 public:
  Headers(base::ByteSource& source, const std::string& name) : source_(source), name_(name) {}

  base::Result<TarLinks> check() {
    std::string block(kHeaderBlock, '\0');
    while (true) {
      const auto more = fill(block);
      if (!more) return base::failure(more.error());
      if (!*more || !has_sum(block)) return links_;  // the end, or no tar
      if (auto s = header(block); !s) return base::failure(s.error());
      at_ = read_;
    }
  }

 private:
  base::Status header(const std::string& block) {
    const std::string_view view = block;
    const auto declared = number_of(view.substr(124, 12));
    if (!declared) return damaged("has a size that is not a number");
    const char type = block[156];
    const int64_t size = type == 'x' || type == 'g' ? *declared : next_size_.value_or(*declared);
    if (type == 'x' || type == 'g' || type == 'L' || type == 'K') {
      if (size > kLargestExtension) return damaged(fmt::format("has a name of {} bytes", size));
      std::string content(static_cast<size_t>(size), '\0');
      const auto whole = fill(content);
      if (!whole) return base::failure(whole.error());
      if (!*whole) return {};  // cut: the reader names it
      if (type == 'L' || type == 'K') {
        if (has_nul_inside(content)) return nul();
      } else if (auto s = records(content, type == 'x'); !s) {
        return s;
      }
      return skip((kHeaderBlock - static_cast<size_t>(size) % kHeaderBlock) % kHeaderBlock);
    }
    next_size_.reset();
    if (has_nul_inside(view.substr(0, 100))) return nul();
    if (type == '1' || type == '2') {
      if (links_.count++ == 0)
        links_.first = block.substr(0, std::min(block.find('\0'), size_t{100}));
      return {};  // they have no content, whatever they declare
    }
    if (type == 'M') return damaged("goes on from another volume");
    if (type == 'S') {
      if (auto s = sparse_maps(view); !s) return s;
    }
    return skip((size + kHeaderBlock - 1) / kHeaderBlock * kHeaderBlock);
  }

  /// Blocks that go on with the list of what a sparse member has.
  base::Status sparse_maps(std::string_view header) {
    constexpr size_t kMoreInHeader = 482, kMoreInMap = 504;
    std::string map(kHeaderBlock, header[kMoreInHeader]);
    for (size_t flag = 0; map[flag] != '\0'; flag = kMoreInMap) {
      const auto more = fill(map);
      if (!more) return base::failure(more.error());
      if (!*more) return {};
    }
    return {};
  }

  /// The records "LENGTH KEY=VALUE\n" of an extended header.
  base::Status records(std::string_view text, bool of_next) {
    while (!text.empty()) {
      size_t length = 0;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), length);
      const auto digits = static_cast<size_t>(read.ptr - text.data());
      if (read.ec != std::errc() || length > text.size() || length < digits + 3 ||
          text[digits] != ' ' || text[length - 1] != '\n') {
        return damaged("has an extended header with a wrong length");
      }
      const std::string_view record = text.substr(digits + 1, length - digits - 2);
      const size_t equals = record.find('=');
      if (equals == std::string_view::npos) return damaged("has an extended header without '='");
      const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
      if ((key == "path" || key == "linkpath") && value.find('\0') != std::string_view::npos) {
        return nul();
      }
      if (key == "size" && of_next) {
        int64_t size = 0;
        const auto number = std::from_chars(value.data(), value.data() + value.size(), size);
        if (number.ec != std::errc() || number.ptr != value.data() + value.size() || size < 0 ||
            size > kLargestMember) {
          return damaged("has a size that is not a number");
        }
        next_size_ = size;
      }
      text.remove_prefix(length);
    }
    return {};
  }

  base::Status nul() const {
    return base::bad_data({name_, 0, 0, ""},
                          fmt::format("the name of the member at byte {} has a NUL", at_),
                          "write the shard again, with other names");
  }
  base::Status damaged(const std::string& what) const {
    return base::bad_data({name_, 0, 0, ""}, fmt::format("the member at byte {} {}", at_, what),
                          "the shard is damaged: fetch or write it again");
  }

  /// False at the end of the data.
  base::Result<bool> fill(std::string& out) {
    const auto count = base::read_up_to(source_, out.data(), out.size());
    if (!count) return base::failure(count.error());
    read_ += static_cast<int64_t>(*count);
    return *count == out.size();
  }
  base::Status skip(int64_t bytes) {
    constexpr int64_t kStep = int64_t{256} << 10;
    while (bytes > 0) {
      skipped_.resize(static_cast<size_t>(std::min(bytes, kStep)));
      const auto more = fill(skipped_);
      if (!more) return base::failure(more.error());
      if (!*more) return {};
      bytes -= static_cast<int64_t>(skipped_.size());
    }
    return {};
  }

  base::ByteSource& source_;
  const std::string& name_;
  std::string skipped_;
  int64_t at_ = 0, read_ = 0;
  std::optional<int64_t> next_size_;  ///< of the next member, by an extended header
  TarLinks links_;
};

}  // namespace

base::Result<TarLinks> check_tar_headers(base::ByteSource& source, const std::string& name) {
  return Headers(source, name).check();
}

base::Result<TarLinks> check_tar_headers(const std::string& path) {
  if (shard_format(path) != ShardFormat::Tar) return TarLinks{};
  auto source = open_packed(path);
  if (source && *source == nullptr) source = base::open_bytes(path);
  if (!source) return base::failure(source.error());
  return check_tar_headers(**source, path);
}

}  // namespace goban::train::data
