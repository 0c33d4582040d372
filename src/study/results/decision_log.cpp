#include "study/results/decision_log.hpp"

#include <unordered_set>

#include "base/number.hpp"

namespace goban::study::results {

namespace {

void append_jobs(std::string& out, const std::vector<core::model::JobId>& jobs) {
  out += '[';
  for (const core::model::JobId job : jobs) {
    if (out.back() != '[') out += ',';
    base::append_number(out, int64_t{job.value});
  }
  out += ']';
}

void append_placed(std::string& out, const core::scheduler::Decision& decision,
                   const core::scheduler::Core& core) {
  out += '[';
  for (const core::model::JobId job : decision.placed) {
    out += out.back() == '[' ? "[" : ",[";
    base::append_number(out, int64_t{job.value});
    out += ",[";
    for (const core::model::GpuId gpu : core.allocation(job).gpus) {
      if (out.back() != '[') out += ',';
      base::append_number(out, int64_t{gpu.value});
    }
    out += "]]";
  }
  out += ']';
}

/// Jobs that were placed on the GPUs on which they ran, so that nothing changed for them.
std::vector<core::model::JobId> undisturbed(const core::scheduler::Decision& decision) {
  std::unordered_set<core::model::JobId> started;
  for (const core::model::Action& action : decision.actions) {
    if (action.kind == core::model::ActionKind::Start) started.insert(action.job);
  }
  std::vector<core::model::JobId> kept;
  for (const core::model::JobId job : decision.placed) {
    if (!started.contains(job)) kept.push_back(job);
  }
  return kept;
}

}  // namespace

void DecisionLog::write_line(base::TimeNs at_ns, const std::string& body) {
  std::string& out = file_.buffer();
  out += '[';
  base::append_seconds(out, at_ns);
  out += ',';
  out += body;
  out += "]\n";
  file_.write_out();
}

void DecisionLog::repeat_until(base::TimeNs now) {
  if (round_ns_ == 0 || !last_ns_) return;
  for (base::TimeNs round = *last_ns_ + round_ns_; round < now; round += round_ns_) {
    write_line(round, idle_body_);
  }
}

void DecisionLog::decided(const core::scheduler::Decision& decision,
                          const core::scheduler::Core& core) {
  repeat_until(decision.at_ns);
  last_ns_ = decision.at_ns;
  std::string body;
  append_placed(body, decision, core);
  idle_body_ = "[],[]";
  if (core.policies().preemption == core::policy::Preemption::NonSticky) {
    idle_body_ = body + ',';
    append_jobs(idle_body_, core.policies().list_released ? decision.placed
                                                          : std::vector<core::model::JobId>{});
  }
  body += ',';
  append_jobs(body, decision.terminated);
  if (core.policies().preemption == core::policy::Preemption::NonSticky &&
      !core.policies().evict_in_vain) {
    body += ',';
    append_jobs(body, undisturbed(decision));
    idle_body_ += ',';
    append_jobs(idle_body_, decision.placed);
  }
  write_line(decision.at_ns, body);
}

void DecisionLog::ended(base::TimeNs now) { repeat_until(now); }

}  // namespace goban::study::results
