#pragma once
/// The plugin interface's version and the build identity that a plugin must share with the host.

/// Raised with every change of a class layout, virtual function or enumeration in this folder.
#define GNNBENCH_API_VERSION 19

#define GNNBENCH_TEXT_(x) #x
#define GNNBENCH_TEXT(x) GNNBENCH_TEXT_(x)

#if defined(__SANITIZE_ADDRESS__)
#define GNNBENCH_SANITIZER "address"
#elif defined(__SANITIZE_THREAD__)
#define GNNBENCH_SANITIZER "thread"
#else
#define GNNBENCH_SANITIZER "none"
#endif

#if defined(_GLIBCXX_DEBUG)
#define GNNBENCH_CONTAINERS "checked"
#else
#define GNNBENCH_CONTAINERS "plain"
#endif

/// What must be equal for C++ objects to cross a shared-library boundary safely: compiler, standard
/// library and its string ABI, language version, and the flags that change layouts.
#define GNNBENCH_BUILD_ID                                                                                \
    "compiler " __VERSION__ ", libstdc++ " GNNBENCH_TEXT(_GLIBCXX_RELEASE) ", cxx11-abi " GNNBENCH_TEXT( \
        _GLIBCXX_USE_CXX11_ABI) ", C++ " GNNBENCH_TEXT(__cplusplus) ", sanitizer " GNNBENCH_SANITIZER    \
                                                                    ", containers " GNNBENCH_CONTAINERS
