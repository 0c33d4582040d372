#include "cli/log_output.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.hpp"

namespace goban::cli {

using base::Status;

namespace {

constexpr int64_t kPageBytes = int64_t{1} << 20;

Status write_all(int out, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(out, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return base::failed(fmt::format("cannot write: {}", std::strerror(errno)));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

std::string path_of(const std::string& job, const LogChoice& choice) {
  return fmt::format("/v1/jobs/{}/log?stream={}", service::url_part(job),
                     choice.standard_error ? "stderr" : "stdout");
}

std::string_view last_lines(std::string_view text, int64_t lines) {
  size_t at = text.size() - (text.ends_with('\n') ? 1 : 0);
  for (; lines > 0; --lines) {
    at = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    if (at == std::string_view::npos) return text;
  }
  return text.substr(at + 1);
}

/// Page by page to the end as it is now.
Status print_whole(service::ApiClient& client, const std::string& path, int out) {
  for (int64_t offset = 0;;) {
    const auto page = client.get(fmt::format("{}&offset={}&limit={}", path, offset, kPageBytes));
    if (!page) return base::failure(page.error());
    if (auto wrote = write_all(out, *page); !wrote) return wrote;
    offset += static_cast<int64_t>(page->size());
    if (static_cast<int64_t>(page->size()) < kPageBytes || interrupted()) return {};
  }
}

}  // namespace

Status print_log(service::ApiClient& client, const std::string& job, const LogChoice& choice,
                 int out) {
  constexpr int kNotFound = 404;
  catch_interrupts();
  const std::string path = path_of(job, choice);
  if (choice.lines == 0 && !choice.follow) return print_whole(client, path, out);
  int64_t from = 0;
  if (choice.lines > 0) {
    // Followed logs may not be there yet; everything else is said by the stream once more.
    const auto tail =
        client.get(fmt::format("{}&offset={}&limit={}", path, -kPageBytes, kPageBytes));
    if (!tail && !(choice.follow && client.last_status() == kNotFound)) {
      return base::failure(tail.error());
    }
    const std::string_view lines = tail ? last_lines(*tail, choice.lines) : std::string_view{};
    if (!choice.follow) return write_all(out, lines);
    from = -static_cast<int64_t>(lines.size());
  }
  Status wrote;
  const auto streamed =
      client.stream(fmt::format("{}&offset={}&follow=1", path, from), [&](std::string_view part) {
        wrote = write_all(out, part);
        return wrote.has_value() && !interrupted();
      });
  return wrote ? streamed : wrote;
}

}  // namespace goban::cli
