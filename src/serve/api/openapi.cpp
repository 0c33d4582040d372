#include "serve/api/openapi.hpp"

// GOBAN_OPENAPI is the path of openapi.json; the assembler embeds it byte for byte.
#ifndef GOBAN_OPENAPI
#define GOBAN_OPENAPI "openapi.json"
#endif
// NOLINTNEXTLINE(hicpp-no-assembler)
asm(".pushsection .rodata\n"
    ".global goban_openapi\n"
    "goban_openapi: .incbin \"" GOBAN_OPENAPI
    "\"\n"
    ".global goban_openapi_end\n"
    "goban_openapi_end: .byte 0\n"
    ".popsection\n");

extern "C" {
// NOLINTNEXTLINE(readability-identifier-naming)
extern const char goban_openapi[];
// NOLINTNEXTLINE(readability-identifier-naming)
extern const char goban_openapi_end[];
}

namespace goban::serve::api {

std::string_view openapi_document() { return {goban_openapi, goban_openapi_end}; }

}  // namespace goban::serve::api
