#include <array>

#include "core/policy/compose.hpp"

namespace goban::core::policy {
namespace {

/// PAL's artifact: rounds of 360 s, free restarts.
constexpr RunSettings kArtifact = {.locality_penalty = 1.7,
                                   .restart_cost_s = 0,
                                   .round_s = 360,
                                   .credit_per_round = true,
                                   .ideal_speed = false};
/// A reference with known results.
constexpr RunSettings kIdeal = {.locality_penalty = 1,
                                .restart_cost_s = 0,
                                .round_s = 0,
                                .credit_per_round = false,
                                .ideal_speed = true};

constexpr std::array kPresets = {
    Preset{"goban", "las-levels+skip+sticky+pal+share-worth+sleep+consolidate",
           "our default: GPU variability, locality, sharing, sleep; needs no durations"},
    Preset{"slurm-multifactor", "multifactor+easy-backfill+packed",
           "typical of sites today: Slurm's multifactor priority, backfill on walltime limits"},
    Preset{"pal-artifact", "pal-paper+non-sticky",
           "PAL exactly as its public artifact runs it (SC24)", kArtifact, true},
    Preset{"pm-first-artifact", "pm-first+non-sticky", "PM-First as in PAL's artifact", kArtifact,
           true},
    Preset{"packed-sticky-artifact", "packed+sticky",
           "Packed-Sticky as in PAL's artifact: the paper's baseline", kArtifact, true},
    Preset{"packed-nonsticky-artifact", "packed+non-sticky",
           "Packed-Non-Sticky as in PAL's artifact", kArtifact, true},
    Preset{"random-sticky-artifact", "random+sticky",
           "Random-Sticky: the artifact's control flow, our random numbers", kArtifact, true},
    Preset{"random-nonsticky-artifact", "random+non-sticky",
           "Random-Non-Sticky: the artifact's control flow, our random numbers", kArtifact, true},
    Preset{"fifo-packed-strict", "consolidated",
           "strict FIFO on whole nodes, ideal GPUs: a reference with known results", kIdeal},
    Preset{"fifo-fungible-strict", "any",
           "strict FIFO, all GPUs interchangeable and ideal: a reference with known results",
           kIdeal},
    Preset{"fifo-packed", "share-packed", "FIFO with packing, as in Gavel: a baseline of EaCO"},
    Preset{"gandiva", "share-gandiva", "Gandiva's packing, as in Gavel: a baseline of EaCO"},
    Preset{"eaco-paper", "priority+share-eaco-paper+sleep",
           "EaCO as in its paper (arXiv 2412.08294)"},
    Preset{"eaco", "priority+by-priority+share-eaco+sleep+consolidate",
           "EaCO with extensions beyond its paper (docs/energy.md)"},
};

}  // namespace

std::span<const Preset> presets() { return kPresets; }

}  // namespace goban::core::policy
