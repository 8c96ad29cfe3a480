# What tests share: programs that load plugins, programs that run under MPI.

# gnnbench_needs_plugins(target [kind]): build all plugins, or those of a kind, before this target is said to be built.
function(gnnbench_needs_plugins target)
  get_property(plugins GLOBAL PROPERTY GNNBENCH_PLUGIN_TARGETS)
  if(ARGN)
    list(FILTER plugins INCLUDE REGEX "^${ARGV1}_")
  endif()
  if(plugins)
    add_dependencies(${target} ${plugins})
  endif()
endfunction()

# gnnbench_tests_unoptimised(): for a folder whose tests check what libraries compute, which keep their flags. Compiling takes
# about half the time (docs/decisions/compile-time.md); a test that computes much itself is given -O2 again.
macro(gnnbench_tests_unoptimised)
  if(GNNBENCH_FAST_BUILD)
    add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:RelWithDebInfo>>:-O0> -U_FORTIFY_SOURCE)
  endif()
endmacro()

# gnnbench_precompiled(programs …): after gnnbench_tests_unoptimised(), for programs that add no flags of their own: Catch, JSON,
# fmt and the standard library, parsed once. Not those of this project, whose change would compile every test again.
function(gnnbench_precompiled)
  if(NOT TARGET test_headers)
    return()
  endif()
  foreach(program IN LISTS ARGN)
    target_link_libraries(${program} PRIVATE fmt::fmt) # whose definitions have to be the same
    target_precompile_headers(${program} REUSE_FROM test_headers)
  endforeach()
endfunction()

# What lets Open MPI start as root, with more ranks than cores, without binding ranks to cores. MPI libraries leak at
# exit by design, so leaks are not counted there. What yields: host/mpi/yield.cpp.
set(GNNBENCH_MPI_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_mpi_yield_when_idle=1 GNNBENCH_YIELD=sleep OMPI_MCA_hwloc_base_binding_policy=none OMP_NUM_THREADS=1
  ASAN_OPTIONS=detect_leaks=0)

# gnnbench_add_mpi_test(name RANKS n COMMAND … [LABELS …] [TIMEOUT seconds] [ENVIRONMENT …] [CONFIGURATIONS …]): the
# command under mpiexec with n ranks; with CONFIGURATIONS only where ctest is given one of them (-C).
function(gnnbench_add_mpi_test name)
  cmake_parse_arguments(ARG "" "RANKS;TIMEOUT" "COMMAND;LABELS;ENVIRONMENT;CONFIGURATIONS" ${ARGN})
  if(NOT ARG_RANKS OR NOT ARG_COMMAND)
    message(FATAL_ERROR "gnnbench_add_mpi_test(${name}): RANKS and COMMAND are needed")
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS mpi)
  endif()
  list(GET ARG_COMMAND 0 program)
  list(REMOVE_AT ARG_COMMAND 0)
  if(TARGET ${program})
    target_link_libraries(${program} PRIVATE gnnbench_mpi)
    set(program "$<TARGET_FILE:${program}>")
  endif()
  set(only "")
  if(ARG_CONFIGURATIONS)
    set(only CONFIGURATIONS ${ARG_CONFIGURATIONS})
  endif()
  add_test(NAME ${name} ${only} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ARG_RANKS} ${MPIEXEC_PREFLAGS}
           "${program}" ${MPIEXEC_POSTFLAGS} ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES PROCESSORS ${ARG_RANKS} TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}"
    ENVIRONMENT "${GNNBENCH_MPI_ENVIRONMENT};${ARG_ENVIRONMENT}")
endfunction()
