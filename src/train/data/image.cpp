#include "train/data/image.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <png.h>
#include <turbojpeg.h>

#include "base/number.hpp"

namespace goban::train::data {
namespace {

constexpr int64_t kMostPixels = int64_t{1} << 28;

tl::unexpected<base::Error> no_image(const std::string& why) {
  return base::bad_data({}, why, "replace the image, or use --corrupt skip-and-count");
}

base::Status fits(int64_t width, int64_t height) {
  if (width > 0 && height > 0 && width <= kMostPixels / height) return {};
  return no_image(fmt::format("an image of {} x {} pixels is not accepted", width, height));
}

base::Result<GreyImage> decode_jpeg(std::string_view bytes) {
  struct Close {
    void operator()(void* handle) const { tjDestroy(handle); }
  };
  const std::unique_ptr<void, Close> handle(tjInitDecompress());
  int width = 0, height = 0, sampling = 0, colours = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto failure = [&] {
    return no_image(
        fmt::format("a JPEG image cannot be decoded: {}", tjGetErrorStr2(handle.get())));
  };
  if (tjDecompressHeader3(handle.get(), data, bytes.size(), &width, &height, &sampling, &colours) !=
      0) {
    return failure();
  }
  if (auto s = fits(width, height); !s) return base::failure(s.error());
  GreyImage out{width, height, {}};
  out.pixels.resize(static_cast<size_t>(width) * static_cast<size_t>(height));
  // Warnings, such as truncated data, count as failures.
  if (tjDecompress2(handle.get(), data, bytes.size(), out.pixels.data(), width, 0, height,
                    TJPF_GRAY, TJFLAG_STOPONWARNING) != 0) {
    return failure();
  }
  return out;
}

base::Result<GreyImage> decode_png(std::string_view bytes) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const auto done = [](png_image* each) { png_image_free(each); };
  const std::unique_ptr<png_image, decltype(done)> freed(&image, done);
  const auto failure = [&] {
    return no_image(
        fmt::format("a PNG image cannot be decoded: {}", static_cast<const char*>(image.message)));
  };
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) return failure();
  if (auto s = fits(image.width, image.height); !s) return base::failure(s.error());
  image.format = PNG_FORMAT_GRAY;
  GreyImage out{image.width, image.height, {}};
  out.pixels.resize(PNG_IMAGE_SIZE(image));
  const png_color black{0, 0, 0};  // behind transparent pixels
  if (png_image_finish_read(&image, &black, out.pixels.data(), 0, nullptr) == 0) return failure();
  return out;
}

/// The next number of a PGM header; nullopt if there is none.
std::optional<int64_t> header_number(std::string_view& rest) {
  while (!rest.empty()) {
    if (rest[0] == '#') {
      rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
    } else if (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\n') {
      rest.remove_prefix(1);
    } else {
      break;
    }
  }
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const auto out = base::parse_int(rest.substr(0, digits));
  rest.remove_prefix(digits);
  return out;
}

base::Result<GreyImage> decode_pgm(std::string_view bytes) {
  std::string_view rest = bytes.substr(2);
  const auto width = header_number(rest), height = header_number(rest), most = header_number(rest);
  if (!width || !height || !most || rest.empty()) return no_image("a PGM header is damaged");
  if (*most != 255) return no_image(fmt::format("a PGM image has the maximum {}, not 255", *most));
  if (auto s = fits(*width, *height); !s) return base::failure(s.error());
  rest.remove_prefix(1);
  const auto size = static_cast<size_t>(*width * *height);
  if (rest.size() < size) {
    return no_image(fmt::format("a PGM image has {} of {} bytes", rest.size(), size));
  }
  return GreyImage{*width, *height, {rest.begin(), rest.begin() + static_cast<ptrdiff_t>(size)}};
}

}  // namespace

bool is_image_field(std::string_view field) {
  constexpr std::array<std::string_view, 4> kNames = {"jpg", "jpeg", "png", "pgm"};
  return std::ranges::find(kNames, field) != kNames.end();
}

base::Result<GreyImage> decode_grey(std::string_view bytes) {
  if (bytes.starts_with("\xff\xd8")) return decode_jpeg(bytes);
  if (bytes.starts_with("\x89PNG")) return decode_png(bytes);
  if (bytes.starts_with("P5")) return decode_pgm(bytes);
  return no_image("the bytes are no JPEG, PNG or binary PGM image");
}

std::string to_pgm(int64_t width, int64_t height, std::string_view pixels) {
  return fmt::format("P5\n{} {}\n255\n{}", width, height, pixels);
}

}  // namespace goban::train::data
