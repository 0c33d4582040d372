#include "history/rejects.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>

#include "base/csv.hpp"
#include "base/number.hpp"

namespace goban::history {

base::Status RejectsFile::open(const std::string& path) {
  if (path.empty()) return {};
  path_ = path;
  file_.reset(std::fopen(path.c_str(), "wbe"));
  if (!file_) return base::failed(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  std::fputs("line,reason,record\n", file_.get());
  return {};
}

void RejectsFile::add(int64_t line, std::string_view reason, std::string_view record) {
  if (!file_) return;
  row_.clear();
  base::append_number(row_, line);
  row_ += ',';
  base::append_csv_field(row_, reason);
  row_ += ',';
  base::append_csv_field(row_, record);
  row_ += '\n';
  std::fwrite(row_.data(), 1, row_.size(), file_.get());
}

base::Status RejectsFile::close() {
  if (!file_) return {};
  const bool broken = std::ferror(file_.get()) != 0;
  if (std::fclose(file_.release()) != 0 || broken) {
    return base::failed(fmt::format("cannot write all of {}", path_), "is the disk full?");
  }
  return {};
}

}  // namespace goban::history
