#include "record/journal_line.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/json_nesting.hpp"

namespace gnnbench {
namespace {

constexpr std::string_view before_sum = ",\"sum\":\"", after_sum = "\"}";
constexpr std::size_t sum_digits = 16, sum_length = before_sum.size() + sum_digits + after_sum.size();

std::string sum_of(std::string_view text) { return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size())); }

/// A line taken apart at where its checksum is, if it has one.
struct Parts {
    std::string_view body;  ///< what the checksum is of: the object without its last brace
    bool framed = false;    ///< what stands around the checksum is as it should be
    bool sum_fits = false;
};

Parts parts_of(std::string_view text) {
    if (text.size() <= sum_length) return {};
    const std::string_view end = text.substr(text.size() - sum_length);
    const std::string_view body = text.substr(0, text.size() - sum_length);
    return {body, end.starts_with(before_sum) && end.ends_with(after_sum),
            end.substr(before_sum.size(), sum_digits) == sum_of(body)};
}

}  // namespace

std::string journal_line(const nlohmann::json& object) {
    std::string text = object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (object.empty()) return text;  // nothing that could be damaged
    text.pop_back();
    const std::string sum = sum_of(text);
    text += before_sum;
    text += sum;
    text += after_sum;
    return text;
}

ReadLine read_journal_line(std::string_view text) {
    const Parts parts = parts_of(text);
    // A frame without a matching checksum, or a matching checksum without its frame, means that the line has changed.
    if (parts.framed != parts.sum_fits) return {{}, "its checksum is not that of its text"};
    const std::string whole = parts.framed ? std::string(parts.body) + "}" : std::string(text);
    if (nested_deeper(whole)) return {{}, "it is nested too deeply"};
    nlohmann::json object = nlohmann::json::parse(whole, nullptr, false);
    if (!object.is_object()) return {{}, "it is no JSON object"};
    return {std::move(object), ""};
}

bool is_checked_line(std::string_view text) {
    const Parts parts = parts_of(text);
    return parts.framed && parts.sum_fits;
}

}  // namespace gnnbench
