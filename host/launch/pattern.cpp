#include "launch/pattern.hpp"

#include <boost/regex.hpp>

#include <gnnbench/error.hpp>

namespace gnnbench {

namespace {

boost::regex compiled(const std::string& pattern) {
    try {
        return boost::regex(pattern, boost::regex::perl | boost::regex::no_mod_s);
    } catch (const boost::regex_error& error) {
        throw SpecError("'" + pattern + "' is no regular expression: " + error.what());
    }
}

/// Boost gives up on a pattern whose time would grow beyond bounds.
template <class Search>
auto limited(const std::string& pattern, const Search& search) {
    try {
        return search(compiled(pattern));
    } catch (const std::runtime_error& error) {
        if (dynamic_cast<const boost::regex_error*>(&error))
            throw EnvironmentError("matching '" + pattern + "' took too long; write it simpler");
        throw;
    }
}

}  // namespace

std::vector<Match> matches_of(const std::string& pattern, const std::string& text) {
    const std::vector<std::string> names = group_names(pattern);
    return limited(pattern, [&](const boost::regex& expression) {
        std::vector<Match> all;
        for (boost::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) {
            Match match;
            for (const std::string& name : names)
                if ((*at)[name].matched) match[name] = (*at)[name].str();
            all.push_back(std::move(match));
        }
        return all;
    });
}

bool is_found(const std::string& pattern, const std::string& text) {
    return limited(pattern, [&](const boost::regex& expression) { return boost::regex_search(text, expression); });
}

std::string line_found(const std::string& pattern, const std::string& text) {
    return limited(pattern, [&](const boost::regex& expression) {
        boost::smatch match;
        if (!boost::regex_search(text, match, expression)) return std::string();
        const auto at = static_cast<std::size_t>(match.position());
        const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
        return text.substr(begin, text.find('\n', at) - begin);
    });
}

std::string without_prefix(const std::string& pattern, const std::string& text) {
    if (pattern.empty()) return text;
    return limited(pattern, [&](const boost::regex& expression) {
        boost::smatch match;
        const bool found = boost::regex_search(text, match, expression, boost::match_continuous);
        return found ? text.substr(static_cast<std::size_t>(match.length())) : text;
    });
}

std::vector<std::string> group_names(std::string_view pattern) {
    std::vector<std::string> names;
    constexpr std::string_view begin = "(?<";
    for (std::size_t at = pattern.find(begin); at != pattern.npos; at = pattern.find(begin, at + 1)) {
        const std::string_view rest = pattern.substr(at + begin.size());
        const std::size_t close = rest.find('>');
        if (close == rest.npos || rest.starts_with('=') || rest.starts_with('!')) continue;  // looks behind
        names.emplace_back(rest.substr(0, close));
    }
    return names;
}

std::string why_no_pattern(const std::string& pattern) {
    try {
        compiled(pattern);
        return {};
    } catch (const SpecError& error) {
        return error.what();
    }
}

}  // namespace gnnbench
