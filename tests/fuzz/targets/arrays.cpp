// Pickles and .npy arrays, as bytes; the first byte says which.
#include "fuzz/targets/mutate.hpp"
#include "fuzz/targets/target.hpp"

#include <span>

#include <data/importers/pickle.hpp>
#include <data/npy.hpp>

using namespace gnnbench;
using namespace gnnbench::fuzz;

namespace {

constexpr char npy_magic = '\x93';
constexpr std::size_t npy_header = 10;  // magic, version and the length of what follows

/// Bytes of a little-endian count and of what it counts.
std::size_t counted(std::string_view at, std::size_t width) {
    std::uint64_t count = 0;
    for (std::size_t i = width; i > 0; --i)
        count = count << 8 | (i < at.size() ? static_cast<unsigned char>(at[i]) : 0);
    return 1 + width + static_cast<std::size_t>(std::min<std::uint64_t>(count, at.size()));
}

/// Length of the pickle instruction that `at` begins with, with its argument.
std::size_t instruction_length(std::string_view at) {
    const auto until_lines = [&](int lines) {
        std::size_t end = 0;
        while (lines-- > 0 && end != at.npos) end = at.find('\n', end + 1);
        return end == at.npos ? at.size() : end + 1;
    };
    switch (at.front()) {
        case 'K':
        case 'h':
        case 'q':
        case '\x80':
            return 2;
        case 'M':
            return 3;
        case 'J':
        case 'j':
        case 'r':
            return 5;
        case 'G':
        case '\x95':
            return 9;
        case 'I':
        case 'L':
        case 'F':
        case 'S':
        case 'V':
        case 'g':
        case 'p':
        case 'P':
            return until_lines(1);
        case 'c':
        case 'i':
            return until_lines(2);
        case 'U':
        case 'C':
        case '\x8c':
        case '\x8a':
            return counted(at, 1);
        case 'T':
        case 'B':
        case 'X':
        case '\x8b':
            return counted(at, 4);
        case '\x8d':
        case '\x8e':
        case '\x96':
            return counted(at, 8);
        default:
            return 1;
    }
}

/// Instructions repeated, moved and removed; deep nesting; counts and numbers that cannot be.
std::string mutated_pickle(const std::string& bytes, Draws& draw) {
    Pieces instructions;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t length =
            std::min(instruction_length(std::string_view(bytes).substr(at)), bytes.size() - at);
        instructions.push_back(std::string_view(bytes).substr(at, length));
        at += length;
    }
    static constexpr std::array<std::string_view, 12> known = {"(", ")",    "]",    "}", "l", "t",
                                                               "d", "\x85", "\x86", "R", "b", "N"};
    for (std::size_t changes = 1 + below(draw, 4); changes > 0; --changes) {
        if (instructions.size() > 4096) instructions.resize(4096);
        const std::size_t at = below(draw, instructions.size());
        if (instructions.empty() || draw() % 4 == 0) {
            const std::size_t times = draw() % 4 == 0 ? 1 + below(draw, 500) : 1;
            instructions.insert(instructions.begin() + static_cast<std::ptrdiff_t>(at), times,
                                known[below(draw, known.size())]);
        } else if (instructions[at].size() > 1 && draw() % 2 == 0) {
            std::string one(instructions[at]);  // its argument: a count, a number or the start of a text
            static constexpr std::array<unsigned char, 6> odd = {0, 1, 0x7f, 0x80, 0xfe, 0xff};
            const std::size_t width = std::min<std::size_t>(one.size() - 1, std::size_t{1} << below(draw, 4));
            for (std::size_t i = 1; i <= width; ++i) one[i] = static_cast<char>(odd[below(draw, odd.size())]);
            instructions[at] = made(std::move(one));
        } else {
            rearrange(instructions, draw);
        }
    }
    return fuzz::joined(instructions);
}

/// The header is text; its length is made to fit, mostly.
std::string mutated_npy(const std::string& bytes, Draws& draw) {
    if (bytes.size() <= npy_header) return bytes;
    const std::size_t newline = bytes.find('\n', npy_header),
                      end = newline == bytes.npos ? bytes.size() : newline + 1;
    std::string header = mutated_text(bytes.substr(npy_header, end - npy_header), draw);
    std::string result = bytes.substr(0, npy_header);
    if (draw() % 8 != 0) {
        result[8] = static_cast<char>(header.size() & 0xff);
        result[9] = static_cast<char>(header.size() >> 8 & 0xff);
    }
    return result + header + bytes.substr(end);
}

std::string mutated(const std::string& bytes, Draws& draw) {
    return bytes.starts_with(npy_magic) ? mutated_npy(bytes, draw) : mutated_pickle(bytes, draw);
}

}  // namespace

GNNBENCH_FUZZ_MUTATOR(mutated)

GNNBENCH_FUZZ_TARGET(bytes) {
    const auto all = std::as_bytes(std::span(bytes));
    if (bytes.starts_with(npy_magic)) {
        const NpyArray array(std::vector<std::byte>(all.begin(), all.end()), "a");
        if (array.as<float>().size() != static_cast<std::size_t>(array.header().elements())) std::abort();
        array.as<std::int64_t>();
    } else {
        load_pickle(all, "p");
    }
}
