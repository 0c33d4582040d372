#include "serve/api/visible_job.hpp"

#include "base/http/reply.hpp"
#include "serve/api/job_view.hpp"

namespace goban::serve::api {
namespace {

base::http::Response unknown_job() {
  return base::http::refusal(base::http::kNotFound, "there is no such job");
}

base::http::Response job_of_another() {
  return base::http::refusal(base::http::kForbidden, "the job belongs to another user");
}

}  // namespace

tl::expected<VisibleJob, base::http::Response> visible_job(const Call& call,
                                                           const ApiContext& context) {
  VisibleJob out;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    if (const live::controller::LiveJob* const named = find_job(snapshot.book, call.names[0])) {
      out = {named->job, named->spec, named->first_start_ns >= 0, !named->engine_id.empty()};
    }
  });
  if (!out.job.valid()) {
    auto past = find_past_job(context, call.names[0]);
    if (!past) {
      return tl::unexpected(base::http::refusal(base::http::kUnavailable, past.error()));
    }
    if (!*past) return tl::unexpected(unknown_job());
    const live::controller::LiveJob& found = **past;
    out = {found.job, found.spec, found.first_start_ns >= 0, !found.engine_id.empty()};
  }
  if (!call.who.may_see(out.spec.owner, out.spec.account)) return tl::unexpected(job_of_another());
  return out;
}

std::optional<base::http::Response> with_visible_job(
    const Call& call, const ApiContext& context,
    const std::function<void(const live::loop::SchedulerSnapshot&,
                             const live::controller::LiveJob&)>& use) {
  bool found = false;
  bool allowed = false;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    const live::controller::LiveJob* const job = find_job(snapshot.book, call.names[0]);
    if (job == nullptr) return;
    found = true;
    allowed = call.who.may_see(job->spec.owner, job->spec.account);
    if (allowed) use(snapshot, *job);
  });
  if (!found) return unknown_job();
  if (!allowed) return job_of_another();
  return std::nullopt;
}

}  // namespace goban::serve::api
