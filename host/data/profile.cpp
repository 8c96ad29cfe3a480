#include <data/profile.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/spelling.hpp>

#include <data/generators/degree_params.hpp>
#include <data/text_input.hpp>

#include "core/json_nesting.hpp"

namespace gnnbench {

using nlohmann::json;

namespace {

struct EmbeddedProfile {
    std::string_view name, text;
};

constexpr EmbeddedProfile embedded[] = {
#include "embedded_profiles.inc"
};

/// Reads the fields of one JSON object, each checked; unknown ones are errors.
class Fields {
public:
    Fields(const json& object, std::string where) : object_(object), where_(std::move(where)) {
        if (!object.is_object()) fail("", object, "an object");
    }

    double number(const char* key, double low, double high) {
        const auto& value = of(key);
        if (!value.is_number() || value < low || value > high)
            fail(key, value, fmt::format("a number from {} to {}", low, high));
        return value;
    }
    std::int64_t whole(const char* key, std::int64_t low, std::int64_t high) {
        const auto& value = of(key);
        if (!value.is_number_integer() || value < low || value > high)
            fail(key, value, fmt::format("a whole number from {} to {}", low, high));
        return value;
    }
    std::string text(const char* key) {
        const auto& value = of(key);
        if (!value.is_string()) fail(key, value, "text");
        return value;
    }
    std::vector<std::string> texts(const char* key) {
        std::vector<std::string> all;
        const auto& value = of(key);
        if (!value.is_array()) fail(key, value, "a list of texts");
        for (const auto& item : value) {
            if (!item.is_string()) fail(key, item, "text");
            all.push_back(item);
        }
        return all;
    }
    const json& of(const char* key) {
        known_.emplace_back(key);
        if (!object_.contains(key)) throw DataError(fmt::format("{}: \"{}\" is missing", where_, key));
        return object_[key];
    }
    bool has(const char* key) {
        known_.emplace_back(key);
        return object_.contains(key);
    }
    void no_others() const {
        for (const auto& [key, value] : object_.items())
            if (std::ranges::find(known_, key) == known_.end())
                throw DataError(fmt::format("{}: unknown field \"{}\"; known are {}{}", where_, key,
                                            fmt::join(known_, ", "), did_you_mean(key, known_)));
    }

private:
    [[noreturn]] void fail(const char* key, const json& found, const std::string& allowed) const {
        throw DataError(
            fmt::format("{}: \"{}\" is {}, allowed is {}", where_, key, found.dump().substr(0, 60), allowed));
    }

    const json& object_;
    std::string where_;
    std::vector<std::string> known_;
};

constexpr std::int64_t most_vertices = INT32_MAX;

Profile::Fitted fitted_from(const json& object, const std::string& where) {
    Fields fields(object, where);
    Profile::Fitted f{.mean_degree = fields.number("mean", 1, 1e6),
                      .spread = fields.number("spread", 0.01, 10),
                      .largest_degree = fields.has("largest") ? fields.whole("largest", 1, most_vertices) : 0,
                      .clustering = fields.number("clustering", 0, 1),
                      .largest_clustering = fields.number("largest_clustering", 0, 1)};
    fields.no_others();
    return f;
}

/// [degree, vertices, clustering] by degree.
DegreeProfile measured_from(const json& rows, std::int64_t vertices, const std::string& where) {
    DegreeProfile profile;
    std::int64_t counted = 0;
    if (!rows.is_array()) throw DataError(fmt::format("{}: \"measured\" is no list", where));
    for (const auto& row : rows) {
        const bool valid = row.is_array() && row.size() == 3 && row[0].is_number_integer() && row[0] >= 0 &&
                           row[0] < vertices && row[1].is_number_integer() && row[1] >= 1 && row[1] <= vertices &&
                           row[2].is_number() && row[2] >= 0 && row[2] <= 1;
        const std::int64_t degree = valid ? row[0].get<std::int64_t>() : -1;
        if (!valid || (!profile.empty() && degree <= profile.back().degree))
            throw DataError(
                fmt::format("{}: entry {} of \"measured\" is {}, expected [degree, vertices, clustering] with "
                            "ascending degrees below the number of vertices",
                            where, profile.size(), row.dump().substr(0, 60)));
        counted += row[1].get<std::int64_t>();
        profile.push_back({degree, row[1].get<double>() / static_cast<double>(vertices), row[2]});
    }
    if (counted != vertices)
        throw DataError(fmt::format("{}: the entries of \"measured\" have {} vertices, expected {}", where,
                                    counted, vertices));
    return profile;
}

void read_split(Profile& profile, const json& object, const std::string& where) {
    Fields fields(object, where + ": split");
    for (auto [key, count] :
         {std::pair{"train", &profile.train}, {"validation", &profile.validation}, {"test", &profile.test}})
        *count = fields.whole(key, 0, profile.vertices);
    fields.no_others();
    if (profile.train + profile.validation + profile.test > profile.vertices)
        throw DataError(
            fmt::format("{}: \"split\" has more vertices than the graph's {}", where, profile.vertices));
}

}  // namespace

std::vector<std::string> profile_names() {
    std::vector<std::string> names;
    for (const auto& e : embedded) names.emplace_back(e.name);
    return names;
}

std::string_view profile_text(std::string_view name) {
    for (const auto& e : embedded)
        if (e.name == name) return e.text;
    const auto known = profile_names();
    throw SpecError(
        fmt::format("profile is '{}'; known are {}{}", name, fmt::join(known, ", "), did_you_mean(name, known)));
}

Profile read_profile(std::string_view text, const std::string& where) {
    if (nested_deeper(text)) throw DataError(fmt::format("{}: it is nested too deep for a profile", where));
    const auto j = json::parse(text_beginning(text, where), nullptr, false);
    if (j.is_discarded()) throw DataError(fmt::format("{}: it is not JSON", where));
    Fields fields(j, where);
    Profile p{
        .name = fields.text("name"),
        .about = fields.text("about"),
        .vertices = fields.whole("vertices", 1, most_vertices),
        .degrees = {},
        .features = fields.whole("features", 0, 65536),
        .classes = static_cast<std::int32_t>(fields.whole("classes", 0, 1000000)),
        .labels_per_vertex = fields.has("labels_per_vertex") ? fields.number("labels_per_vertex", 1, 1e6) : 0,
        .sources = fields.texts("sources"),
        .assumptions = fields.texts("assumptions")};
    if (p.name.empty() || p.name.size() > 100)
        throw DataError(fmt::format("{}: \"name\" has {} characters, 1 to 100 are allowed", where, p.name.size()));
    if (fields.has("split")) read_split(p, fields.of("split"), where);
    if (fields.has("measured"))
        p.degrees = measured_from(fields.of("measured"), p.vertices, where);
    else
        p.degrees = fitted_from(fields.of("log_normal"), where + ": log_normal");
    fields.no_others();
    return p;
}

DegreeProfile profile_degrees(const Profile& profile, double density, std::int64_t vertices) {
    if (const auto* measured = std::get_if<DegreeProfile>(&profile.degrees)) {
        require_neighbours(vertices, mean_degree(*measured) * density);
        return scaled_degrees(*measured, density, vertices - 1);
    }
    const auto& fitted = std::get<Profile::Fitted>(profile.degrees);
    const double mean = fitted.mean_degree * density;
    require_neighbours(vertices, mean);
    auto most = usual_largest_degree(vertices, mean);
    if (fitted.largest_degree > 0)
        most = std::min(vertices - 1, std::lround(static_cast<double>(fitted.largest_degree) * density));
    auto degrees = log_normal_degrees(mean, fitted.spread, most);
    set_clustering(degrees, fitted.clustering, fitted.largest_clustering);
    return degrees;
}

}  // namespace gnnbench
