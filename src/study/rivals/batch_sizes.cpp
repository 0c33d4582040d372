#include "study/rivals/batch_sizes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace goban::study::rivals {
namespace {

using Kind = TrainedModel::Kind;

constexpr std::array kTrainedModels = {
    TrainedModel{Kind::ResNet18, "ResNet-18", 50'000, 256, 16},
    TrainedModel{Kind::ResNet50, "ResNet-50", 100'000, 128, 16},
    TrainedModel{Kind::Transformer, "Transformer", 10'000, 128, 16},
    TrainedModel{Kind::LM, "LM", 59'675, 80, 5},
    TrainedModel{Kind::Recommendation, "Recommendation", 117'907, 8192, 512},
};

int64_t ceil_divide(int64_t value, int64_t by) {
  return static_cast<int64_t>(std::ceil(static_cast<double>(value) / static_cast<double>(by)));
}

/// Epochs in which Accordion keeps the small batch size.
bool is_critical(const Training& training, int64_t epoch) {
  const auto within = [epoch](int64_t from, int64_t to) { return epoch >= from && epoch < to; };
  switch (training.model->kind) {
    case Kind::ResNet18:
      return within(0, training.first_batch == 256 ? 20 : 10) || within(150, 160) ||
             within(250, 260);
    case Kind::ResNet50:
      return epoch % 30 < 10;
    case Kind::LM:
      return epoch < 10;
    case Kind::Recommendation:
      if (training.first_batch == 512 || training.first_batch == 1024) return epoch < 30;
      return epoch < (training.first_batch == 2048 ? 40 : 10);
    case Kind::Transformer:
      return false;
  }
  return false;
}

/// As is_critical(), but as the artifact's profile of a job alone has it.
bool is_critical_in_profile(const Training& training, int64_t epoch) {
  if (training.model->kind == Kind::ResNet50 && epoch >= 600) return false;
  if (training.model->kind == Kind::Recommendation &&
      ((epoch >= 60 && epoch < 70) || (epoch >= 80 && epoch < 90))) {
    return true;
  }
  return is_critical(training, epoch);
}

/// Index of the phase of an epoch; -1 before the first.
int64_t phase_at(const Training& training, int64_t epoch) {
  if (training.phases == nullptr) return -1;
  const auto next = std::ranges::upper_bound(*training.phases, epoch, {}, &BatchPhase::from_epoch);
  return next - training.phases->begin() - 1;
}

int32_t phase_batch(const Training& training, int64_t phase) {
  if (phase < 0) return training.first_batch;
  const int64_t batch =
      int64_t{training.first_batch} * (*training.phases)[static_cast<size_t>(phase)].factor;
  return static_cast<int32_t>(std::min<int64_t>(batch, training.model->batch_max));
}

/// The batch size of an epoch in the profile of a job alone with `epochs` epochs.
int32_t profile_batch(const Training& training, int64_t epoch, int64_t epochs) {
  switch (training.mode) {
    case BatchMode::Static:
      return training.first_batch;
    case BatchMode::Accordion:
      if (training.model->kind == Kind::Transformer) return training.first_batch;
      return static_cast<double>(epoch) > 0.3 * static_cast<double>(epochs) &&
                     !is_critical_in_profile(training, epoch)
                 ? training.model->batch_max
                 : training.first_batch;
    case BatchMode::GradientNoise: {
      const int64_t phase = phase_at(training, epoch);
      if (phase < 0 || epochs <= training.phases->front().from_epoch) return training.first_batch;
      // The artifact leaves the last epoch of a later phase as it was.
      if (epoch == epochs - 1 && phase > 0) return training.first_batch;
      return phase_batch(training, phase);
    }
  }
  return training.first_batch;
}

}  // namespace

const TrainedModel* find_trained_model(std::string_view name) {
  const auto found = std::ranges::find_if(
      kTrainedModels, [name](const TrainedModel& model) { return model.name == name; });
  return found == kTrainedModels.end() ? nullptr : &*found;
}

base::Result<double> Training::alone_s(const RateTable& rates, size_t job) const {
  const int64_t epochs = ceil_divide(steps, model->epoch_steps(first_batch));
  double total_s = 0;
  double epoch_s = 0;
  int32_t batch = 0;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    const int32_t next = profile_batch(*this, epoch, epochs);
    if (next != batch) {
      batch = next;
      const auto rate = rates.find(model->name, batch, gpus);
      if (!rate) {
        return base::failure(
            rates.missing(model->name, batch, gpus, fmt::format("job {} in epoch {}", job, epoch)));
      }
      epoch_s = static_cast<double>(model->samples) / batch / *rate;
    }
    total_s += epoch_s;
  }
  return total_s;
}

void set_batch_flag(const Training& training, BatchState& state) {
  if (training.mode == BatchMode::Static) return;
  const int64_t epoch = ceil_divide(state.done, training.model->epoch_steps(state.batch));
  if (training.mode == BatchMode::GradientNoise) {
    const int32_t wanted = std::max(phase_batch(training, phase_at(training, epoch)),
                                    phase_batch(training, phase_at(training, epoch + 1)));
    if (wanted > state.batch && state.batch != training.model->batch_max) {
      state.flag = BatchFlag::Up;
    }
    return;
  }
  if (training.model->kind == Kind::Transformer) return;
  const bool critical = is_critical(training, epoch);
  if (state.batch == training.first_batch) {
    if (!critical && state.batch != training.model->batch_max) state.flag = BatchFlag::Up;
  } else if (critical && state.batch != training.model->batch_min) {
    state.flag = BatchFlag::Down;
  }
}

void apply_batch_flag(const Training& training, const RateTable& rates, BatchState& state) {
  const BatchFlag flag = state.flag;
  state.flag = BatchFlag::None;
  if (flag == BatchFlag::None || training.first_batch == training.model->batch_max) return;
  int32_t batch = training.first_batch;
  if (flag == BatchFlag::Up) {
    batch = training.mode == BatchMode::GradientNoise ? 2 * state.batch : training.model->batch_max;
  }
  const auto rate = rates.find(training.model->name, batch, training.gpus);
  if (!rate) return;
  const int64_t epoch_before = training.model->epoch_steps(state.batch);
  const int64_t epoch_after = training.model->epoch_steps(batch);
  const int64_t epochs = ceil_divide(state.steps, epoch_before);
  const double factor = 1 / (static_cast<double>(batch) / state.batch);
  auto steps = static_cast<int64_t>(std::ceil(static_cast<double>(state.steps) * factor));
  if (ceil_divide(steps, epoch_after) != epochs) steps = epochs * epoch_after;
  state.done = ceil_divide(state.done, epoch_before) * epoch_after;
  state.steps = steps;
  state.batch = batch;
  state.rate = *rate;
}

}  // namespace goban::study::rivals
