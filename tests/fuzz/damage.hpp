#pragma once
#include <array>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <new>
#include <random>
#include <string>

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench::test {

/// How often each subject is tried.
inline std::uint32_t fuzz_rounds() {
    const char* given = std::getenv("GNNBENCH_FUZZ_ROUNDS");
    return given ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10)) : 300;
}

/// One to four random changes of `sample`.
inline std::string damaged(std::string sample, std::uint32_t seed) {
    static constexpr std::array words{
        "-1", "0",  "4294967297", "99999999999999999999", "1e308", "nan", "\n", "\r", "\t", "{",
        "]",  "\"", "#",          "\xff\xff\xff\xff"};
    std::mt19937 draw(seed);
    const auto below = [&](std::size_t n) { return n == 0 ? 0 : draw() % n; };
    const std::size_t changes = 1 + below(4);
    for (std::size_t c = 0; c < changes; ++c) {
        const std::size_t at = below(sample.size() + 1);
        const std::size_t count = std::min(below(9), sample.size() - at);
        switch (below(7)) {
            case 0:
                if (at < sample.size()) sample[at] = static_cast<char>(draw());
                break;
            case 1:
                if (at < sample.size()) sample[at] = static_cast<char>(sample[at] ^ (1 << below(8)));
                break;
            case 2:
                sample.erase(at, count);
                break;
            case 3:
                sample.insert(at, sample.substr(below(sample.size() + 1), below(33)));
                break;
            case 4:
                sample.resize(at);
                break;
            case 5:
                sample.insert(at, words[below(words.size())]);
                break;
            default: {  // a number becomes another
                std::size_t end = at;
                while (end < sample.size() && std::isdigit(static_cast<unsigned char>(sample[end]))) ++end;
                sample.replace(at, end - at, words[below(4)]);
            }
        }
    }
    return sample;
}

inline std::string shown(const std::string& bytes) {
    std::string text;
    for (const char c : bytes.substr(0, 2000))
        text += std::isprint(static_cast<unsigned char>(c)) || c == '\n'
                    ? std::string(1, c)
                    : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    return text;
}

/// A file may say that it is of any size: memory is bounded, so that such a one is refused as on a full host.
/// Sanitizers need their address space, and bound nothing.
inline void bound_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const rlimit two_gib{std::uint64_t{2} << 30, std::uint64_t{2} << 30};
    setrlimit(RLIMIT_AS, &two_gib);
#endif
}

/// Reads `sample` as it is, which must work, and damaged in many ways, which may be refused.
inline void attack(const std::string& subject, const std::string& sample,
                   const std::function<void(const std::string&)>& read, std::uint32_t rounds = fuzz_rounds()) {
    bound_memory();
    {
        INFO(subject << ", undamaged:\n" << shown(sample));
        REQUIRE_NOTHROW(read(sample));
    }
    std::uint32_t refused = 0;
    for (std::uint32_t seed = 1; seed <= rounds; ++seed) {
        const std::string input = damaged(sample, seed);
        INFO(subject << ", seed " << seed << ":\n" << shown(input));
        try {
            read(input);
        } catch (const LogicError& e) {
            FAIL("a defect of ours: " << e.what());
        } catch (const Error& e) {
            CHECK(std::string(e.what()).size() > 10);
            ++refused;
        } catch (const std::bad_alloc&) {
            ++refused;  // the program says so, too
        } catch (const std::exception& e) {
            FAIL("no error of ours: " << e.what());
        }
    }
    INFO(subject << ": " << refused << " of " << rounds << " refused");
    CHECK(refused > 0);
}

}  // namespace gnnbench::test
