#include "train/trainer/stopping.hpp"

#include <ATen/ops/ones.h>
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

#include "train/mesh/matmul.hpp"

namespace goban::train::trainer {
namespace {

// With a handler in the thread that computes, oneDNN 2.6 has the heap overwritten after some dozens
// of signals.
TEST(Stopping, SignalsDoNoHarmToMatrixProducts) {
  stop_on({SIGUSR2});
  std::thread sender([] {
    for (int i = 0; i < 4000; ++i) {
      kill(getpid(), SIGUSR2);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  const at::Tensor a = at::ones({50, 784}), b = at::ones({784, 256});
  for (int i = 0; i < 2000; ++i) {
    const at::Tensor product = mesh::matrix_product(a, b);
    ASSERT_EQ(product.data_ptr<float>()[0], 784);
  }
  sender.join();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until the last one is taken
  EXPECT_TRUE(stop_requested);
  stop_requested = false;
}

}  // namespace
}  // namespace goban::train::trainer
