#include "site/series/input/import_file.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "base/byte_source.hpp"
#include "base/text_file.hpp"
#include "site/series/input/exposition.hpp"
#include "site/series/input/nvidia_smi.hpp"
#include "site/series/input/open_metrics.hpp"
#include "site/series/input/philly_util.hpp"

namespace goban::site::series {
namespace {

constexpr size_t kSniffedBytes = size_t{64} << 10;

/// Copies standard input to a file that can be read twice and is removed afterwards.
class Spool {
 public:
  Spool() = default;
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  [[nodiscard]] const std::string& path() const { return path_; }

  base::Status fill(const Intake& intake) {
    const auto source = base::open_bytes("-");
    if (!source) return base::failure(source.error());
    path_ = (std::filesystem::temp_directory_path() / "goban-stdin-XXXXXX").string();
    const int file = ::mkstemp(path_.data());
    if (file < 0) {
      path_.clear();
      return problem();
    }
    const auto copied = copy(**source, file, intake);
    ::close(file);
    return copied;
  }

 private:
  static base::Status problem() {
    return base::failed(
        fmt::format("cannot copy standard input to a temporary file: {}", std::strerror(errno)),
        "set TMPDIR to a folder with free space, or name a file");
  }
  static base::Status copy(base::ByteSource& source, int file, const Intake& intake) {
    std::string buffer(size_t{1} << 20, '\0');
    while (!intake.stopped()) {
      const auto count = source.read(buffer.data(), buffer.size());
      if (!count) return base::failure(count.error());
      if (*count == 0) break;
      for (size_t done = 0; done < *count;) {
        const ssize_t written = ::write(file, buffer.data() + done, *count - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return problem();
        done += static_cast<size_t>(written);
      }
    }
    return {};
  }
  std::string path_;
};

base::Result<std::string> beginning_of(const std::string& path) {
  const auto source = base::open_bytes(path);
  if (!source) return base::failure(source.error());
  std::string text(kSniffedBytes, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const auto count = (*source)->read(text.data() + size, text.size() - size);
    if (!count) return base::failure(count.error());
    if (*count == 0) break;
    size += *count;
  }
  text.resize(size);
  return text;
}

base::Status read_smi_file(const std::string& path, const std::string& file,
                           const SeriesImportOptions& options, const std::string& node,
                           Intake& intake) {
  const auto source = base::open_bytes(path);
  if (!source) return base::failure(source.error());
  const NvidiaSmiOptions smi{.node = node,
                             .short_node_names = options.short_node_names,
                             .columns = options.columns,
                             .time_ms = options.time_ms,
                             .zone = options.zone,
                             .metrics = options.metrics};
  return read_nvidia_smi(**source, file, smi, intake);
}

std::string node_of(const std::string& path, const SeriesImportOptions& options) {
  if (!options.node_from_file || path == "-") return options.node;
  const std::string name = std::filesystem::path(path).filename().string();
  return name.substr(0, name.find('.'));
}

}  // namespace

std::optional<FileFormat> detect_format(std::string_view beginning) {
  constexpr size_t kLinesMax = 200;
  if (beginning.starts_with("\xef\xbb\xbf")) beginning.remove_prefix(3);
  for (size_t i = 0; i < kLinesMax && !beginning.empty(); ++i) {
    const size_t end = std::min(beginning.find('\n'), beginning.size());
    std::string_view line = beginning.substr(0, end);
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (is_comment(line)) {
      if (line.starts_with("# HELP") || line.starts_with("# TYPE") || line.starts_with("# EOF")) {
        return FileFormat::OpenMetrics;
      }
      continue;
    }
    if (is_philly_util_header(line)) return FileFormat::PhillyUtil;
    if (is_nvidia_smi_header(line)) return FileFormat::NvidiaSmi;
    if (parse_exposition_line(line)) return FileFormat::OpenMetrics;
  }
  return std::nullopt;
}

base::Status import_file(const std::string& path, const SeriesImportOptions& options,
                         Intake& intake) {
  const std::string file = base::input_name(path);
  Spool spool;
  if (path == "-") {
    if (const auto filled = spool.fill(intake); !filled) return filled;
  }
  const std::string& real = path == "-" ? spool.path() : path;
  const auto beginning = beginning_of(real);
  if (!beginning) return base::failure(beginning.error());
  auto format = options.format;
  if (format == FileFormat::Auto) {
    const auto detected =
        options.columns.empty() ? detect_format(*beginning) : FileFormat::NvidiaSmi;
    if (!detected) {
      return base::bad_data(
          {file, 0, 0, {}}, "unknown format: neither OpenMetrics nor nvidia-smi's or Philly's CSV",
          "set --format if other text precedes the data; CSV without a header requires "
          "--columns");
    }
    format = *detected;
  }
  const std::string node = node_of(path, options);
  if (format == FileFormat::NvidiaSmi) return read_smi_file(real, file, options, node, intake);
  if (format == FileFormat::PhillyUtil) {
    const auto source = base::open_bytes(real);
    if (!source) return base::failure(source.error());
    return read_philly_util(**source, file, options.metrics, intake);
  }
  AdapterTable adapters = options.adapters;
  adapters.keep(options.metrics);
  adapters.short_node_names = options.short_node_names;
  adapters.default_node = node;
  return read_open_metrics([&] { return base::open_bytes(real); }, file, adapters, options.time_ms,
                           intake);
}

}  // namespace goban::site::series
