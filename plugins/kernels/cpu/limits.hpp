#pragma once
#include <cstdint>
#include <string>

/// Less than this machine has, where the environment asks for it, so that what the kernel chooses on other machines can
/// be seen on this one.
namespace gnnbench::cpu {

/// A core's own cache, for which formats are cut: this machine's, or GNNBENCH_CPU_CACHE_KIB.
std::int64_t core_cache_bytes();
/// Vector instructions no wider than GNNBENCH_CPU_INSTRUCTIONS ("avx2", or "portable" for none) says; for the whole
/// process, if said before its first operation.
void limit_instructions();
/// The limits, for a trial's notes; empty if there are none. Throws EnvironmentError for values without a meaning.
std::string limits();

}  // namespace gnnbench::cpu
