// A line is read by its digits alone as long as it is "u v", with blanks, or is skipped; any other is split into fields and
// judged as a whole, which is slower.
#include <data/importers/edge_lines.hpp>

#include <charconv>
#include <cmath>
#include <cstring>
#include <exception>
#include <string_view>

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
    void next_line() {
        const void* found = std::memchr(at, '\n', usize(end - at));
        at = found ? static_cast<const char*>(found) + 1 : end;
    }
};

/// One thread's run of lines.
class Run {
public:
    Run(const std::string& path, const EdgeLineRules& rules) : path_(path), rules_(rules) {}

    void read(std::string_view text) {
        Cursor c{text.data(), text.data() + text.size()};
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
    /// Reads that line again, now that its number is known.
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
        slowly(line);
        std::rethrow_exception(error_);
    }
    void append_to(ListedIds& all, std::int64_t lines_before) const {
        const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
        append(all.source, ids_.source);
        append(all.target, ids_.target);
        append(all.weight, ids_.weight);
        for (const std::int64_t line : ids_.line) all.line.push_back(lines_before + line);
    }

private:
    bool fast(Cursor& c) {
        c.skip_separators();
        std::int64_t u = 0, v = 0;
        if (!c.number(u) || c.at == c.end || !separates(*c.at)) return false;
        c.skip_separators();
        if (!c.number(v)) return false;
        float w = 0;
        if (rules_.weights == WeightColumn::none) {
            if (!c.line_end()) return false;
        } else {
            if (c.at < c.end && !separates(*c.at) && *c.at != '\n' && *c.at != '\r') return false;
            if (rules_.weights == WeightColumn::third) {
                c.skip_separators();
                const auto [end, bad] = std::from_chars(c.at, c.end, w);
                if (bad != std::errc{} || !std::isfinite(w)) return false;
                c.at = end;
                if (c.at < c.end && !separates(*c.at) && *c.at != '\n' && *c.at != '\r') return false;
            }
            c.next_line();
        }
        add(u, v, w);
        return true;
    }

    void slowly(std::string_view line) {
        if (is_blank(line) || line.front() == '#' || line.front() == '%') return;
        split_fields(line, fields_);
        const LinePlace here(path_, before_ + lines_);
        check_columns(line, here);
        const auto id = [&](std::string_view text) {
            try {
                return parse_integer(text, 0, INT64_MAX, here, "a vertex id");
            } catch (const DataError& e) {
                if (here.line_number() > 1) throw;
                throw DataError(std::string(e.what()) + "; for a header line set `skip_lines: 1`");
            }
        };
        const std::int64_t u = id(fields_[0]), v = id(fields_[1]);
        add(u, v, rules_.weights == WeightColumn::third ? parse_weight(fields_[2], here) : 0);
    }

    void check_columns(std::string_view line, const LinePlace& here) const {
        const bool third = rules_.weights == WeightColumn::third;
        if (fields_.size() < 2 || (third && fields_.size() < 3))
            throw DataError(fmt::format("{}: expected two vertex ids{}, found '{}'", here.where(),
                                        third ? " and a weight" : "", shown(line)));
        if (rules_.weights == WeightColumn::none && fields_.size() > 2)
            throw DataError(
                fmt::format("{}: expected two vertex ids, found {} columns in '{}'; say `weights: third` if the "
                            "third is the edge's weight, `weights: ignore` if it is not",
                            here.where(), fields_.size(), shown(line)));
    }

    void add(std::int64_t u, std::int64_t v, float w) {
        ids_.source.push_back(u);
        ids_.target.push_back(v);
        if (rules_.weights == WeightColumn::third) ids_.weight.push_back(w);
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

}  // namespace

ListedIds read_edge_lines(const std::filesystem::path& path, const EdgeLineRules& rules) {
    ListedIds all;
    TextBlocks blocks(path);
    std::int64_t lines = 0;
    for (std::string_view block; blocks.next(block);) {
        if (lines < rules.skip_lines) lines += skip(block, rules.skip_lines - lines);
        const auto texts = runs_of_lines(block, reading_threads());
        std::vector<Run> runs(texts.size(), Run(blocks.path(), rules));
#pragma omp parallel for schedule(static, 1)
        for (std::size_t r = 0; r < texts.size(); ++r) runs[r].read(texts[r]);
        for (std::size_t r = 0; r < texts.size(); ++r) {
            if (runs[r].failed()) runs[r].fail(texts[r], lines);
            runs[r].append_to(all, lines);
            lines += runs[r].lines();
        }
    }
    return all;
}

}  // namespace gnnbench
