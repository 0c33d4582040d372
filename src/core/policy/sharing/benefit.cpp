#include "core/policy/sharing/benefit.hpp"

namespace goban::core::policy {

Benefit predicted_benefit(const SharingView& view, const Joining& joining) {
  const TenantSet& with = *joining.with;
  const size_t residents = joining.before->size();
  const TenantSet joiner = with.only(residents);

  const knowledge::PowerModel* model = power_model(view, with.gpu_model());
  const double host_w = model == nullptr ? 0 : model->host_share_w();
  const double before_w = joining.before->power_w(view, *joining.before_prediction) + host_w;
  const double with_w = with.power_w(view, *joining.with_prediction) + host_w;
  const double joiner_w = joiner.power_w(view, joiner.predict(view)) + host_w;

  double kept_sum = 0;  // sum of the residents' relative speeds
  for (size_t i = 0; i < residents; ++i) {
    kept_sum += joining.before_prediction->mean[i] / joining.with_prediction->mean[i];
  }
  const double kept = kept_sum / static_cast<double>(residents);
  const double joiner_rate = 1 / joining.with_prediction->mean[residents];

  const double group = joining.group_gpus;
  const double shared = joining.shared_gpus;
  const double together_w = shared * with_w + (group - shared) * before_w;
  const double apart_w = kept * group * before_w + joiner_rate * shared * joiner_w;
  return {.saved_part = 1 - together_w / apart_w,
          .saved_w = apart_w - together_w,
          .delay = static_cast<double>(residents) - kept_sum + 1 - joiner_rate};
}

}  // namespace goban::core::policy
