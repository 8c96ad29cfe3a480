#pragma once
/// The versions of the plugin interface and the build identity that a plugin must share with the host.

/// One for each library that a plugin can link, raised with every change of a class layout, virtual function or enumeration
/// in its headers: those of this folder and of verbs/, of training/, of batches/. A plugin is refused for the libraries
/// that it uses, and for no other.
#define GNNBENCH_CORE_VERSION 28
#define GNNBENCH_TRAINING_VERSION 8
#define GNNBENCH_BATCHES_VERSION 2

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
