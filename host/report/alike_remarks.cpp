#include "report/alike_remarks.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace gnnbench {
namespace {

/// Stands for a number; no text has it.
constexpr char place = '\x01';

struct Split {
    std::string text;  ///< with `place` for each number
    std::vector<std::string> numbers;
};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; }

/// The end of the number that begins at `i`, with its percent sign; `i` if what begins there is a name.
std::size_t end_of_number(const std::string& s, std::size_t i) {
    std::size_t end = i;
    while (end < s.size() && (is_digit(s[end]) || s[end] == '.' || s[end] == ',')) ++end;
    while (!is_digit(s[end - 1])) --end;  // a full stop or a comma behind it
    const std::size_t sign = end + 1;
    if (sign + 1 < s.size() && s[end] == 'e' && (s[sign] == '-' || s[sign] == '+') && is_digit(s[sign + 1]))
        for (end = sign + 1; end < s.size() && is_digit(s[end]);) ++end;
    if (end < s.size() && in_name(s[end])) return i;
    return end < s.size() && s[end] == '%' ? end + 1 : end;
}

Split split(const std::string& s) {
    Split parts;
    for (std::size_t i = 0; i < s.size();) {
        const bool may_begin =
            is_digit(s[i]) && (i == 0 || (!in_name(s[i - 1]) && s[i - 1] != '.' && s[i - 1] != ','));
        const std::size_t end = may_begin ? end_of_number(s, i) : i;
        if (end > i) {
            parts.text += place;
            parts.numbers.push_back(s.substr(i, end - i));
            i = end;
        } else {
            parts.text += s[i++];
        }
    }
    return parts;
}

double value_of(std::string number) {
    std::erase(number, ',');
    return std::strtod(number.c_str(), nullptr);
}

}  // namespace

void AlikeRemarks::add(const std::string& remark) {
    const Split parts = split(remark);
    std::vector<Range>& ranges = ranges_[parts.text];
    for (std::size_t n = 0; n < parts.numbers.size(); ++n) {
        const std::string& number = parts.numbers[n];
        if (n == ranges.size()) ranges.push_back({number, number});
        if (value_of(number) < value_of(ranges[n].least)) ranges[n].least = number;
        if (value_of(number) > value_of(ranges[n].most)) ranges[n].most = number;
    }
}

std::string AlikeRemarks::of(const std::string& remark) const {
    const auto found = ranges_.find(split(remark).text);
    if (found == ranges_.end()) return remark;
    std::string text;
    std::size_t n = 0;
    for (const char c : found->first) {
        if (c != place) {
            text += c;
            continue;
        }
        const auto& [least, most] = found->second[n++];
        text += least == most ? least : least + " to " + most;
    }
    return text;
}

}  // namespace gnnbench
