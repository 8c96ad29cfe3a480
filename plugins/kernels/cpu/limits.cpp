#include "limits.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include <gnnbench/caches.hpp>
#include <gnnbench/error.hpp>

#include <hwy/targets.h>

namespace gnnbench::cpu {
namespace {

struct Limits {
    std::int64_t cache_kib = 0;  ///< 0: none
    std::string instructions;    ///< the widest; empty: this machine's
};

std::string_view variable(const char* name) {
    const char* text = std::getenv(name);
    return text ? text : "";
}

Limits limits_here() {
    Limits out;
    if (const std::string_view text = variable("GNNBENCH_CPU_CACHE_KIB"); !text.empty()) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.cache_kib);
        if (error != std::errc() || end != text.data() + text.size() || out.cache_kib < 1)
            throw EnvironmentError("GNNBENCH_CPU_CACHE_KIB is '" + std::string(text) + "', not a number of KiB");
    }
    if (const std::string_view text = variable("GNNBENCH_CPU_INSTRUCTIONS"); !text.empty()) {
        if (text != "avx2" && text != "portable")
            throw EnvironmentError("GNNBENCH_CPU_INSTRUCTIONS is '" + std::string(text) +
                                   "'; known: avx2, portable");
        out.instructions = text;
    }
    return out;
}

}  // namespace

std::int64_t core_cache_bytes() {
    const std::int64_t kib = limits_here().cache_kib;
    return kib > 0 ? kib * 1024 : second_level_cache_bytes();
}

void limit_instructions() {
    const std::string widest = limits_here().instructions;
    // Highway numbers better sets lower.
    if (widest == "avx2") hwy::DisableTargets(HWY_AVX2 - 1);
    if (widest == "portable") hwy::DisableTargets(HWY_EMU128 - 1);
}

std::string limits() {
    std::string out;
    const Limits here = limits_here();
    if (here.cache_kib > 0) out = "formats cut for a cache of " + std::to_string(here.cache_kib) + " KiB";
    const std::string separator = out.empty() ? "" : "; ";
    if (here.instructions == "avx2") out += separator + "vector instructions limited to AVX2";
    if (here.instructions == "portable") out += separator + "no vector instructions";
    return out;
}

}  // namespace gnnbench::cpu
