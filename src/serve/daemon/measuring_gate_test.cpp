#include "serve/daemon/measuring_gate.hpp"

#include <gmock/gmock.h>

namespace goban::serve::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Heard {
  std::vector<uint32_t> launched{};
  std::vector<uint32_t> stopped{};
  std::vector<bool> suspended{};
};

class ListeningEngine final : public live::Engine {
 public:
  explicit ListeningEngine(Heard& heard) : heard_(heard) {}
  void launch(const live::LaunchOrder& order) override {
    heard_.launched.push_back(order.run.job.value);
  }
  void stop(live::RunId run, live::StopReason) override { heard_.stopped.push_back(run.job.value); }
  void suspend(live::RunId, bool suspended) override { heard_.suspended.push_back(suspended); }
  void resume(const live::LaunchOrder&) override {}
  void forget(core::model::JobId, const std::string&) override {}
  std::vector<live::EngineEvent> take_events() override { return {}; }

 private:
  Heard& heard_;
};

struct GateTest : testing::Test {
  static live::LaunchOrder order(uint32_t job, std::vector<core::model::GpuId> gpus) {
    return {.run = {.job = core::model::JobId(job), .run = 1}, .gpus = std::move(gpus)};
  }
  Heard heard;
  std::shared_ptr<MeasuringGate> gate = std::make_shared<MeasuringGate>();
  GatedEngine engine{std::make_unique<ListeningEngine>(heard), gate};
  core::model::GpuId measured{2U};
};

TEST_F(GateTest, AJobInterruptsAndStartsWhenTheMeasurementIsGone) {
  ASSERT_TRUE(gate->begin(measured));
  engine.launch(order(1, {core::model::GpuId(0U), core::model::GpuId(1U)}));
  EXPECT_FALSE(gate->interrupted()) << "other GPUs do not matter";
  engine.launch(order(2, {core::model::GpuId(1U), measured}));
  engine.launch(order(2, {core::model::GpuId(1U), measured}));  // orders may be repeated
  EXPECT_TRUE(gate->interrupted());
  (void)engine.take_events();
  EXPECT_THAT(heard.launched, ElementsAre(1));
  gate->end();
  (void)engine.take_events();
  (void)engine.take_events();
  EXPECT_THAT(heard.launched, ElementsAre(1, 2));
  ASSERT_TRUE(gate->begin(measured));
  EXPECT_FALSE(gate->interrupted());
}

TEST_F(GateTest, AJobThatIsStoppedMeanwhileNeverStarts) {
  ASSERT_TRUE(gate->begin(measured));
  engine.launch(order(1, {measured}));
  engine.launch(order(2, {measured}));
  engine.stop({.job = core::model::JobId(1U), .run = 1}, live::StopReason::Cancelled);
  engine.forget(core::model::JobId(2U), {});
  gate->end();
  (void)engine.take_events();
  EXPECT_THAT(heard.launched, IsEmpty());
  EXPECT_THAT(heard.stopped, ElementsAre(1)) << "the engine reports it as lost";
}

TEST_F(GateTest, ADaemonThatEndsMeasuresNothingMore) {
  ASSERT_TRUE(gate->begin(measured));
  gate->close();
  EXPECT_TRUE(gate->interrupted());
  gate->end();
  EXPECT_FALSE(gate->begin(measured));
}

TEST_F(GateTest, SuspensionsPassIt) {
  engine.launch(order(1, {measured}));
  engine.suspend({.job = core::model::JobId(1U), .run = 1}, true);
  engine.suspend({.job = core::model::JobId(1U), .run = 1}, false);
  EXPECT_THAT(heard.suspended, ElementsAre(true, false));
}

}  // namespace
}  // namespace goban::serve::daemon
