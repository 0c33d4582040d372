#include "live/engine/slurm/lead_signal.hpp"

#include <csignal>
#include <gtest/gtest.h>

namespace goban::live::engine::slurm {
namespace {

TEST(LeadSignal, AsTheScriptAsksFor) {
  const LeadSignal batch =
      lead_signal("#!/bin/sh\n#SBATCH -N2\n#SBATCH --signal=B:USR1@120\nrun\n");
  EXPECT_EQ(batch.signal, SIGUSR1);
  EXPECT_EQ(batch.lead_ns, 120 * base::kSecond);
  EXPECT_EQ(signal_command("8_3", batch),
            (std::vector<std::string>{"scancel", "--signal=10", "--batch", "8_3"}));
  EXPECT_EQ(lead_signal("#!/bin/sh\n\n \t\n#SBATCH --signal=USR1@9\n").signal, SIGUSR1);
  const LeadSignal steps = lead_signal("#!/bin/sh\n#SBATCH --signal USR2\n");
  EXPECT_EQ(steps.signal, SIGUSR2);
  EXPECT_EQ(steps.lead_ns, 60 * base::kSecond);
  EXPECT_FALSE(steps.batch);
}

TEST(LeadSignal, OtherTextIsNone) {
  for (const char* script : {"", "#!/bin/sh\nrun\n#SBATCH --signal=USR1\n", "#SBATCH --signal=\n",
                             "#SBATCH --signal=NO@x\n", "# --signal=USR1\n"}) {
    EXPECT_EQ(lead_signal(script).signal, 0) << script;
  }
}

}  // namespace
}  // namespace goban::live::engine::slurm
