#include "serve/daemon/score_keeper.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/output_file.hpp"
#include "core/knowledge/binning.hpp"
#include "core/knowledge/measure/learned_scores_file.hpp"
#include "core/knowledge/measure/refresh_plan.hpp"
#include "core/knowledge/scores_file.hpp"
#include "serve/api/cluster_view.hpp"

namespace goban::serve::daemon {

using core::knowledge::MeasureBook;
using core::knowledge::ScoreTable;
using live::machine::BusyGpus;
using live::machine::SessionPlan;
using live::machine::SessionResult;

namespace {

constexpr const char* kFile = "scores.learned.json";

/// A score table with at least as many classes as the profiler measures.
ScoreTable table_of(const core::knowledge::PmScores& scores) {
  ScoreTable out;
  for (size_t i = 0; i < std::max(scores.num_classes(), core::knowledge::kNumKernels); ++i) {
    out.push_back(scores.of({static_cast<uint8_t>(i)}).raw);
  }
  return out;
}

ScoreTable counting_in(const live::loop::SchedulerClient& scheduler) {
  ScoreTable out;
  scheduler.look(
      [&](const live::loop::SchedulerSnapshot& snapshot) { out = table_of(snapshot.site.scores); });
  return out;
}

std::vector<std::string> uuids_of(const base::gpus::MachineGpus& machine) {
  std::vector<std::string> out;
  for (const auto& gpu : machine.gpus) out.push_back(gpu.uuid);
  return out;
}

SessionResult measure_really(const base::gpus::MachineGpus& machine, const SessionPlan& plan,
                             const std::function<BusyGpus()>& busy,
                             const std::atomic<bool>& interrupted) {
  return live::machine::measure_gpus(machine, plan, busy, [] {}, interrupted);
}

}  // namespace

void EvidenceBox::put(const live::controller::LiveJob& job, stores::ProfileBook& profiles,
                      const EvidenceRules& rules) {
  Entry entry{.job = {live::job::job_number(job.job), job.submit_ns},
              .runs = evidence_of(job, profiles.application_of(job), rules)};
  if (entry.runs.empty()) return;
  const std::scoped_lock lock(mutex_);
  entries_.push_back(std::move(entry));
}

std::vector<EvidenceBox::Entry> EvidenceBox::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(entries_, {});
}

ScoreKeeper::ScoreKeeper(live::loop::SchedulerClient& scheduler, base::gpus::MachineGpus machine,
                         EvidenceBox& box, std::shared_ptr<MeasuringGate> gate,
                         ScoreKeeperOptions options)
    : scheduler_(scheduler),
      machine_(std::move(machine)),
      box_(box),
      gate_(std::move(gate)),
      options_(std::move(options)),
      counting_(counting_in(scheduler)),
      learned_(uuids_of(machine_), counting_, options_.learning) {
  if (!options_.measure) options_.measure = measure_really;
  if (!options_.say) options_.say = [](const std::string&) {};
  const std::string file = options_.state + "/" + kFile;
  if (base::exists(file)) {
    const auto text = base::read_small_file(file);
    auto image =
        text ? core::knowledge::parse_learned_scores(*text, file)
             : base::Result<core::knowledge::LearnedScores::Image>(base::failure(text.error()));
    if (image) {
      learned_.restore(std::move(*image));
      counting_ = learned_.table();
    } else {
      complain("discarded the evidence from jobs: " + image.error().text());
    }
  }
  saved_ = learned_.image();
  publish();
  if (options_.every_ns == 0) return;
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::nanoseconds(options_.every_ns),
                           [this] { return ending_; })) {
      lock.unlock();
      turn();
      lock.lock();
    }
  });
}

ScoreKeeper::~ScoreKeeper() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  gate_->close();
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

api::ScoreReport ScoreKeeper::report() const {
  const std::scoped_lock lock(mutex_);
  return report_;
}

int64_t ScoreKeeper::now_unix_s() const {
  return options_.unix_clock ? options_.unix_clock() : std::time(nullptr);
}

bool ScoreKeeper::may_write() const { return !options_.may_write || options_.may_write(); }

void ScoreKeeper::complain(const std::string& what) {
  if (what != said_) options_.say(what);
  said_ = what;
}

std::string ScoreKeeper::gpu_name(size_t gpu) const {
  return fmt::format("GPU {} ({})", machine_.gpus[gpu].index, machine_.gpus[gpu].uuid);
}

void ScoreKeeper::turn() {
  if (!may_write()) return;
  hear_scheduler();
  learn();
  const bool looks = base::steady_ns() >= next_look_ns_;
  if (looks) {
    next_look_ns_ = base::steady_ns() + options_.look_every_ns;
    look_at_book();
  }
  send();
  save();
  publish();
  if (!looks || !options_.refreshes) return;
  refresh();
  send();
  save();
  publish();
}

void ScoreKeeper::hear_scheduler() {
  ScoreTable now = counting_in(scheduler_);
  if (now == counting_) return;
  learned_.counting(counting_, now, now_unix_s());
  counting_ = std::move(now);
  has_changes_ = true;
}

std::vector<core::knowledge::GpuNow> ScoreKeeper::conditions() {
  std::vector<core::knowledge::GpuNow> now = live::machine::gpus_now(machine_);
  // A driver that does not respond at the moment has not changed.
  for (size_t i = 0; i < conditions_.size(); ++i) {
    const core::knowledge::GpuCondition& before = conditions_[i].condition;
    if (now[i].condition.driver.empty()) now[i].condition.driver = before.driver;
    if (now[i].condition.firmware.empty()) now[i].condition.firmware = before.firmware;
  }
  conditions_ = now;
  return now;
}

MeasureBook ScoreKeeper::read_book() {
  auto book = live::machine::read_book_beside(options_.scores);
  book_is_broken_ = !book;
  if (book) return std::move(*book);
  complain("cannot measure GPUs: " + book.error().text());
  return {};
}

bool ScoreKeeper::write_book(const MeasureBook& book) {
  if (!may_write()) return false;
  auto file = base::OutputFile::create(core::knowledge::book_path(options_.scores));
  base::Status status = file ? base::Status{} : base::failure(file.error());
  if (file) {
    file->buffer() = core::knowledge::to_json(book);
    status = file->commit();
  }
  if (!status) complain("cannot measure GPUs: " + status.error().text());
  return status.has_value();
}

void ScoreKeeper::look_at_book() {
  MeasureBook book = read_book();
  if (book_is_broken_) return;
  const int64_t now_s = now_unix_s();
  if (book.since_unix_s == 0 && options_.refreshes) {
    book.since_unix_s = now_s;  // the budget of GPU time grows from now on
    if (!write_book(book)) return;
  }
  for (const size_t gpu : learned_.look(book, conditions(), now_s)) {
    options_.say(fmt::format(
        "the PM score of {} has expired: its driver, firmware or cores have changed since it was "
        "measured, or that was more than 30 days ago; it is 1 until the GPU is measured again",
        gpu_name(gpu)));
  }
  has_changes_ = true;
  const auto passed_s = static_cast<double>(std::max<int64_t>(now_s - book.since_unix_s, 0));
  const std::scoped_lock lock(mutex_);
  report_.spent_s = book.spent_s;
  report_.budget_s =
      core::knowledge::kRefreshShare * passed_s * static_cast<double>(machine_.gpus.size());
}

void ScoreKeeper::learn() {
  const auto suspects = [&] {
    return std::ranges::count_if(learned_.facts(now_unix_s()),
                                 &core::knowledge::ScoreFacts::suspect);
  };
  const auto before = suspects();
  for (const EvidenceBox::Entry& entry : box_.take()) {
    if (!learned_.see(entry.job)) continue;
    has_changes_ = true;
    for (const core::knowledge::RunEvidence& run : entry.runs) {
      for (const size_t gpu : learned_.observe(run, now_unix_s())) {
        const size_t of_class = std::min<size_t>(run.app_class.value, learned_.table().size() - 1);
        options_.say(fmt::format(
            "jobs of several users agree on {}: its PM score of class {} is {:.3f}", gpu_name(gpu),
            static_cast<char>('A' + of_class), learned_.table()[of_class][gpu]));
        const std::scoped_lock lock(mutex_);
        ++report_.moved_by_jobs;
      }
    }
  }
  if (suspects() > before) next_look_ns_ = 0;
}

void ScoreKeeper::send() {
  if (learned_.table() == counting_) return;
  const live::controller::ScoresMeasured input{
      .table = core::knowledge::to_csv(core::knowledge::bin_classes(learned_.table())),
      .instead_of = {}};
  if (const auto answer = scheduler_.ask(input); !answer) {
    complain("the scheduler did not accept the PM scores: " + answer.error().text());
    return;  // the next iteration tries again
  }
  counting_ = counting_in(scheduler_);
}

void ScoreKeeper::save() {
  if (!may_write() || !std::exchange(has_changes_, false)) return;
  core::knowledge::LearnedScores::Image image = learned_.image();
  if (image == saved_) return;
  const base::Status status =
      base::replace_file(options_.state, kFile, core::knowledge::to_json(image), base::Durable::No);
  if (status) {
    saved_ = std::move(image);
  } else {
    has_changes_ = true;
    complain("cannot save the evidence from jobs: " + status.error().text());
  }
}

std::vector<size_t> ScoreKeeper::idle_gpus() const {
  std::vector<size_t> out;
  scheduler_.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    const api::ClusterView view = api::view_cluster(snapshot, false);
    for (uint32_t gpu = 0; gpu < machine_.gpus.size(); ++gpu) {
      if (std::string_view(view.gpu_state(core::model::GpuId(gpu))) == "free") out.push_back(gpu);
    }
  });
  return out;
}

void ScoreKeeper::refresh() {
  live::machine::RefreshRequest request{.idle = idle_gpus(), .cost_s = options_.refresh_cost_s};
  const auto facts = learned_.facts(now_unix_s());
  for (size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].suspect) request.suspects.push_back(i);
  }
  MeasureBook book = read_book();
  if (book_is_broken_ || !live::machine::due_gpu(machine_, request, book, now_unix_s())) return;
  // Processes outside the scheduler may use the GPU.
  const BusyGpus busy = live::machine::busy_by_use(machine_);
  std::erase_if(request.idle, [&](size_t gpu) { return busy.contains(machine_.gpus[gpu].index); });
  const auto due = live::machine::due_gpu(machine_, request, book, now_unix_s());
  if (due) measure(*due);
}

void ScoreKeeper::measure(size_t gpu) {
  if (!gate_->begin(core::model::GpuId(static_cast<uint32_t>(gpu)))) return;
  MeasureBook book = read_book();
  // Charge the cost in advance, so that a crash does not leave it unaccounted.
  book.spent_s += options_.refresh_cost_s;
  const auto still_idle = [&] { return std::ranges::count(idle_gpus(), gpu) > 0; };
  if (book_is_broken_ || !still_idle() || !write_book(book)) {
    gate_->end();
    return;
  }
  SessionPlan plan{
      .gpus = {gpu}, .blocks = live::machine::kBlocks, .seconds = options_.refresh_cost_s};
  plan.block.program = {"/proc/self/exe", "measure-block"};
  const auto busy = [&] {
    BusyGpus out;
    if (gate_->interrupted()) out[machine_.gpus[gpu].index] = "a job started";
    const std::vector<size_t> idle = idle_gpus();
    for (size_t i = 0; i < machine_.gpus.size(); ++i) {
      if (i == gpu || std::ranges::count(idle, i) > 0) continue;
      out[machine_.gpus[i].index] = "a job holds it";
    }
    return out;
  };
  SessionResult result = options_.measure(machine_, plan, busy, gate_->interrupted());
  const bool interrupted = gate_->interrupted();
  gate_->end();
  book = read_book();
  if (book_is_broken_) return;
  book.spent_s = std::max(book.spent_s - options_.refresh_cost_s, 0.0);
  const auto measured = live::machine::keep_sessions(result, plan, machine_, book, now_unix_s());
  if (!write_book(book)) return;
  if (!measured[gpu]) {
    if (!interrupted) complain("measurement failed: " + result.problems.front());
    return;
  }
  next_look_ns_ = 0;  // another GPU may be due
  look_at_book();
  std::vector<std::string> scores;
  for (const auto& of_class : learned_.table())
    scores.push_back(fmt::format("{:.3f}", of_class[gpu]));
  options_.say(
      fmt::format("measured {}: PM scores by class {}", gpu_name(gpu), fmt::join(scores, ", ")));
  const std::scoped_lock lock(mutex_);
  ++report_.measurements;
}

void ScoreKeeper::publish() {
  auto facts = learned_.facts(now_unix_s());
  const std::scoped_lock lock(mutex_);
  report_.gpus = std::move(facts);
}

}  // namespace goban::serve::daemon
