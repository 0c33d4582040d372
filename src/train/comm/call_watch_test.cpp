#include "train/comm/call_watch.hpp"

#include <gmock/gmock.h>

namespace goban::train::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Call call(Operation operation, const std::string& what, uint64_t sequence) {
  Call out;
  out.operation = operation;
  out.bytes = 64;
  out.what = what;
  out.sequence = sequence;
  return out;
}

/// Collects the messages of a watch.
class Heard {
 public:
  void operator()(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    texts_.push_back(text);
    changed_.notify_all();
  }
  /// Waits for the n-th message and returns it.
  std::string wait_for(size_t n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return texts_.size() > n; });
    return texts_[n];
  }
  size_t size() {
    const std::scoped_lock lock(mutex_);
    return texts_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_;
};

CallWatch::Settings settings(Heard& said, Heard& ended) {
  CallWatch::Settings out;
  out.rank = 1;
  out.size = 4;
  out.timeout_s = 1e6;
  out.first_word_s = 1e6;
  out.tick_s = 0.002;
  out.say = std::ref(said);
  out.end = std::ref(ended);
  return out;
}

TEST(CallWatch, ALongCallIsToldAgainAndAgainWithItsOperation) {
  Heard said, ended;
  CallWatch::Settings wanted = settings(said, ended);
  wanted.first_word_s = 0.01;
  CallWatch watch(wanted);
  const CallWatch::Inside inside(watch, call(Operation::AllGather, "block0/key", 7));
  const auto text = AllOf(StartsWith("rank 1 has been waiting for "),
                          HasSubstr(" s in all-gather 'block0/key' (64 bytes, call 7"));
  EXPECT_THAT(said.wait_for(0), text);
  EXPECT_THAT(said.wait_for(2), text);
  EXPECT_EQ(ended.size(), 0U);
}

TEST(CallWatch, TheRunIsEndedOnceAfterTheTimeOut) {
  Heard said, ended;
  CallWatch::Settings wanted = settings(said, ended);
  wanted.timeout_s = 0.02;
  wanted.grace_s = 0.02;
  CallWatch watch(wanted);
  const CallWatch::Inside inside(watch, call(Operation::AllReduce, "loss", 0));
  watch.met();
  EXPECT_THAT(ended.wait_for(0), AllOf(StartsWith("rank 1 waited"), HasSubstr("all-reduce 'loss'"),
                                       HasSubstr("at which all its peers have arrived")));
  EXPECT_EQ(ended.size(), 1U);
}

TEST(CallWatch, PeersThatAreMissingAreNamedWithWhatTheyDidLast) {
  Heard said, ended;
  CallWatch::Settings wanted = settings(said, ended);
  wanted.first_word_s = 0.01;
  CallWatch watch(wanted);
  const CallWatch::Inside inside(watch, call(Operation::AllReduce, "step1", 1));
  watch.heard(2, pack(call(Operation::Barrier, "step0", 0)));
  for (const int rank : {0, 2, 3}) watch.awaits(rank, true);
  watch.awaits(0, false);
  EXPECT_EQ(watch.missing(),
            "; rank 2 did not arrive (last seen in barrier 'step0' (64 bytes, call 0 of its group))"
            "; rank 3 did not arrive (not seen yet)");
  EXPECT_THAT(said.wait_for(said.size() + 1),
              AllOf(HasSubstr("rank 2 did not arrive"), Not(HasSubstr("rank 0 did"))));
}

TEST(CallWatch, NothingIsSaidOfCallsThatEnd) {
  Heard said, ended;
  CallWatch::Settings wanted = settings(said, ended);
  wanted.timeout_s = 60;
  wanted.first_word_s = 60;
  CallWatch watch(wanted);
  for (uint64_t i = 0; i < 200'000; ++i) {
    const CallWatch::Inside inside(watch, call(Operation::AllReduce, "loss", i));
    watch.heard(0, watch.own());
    watch.met();
  }
  EXPECT_EQ(said.size() + ended.size(), 0U);
}

TEST(CallHeader, OfALongNameTheEndIsKept) {
  const std::string name = std::string(200, 'x') + "/dense";
  const Call back = unpack(pack(call(Operation::Exchange, name, 3)));
  EXPECT_EQ(back.what, name.substr(name.size() - 88));
  EXPECT_EQ(back.operation, Operation::Exchange);
  EXPECT_EQ(back.sequence, 3U);
}

// This must be the last test: the note of a termination cannot be reset.
TEST(CallWatch, AfterTerminationARankSaysWhereItIs) {
  Heard said, ended;
  CallWatch watch(settings(said, ended));
  {
    const CallWatch::Inside inside(watch, call(Operation::AllReduce, "loss", 4));
  }
  note_termination();
  EXPECT_THAT(said.wait_for(0),
              StartsWith("rank 1 was computing, after all-reduce 'loss' (64 bytes, call 4"));
  Heard also;
  CallWatch::Settings wanted = settings(also, ended);
  CallWatch other(wanted);
  const CallWatch::Inside inside(other, call(Operation::Barrier, "save", 5));
  EXPECT_THAT(also.wait_for(0), AllOf(StartsWith("rank 1 was in barrier 'save'"),
                                      HasSubstr("when it received SIGTERM")));
}

}  // namespace
}  // namespace goban::train::comm
