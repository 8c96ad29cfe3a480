# What is built for `./dev run` (target product), and what `cmake --install` puts where:
#   bin/gnnbench, bin/gnnbench-worker     the program, and what it starts on every rank
#   bin/gnnbench-worker-{mpich,openmpi}   the same for ranks of a second MPI, where that is installed
#   lib/libgnnbench_{core,training,batches}.so   shared by program, worker and plugins
#   lib/libgnnbench_build_info.so         which sources and compiler this is
#   lib/libgnnbench_simulation.so         simulated ranks, shared by worker and the kernel that drives them
#   lib/libgnnbench_loopback.so           loaded into mpiexec by its path
#   lib/gnnbench/plugins/                 the plugins (installed by gnnbench_add_plugin)
#   include/gnnbench/                     the plugin interface
#   lib/cmake/gnnbench/                   find_package(gnnbench): the three libraries, gnnbench_add_plugin()
#   share/gnnbench/                       schemas, experiments, plugin-template
# The build tree has the same layout, so that a program finds its things the same way in both.
include(CMakePackageConfigHelpers)

# gnnbench_share(folder name): a folder of the source tree that programs read as share/gnnbench/<name>.
function(gnnbench_share folder name)
  if(NOT IS_DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}")
    return()
  endif()
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share/gnnbench")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${folder}" "${PROJECT_BINARY_DIR}/share/gnnbench/${name}" SYMBOLIC)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}/" DESTINATION "share/gnnbench/${name}"
          USE_SOURCE_PERMISSIONS PATTERN "*.sqlite*" EXCLUDE)
endfunction()
gnnbench_share(schemas schemas)
gnnbench_share(experiments experiments)
gnnbench_share(host/plugin/templates plugin-template)

get_property(plugins GLOBAL PROPERTY GNNBENCH_PLUGIN_TARGETS)
add_custom_target(product)
add_dependencies(product gnnbench_batches gnnbench_simulation gnnbench_loopback ${plugins})
# The same for a machine without a GPU, where nothing could run the CUDA kernel.
list(REMOVE_ITEM plugins kernel_cuda)
add_custom_target(product_without_cuda)
add_dependencies(product_without_cuda gnnbench_batches gnnbench_simulation gnnbench_loopback ${plugins})
foreach(program IN ITEMS gnnbench gnnbench-worker gnnbench-worker-${GNNBENCH_OTHER_MPI})
  if(TARGET ${program})
    add_dependencies(product ${program})
    add_dependencies(product_without_cuda ${program})
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
    install(TARGETS ${program} RUNTIME DESTINATION bin)
  endif()
endforeach()

install(TARGETS gnnbench_build_info gnnbench_loopback gnnbench_simulation LIBRARY DESTINATION lib)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/host/include/gnnbench" DESTINATION include)

set(package lib/cmake/gnnbench)
install(EXPORT gnnbenchTargets NAMESPACE gnnbench:: DESTINATION ${package})
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/gnnbenchConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/package/gnnbenchConfig.cmake" INSTALL_DESTINATION ${package})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/gnnbenchConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/gnnbenchConfig.cmake"
  "${PROJECT_BINARY_DIR}/package/gnnbenchConfigVersion.cmake" "${PROJECT_SOURCE_DIR}/cmake/GnnbenchPlugin.cmake"
  DESTINATION ${package})

# -Dgnnbench_DIR=<build tree>/package serves a plugin's project without an install.
export(EXPORT gnnbenchTargets NAMESPACE gnnbench:: FILE "${PROJECT_BINARY_DIR}/package/gnnbenchTargets.cmake")
configure_file("${PROJECT_SOURCE_DIR}/cmake/GnnbenchPlugin.cmake" "${PROJECT_BINARY_DIR}/package/GnnbenchPlugin.cmake"
  COPYONLY)
