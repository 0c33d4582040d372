#include "site/series/mapped_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace goban::site::series {

base::Result<MappedFile> MappedFile::open(const std::string& path) {
  const auto problem = [&](const char* what) {
    return base::failed(fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)),
                        "check that the file exists and is readable");
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return problem("open");
  struct stat status{};
  void* mapped = nullptr;
  const bool known = ::fstat(file, &status) == 0;
  const auto size = static_cast<size_t>(known ? status.st_size : 0);
  if (size > 0) mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  const bool failed = !known || mapped == MAP_FAILED;
  auto result = failed ? base::Result<MappedFile>(problem("read")) : MappedFile();
  ::close(file);
  if (!failed && size > 0) result->bytes_ = {static_cast<const uint8_t*>(mapped), size};
  return result;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace goban::site::series
