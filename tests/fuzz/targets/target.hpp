#pragma once
/// A target of libFuzzer: what is read may be refused with an error of ours, or need more memory than there is; every
/// other exception, like every crash and every report of a sanitizer, is a defect.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gnnbench/error.hpp>

namespace gnnbench::fuzz {

template <class Read>
int attempt(const std::uint8_t* data, std::size_t size, Read read) {
    try {
        read(std::string_view(reinterpret_cast<const char*>(data), size));
    } catch (const LogicError& e) {
        std::fprintf(stderr, "a defect of ours: %s\n", e.what());
        std::abort();
    } catch (const Error&) {
    } catch (const std::bad_alloc&) {
    } catch (const std::exception& e) {
        std::fprintf(stderr, "no error of ours: %s\n", e.what());
        std::abort();
    }
    return 0;
}

}  // namespace gnnbench::fuzz

/// Followed by a body that reads the std::string_view `NAME`.
#define GNNBENCH_FUZZ_TARGET(NAME)                                                      \
    static void gnnbench_fuzz_read(std::string_view NAME);                              \
    extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
        return ::gnnbench::fuzz::attempt(data, size, gnnbench_fuzz_read);               \
    }                                                                                   \
    static void gnnbench_fuzz_read([[maybe_unused]] std::string_view NAME)
