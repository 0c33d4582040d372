// Names of software as they are stored: without users' folders.
#pragma once

#include <string_view>

namespace goban::site::records {

/// Of a path (`/home/ann/x.sif`, `~/x.sif`, `../x.sif`, `file:///home/ann/x.sif`,
/// `oci:/home/ann/x:1`) the file name only, as folders can identify users; names of registries
/// (`docker://nvcr.io/nvidia/pytorch:20.03`) and modules (`cuda/12`) unchanged.
[[nodiscard]] std::string_view without_folders(std::string_view name);

}  // namespace goban::site::records
