#include "launch/placeholders.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gnnbench {

namespace {

using Texts = std::vector<std::string>;

bool is_name(std::string_view name) {
    if (name.starts_with("env.")) {
        name.remove_prefix(4);
        return !name.empty() &&
               std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
    }
    return !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return std::islower(c) || c == '_'; });
}

std::optional<Texts> value_of(const Placeholder& p, const Values& values) {
    if (p.name.starts_with("env.")) {
        const char* set = std::getenv(p.name.c_str() + 4);
        if (set && *set) return Texts{set};
    } else if (const auto found = values.find(p.name); found != values.end()) {
        return found->second;
    }
    if (p.has_fallback) return Texts{p.fallback};
    return std::nullopt;
}

/// The text with its placeholders replaced; empty where one has no value, unless `drop`s it.
std::optional<std::string> replaced(const std::string& text, const Values& values, bool drop) {
    std::string made;
    std::size_t from = 0;
    for (const Placeholder& p : placeholders_in(text)) {
        const auto value = value_of(p, values);
        if (!value && !drop) return std::nullopt;
        made += text.substr(from, p.at - from);
        if (value) made += fmt::format("{}", fmt::join(*value, " "));
        from = p.at + p.length;
    }
    return made + text.substr(from);
}

/// The words that one word of a template becomes.
std::optional<Texts> words_of(const std::string& word, const Values& values) {
    const std::vector<Placeholder> inside = placeholders_in(word);
    if (inside.size() == 1 && inside[0].length == word.size()) return value_of(inside[0], values);
    const auto text = replaced(word, values, false);
    if (!text) return std::nullopt;
    return Texts{*text};
}

}  // namespace

std::vector<Placeholder> placeholders_in(std::string_view text) {
    std::vector<Placeholder> all;
    for (std::size_t open = text.find('{'); open != text.npos; open = text.find('{', open + 1)) {
        const std::size_t close = text.find_first_of("{}", open + 1);
        if (close == text.npos) break;
        if (text[close] == '{') continue;
        const std::string_view inside = text.substr(open + 1, close - open - 1);
        const std::size_t bar = inside.find('|');
        const std::string_view name = inside.substr(0, bar);
        if (!is_name(name)) continue;
        all.push_back({open, close + 1 - open, std::string(name),
                       bar == inside.npos ? "" : std::string(inside.substr(bar + 1)), bar != inside.npos});
    }
    return all;
}

std::vector<std::string> filled(const WordsTemplate& words, const Values& values) {
    Texts made;
    for (const Texts& entry : words) {
        Texts together;
        bool known = true;
        for (const std::string& word : entry) {
            const auto replacement = words_of(word, values);
            known = known && replacement.has_value();
            if (!known) break;
            for (const std::string& w : *replacement)
                if (!w.empty() || word.empty()) together.push_back(w);
        }
        if (known) made.insert(made.end(), together.begin(), together.end());
    }
    return made;
}

std::string filled_text(const std::string& text, const Values& values) {
    return replaced(text, values, true).value_or("");
}

bool mentions(const WordsTemplate& words, std::string_view name) {
    return std::ranges::any_of(words, [&](const Texts& entry) {
        return std::ranges::any_of(entry, [&](const std::string& word) {
            return std::ranges::any_of(placeholders_in(word),
                                       [&](const Placeholder& p) { return p.name == name; });
        });
    });
}

}  // namespace gnnbench
