#include "study/lab/action_log.hpp"

namespace goban::study::lab {

using core::model::ActionKind;
using simulator::JobEnd;

const char* happening_name(Happening happening) {
  switch (happening) {
    case Happening::Start:
      return "start";
    case Happening::Preempt:
      return "preempt";
    case Happening::Abandon:
      return "abandon";
    case Happening::Finish:
      return "finish";
    case Happening::TimeOut:
      return "timeout";
    case Happening::Cancel:
      return "cancel";
  }
  return "";
}

void ActionLog::add(TimeNs now, JobId job, Happening happening) {
  rows_.push_back({.at_ns = now, .job = job, .happening = happening});
  offsets_.push_back(static_cast<int32_t>(gpus_.size()));
}

void ActionLog::acted(TimeNs now, const core::model::Action& action,
                      const core::scheduler::Core& core) {
  switch (action.kind) {
    case ActionKind::Start:
      for (const core::model::GpuId gpu : core.allocation(action.job).gpus) {
        gpus_.push_back(static_cast<int32_t>(gpu.value));
      }
      add(now, action.job, Happening::Start);
      return;
    case ActionKind::Preempt:
      add(now, action.job, Happening::Preempt);
      return;
    case ActionKind::Abandon:
      add(now, action.job, Happening::Abandon);
      return;
    case ActionKind::Observe:
    case ActionKind::Cap:
    case ActionKind::Rest:
    case ActionKind::Wake:
      return;
  }
}

void ActionLog::job_ended(TimeNs now, JobId job, JobEnd end) {
  add(now, job,
      end == JobEnd::TimedOut    ? Happening::TimeOut
      : end == JobEnd::Cancelled ? Happening::Cancel
                                 : Happening::Finish);
}

}  // namespace goban::study::lab
