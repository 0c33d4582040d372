#include "serve/daemon/past_runs.hpp"

#include <algorithm>

#include "site/store/job_store.hpp"

namespace goban::serve::daemon {

using live::controller::EarlierJob;
using site::records::AccountingRecord;
using site::records::RecordedState;

namespace {

/// Each takes about 5 us to learn, and 200 bytes.
constexpr size_t kPastRunsMax = 100'000;

bool says_a_run_time(const AccountingRecord& record) {
  const bool cut_short =
      record.state == RecordedState::NodeFailed || record.state == RecordedState::BootFailed ||
      record.state == RecordedState::Preempted || record.state == RecordedState::Requeued;
  return !cut_short && record.submit_ns >= 0 && record.start_ns >= 0 &&
         record.end_ns > record.start_ns;
}

class PastRunSink final : public site::records::RecordSink {
 public:
  std::string take(const AccountingRecord& record) override {
    constexpr int64_t kGpusMax = 1'000'000;
    if (!says_a_run_time(record)) return {};
    EarlierJob& run = runs_.emplace_back();
    run.spec.name = record.job_name;
    run.spec.owner.user = record.user;
    run.spec.account = record.account;
    run.spec.partition = record.partition;
    run.spec.model = record.model;
    run.spec.num_gpus =
        static_cast<int32_t>(std::clamp<int64_t>(record.num_gpus.value_or(0), 0, kGpusMax));
    run.spec.walltime_limit_ns = std::max<base::TimeNs>(record.walltime_limit_ns, 0);
    run.submit_ns = record.submit_ns;
    run.end_ns = record.end_ns;
    run.held_ns = record.elapsed_ns();
    if (runs_.size() >= 2 * kPastRunsMax) keep_last();
    return {};
  }
  std::vector<EarlierJob> take_runs() {
    keep_last();
    return std::move(runs_);
  }

 private:
  void keep_last() {
    if (runs_.size() <= kPastRunsMax) return;
    const auto first = runs_.begin() + kPastRunsMax;
    std::ranges::nth_element(runs_, first, std::greater<>(), &EarlierJob::submit_ns);
    runs_.erase(first, runs_.end());
  }

  std::vector<EarlierJob> runs_;
};

}  // namespace

base::Result<std::vector<EarlierJob>> read_past_runs(const std::string& store,
                                                     base::TimeNs from_ns) {
  auto opened = site::store::JobStore::open(store, true);
  if (!opened) return base::failure(opened.error());
  PastRunSink sink;
  auto read = opened->read({.from_ns = from_ns}, sink);
  if (!read) return base::failure(read.error());
  return sink.take_runs();
}

}  // namespace goban::serve::daemon
