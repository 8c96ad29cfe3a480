# Language, warnings, sanitizers, output folders.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
# -g1: line tables for stack traces; full debug information doubles compile time and size.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")

# One layout for build tree and install prefix, so that $ORIGIN run paths serve both.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(GNNBENCH_PLUGIN_DIR "lib/gnnbench/plugins")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_INSTALL_LIBDIR lib)

set(GNNBENCH_SANITIZER "" CACHE STRING "What -fsanitize gets: empty, 'address,undefined' or 'thread'")
if(GNNBENCH_SANITIZER)
  add_compile_options(-fsanitize=${GNNBENCH_SANITIZER} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${GNNBENCH_SANITIZER})
endif()

# Clang only: what libFuzzer needs to see of every file; another compiler's warnings are no errors there.
option(GNNBENCH_FUZZERS "Build the fuzzers of tests/fuzz/targets" OFF)
if(GNNBENCH_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${CCACHE}")
endif()

# What our own code is compiled with.
add_library(gnnbench_warnings INTERFACE)
target_compile_options(gnnbench_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<BOOL:${GNNBENCH_FUZZERS}>>>:-Werror>)

# gnnbench_add_room(name LINKS …): a static library of the *.cpp in this folder, included as "name/file.hpp".
function(gnnbench_add_room name)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_library(gnnbench_${name} STATIC ${sources})
  target_include_directories(gnnbench_${name} PUBLIC "${PROJECT_SOURCE_DIR}/host")
  target_link_libraries(gnnbench_${name} PUBLIC gnnbench_core ${ARG_LINKS} PRIVATE gnnbench_warnings)
endfunction()
