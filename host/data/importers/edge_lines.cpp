// A line is read by its digits alone as long as it is "u v", with blanks, or is skipped; any other is split into fields and
// judged as a whole, which is slower.
#include <data/importers/edge_lines.hpp>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include <data/text_blocks.hpp>
#include <data/text_input.hpp>

namespace gnnbench {

namespace {

bool separates(char c) { return c == ' ' || c == '\t' || c == ',' || c == ';'; }

/// The leading digits of eight characters, and their value, all at once: pairs of digits are added up to numbers below 100,
/// pairs of those below 10,000, and so on (little-endian). Returns how many digits there are.
[[gnu::always_inline]] inline int eight_or_fewer(const char* text, std::int64_t& value) {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t word = 0;
    std::memcpy(&word, text, sizeof word);
    word ^= 0x3030303030303030;  // a digit is now its value, anything else above 9
    const std::uint64_t others = (word | (word + 0x7676767676767676)) & 0x8080808080808080;
    const int digits = others ? std::countr_zero(others) / 8 : 8;
    if (digits == 0) return 0;
    word <<= 8 * (8 - digits);  // leading zeros
    word = word * 10 + (word >> 8);
    word = ((word & 0x000000FF000000FF) * 0x000F424000000064 +
            ((word >> 16) & 0x000000FF000000FF) * 0x0000271000000001) >>
           32;
    value = static_cast<std::int64_t>(word);
    return digits;
}

/// A place in a run of lines.
struct Cursor {
    const char *at, *end;

    void skip_separators() {
        while (at < end && separates(*at)) ++at;
    }
    /// A whole number of at most 18 digits; false, and moved, if it is something else.
    bool number(std::int64_t& value) {
        const char* begin = at;
        std::int64_t sum = 0;
        if (end - at >= 8) {
            const int digits = eight_or_fewer(at, sum);
            at += digits;
            if (digits < 8) {
                value = sum;
                return digits > 0;
            }
        }
        for (; at < end; ++at) {
            const auto digit = static_cast<unsigned char>(*at - '0');
            if (digit > 9) break;
            if (at - begin >= 18) return false;
            sum = sum * 10 + digit;
        }
        value = sum;
        return at > begin;
    }
    /// Past the line's end, if nothing but blanks comes before it.
    bool line_end() {
        while (at < end && separates(*at)) ++at;
        if (at < end && *at == '\r') ++at;
        if (at == end) return true;
        if (*at != '\n') return false;
        ++at;
        return true;
    }
    bool field_end() const { return at == end || separates(*at) || *at == '\n' || *at == '\r'; }
    void next_line() {
        const void* found = std::memchr(at, '\n', usize(end - at));
        at = found ? static_cast<const char*>(found) + 1 : end;
    }
};

/// Whether a first line names columns, and what follows it, if anything, begins with a number.
bool is_header(std::string_view line, std::string_view after) {
    std::vector<std::string_view> fields;
    split_fields(line, fields);
    const auto is_name = [](std::string_view field) {
        const auto letter = [](unsigned char c) { return std::isalpha(c) || c == '_'; };
        return letter(field.front()) || (field.front() == '"' && field.size() > 1 && letter(field[1]));
    };
    const bool followed = after.empty() || std::isdigit(static_cast<unsigned char>(after.front()));
    return fields.size() > 1 && std::ranges::all_of(fields, is_name) && followed;
}

/// One thread's run of lines.
class Run {
public:
    Run(const std::string& path, const EdgeLineRules& rules) : path_(path), rules_(rules) {}

    /// In place of what it read before. No exception leaves the thread.
    void read(std::string_view text) {
        try {
            read_lines(text);
        } catch (const std::bad_alloc&) {
            error_ = std::current_exception();
        }
    }
    void read_lines(std::string_view text) {
        Cursor c{text.data(), text.data() + text.size()};
        lines_ = 0;
        ids_.source.clear();
        ids_.target.clear();
        ids_.weight.clear();
        ids_.line.clear();
        ids_.source.reserve(text.size() / 12);
        ids_.target.reserve(text.size() / 12);
        while (c.at < c.end) {
            ++lines_;
            const char* begin = c.at;
            if (fast(c)) continue;
            c.at = begin;
            c.next_line();
            std::string_view line(begin, usize(c.at - begin));
            if (line.ends_with('\n')) line.remove_suffix(1);
            if (line.ends_with('\r')) line.remove_suffix(1);
            try {
                slowly(line);
            } catch (const DataError&) {
                error_ = std::current_exception();
                return;
            }
        }
    }
    /// What is wrong with its last line, given how many lines of the file come before its first; nothing: all is well.
    /// Reads that line again, now that its number is known; `text` may go on beyond the run.
    std::int64_t lines() const { return lines_; }
    bool failed() const { return error_ != nullptr; }
    [[noreturn]] void fail(std::string_view text, std::int64_t lines_before) {
        before_ = lines_before;
        Cursor c{text.data(), text.data() + text.size()};
        for (std::int64_t l = 1; l < lines_; ++l) c.next_line();
        const char* begin = c.at;
        c.next_line();
        std::string_view line(begin, usize(c.at - begin));
        if (line.ends_with('\n')) line.remove_suffix(1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        try {
            slowly(line);
        } catch (const DataError& e) {
            if (before_ + lines_ > 1 || !is_header(line, {c.at, usize(c.end - c.at)})) throw;
            throw DataError(std::string(e.what()) + "; for a header line set `skip_lines: 1`");
        }
        std::rethrow_exception(error_);
    }
    std::int64_t edges() const { return std::ssize(ids_.source); }
    /// All but source and target.
    void append_to(ListedIds& all, std::int64_t lines_before) const {
        all.weight.insert(all.weight.end(), ids_.weight.begin(), ids_.weight.end());
        for (const std::int64_t line : ids_.line) all.line.push_back(lines_before + line);
    }
    /// Source and target, from this place on.
    void copy_to(ListedIds& all, std::int64_t first) const {
        std::ranges::copy(ids_.source, all.source.begin() + first);
        std::ranges::copy(ids_.target, all.target.begin() + first);
    }

private:
    bool weighted() const { return rules_.weights == WeightColumn::third || rules_.weights == WeightColumn::last; }

    bool fast(Cursor& c) {
        c.skip_separators();
        std::int64_t u = 0, v = 0;
        if (!c.number(u) || c.at == c.end || !separates(*c.at)) return false;
        c.skip_separators();
        if (!c.number(v)) return false;
        float w = 0;
        if (weighted()) {
            if (!c.field_end()) return false;
            c.skip_separators();
            const auto [end, bad] = std::from_chars(c.at, c.end, w);
            if (bad != std::errc{} || !std::isfinite(w)) return false;
            c.at = end;
        }
        if (rules_.weights == WeightColumn::none || rules_.weights == WeightColumn::last) {
            if (!c.line_end()) return false;
        } else {
            if (!c.field_end()) return false;
            c.next_line();
        }
        add(u, v, w);
        return true;
    }

    void slowly(std::string_view line) {
        if (is_blank(line) || rules_.comments.find(line.front()) != rules_.comments.npos) return;
        split_fields(line, fields_);
        const LinePlace here(path_, before_ + lines_);
        check_columns(line, here);
        const auto id = [&](std::string_view text) {
            return parse_integer(text, 0, INT64_MAX, here, "a vertex id");
        };
        const std::int64_t u = id(fields_[0]), v = id(fields_[1]);
        add(u, v, weighted() ? parse_weight(fields_[2], here) : 0);
    }

    void check_columns(std::string_view line, const LinePlace& here) const {
        if (fields_.size() < (weighted() ? 3 : 2) || (rules_.weights == WeightColumn::last && fields_.size() > 3))
            throw DataError(fmt::format("{}: expected two vertex ids{}, found '{}'", here.where(),
                                        weighted() ? " and a weight" : "", shown(line)));
        if (rules_.weights == WeightColumn::none && fields_.size() > 2)
            throw DataError(
                fmt::format("{}: expected two vertex ids, found {} columns in '{}'; say `weights: third` if the "
                            "third is the edge's weight, `weights: ignore` if it is not",
                            here.where(), fields_.size(), shown(line)));
    }

    void add(std::int64_t u, std::int64_t v, float w) {
        ids_.source.push_back(u);
        ids_.target.push_back(v);
        if (weighted()) ids_.weight.push_back(w);
        if (rules_.keep_lines) ids_.line.push_back(lines_);
    }

    const std::string& path_;
    const EdgeLineRules& rules_;
    ListedIds ids_;
    std::int64_t before_ = 0, lines_ = 0;
    std::vector<std::string_view> fields_;
    std::exception_ptr error_;
};

/// Fuzzers are built without OpenMP.
int reading_threads() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

/// Leaves out the lines that the caller does not want; returns how many they were.
std::int64_t skip(std::string_view& block, std::int64_t lines) {
    std::int64_t skipped = 0;
    for (; skipped < lines && !block.empty(); ++skipped) {
        const std::size_t end = block.find('\n');
        block.remove_prefix(end == block.npos ? block.size() : end + 1);
    }
    return skipped;
}

/// How many edges the whole file has if it goes on as its first block.
double expected_edges(const ListedIds& first, std::size_t read_bytes, std::size_t all_bytes) {
    const double times =
        read_bytes == 0 ? 1 : std::max(1.0, static_cast<double>(all_bytes) / static_cast<double>(read_bytes));
    return times * static_cast<double>(first.source.size());
}

/// Room for so many.
void reserve(ListedIds& all, double edges) {
    const double times = 1.02 * edges / std::max(1.0, static_cast<double>(all.source.size()));
    const auto grow = [&](auto& to) {
        to.reserve(static_cast<std::size_t>(static_cast<double>(to.size()) * times));
    };
    grow(all.source);
    grow(all.target);
    grow(all.weight);
    grow(all.line);
}

}  // namespace

namespace {

/// Reads a file block by block, and calls take(block's bytes, edges to append to all): append(all) puts those of the block
/// after what `all` has.
template <class Take>
void each_block(TextBlocks& blocks, const EdgeLineRules& rules, Take take) {
    std::vector<Run> runs(usize(reading_threads()), Run(blocks.path(), rules));
    std::int64_t lines = 0;
    for (std::string_view block; blocks.next(block);) {
        if (lines < rules.skip_lines) lines += skip(block, rules.skip_lines - lines);
        const auto texts = runs_of_lines(block, reading_threads());
#pragma omp parallel for schedule(static, 1)
        for (std::size_t r = 0; r < texts.size(); ++r) runs[r].read(texts[r]);
        take(block.size(), [&](ListedIds& all) {
            std::vector<std::int64_t> begins{std::ssize(all.source)};
            std::size_t at = 0;  // of the run in the block
            for (std::size_t r = 0; r < texts.size(); at += texts[r].size(), ++r) {
                if (runs[r].failed()) runs[r].fail(block.substr(at), lines);
                runs[r].append_to(all, lines);
                lines += runs[r].lines();
                begins.push_back(begins.back() + runs[r].edges());
            }
            all.source.resize(usize(begins.back()));
            all.target.resize(usize(begins.back()));
#pragma omp parallel for schedule(static, 1)
            for (std::size_t r = 0; r < texts.size(); ++r) runs[r].copy_to(all, begins[r]);
        });
    }
}

/// Ends reading.
struct TooMany : std::exception {};

}  // namespace

std::optional<ListedIds> read_edge_lines(const std::filesystem::path& path, const EdgeLineRules& rules,
                                         std::int64_t most_edges, std::size_t block_bytes) {
    ListedIds all;
    TextBlocks blocks(path, block_bytes);
    bool first = true;
    try {
        each_block(blocks, rules, [&](std::size_t bytes, auto append) {
            append(all);
            if (std::ssize(all.source) > most_edges) throw TooMany{};
            if (!std::exchange(first, false)) return;
            const double edges = expected_edges(all, bytes, blocks.bytes());
            // Where it is near, reading on tells.
            if (edges > 1.5 * static_cast<double>(most_edges)) throw TooMany{};
            reserve(all, std::min(edges, static_cast<double>(most_edges)));
        });
    } catch (const TooMany&) {
        return std::nullopt;
    }
    return all;
}

ListedIds read_edge_lines(const std::filesystem::path& path, const EdgeLineRules& rules) {
    return *read_edge_lines(path, rules, INT64_MAX, std::size_t{32} << 20);
}

void each_edge_block(const std::filesystem::path& path, const EdgeLineRules& rules, std::size_t block_bytes,
                     const std::function<void(ListedIds&)>& take) {
    TextBlocks blocks(path, block_bytes, block_bytes);
    ListedIds edges;
    each_block(blocks, rules, [&](std::size_t, auto append) {
        edges.source.clear();
        edges.target.clear();
        edges.weight.clear();
        edges.line.clear();
        append(edges);
        take(edges);
    });
}

}  // namespace gnnbench
