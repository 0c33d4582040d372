#include "core/knowledge/measure/change_point.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

#include "base/random.hpp"

namespace goban::core::knowledge {
namespace {

enum class Tail : uint8_t { Normal, Laplace, StudentT3 };

double normal(base::Random& random) {
  const double u = 1 - random.uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * random.uniform());
}

/// Scaled to the median absolute deviation of a standard normal.
double draw(base::Random& random, Tail tail) {
  const double z = normal(random);
  if (tail == Tail::Normal) return z;
  if (tail == Tail::Laplace) {
    const double u = random.uniform() - 0.5;
    return -std::copysign(0.6745 / std::numbers::ln2, u) * std::log(1 - 2 * std::abs(u));
  }
  double chi = 0;
  for (int i = 0; i < 3; ++i) chi += std::pow(normal(random), 2);
  return 0.8818 * z / std::sqrt(chi / 3);
}

constexpr double kSigma = 0.02;

/// False alarms / measurements, on machines of 8 GPUs that are measured `sessions` times.
double false_alarm_rate(Tail tail, size_t sessions, size_t machines) {
  base::Random random(7 + static_cast<uint64_t>(tail));
  size_t alarms = 0;
  for (size_t m = 0; m < machines; ++m) {
    std::vector<std::vector<double>> series(8);
    for (auto& one : series) {
      for (size_t i = 0; i < sessions; ++i) one.push_back(kSigma * draw(random, tail));
    }
    const double sigma = session_sigma(series);
    for (const auto& one : series) alarms += find_changes(one, sigma).size();
  }
  return static_cast<double>(alarms) / static_cast<double>(machines * 8 * sessions);
}

TEST(ChangePoint, FalseAlarmsStayBelowTheStatedRate) {
  for (const Tail tail : {Tail::Normal, Tail::Laplace, Tail::StudentT3}) {
    // 64 sessions are the maximum of a log; with 5 the estimate of sigma is poor.
    EXPECT_LT(false_alarm_rate(tail, 64, 120), 0.001) << static_cast<int>(tail);
    EXPECT_LT(false_alarm_rate(tail, 5, 1500), 0.001) << static_cast<int>(tail);
  }
}

TEST(ChangePoint, ALargeStepIsFoundWithItsSecondMeasurement) {
  base::Random random(3);
  constexpr int kRepeats = 500;
  int found = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    std::vector<double> series;
    for (size_t i = 0; i < 12; ++i) {
      series.push_back(kSigma * draw(random, Tail::Normal) + (i >= 8 ? 10 * kSigma : 0));
    }
    const auto changes = find_changes(series, kSigma);
    ASSERT_GE(changes.size(), 1u);
    EXPECT_EQ(changes[0].found, 9u);
    found += changes.size() == 1 && changes[0].at == 8 ? 1 : 0;
    EXPECT_GT(changes[0].log_ratio, 2 * kSigma);
  }
  EXPECT_GE(found, kRepeats * 95 / 100);
}

TEST(ChangePoint, RecoveryIsAChangeToo) {
  std::vector<double> series(10, 0.0);
  series.insert(series.end(), 6, 0.3);
  series.insert(series.end(), 4, 0.01);
  const auto changes = find_changes(series, kSigma);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_NEAR(changes[0].log_ratio, 0.3, 1e-12);
  EXPECT_EQ(changes[1].at, 16u);
  EXPECT_NEAR(changes[1].log_ratio, -0.29, 1e-12);
}

TEST(ChangePoint, OneOddMeasurementRaisesNoAlarm) {
  std::vector<double> series(20, 0.0);
  series[9] = 1.5;
  EXPECT_TRUE(find_changes(series, kSigma).empty());
  EXPECT_TRUE(find_changes({}, kSigma).empty());
  EXPECT_TRUE(find_changes(std::vector<double>{1}, kSigma).empty());
}

TEST(ChangePoint, SlowDriftIsFoundInTheEnd) {
  std::vector<double> series;
  for (int i = 0; i < 40; ++i) series.push_back(0.005 * i);
  EXPECT_FALSE(find_changes(series, kSigma).empty());
}

TEST(ChangePoint, ScatterIsThatOfTheWholeMachine) {
  EXPECT_EQ(session_sigma({}), kChangeSigmaMin);
  std::vector<std::vector<double>> quiet(4, std::vector<double>(20, 1.0));
  EXPECT_EQ(session_sigma(quiet), kChangeSigmaMin);
  quiet[0][10] = 2;  // one outlier does not affect sigma
  EXPECT_EQ(session_sigma(quiet), kChangeSigmaMin);
}

}  // namespace
}  // namespace goban::core::knowledge
