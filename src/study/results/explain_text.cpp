#include "study/results/explain_text.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/number.hpp"
#include "study/results/explain_words.hpp"

namespace goban::study::results {
namespace {

using core::scheduler::WaitCause;
using simulator::Launch;
using simulator::WaitSpan;

constexpr size_t kNamesShown = 5;

std::string at(base::TimeNs time_ns) {
  std::string out;
  base::append_seconds(out, time_ns);
  return out + " s";
}

/// "3 were free", or "0 to 3 were free" over an interval.
std::string free_text(const WaitSpan& span) {
  if (span.free_min == span.free_max) {
    return fmt::format("{} {} free", span.free_min, span.free_min == 1 ? "was" : "were");
  }
  return fmt::format("{} to {} were free", span.free_min, span.free_max);
}

class Teller {
 public:
  Teller(const ExplainContext& context, const simulator::JobStory& story)
      : history_(*context.history),
        cluster_(*context.cluster),
        composition_(*context.composition),
        job_(context.job),
        request_(history_.jobs[job_.index()].request),
        story_(story) {}

  std::string tell() {
    introduce();
    // Waits and launches in chronological order.
    size_t launch = 0;
    size_t stop = 0;
    for (const WaitSpan& span : story_.waits) {
      while (stop < story_.stops.size() && story_.stops[stop].at_ns <= span.from_ns) {
        tell_until_stop(launch, stop);
      }
      tell_wait(span);
    }
    while (stop < story_.stops.size()) tell_until_stop(launch, stop);
    while (launch < story_.launches.size()) tell_launch(story_.launches[launch++]);
    conclude();
    return std::move(out_);
  }

 private:
  void introduce() {
    out_ +=
        fmt::format("Job {} under {}: {}, class {}, submitted at {}", name(job_), composition_.name,
                    gpus(), request_.app_class.letter(), at(request_.submit_ns));
    if (request_.walltime_limit_ns > 0) {
      out_ += fmt::format(", walltime limit {}", at(request_.walltime_limit_ns));
    }
    out_ += ".\n\n";
    if (story_.waits.empty()) out_ += "It did not wait.\n";
    if (!story_.waits.empty() && story_.first_in_line_ns) {
      out_ += *story_.first_in_line_ns == request_.submit_ns
                  ? "It was first in the queue from the beginning.\n"
                  : fmt::format("It was first in the queue from {} on.\n",
                                at(*story_.first_in_line_ns));
    }
  }

  void tell_wait(const WaitSpan& span) {
    out_ += fmt::format("{} to {}: it waited: {}", at(span.from_ns), at(span.to_ns), reason(span));
    if (span.ahead > 0) {
      out_ += fmt::format("; before it in the order: {}",
                          job_list(history_, span.first_ahead, span.ahead, kNamesShown));
    }
    out_ += ".\n";
  }

  [[nodiscard]] std::string reason(const WaitSpan& span) const {
    switch (span.why.cause) {
      case WaitCause::NotWaiting:
        return "";
      case WaitCause::ArrayLimit:
        return fmt::format(
            "its array was at its limit of {}",
            base::counted(history_.arrays[request_.array.index()].max_running, "running task"));
      case WaitCause::AccountLimit:
        return account_text();
      case WaitCause::NoFreeGpus:
        return fmt::format("it needs {}, {}", gpus(), free_text(span));
      case WaitCause::Window:
        return fmt::format(
            "{}, but on nodes that close for maintenance before its walltime limit ends",
            free_text(span));
      case WaitCause::Fragments:
        return fmt::format("it needs {} and {}, but {} found no placement", gpus(), free_text(span),
                           composition_.part(core::policy::PartKind::Placement).name);
      case WaitCause::HostResources:
        return fmt::format("{}, but no nodes had enough free cores and memory for {} x {}",
                           free_text(span), request_.instances,
                           cluster_.resource_type(request_.resource_type).name);
      case WaitCause::Reservation:
        return reservation_text(span);
      case WaitCause::Round:
        return "for the next decision, at the end of the round";
      case WaitCause::Order:
        return span.why.is_behind
                   ? fmt::format(
                         "{}, enough for it, but job {} is before it and {} lets no job "
                         "overtake",
                         free_text(span), name(span.why.head),
                         composition_.part(core::policy::PartKind::Select).name)
                   : fmt::format("{}, enough for it, but the round had not ended", free_text(span));
      case WaitCause::NotBegun:  // simulations have no node reservations
      case WaitCause::Promised:
        return "of a reservation";
      case WaitCause::Sized:
        return fmt::format("{}, but {} has none for it now", free_text(span),
                           composition_.part(core::policy::PartKind::Size).name);
    }
    return "";
  }

  [[nodiscard]] std::string account_text() const {
    const std::string account = request_.account.index() < history_.accounts.size()
                                    ? history_.accounts[request_.account.index()]
                                    : "";
    return fmt::format("account {} or user {} was at a hard limit of GPUs or jobs",
                       account.empty() ? "(no name)" : account,
                       request_.user.index() < history_.users.size()
                           ? history_.users[request_.user.index()]
                           : "(no name)");
  }

  [[nodiscard]] std::string reservation_text(const WaitSpan& span) const {
    std::string text =
        fmt::format("{}, enough for it, but it would have delayed ", free_text(span));
    if (!span.why.is_behind) return text + "a reservation";
    text += fmt::format("job {}, which is before it", name(span.why.head));
    if (span.why.head_start_ns != base::kNever) {
      text += fmt::format(" and was due to start by {}", at(span.why.head_start_ns));
    }
    return text;
  }

  void tell_until_stop(size_t& launch, size_t& stop) {
    const simulator::Stop& each = story_.stops[stop++];
    while (launch < story_.launches.size() && story_.launches[launch].at_ns <= each.at_ns) {
      if (story_.launches[launch].at_ns == each.at_ns && !is_before(launch, stop - 1)) break;
      tell_launch(story_.launches[launch++]);
    }
    if (each.resized) {
      out_ += fmt::format("{}: it stopped at a checkpoint, to go on with another size.\n",
                          at(each.at_ns));
      return;
    }
    out_ += fmt::format("{}: it lost its GPUs: ", at(each.at_ns));
    if (each.node_failed) {
      out_ += "one of its nodes failed";
    } else if (each.takers.empty()) {
      out_ += "one of its nodes closed, or it was preempted";
    } else {
      out_ += fmt::format("they went to {}, before it in the order",
                          job_list(history_, each.takers, each.takers.size(), kNamesShown));
    }
    out_ += ".\n";
  }

  /// Launches and stops alternate: launch i precedes stop i.
  [[nodiscard]] static bool is_before(size_t launch, size_t stop) { return launch <= stop; }

  void tell_launch(const Launch& launch) {
    const bool again = &launch != &story_.launches.front();
    out_ +=
        fmt::format("\n{}: it {} on {}", at(launch.at_ns), again ? "started again" : "started",
                    launch.allocation.gpus.empty() ? "nodes only, without GPUs"
                                                   : gpu_list(cluster_, launch.allocation.gpus));
    if (launch.same_gpus) out_ += " (the GPUs it held before)";
    out_ += ".\n";
    if (!launch.before.empty()) {
      out_ += fmt::format("  Placed before it in the same decision: {}.\n",
                          job_list(history_, launch.before, launch.before.size(), kNamesShown));
    }
    if (launch.allocation.gpus.empty()) return;
    out_ += fmt::format(
        "  They are within one {}: score {:.4g} (the slowest of them, class {}) x locality penalty "
        "{:.4g} "
        "= {:.4g} times the run time at score 1 within a node.\n",
        cluster_.levels()[launch.span_level].name, launch.score, request_.app_class.letter(),
        launch.penalty, launch.score * launch.penalty);
    if (launch.entries.empty()) {
      out_ += fmt::format("  {} chose among {}, at most {} on one node.\n",
                          composition_.part(core::policy::PartKind::Placement).name,
                          base::counted(launch.free_gpus, "free GPU"), launch.one_node_free);
      return;
    }
    tell_entries(launch);
  }

  void tell_entries(const Launch& launch) {
    const core::policy::PalEntry* chosen = chosen_entry(launch);
    const int32_t wanted = wanted_gpus();
    if (chosen == nullptr) {
      out_ += fmt::format(
          "  A job of {} is placed by score alone: the best bins among {}; the worst it got is bin "
          "{:.4g}.\n",
          wanted == 1 ? "one GPU" : "more GPUs than a node has",
          base::counted(launch.free_gpus, "free GPU"), launch.allocation.reason.bin_value);
      return;
    }
    out_ += fmt::format("  Entries of the L x V matrix in the order {} tries them ({} free{}):\n",
                        composition_.part(core::policy::PartKind::Placement).name,
                        base::counted(launch.free_gpus, "GPU"),
                        request_.resource_type.valid() ? ", for one instance" : "");
    out_ += "    level      bin    penalty  product  free in one domain\n";
    for (const core::policy::PalEntry& entry : launch.entries) {
      const char* verdict = "would fit, at a higher cost";
      if (&entry == chosen) {
        verdict = "CHOSEN";
      } else if (!entry.serves(wanted)) {
        verdict = "too few";
      }
      out_ += fmt::format("    {:9} {:>5.4g}  {:>7.4g}  {:>7.4g}  {:>5} of {:<4} {}\n",
                          cluster_.levels()[entry.level].name, entry.bin_value, entry.penalty,
                          entry.product, entry.free_gpus, wanted, verdict);
    }
  }

  [[nodiscard]] int32_t wanted_gpus() const {
    return request_.resource_type.valid() ? cluster_.resource_type(request_.resource_type).gpus
                                          : request_.num_gpus;
  }

  void conclude() {
    out_ += '\n';
    if (story_.finish_ns < 0) {
      out_ += "The run ended before the job did.\n";
      return;
    }
    base::TimeNs waited = 0;
    for (const WaitSpan& span : story_.waits) waited += span.to_ns - span.from_ns;
    out_ += fmt::format(
        "{} at {}: {} after its submission, of which it waited {}.\n",
        story_.end == simulator::JobEnd::TimedOut    ? "It was killed at its walltime limit"
        : story_.end == simulator::JobEnd::Cancelled ? "It was cancelled"
                                                     : "It finished",
        at(story_.finish_ns), at(story_.finish_ns - request_.submit_ns), at(waited));
  }

  [[nodiscard]] std::string gpus() const { return base::counted(request_.num_gpus, "GPU"); }
  [[nodiscard]] std::string name(core::model::JobId job) const { return job_name(history_, job); }

  const core::model::JobHistory& history_;
  const core::model::Cluster& cluster_;
  const core::policy::Composition& composition_;
  core::model::JobId job_;
  core::model::JobRequest request_;
  const simulator::JobStory& story_;
  std::string out_;
};

}  // namespace

std::string explain_text(const ExplainContext& context, const simulator::JobStory& story) {
  return Teller(context, story).tell();
}

}  // namespace goban::study::results
