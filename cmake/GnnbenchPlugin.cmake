# gnnbench_add_plugin(KIND NAME SOURCES … [LINKS …]): lib<kind>_<name>.so in the plugin folder. Serves this
# tree and, through find_package(gnnbench), any other; there the file lies in that project's build folder, which
# GNNBENCH_PLUGIN_PATH then names.
function(gnnbench_add_plugin kind name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  if(NOT kind MATCHES "^(strategy|partitioner|kernel|importer)$")
    message(FATAL_ERROR "gnnbench_add_plugin: a plugin is a strategy, partitioner, kernel or importer; \"${kind}\" was given")
  endif()
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "gnnbench_add_plugin(${kind} ${name}): SOURCES is missing")
  endif()
  set(target "${kind}_${name}")
  add_library(${target} MODULE ${ARG_SOURCES})
  # Of the interface it links what it uses: the host refuses it for another version of that, and of nothing else.
  target_link_options(${target} PRIVATE -Wl,--as-needed)
  target_link_libraries(${target} PRIVATE gnnbench::batches ${ARG_LINKS})
  if(TARGET gnnbench_warnings)
    target_link_libraries(${target} PRIVATE gnnbench_warnings)
  endif()
  if(gnnbench_SANITIZER)
    target_compile_options(${target} PRIVATE -fsanitize=${gnnbench_SANITIZER})
    target_link_options(${target} PRIVATE -fsanitize=${gnnbench_SANITIZER})
  endif()
  set_target_properties(${target} PROPERTIES
    PREFIX lib SUFFIX .so
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "$ORIGIN/../..")
  if(PROJECT_NAME STREQUAL "gnnbench")
    set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${GNNBENCH_PLUGIN_DIR}")
    # Optional: what was not built, as the CUDA kernel for a machine without a GPU, is not installed.
    install(TARGETS ${target} DESTINATION "${GNNBENCH_PLUGIN_DIR}" OPTIONAL)
    set_property(GLOBAL APPEND PROPERTY GNNBENCH_PLUGIN_TARGETS ${target})
  endif()
endfunction()
