#include "base/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace goban::base {

Result<OutputFile> OutputFile::create(const std::string& path) {
  std::error_code ignored;  // the open below reports the error
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  std::string temporary = fmt::format("{}.{}.part", path, getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) {
    return failed(fmt::format("cannot write {}: {}", path, std::strerror(errno)),
                  "check that the folder exists and is writable");
  }
  return OutputFile(path, std::move(temporary), file);
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
  std::remove(temporary_.c_str());
}

void OutputFile::flush() {
  failed_ = failed_ || std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size();
  buffer_.clear();
}

Status OutputFile::commit() {
  flush();
  failed_ = std::fclose(std::exchange(file_, nullptr)) != 0 || failed_;
  if (!failed_ && std::rename(temporary_.c_str(), path_.c_str()) == 0) return {};
  const int error = errno;
  std::remove(temporary_.c_str());
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
