// The parts of a policy that ask its methods, and check what they return.
#pragma once

#include <vector>

#include "core/policy/order/queue_order.hpp"
#include "core/policy/placement/placement.hpp"
#include "core/policy/select/select.hpp"
#include "core/policy/size/size.hpp"
#include "study/lab/estimates.hpp"
#include "study/lab/methods.hpp"

namespace goban::study::lab {

struct OrderOptions {
  bool preempts = false;  ///< method `preempt` gives the keys of running jobs; else `order` does
  KeyTime when = KeyTime::Event;
  double every_s = 0;  ///< KeyTime::Every
};

/// Orders by the methods `order` and `preempt`.
class MethodOrder final : public core::policy::QueueOrder {
 public:
  /// With KeyTime::Arrival the keys of jobs with a walltime limit, of which nothing is left to be
  /// learnt, are computed here, many at once. Errors: Fault.
  MethodOrder(Methods& methods, const Estimates& estimates, OrderOptions options);

  core::policy::OrderKey key(const JobState& job, const core::policy::OrderView& view,
                             TimeNs now) const override;
  bool drifts() const override;
  TimeNs resort_ns() const override;
  core::policy::KeyBatches batches() const override;
  void prepare(std::span<const JobState* const> jobs, TimeNs now) override;
  bool is_final(const JobState& job) const override;

 private:
  void look_ahead();
  /// A key that is computed once must not depend on the other jobs of a call.
  void check_alone(std::span<const JobState* const> jobs, std::span<const double> keys);
  void ask(std::span<const JobState* const> jobs, std::optional<TimeNs> now);
  void ask_preempt(std::span<const JobState* const> jobs, TimeNs now);
  void keep(const char* method, std::span<const JobState* const> jobs, std::span<const double> keys,
            std::optional<TimeNs> now);

  Methods& methods_;
  const Estimates& estimates_;
  OrderOptions options_;
  std::vector<int64_t> metrics_;  ///< by JobId; kProvisional: not computed yet
  size_t asked_ = 0;              ///< calls of `order`
};

/// Selects by the method `select`.
class MethodSelect final : public core::policy::Select {
 public:
  MethodSelect(Methods& methods, const Estimates& estimates)
      : methods_(methods), estimates_(estimates) {}
  void run(core::policy::Board& board) const override;

 private:
  Methods& methods_;
  const Estimates& estimates_;
};

/// Sizes by the method `size`. A job that gets none, or for which too few GPUs are left by those
/// before it, waits.
class MethodSize final : public core::policy::SizePolicy {
 public:
  /// `states_steps`: as for SizeRows.
  MethodSize(Methods& methods, const Estimates& estimates, const std::vector<bool>* states_steps)
      : methods_(methods), estimates_(estimates), states_steps_(states_steps) {}
  bool decides() const override { return true; }
  bool withholds() const override { return true; }
  void choose(const core::policy::SizeView& view,
              std::span<core::policy::Size> sizes) const override;

 private:
  Methods& methods_;
  const Estimates& estimates_;
  const std::vector<bool>* states_steps_;
};

/// Places by the method `place`.
class MethodPlacement final : public core::policy::Placement {
 public:
  MethodPlacement(Methods& methods, const Estimates& estimates)
      : methods_(methods), estimates_(estimates) {}
  bool place(const core::policy::PlacementView& view, const core::policy::PlacementRequest& request,
             core::model::Allocation& out) const override;
  bool repeatable() const override { return false; }

 private:
  Methods& methods_;
  const Estimates& estimates_;
};

}  // namespace goban::study::lab
