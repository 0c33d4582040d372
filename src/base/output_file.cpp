#include "base/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace goban::base {

Result<OutputFile> OutputFile::create(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;  // the open below reports the error
  const fs::file_type type = fs::status(path, ignored).type();
  std::string target = path;
  std::string temporary;
  if (type == fs::file_type::regular) {
    // A link stays; the file that it names is replaced.
    const fs::path real = fs::canonical(path, ignored);
    if (!ignored) target = real.string();
  } else if (type == fs::file_type::not_found) {
    const auto folder = fs::path(path).parent_path();
    if (!folder.empty()) fs::create_directories(folder, ignored);
  }
  // Devices and pipes cannot be replaced by a file: they are written to.
  const bool in_place = type != fs::file_type::regular && type != fs::file_type::not_found;
  if (!in_place) temporary = fmt::format("{}.{}.part", target, getpid());
  std::FILE* file = std::fopen(in_place ? path.c_str() : temporary.c_str(), "wb");
  if (file == nullptr) {
    return failed(fmt::format("cannot write {}: {}", path, std::strerror(errno)),
                  "check that the folder exists and is writable");
  }
  return OutputFile(std::move(target), std::move(temporary), file);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      file_(std::exchange(other.file_, nullptr)),
      buffer_(std::move(other.buffer_)),
      failed_(other.failed_) {}

OutputFile::~OutputFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void OutputFile::flush() {
  failed_ = failed_ || std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size();
  buffer_.clear();
}

Status OutputFile::commit() {
  flush();
  failed_ = std::fclose(std::exchange(file_, nullptr)) != 0 || failed_;
  const bool in_place = temporary_.empty();
  if (!failed_ && (in_place || std::rename(temporary_.c_str(), path_.c_str()) == 0)) return {};
  const int error = errno;
  if (!in_place) std::remove(temporary_.c_str());
  return failed(fmt::format("cannot write {}: {}", path_, std::strerror(error)),
                "check free space and permissions");
}

Status write_file(const std::string& path, std::string text) {
  auto file = OutputFile::create(path);
  if (!file) return failure(file.error());
  file->buffer() = std::move(text);
  return file->commit();
}

}  // namespace goban::base
