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
# What loads a library is not linked again when the library's code changes.
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)

set(GNNBENCH_SANITIZER "" CACHE STRING "What -fsanitize gets: empty, 'address,undefined' or 'thread'")
if(GNNBENCH_SANITIZER)
  # What is found ends the program: a test that only prints it would pass.
  add_compile_options(-fsanitize=${GNNBENCH_SANITIZER} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${GNNBENCH_SANITIZER})
  # GCC 12 finds std::function uninitialized inside std::regex as soon as AddressSanitizer is on (GCC bug 105616).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  endif()
endif()

# Against what a hostile file may make of a defect; a sanitizer finds the defect itself. FORTIFY needs optimisation.
if(NOT GNNBENCH_SANITIZER)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:RelWithDebInfo,Release>>:-D_FORTIFY_SOURCE=2>)
  add_link_options(-Wl,-z,relro -Wl,-z,now)
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

# What our own code is compiled with. A name shadows nothing of another file's, which only a group of files would tell.
add_library(gnnbench_warnings INTERFACE)
target_compile_options(gnnbench_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
    -Wnon-virtual-dtor -Woverloaded-virtual>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<BOOL:${GNNBENCH_FUZZERS}>>>:-Werror>)

# Outside the kernels, headers and the templates they instantiate are most of a file's compile time
# (docs/decisions/compile-time.md).
option(GNNBENCH_FAST_BUILD
  "Compile the host's files and unit tests in groups, and optimise them less where that costs a run nothing" OFF)

# GCC collects its garbage from 128 MiB on, again and again in a file of many templates. The code is the same.
if(GNNBENCH_FAST_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=524288 --param ggc-min-expand=200>")
endif()

# gnnbench_unity(target GROUPS n ALONE names …): compiles the target's C++ files as n. A file's name alone decides its group, so
# that a new file can clash with those of one group only, and leaves the other groups' compiler cache as it was. ALONE: files
# whose local names clash with others'.
function(gnnbench_unity target)
  cmake_parse_arguments(ARG "" "GROUPS" "ALONE" ${ARGN})
  if(NOT GNNBENCH_FAST_BUILD OR NOT ARG_GROUPS)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    if(name IN_LIST ARG_ALONE)
      continue()
    endif()
    string(MD5 digest "${name}")
    string(SUBSTRING "${digest}" 0 6 digest)
    math(EXPR group "0x${digest} % ${ARG_GROUPS}")
    set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP "${group}")
  endforeach()
endfunction()

# gnnbench_orchestrates(targets …): these start, read, record and print things, for which -O1 is enough. Kernels, core,
# strategies, partitioners and readers keep the build type's flags.
function(gnnbench_orchestrates)
  if(NOT GNNBENCH_FAST_BUILD)
    return()
  endif()
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
  endforeach()
endfunction()

# gnnbench_add_interface(name GROUPS n LINKS … PRIVATE …): a library that plugins link, of the *.cpp in this folder:
# gnnbench::name, whose headers are public. Its file carries its version in gnnbench/version.hpp, so that the loader tells
# what a plugin was linked with.
function(gnnbench_add_interface name)
  cmake_parse_arguments(ARG "" "GROUPS" "LINKS;PRIVATE" ${ARGN})
  string(TOUPPER "${name}" constant)
  set(versions "${PROJECT_SOURCE_DIR}/host/include/gnnbench/version.hpp")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${versions}")
  file(STRINGS "${versions}" line REGEX "define GNNBENCH_${constant}_VERSION ")
  string(REGEX MATCH "[0-9]+$" version "${line}")
  if(NOT version)
    message(FATAL_ERROR "gnnbench/version.hpp defines no GNNBENCH_${constant}_VERSION")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_library(gnnbench_${name} SHARED ${sources})
  add_library(gnnbench::${name} ALIAS gnnbench_${name})
  target_include_directories(gnnbench_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/host/include> $<INSTALL_INTERFACE:include>
    PRIVATE "${PROJECT_SOURCE_DIR}/host")
  target_link_libraries(gnnbench_${name} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE} gnnbench_warnings)
  target_compile_features(gnnbench_${name} PUBLIC cxx_std_20)
  set_target_properties(gnnbench_${name} PROPERTIES EXPORT_NAME ${name} SOVERSION ${version} INSTALL_RPATH "$ORIGIN")
  gnnbench_unity(gnnbench_${name} GROUPS ${ARG_GROUPS})
  install(TARGETS gnnbench_${name} EXPORT gnnbenchTargets LIBRARY DESTINATION lib)
endfunction()

# gnnbench_add_part(name GROUPS n ALONE names … LINKS …): a static library of the *.cpp in this folder, included as
# "name/file.hpp"; GROUPS and ALONE as for gnnbench_unity(). Without GROUPS each file is compiled alone.
function(gnnbench_add_part name)
  cmake_parse_arguments(ARG "" "GROUPS" "ALONE;LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_library(gnnbench_${name} STATIC ${sources})
  target_include_directories(gnnbench_${name} PUBLIC "${PROJECT_SOURCE_DIR}/host")
  target_link_libraries(gnnbench_${name} PUBLIC gnnbench_core ${ARG_LINKS} PRIVATE gnnbench_warnings)
  gnnbench_unity(gnnbench_${name} GROUPS ${ARG_GROUPS} ALONE ${ARG_ALONE})
endfunction()
