#include "base/text_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <zlib.h>

#include "base/byte_source.hpp"

namespace goban::base {
namespace {

constexpr size_t kFirstChunk = size_t{64} << 10;
constexpr size_t kChunkMax = size_t{64} << 20;  // gzread counts in unsigned int

struct CloseGz {
  void operator()(gzFile file) const { gzclose_r(file); }
};
using GzFile = std::unique_ptr<std::remove_pointer_t<gzFile>, CloseGz>;

tl::unexpected<Error> file_error(const std::string& path, std::string message, std::string remedy) {
  return failure(
      {ErrorCode::Failed, std::move(message), {input_name(path), 0, 0, {}}, std::move(remedy)});
}

// The error of a failed read: the system's reason, or zlib's.
tl::unexpected<Error> read_error(const std::string& path, gzFile file, int system_error) {
  int code = Z_OK;
  const char* text = gzerror(file, &code);
  if (code == Z_ERRNO || code == Z_OK) {
    return file_error(path, fmt::format("cannot be read: {}", std::strerror(system_error)), {});
  }
  return bad_data({input_name(path), 0, 0, {}}, fmt::format("damaged gzip data: {}", text),
                  "copy or compress the file again; check it with gzip -t");
}

}  // namespace

std::string input_name(const std::string& path) { return path == "-" ? "stdin" : path; }

Result<std::string> read_text_file(const std::string& path, size_t max_bytes) {
  const int descriptor = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return file_error(path, fmt::format("cannot be opened: {}", std::strerror(errno)),
                      "check the path and its permissions");
  }
  struct stat about = {};
  const bool known_size = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
  const GzFile file(gzdopen(descriptor, "rb"));
  if (!file) {
    close(descriptor);
    return file_error(path, "cannot be read: out of memory", {});
  }
  gzbuffer(file.get(), 1 << 18);

  std::string text;
  size_t used = 0;
  // One byte more than the size of a plain file, so that its end is detected without growing.
  size_t chunk = known_size ? static_cast<size_t>(about.st_size) + 1 : kFirstChunk;
  while (true) {
    chunk = std::clamp(chunk, size_t{1}, kChunkMax);
    text.resize(used + chunk);
    errno = 0;
    const int count = gzread(file.get(), text.data() + used, static_cast<unsigned>(chunk));
    const int system_error = errno;
    // zlib reports a truncated file only with the read that reaches its end.
    int code = Z_OK;
    gzerror(file.get(), &code);
    if (count < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      return read_error(path, file.get(), system_error);
    }
    if (used == 0) {
      const std::string_view beginning(text.data(), static_cast<size_t>(count));
      if (auto status = refuse_packed(beginning, input_name(path)); !status) {
        return failure(status.error());
      }
    }
    used += static_cast<size_t>(count);
    if (used > max_bytes) {
      return bad_data({input_name(path), 0, 0, {}},
                      fmt::format("more than {} bytes of text", max_bytes),
                      "split the file; the limit protects against decompression bombs");
    }
    if (static_cast<size_t>(count) < chunk) break;
    chunk = std::max(used, kFirstChunk);  // doubles the buffer
  }
  text.resize(used);
  return text;
}

}  // namespace goban::base
