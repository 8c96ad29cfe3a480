#pragma once
/// Mutations that know what an input is made of: words and numbers of a text, instructions of a pickle. A third of all
/// mutations stay libFuzzer's own, which change bytes and insert the dictionary's tokens.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace gnnbench::fuzz {

using Draws = std::minstd_rand;
/// Parts of an input in order. Views, because they are moved about in every execution.
using Pieces = std::vector<std::string_view>;

/// Keeps a piece that is not of the input, until the next mutation.
inline std::deque<std::string>& made_pieces() {
    static std::deque<std::string> made;
    return made;
}
inline std::string_view made(std::string piece) { return made_pieces().emplace_back(std::move(piece)); }

/// In [0, n); 0 where n is 0.
inline std::size_t below(Draws& draw, std::size_t n) { return n == 0 ? 0 : draw() % n; }

/// Repeats, removes, moves or copies a run of pieces, or exchanges two.
inline void rearrange(Pieces& pieces, Draws& draw) {
    if (pieces.empty()) return;
    const auto at = [&] { return static_cast<std::ptrdiff_t>(below(draw, pieces.size())); };
    const std::ptrdiff_t begin = at(), most = static_cast<std::ptrdiff_t>(pieces.size()) - begin;
    const std::ptrdiff_t end =
        begin + 1 + static_cast<std::ptrdiff_t>(below(draw, std::min<std::size_t>(most, 12)));
    const Pieces run(pieces.begin() + begin, pieces.begin() + std::min(end, begin + most));
    switch (draw() % 5) {
        case 0:
            for (std::size_t times = 1 + below(draw, draw() % 8 == 0 ? 200 : 3); times > 0; --times)
                pieces.insert(pieces.begin() + begin, run.begin(), run.end());
            break;
        case 1:
            pieces.erase(pieces.begin() + begin, pieces.begin() + begin + static_cast<std::ptrdiff_t>(run.size()));
            break;
        case 2: {
            pieces.erase(pieces.begin() + begin, pieces.begin() + begin + static_cast<std::ptrdiff_t>(run.size()));
            pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(below(draw, pieces.size() + 1)),
                          run.begin(), run.end());
            break;
        }
        case 3:
            pieces.insert(pieces.begin() + at(), run.begin(), run.end());
            break;
        default:
            std::swap(pieces[static_cast<std::size_t>(begin)], pieces[static_cast<std::size_t>(at())]);
    }
}

/// A number where programs tend to break.
inline std::string_view odd_number(Draws& draw) {
    static constexpr std::array<std::string_view, 22> odd = {"0",
                                                             "-1",
                                                             "1",
                                                             "2",
                                                             "64",
                                                             "65536",
                                                             "2147483647",
                                                             "2147483648",
                                                             "-2147483649",
                                                             "4294967296",
                                                             "4611686018427387904",
                                                             "9223372036854775807",
                                                             "-9223372036854775808",
                                                             "18446744073709551616",
                                                             "1e308",
                                                             "1e-320",
                                                             "-0.0",
                                                             "1e999",
                                                             "nan",
                                                             ".inf",
                                                             "0x7fffffffffffffff",
                                                             "00"};
    return draw() % 3 == 0 ? made(std::to_string(static_cast<std::int64_t>(draw()) - (1 << 30)))
                           : odd[below(draw, odd.size())];
}

/// Words with digits, dots and minus signs; runs of blanks; line ends; any other character alone.
inline Pieces tokens_of(std::string_view text) {
    const auto kind = [](char c) {
        if (c == ' ' || c == '\t') return 0;
        const auto u = static_cast<unsigned char>(c);
        return (u >= '0' && u <= '9') || ((u | 32) >= 'a' && (u | 32) <= 'z') || u == '_' || u == '.' || u == '-'
                   ? 1
                   : 2;
    };
    Pieces tokens;
    for (std::size_t begin = 0; begin < text.size();) {
        std::size_t end = begin + 1;
        const int k = kind(text[begin]);
        while (k != 2 && end < text.size() && kind(text[end]) == k) ++end;
        tokens.push_back(text.substr(begin, end - begin));
        begin = end;
    }
    return tokens;
}

inline bool is_number(std::string_view token) {
    return token.find_first_of("0123456789") < 2 && token.find_first_not_of("0123456789.-eExo") == token.npos;
}

inline Pieces lines_of(std::string_view text) {
    Pieces lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return lines;
}

inline std::string joined(const Pieces& pieces) {
    std::size_t size = 0;
    for (const std::string_view piece : pieces) size += piece.size();
    std::string all;
    all.reserve(size);
    for (const std::string_view piece : pieces) all += piece;
    return all;
}

/// Puts a run of tokens between brackets or quotes, perhaps many of them.
inline void nest(Pieces& tokens, Draws& draw) {
    static constexpr std::array<std::string_view, 6> pairs = {"()", "[]", "{}", "\"\"", "''", "``"};
    const std::string_view pair = pairs[below(draw, pairs.size())];
    const std::size_t depth = draw() % 4 == 0 ? 1 + below(draw, 300) : 1;
    const std::size_t begin = below(draw, tokens.size() + 1),
                      end = begin + below(draw, std::min<std::size_t>(tokens.size() - begin + 1, 8));
    tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(end), made(std::string(depth, pair[1])));
    tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(begin), made(std::string(depth, pair[0])));
}

constexpr std::size_t most_bytes = 1 << 13;  // changes multiply

/// One to four changes of a text.
inline std::string mutated_text(std::string text, Draws& draw) {
    for (std::size_t changes = 1 + below(draw, 4); changes > 0; --changes) {
        if (text.size() > most_bytes) text.resize(most_bytes);
        if (draw() % 4 == 0) {  // of whole lines, or their indentation
            Pieces lines = lines_of(text);
            if (draw() % 3 == 0 && !lines.empty()) {
                std::string_view& line = lines[below(draw, lines.size())];
                line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
                line = made(std::string(below(draw, 9), ' ') + std::string(line));
            } else {
                rearrange(lines, draw);
            }
            text = joined(lines);
            continue;
        }
        Pieces tokens = tokens_of(text);
        std::vector<std::size_t> numbers;
        for (std::size_t i = 0; i < tokens.size(); ++i)
            if (is_number(tokens[i])) numbers.push_back(i);
        const auto which = draw() % 4;
        if (which == 0 && !numbers.empty())
            tokens[numbers[below(draw, numbers.size())]] = odd_number(draw);
        else if (which == 1)
            nest(tokens, draw);
        else if (which == 2 && !tokens.empty())
            tokens[below(draw, tokens.size())] = tokens[below(draw, tokens.size())];
        else
            rearrange(tokens, draw);
        text = joined(tokens);
    }
    return text;
}

/// What libFuzzer calls: `mutate` is mutated_text or another of its form.
template <class Mutate>
std::size_t custom_mutation(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed,
                            Mutate mutate) {
    Draws draw(seed);
    if (draw() % 3 == 0) return LLVMFuzzerMutate(data, size, max_size);
    made_pieces().clear();
    const std::string result = mutate(std::string(reinterpret_cast<const char*>(data), size), draw);
    const std::size_t kept = std::min(result.size(), max_size);
    std::memcpy(data, result.data(), kept);
    return kept;
}

}  // namespace gnnbench::fuzz

/// `MUTATE` changes inputs of this target: std::string(std::string, Draws&).
#define GNNBENCH_FUZZ_MUTATOR(MUTATE)                                                                     \
    extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max, \
                                                   unsigned seed) {                                       \
        return ::gnnbench::fuzz::custom_mutation(data, size, max, seed, MUTATE);                          \
    }
