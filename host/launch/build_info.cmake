# Writes OUTPUT: the commit of SOURCE, if it is a git checkout, what compiled it, and a digest of everything that
# a time may depend on.
set(commit "")
find_program(GIT git)
if(GIT AND EXISTS "${SOURCE}/.git")
  execute_process(COMMAND "${GIT}" describe --always --abbrev=40 --exclude "*"
    WORKING_DIRECTORY "${SOURCE}" OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  # Pages that were written since are no other program.
  execute_process(COMMAND "${GIT}" diff --quiet HEAD -- . ":(exclude)results" ":(exclude)docs" ":(exclude,glob)**/*.md"
    WORKING_DIRECTORY "${SOURCE}" RESULT_VARIABLE changed OUTPUT_QUIET ERROR_QUIET)
  if(commit AND changed EQUAL 1)
    string(APPEND commit "-dirty")
  endif()
endif()
file(GLOB_RECURSE sources RELATIVE "${SOURCE}" "${SOURCE}/host/*.cpp" "${SOURCE}/host/*.hpp" "${SOURCE}/plugins/*.cpp"
  "${SOURCE}/plugins/*.hpp" "${SOURCE}/plugins/*.cu" "${SOURCE}/plugins/*.cuh" "${SOURCE}/plugins/CMakeLists.txt" "${SOURCE}/cmake/*.cmake")
list(SORT sources)
set(digests "")
foreach(source IN LISTS sources)
  file(SHA256 "${SOURCE}/${source}" digest)
  string(APPEND digests "${source} ${digest}\n")
endforeach()
string(SHA256 digest "${digests}${COMPILER} ${BUILD_TYPE}")
string(SUBSTRING "${digest}" 0 32 digest)
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [=[
#include "launch/machine.hpp"

namespace gnnbench {
BuildInfo build_info() { return {"@VERSION@", "@commit@", "@COMPILER@", "@BUILD_TYPE@", "@digest@"}; }
}  // namespace gnnbench
]=])
