#include "spec/published.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/usize.hpp>

#include "spec/metrics.hpp"

namespace gnnbench {
namespace {

/// Splits CSV into records; a quoted field may hold commas, line breaks and doubled quotes.
class CsvReader {
public:
    explicit CsvReader(const std::string& text) : text_(text) {}
    int line() const { return line_; }  ///< on which the last record began

    bool next(std::vector<std::string>& fields) {
        fields.clear();
        if (at_ >= text_.size()) return false;
        line_ = next_line_;
        for (;;) {
            fields.push_back(field());
            if (at_ >= text_.size()) return true;
            const char end = text_[at_++];
            if (end == ',') continue;
            if (end == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
            ++next_line_;
            return true;
        }
    }

private:
    std::string field() {
        std::string out;
        if (at_ < text_.size() && text_[at_] == '"') {
            for (++at_; at_ < text_.size(); ++at_) {
                if (text_[at_] == '"' && (at_ + 1 >= text_.size() || text_[at_ + 1] != '"')) break;
                if (text_[at_] == '"') ++at_;
                if (text_[at_] == '\n') ++next_line_;
                out += text_[at_];
            }
            ++at_;  // the closing quote
        }
        while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r')
            out += text_[at_++];
        return out;
    }

    const std::string& text_;
    std::size_t at_ = 0;
    int line_ = 0, next_line_ = 1;
};

std::optional<double> number(const std::string& text) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

/// The rows after the header, each checked to have one field per column.
std::vector<std::pair<int, std::vector<std::string>>> rows_of(const std::string& text, const std::string& origin,
                                                              const char* columns, Findings& findings) {
    std::vector<std::pair<int, std::vector<std::string>>> rows;
    const auto count = usize(std::ranges::count(std::string_view(columns), ',')) + 1;
    CsvReader reader(text);
    std::vector<std::string> f;
    for (bool first = true; reader.next(f); first = false) {
        const Place place{origin, reader.line(), 1};
        if (first) {
            if (fmt::format("{}", fmt::join(f, ",")) == columns) continue;
            findings.add(place, "", fmt::format("expected the columns {}", columns));
            return {};  // another program's file, perhaps
        }
        if (f.size() == 1 && f[0].empty()) continue;
        if (f.size() == count)
            rows.emplace_back(reader.line(), f);
        else
            findings.add(place, "", fmt::format("expected {} fields ({}); found {}", count, columns, f.size()));
    }
    return rows;
}

}  // namespace

std::vector<PublishedRow> read_published(const std::string& text, const std::string& origin, Findings& findings) {
    std::vector<PublishedRow> all;
    for (const auto& [line, f] : rows_of(text, origin, published_columns, findings)) {
        const Place place{origin, line, 1};
        if (f[0].empty() || f[1].empty() || f[2].empty() || f[3].empty() || f[5].empty() || f[6].empty())
            findings.add(place, f[0],
                         "expected table, row, column, value, page and verbatim; one of them is empty");
        if (!find_unit(f[4])) findings.add(place, f[0], fmt::format("there is no unit '{}'", f[4]));
        all.push_back({line, f[0], {f[1], f[2], f[3], number(f[3]), f[4], f[5], f[6], f[7]}});
    }
    return all;
}

std::vector<CountedRow> read_counted(const std::string& text, const std::string& origin, Findings& findings) {
    std::vector<CountedRow> all;
    for (const auto& [line, f] : rows_of(text, origin, measured_columns, findings)) {
        const Place place{origin, line, 1};
        const auto value = number(f[3]);
        if (!value) findings.add(place, f[0], fmt::format("expected a number as value; found '{}'", f[3]));
        if (!find_unit(f[4])) findings.add(place, f[0], fmt::format("there is no unit '{}'", f[4]));
        if (f[5].empty() || f[7].empty() || f[8].empty() || f[9].empty())
            findings.add(place, f[0], "expected dataset, of, command and date: every number needs its provenance");
        all.push_back({line, f[0], {f[1], f[2], value.value_or(0), f[4], f[5], f[6], f[7], f[8], f[9], f[10]}});
    }
    return all;
}

}  // namespace gnnbench
