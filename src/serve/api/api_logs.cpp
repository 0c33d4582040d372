// /v1/jobs/{}/log: the output of a job, in parts or followed while it grows.
#include <algorithm>
#include <fmt/format.h>

#include "base/http/reply.hpp"
#include "base/number.hpp"
#include "live/job/output_path.hpp"
#include "serve/api/api.hpp"
#include "serve/api/job_view.hpp"
#include "serve/api/log_file.hpp"

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

int64_t begin_of(const Request& request, int64_t size) {
  return request.offset < 0 ? std::max<int64_t>(0, size + request.offset) : request.offset;
}

/// Follows the file until the job has finished and everything was sent.
class LogStream final : public base::http::BodyStream {
 public:
  LogStream(const SchedulerClient& scheduler, core::model::JobId job, live::job::Owner owner,
            std::string path, Request request)
      : scheduler_(scheduler),
        job_(job),
        owner_(std::move(owner)),
        path_(std::move(path)),
        request_(request) {}

  bool fill(std::string& out, size_t bytes_max) override {
    const bool over = is_over();
    if (!file_.there()) {
      base::Result<LogFile> opened = LogFile::open(owner_, path_);
      if (!opened) return false;
      file_ = std::move(*opened);
      if (!file_.there()) return !over;
      at_ = begin_of(request_, file_.size());
    }
    at_ = std::min(at_, file_.size());
    const int64_t count = file_.read(at_, bytes_max, out);
    at_ += count;
    return count > 0 || !over;
  }

 private:
  [[nodiscard]] bool is_over() const {
    bool over = true;
    scheduler_.look([&](const SchedulerSnapshot& snapshot) {
      const live::controller::LiveJob* const job = snapshot.book.find(job_);
      over = job == nullptr || job->stage == live::controller::JobStage::Done;
    });
    return over;
  }
  const SchedulerClient& scheduler_;
  core::model::JobId job_;
  live::job::Owner owner_;
  std::string path_;
  Request request_;
  LogFile file_;
  int64_t at_ = 0;
};

base::http::Response show_log(const Call& call, const ApiContext& context) {
  const base::Result<Request> request = request_of(call);
  if (!request) return base::http::refusal(base::http::kBadRequest, request.error());
  core::model::JobId job;
  live::job::JobSpec spec;
  context.scheduler.look([&](const SchedulerSnapshot& snapshot) {
    if (const live::controller::LiveJob* const named = find_job(snapshot.book, call.names[0])) {
      job = named->job;
      spec = named->spec;
    }
  });
  if (!job.valid()) return base::http::refusal(base::http::kNotFound, "there is no such job");
  if (!call.who.may_see(spec.owner, spec.account)) {
    return base::http::refusal(base::http::kForbidden, "the job belongs to another user");
  }
  const std::string path = live::job::output_path(job, spec, request->stream);
  base::Result<LogFile> file = LogFile::open(spec.owner, path);
  if (!file) return base::http::refusal(base::http::kForbidden, file.error());
  if (request->follow) {
    base::http::Response response{.content_type = kText};
    response.stream =
        std::make_unique<LogStream>(context.scheduler, job, spec.owner, path, *request);
    return response;
  }
  if (!file->there())
    return base::http::refusal(base::http::kNotFound, "the job has not written any output yet");
  const int64_t size = file->size();
  const int64_t begin = std::min(begin_of(*request, size), size);
  base::http::Response response{.content_type = kText};
  const int64_t count = file->read(begin, static_cast<size_t>(request->limit), response.body);
  response.headers = {{"X-Goban-Offset", fmt::format("{}", begin + count)},
                      {"X-Goban-Size", fmt::format("{}", size)}};
  return response;
}
}  // namespace

void add_log_routes(Router& router, const ApiContext& context) {
  router.add("GET", "/v1/jobs/{}/log", Access::Known, {"stream", "offset", "limit", "follow"},
             [&context](const Call& call) { return show_log(call, context); });
}

}  // namespace goban::serve::api
