#include <gnnbench/params.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "core/range_words.hpp"

namespace gnnbench {
namespace {

template <class T>
bool parse_whole(std::string_view text, T& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
}

std::string number_words(double x) {
    return std::abs(x) < 1e15 ? fmt::format("{:.10g}", x) : fmt::format("{:g}", x);
}

/// "cut|volume" as "cut, volume".
std::string listed(const char* choices) {
    std::string words;
    for (const char* c = choices ? choices : ""; *c; ++c)
        words += *c == '|' ? std::string(", ") : std::string(1, *c);
    return words;
}

std::string allowed(const ParamDecl& p) {
    switch (p.type) {
        case ParamType::boolean:
            return "true or false";
        case ParamType::integer:
            return "a whole number" + range_words(p);
        case ParamType::real:
            return "a number" + range_words(p);
        case ParamType::choice:
            return "one of " + listed(p.choices);
        case ParamType::text:
            return "one line of at most 4096 characters";
        case ParamType::path:
            return "a path of at most 4096 characters";
        case ParamType::program:
            return "a program's path of at most 4096 characters";
    }
    return {};
}

bool in_choices(std::string_view choices, std::string_view word) {
    while (!choices.empty()) {
        const auto cut = choices.find('|');
        if (choices.substr(0, cut) == word) return !word.empty();
        choices = cut == std::string_view::npos ? std::string_view() : choices.substr(cut + 1);
    }
    return false;
}

bool is_line(std::string_view text) {
    constexpr std::size_t longest = 4096;
    return text.size() <= longest &&
           std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

}  // namespace

std::string range_words(const ParamDecl& p) {
    // A bound that only keeps a number within its type is no bound to a person.
    const bool low = p.minimum > -2147483648.0, high = p.maximum < 2147483647.0;
    if (low && high) return fmt::format(" between {} and {}", number_words(p.minimum), number_words(p.maximum));
    if (low) return fmt::format(" of at least {}", number_words(p.minimum));
    return high ? fmt::format(" of at most {}", number_words(p.maximum)) : "";
}

Params::Params(std::span<const ParamDecl> declared) {
    for (const ParamDecl& p : declared) {
        try {
            set(p, p.default_value);
        } catch (const SpecError& e) {
            throw PluginError(fmt::format("a plugin declares an unusable default: {}", e.what()));
        }
    }
}

void Params::set(const ParamDecl& p, std::string_view text) {
    std::int64_t whole = 0;
    double number = 0;
    const auto within = [&](double v) { return v >= p.minimum && v <= p.maximum; };
    if (p.type == ParamType::boolean && (text == "true" || text == "false")) {
        values_.insert_or_assign(p.name, text == "true");
    } else if (p.type == ParamType::integer && parse_whole(text, whole) && within(static_cast<double>(whole))) {
        values_.insert_or_assign(p.name, whole);
    } else if (p.type == ParamType::real && parse_whole(text, number) && within(number)) {
        values_.insert_or_assign(p.name, number);
    } else if ((p.type == ParamType::choice && in_choices(p.choices ? p.choices : "", text)) ||
               (is_verbatim(p.type) && is_line(text))) {
        values_.insert_or_assign(p.name, std::string(text));
    } else {
        throw SpecError(fmt::format("parameter '{}' is '{}'; allowed is {}", p.name, text, allowed(p)));
    }
}

const ParamValue& Params::at(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end())
        throw LogicError(fmt::format("the plugin reads parameter '{}' without declaring it", name));
    return found->second;
}

bool Params::boolean(std::string_view name) const { return std::get<bool>(at(name)); }
std::int64_t Params::integer(std::string_view name) const { return std::get<std::int64_t>(at(name)); }
double Params::real(std::string_view name) const { return std::get<double>(at(name)); }
const std::string& Params::choice(std::string_view name) const { return std::get<std::string>(at(name)); }
const std::string& Params::text(std::string_view name) const { return std::get<std::string>(at(name)); }

std::string to_text(const ParamValue& value) {
    return std::visit(
        [](const auto& v) -> std::string {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>)
                return v;
            else
                return fmt::format("{}", v);
        },
        value);
}

}  // namespace gnnbench
