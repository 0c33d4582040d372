#include "cli/jobs/log_output.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/http/http_client.hpp"
#include "base/number.hpp"
#include "cli/jobs/daemon_absence.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/command.hpp"

namespace goban::cli {

using base::Result;
using base::Status;

namespace {

constexpr int kNotFound = 404;
constexpr int64_t kPageBytes = int64_t{1} << 20;

std::string path_of(const std::string& job, const LogChoice& choice) {
  return fmt::format("/v1/jobs/{}/log?stream={}", base::http::url_part(job),
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

/// What was printed so far.
struct Output {
  int file = -1;
  int64_t offset = 0;  ///< of the next byte, in the job's file
  Status problem{};    ///< of writing

  /// Writes the bytes; returns whether to continue: not after a problem.
  bool take(std::string_view bytes) {
    if (!problem) return false;
    if (!base::write_all(file, bytes)) {
      problem = base::failed(fmt::format("cannot write the output: {}", std::strerror(errno)));
    }
    offset += static_cast<int64_t>(bytes.size());
    return problem.has_value() && !interrupted();
  }
};

/// Prints page by page to the current end. Errors: those of the client; see also out.problem.
Status print_rest(serve::api::ApiClient& client, const std::string& path, Output& out) {
  while (true) {
    const auto page =
        client.get(fmt::format("{}&offset={}&limit={}", path, out.offset, kPageBytes));
    if (!page) return base::failure(page.error());
    if (!out.take(*page) || static_cast<int64_t>(page->size()) < kPageBytes) return {};
  }
}

/// The last lines of the current file, and its end.
struct Tail {
  std::string lines{};
  int64_t end = 0;
};

Result<Tail> last_lines(serve::api::ApiClient& client, const std::string& path, int64_t lines) {
  const auto page = client.get(fmt::format("{}&offset={}&limit={}", path, -kPageBytes, kPageBytes));
  if (!page) return base::failure(page.error());
  const auto end = base::parse_int(client.last_header("X-Goban-Offset"));
  return Tail{std::string(last_lines(*page, lines)),
              end.value_or(static_cast<int64_t>(page->size()))};
}

/// A stream ends with the job, but also with the daemon; the job's state distinguishes the two.
/// Resumes at the same offset when a daemon answers again. `answered`: a daemon answered before.
Status follow(serve::api::ApiClient& client, const std::string& job, const std::string& path,
              bool answered, Output& out) {
  DaemonAbsence absence;
  while (true) {
    auto streamed = client.stream(fmt::format("{}&offset={}&follow=1", path, out.offset),
                                  [&](std::string_view part) {
                                    if (!part.empty()) absence.ends();
                                    return out.take(part);
                                  });
    if (!out.problem || interrupted()) return {};
    answered = answered || client.last_status() != 0;
    if (!streamed && (!answered || !is_away(client))) return streamed;
    const auto now = get_json(client, "/v1/jobs/" + base::http::url_part(job));
    if (now) absence.ends();
    if (now && text_of(*now, "state") == "done") {
      const auto rest = print_rest(client, path, out);
      if (rest || !is_away(client)) return client.last_status() == kNotFound ? Status{} : rest;
    } else if (!now && !is_away(client)) {
      return client.last_status() == kNotFound ? Status{} : base::failure(now.error());
    }
    if (!absence.wait()) {
      if (interrupted()) return {};
      return base::failed(
          fmt::format("lost the connection to the daemon; job {} keeps running", job),
          fmt::format("run goban logs -f {} when the daemon is running again", job));
    }
  }
}

}  // namespace

Status print_log(serve::api::ApiClient& client, const std::string& job, const LogChoice& choice,
                 int out) {
  catch_interrupts();
  const std::string path = path_of(job, choice);
  Output output{.file = out};
  bool answered = choice.daemon_was_there;
  if (choice.lines > 0) {
    const auto tail = last_lines(client, path, choice.lines);
    // A followed log may not exist yet; the stream reports every other error again.
    if (!tail && !(choice.follow && client.last_status() == kNotFound)) {
      return base::failure(tail.error());
    }
    answered = true;
    if (tail && !output.take(tail->lines)) return output.problem;
    if (tail) output.offset = tail->end;
    if (!choice.follow) return {};
  }
  const auto read = choice.follow ? follow(client, job, path, answered, output)
                                  : print_rest(client, path, output);
  return output.problem ? read : output.problem;
}

}  // namespace goban::cli
