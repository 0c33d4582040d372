// Test support: a small image set that can be learnt.
#pragma once

#include <filesystem>

namespace goban::train::trainer {

/// Writes 240 training and 40 test images in IDX format. The class is the position of a bright
/// square.
void write_images(const std::filesystem::path& folder);

}  // namespace goban::train::trainer
