# Writes OUTPUT: the commit of SOURCE, if it is a git checkout, and what compiled it.
set(commit "")
find_program(GIT git)
if(GIT AND EXISTS "${SOURCE}/.git")
  execute_process(COMMAND "${GIT}" describe --always --dirty --abbrev=40 --exclude "*"
    WORKING_DIRECTORY "${SOURCE}" OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [=[
#include "launch/machine.hpp"

namespace gnnbench {
BuildInfo build_info() { return {"@VERSION@", "@commit@", "@COMPILER@", "@BUILD_TYPE@"}; }
}  // namespace gnnbench
]=])
