#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <data/degree_profile.hpp>
#include <data/store.hpp>

namespace gnnbench {

/// What is known of a dataset's graph and arrays: enough to generate others like it. A JSON file; README.md has its
/// fields.
struct Profile {
    /// Where no histogram is published: log-normal degrees, and clustering that decays with the degree.
    struct Fitted {
        double mean_degree = 0, spread = 0;
        std::int64_t largest_degree = 0;  ///< 0: not known
        double clustering = 0, largest_clustering = 0;
    };
    std::string name, about;
    std::int64_t vertices = 0;
    std::variant<DegreeProfile, Fitted> degrees;       ///< DegreeProfile: measured
    std::int64_t features = 0;                         ///< per vertex; 0: it has none
    std::int32_t classes = 0;                          ///< 0: it has none
    double labels_per_vertex = 0;                      ///< 0: one label each
    std::int64_t train = 0, validation = 0, test = 0;  ///< vertices; all 0: it has no split
    std::vector<std::string> sources;                  ///< of what is published or measured
    std::vector<std::string> assumptions;              ///< what no source states
};

std::vector<std::string> profile_names();
/// Text of a profile that comes with the program. For an unknown name, throws SpecError with the known ones.
std::string_view profile_text(std::string_view name);
/// Throws DataError beginning with `where`.
Profile read_profile(std::string_view text, const std::string& where);

/// The profile's degrees, `density` times as large, for n vertices. Throws SpecError if n is too small for that.
DegreeProfile profile_degrees(const Profile& profile, double density, std::int64_t vertices);

/// Measures a store: its file's JSON, of the graph without directions, loops and weights. Vertices of each degree are
/// exact; clustering is that of the degree's bin (see measure_shape).
nlohmann::json measured_profile(const Store& store);

}  // namespace gnnbench
