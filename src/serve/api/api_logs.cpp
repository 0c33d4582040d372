// /v1/jobs/{}/log: the output of a job, in parts or followed while it grows.
#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "base/clock.hpp"
#include "base/http/reply.hpp"
#include "base/number.hpp"
#include "live/job/output_path.hpp"
#include "serve/api/api.hpp"
#include "serve/api/file_work.hpp"
#include "serve/api/log_file.hpp"
#include "serve/api/visible_job.hpp"

namespace goban::serve::api {

namespace {
constexpr int64_t kAtOnceMax = 4 << 20;
constexpr const char* kText = "text/plain; charset=utf-8";

struct Request {
  live::job::OutputStream stream = live::job::OutputStream::Stdout;
  int64_t offset = 0;  ///< in bytes; negative: relative to the end
  int64_t limit = 1 << 20;
  bool follow = false;
};

base::Result<Request> request_of(const Call& call) {
  const auto wrong = [](const char* field, const char* what) {
    return base::bad_data({.file = {}, .line = 0, .column = 0, .field = field}, what);
  };
  Request request;
  const std::string_view stream = call.query("stream");
  if (stream == "stderr") request.stream = live::job::OutputStream::Stderr;
  if (!stream.empty() && stream != "stderr" && stream != "stdout") {
    return wrong("stream", "must be stdout or stderr");
  }
  if (const std::string_view text = call.query("offset"); !text.empty()) {
    constexpr int64_t kOffsetMax = int64_t{1} << 60;
    const auto offset = base::parse_int(text);
    if (!offset || *offset < -kOffsetMax || *offset > kOffsetMax) {
      return wrong("offset", "must be a number of bytes");
    }
    request.offset = *offset;
  }
  if (const std::string_view text = call.query("limit"); !text.empty()) {
    const auto limit = base::parse_int(text);
    if (!limit || *limit < 1 || *limit > kAtOnceMax)
      return wrong("limit", "must be an integer from 1 to 4194304");
    request.limit = *limit;
  }
  const std::string_view follow = call.query("follow");
  if (!follow.empty() && follow != "0" && follow != "1") {
    return wrong("follow", "must be 0 or 1");
  }
  request.follow = follow == "1";
  return request;
}

/// Part of a log, as it was read.
struct LogPart {
  bool there = false;  ///< false: nothing was written yet
  std::string text{};
  int64_t begin = 0;
  int64_t size = 0;  ///< of the file
  [[nodiscard]] int64_t end() const { return begin + static_cast<int64_t>(text.size()); }
};

/// Opens, reads and closes the file; each of these may hang. Negative offsets are relative to the
/// end. Errors: the file must not be shown.
base::Result<LogPart> read_log(const live::job::Owner& owner, const std::string& path,
                               int64_t offset, size_t bytes_max) {
  const base::Result<LogFile> file = LogFile::open(owner, path);
  if (!file) return base::failure(file.error());
  LogPart part{.there = file->there()};
  part.size = file->size();
  part.begin = std::min(offset < 0 ? std::max<int64_t>(0, part.size + offset) : offset, part.size);
  if (bytes_max > 0) file->read(part.begin, bytes_max, part.text);
  return part;
}

/// Follows the file until the job has finished and everything was sent. Reads in the background, as
/// the thread that fills all streams must not wait for a file system.
class LogStream final : public base::http::BodyStream {
 public:
  LogStream(const ApiContext& context, core::model::JobId job, live::job::Owner owner,
            std::string path, int64_t offset)
      : context_(context),
        job_(job),
        owner_(std::move(owner)),
        path_(std::move(path)),
        at_(offset) {}

  bool fill(std::string& out, size_t bytes_max) override {
    if (step_ == nullptr && !begin(bytes_max)) return !gives_up();
    // Usually it has finished at once. One that hangs delays the other streams once.
    constexpr base::TimeNs kPatience = 50'000'000;
    if (!context_.files.wait(*task_, std::exchange(has_waited_, true) ? 0 : kPatience)) {
      return !gives_up();
    }
    hangs_since_ns_ = 0;
    const std::shared_ptr<Step> done = std::exchange(step_, nullptr);
    if (!done->part || !*done->part) return false;
    const LogPart& part = **done->part;
    if (!part.there) return !done->over;
    at_ = part.end();
    out += part.text;
    return !part.text.empty() || !done->over;
  }

 private:
  /// A read in progress.
  struct Step {
    bool over = false;  ///< the job was over when it began
    std::optional<base::Result<LogPart>> part{};
  };
  /// Starts a read. False: no thread is free.
  bool begin(size_t bytes_max) {
    auto step = std::make_shared<Step>();
    step->over = is_over();
    task_ =
        context_.files.start(owner_, [step, owner = owner_, path = path_, offset = at_, bytes_max] {
          step->part.emplace(read_log(owner, path, offset, bytes_max));
        });
    if (task_ == nullptr) return false;
    step_ = std::move(step);
    has_waited_ = false;
    return true;
  }
  /// Whether the job is over and its file system has not answered for long.
  bool gives_up() {
    const base::TimeNs now = base::steady_ns();
    if (hangs_since_ns_ == 0) hangs_since_ns_ = now;
    return now - hangs_since_ns_ > context_.files.limits().timeout_ns && is_over();
  }
  [[nodiscard]] bool is_over() const {
    bool over = true;
    context_.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
      const live::controller::LiveJob* const job = snapshot.book.find(job_);
      over = job == nullptr || job->stage == live::controller::JobStage::Done;
    });
    return over;
  }
  const ApiContext& context_;
  core::model::JobId job_;
  live::job::Owner owner_;
  std::string path_;
  int64_t at_;  ///< negative: relative to the end, until the file is there
  std::shared_ptr<FileWork::Task> task_{};
  std::shared_ptr<Step> step_{};  ///< null: no read is in progress
  bool has_waited_ = false;
  base::TimeNs hangs_since_ns_ = 0;  ///< 0 = it does not
};

base::http::Response show_log(const Call& call, const ApiContext& context) {
  const base::Result<Request> request = request_of(call);
  if (!request) return base::http::refusal(base::http::kBadRequest, request.error());
  auto named = visible_job(call, context);
  if (!named) return std::move(named.error());
  const auto& [job, spec, has_started, is_of_cluster] = *named;
  if (is_of_cluster) {
    return base::http::refusal(base::http::kConflict,
                               "the cluster's own queue writes the output of its jobs",
                               "on Slurm, scontrol show job names the file; on Kubernetes, use "
                               "kubectl logs");
  }
  const std::string path = live::job::output_path(job, spec, request->stream);
  const auto read = context.files.run<base::Result<LogPart>>(spec.owner, [owner = spec.owner, path,
                                                                          asked = *request] {
    return read_log(owner, path, asked.offset, asked.follow ? 0 : static_cast<size_t>(asked.limit));
  });
  if (!read) return refusal_of(read.error());
  if (!*read) return base::http::refusal(base::http::kForbidden, read->error());
  const LogPart& part = **read;
  if (request->follow) {
    base::http::Response response{.content_type = kText};
    response.stream = std::make_unique<LogStream>(context, job, spec.owner, path, request->offset);
    return response;
  }
  if (!part.there) {
    return base::http::refusal(
        base::http::kNotFound,
        has_started
            ? fmt::format("the job's output file {} does not exist; it may have been deleted", path)
            : "the job has not started, so it has no output");
  }
  base::http::Response response{.content_type = kText, .body = part.text};
  response.headers = {{"X-Goban-Offset", fmt::format("{}", part.end())},
                      {"X-Goban-Size", fmt::format("{}", part.size)}};
  return response;
}
}  // namespace

void add_log_routes(Router& router, const ApiContext& context) {
  router.add("GET", "/v1/jobs/{}/log", Access::Known, {"stream", "offset", "limit", "follow"},
             [&context](const Call& call) { return show_log(call, context); });
}

}  // namespace goban::serve::api
