# Compiler flags of every target. Results must not depend on the machine that built them:
# no -march=native, no fast-math, no fused multiply-add contraction.
add_library(goban_flags INTERFACE)
target_compile_options(goban_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Werror -ffp-contract=off -g1)
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O1")

if(GOBAN_SANITIZE)
  target_compile_options(goban_flags INTERFACE
    -fsanitize=${GOBAN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(goban_flags INTERFACE -fsanitize=${GOBAN_SANITIZE})
endif()

find_program(GOBAN_CCACHE ccache)
if(GOBAN_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${GOBAN_CCACHE})
endif()
find_program(GOBAN_MOLD mold)
if(GOBAN_MOLD)
  target_link_options(goban_flags INTERFACE -fuse-ld=mold)
endif()
