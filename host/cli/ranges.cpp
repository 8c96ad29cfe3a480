#include "cli/ranges.hpp"

#include <cstdlib>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/spelling.hpp>

namespace gnnbench {
namespace {

/// `words`: "at least 1", "between 0 and 1"; "of" comes before some where a noun does.
CLI::Validator number_that(const std::string& of, const std::string& words, std::function<bool(double)> fits) {
    return {[of, words, fits = std::move(fits)](const std::string& text) -> std::string {
                char* end = nullptr;
                const double value = std::strtod(text.c_str(), &end);
                const bool whole = !text.empty() && *end == '\0';
                return whole && fits(value) ? ""
                                            : fmt::format("expected a number {}{}; found '{}'", of, words, text);
            },
            words};
}

}  // namespace

CLI::Validator at_least(double least) {
    return number_that("of ", fmt::format("at least {}", least), [least](double v) { return v >= least; });
}

CLI::Validator above(double bound) {
    return number_that("", fmt::format("above {}", bound), [bound](double v) { return v > bound; });
}

CLI::Validator above(double bound, double most) {
    return number_that("", fmt::format("above {} and at most {}", bound, most),
                       [=](double v) { return v > bound && v <= most; });
}

CLI::Validator between(double least, double most) {
    return number_that("", fmt::format("between {} and {}", least, most),
                       [=](double v) { return v >= least && v <= most; });
}

namespace {

constexpr const char *one_of_name = "one of", *between_words = ", ";

}  // namespace

CLI::Validator one_of(std::vector<std::string> words) {
    const std::string listed = fmt::format("{}", fmt::join(words, between_words));
    return {[words = std::move(words), listed](const std::string& text) -> std::string {
                for (const std::string& word : words)
                    if (text == word) return "";
                return fmt::format("expected one of {}; found '{}'{}", listed, text, did_you_mean(text, words));
            },
            listed, one_of_name};
}

std::vector<std::string> words_of(const CLI::Option& option) {
    // CLI11 hands out validators of options that may change alone; it is only read.
    auto& read = const_cast<CLI::Option&>(option);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    std::vector<std::string> words;
    try {
        const std::string listed = read.get_validator(one_of_name)->get_description() + between_words;
        const std::string_view between = between_words;
        for (std::size_t at = 0, end = 0; (end = listed.find(between, at)) != listed.npos;
             at = end + between.size())
            words.push_back(listed.substr(at, end - at));
    } catch (const CLI::OptionNotFound&) {  // NOLINT(bugprone-empty-catch): it has no such check
    }
    return words;
}

}  // namespace gnnbench
