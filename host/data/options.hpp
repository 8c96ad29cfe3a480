#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include <gnnbench/params.hpp>

namespace gnnbench {

template <std::size_t A, std::size_t B>
constexpr std::array<ParamDecl, A + B> joined(const std::array<ParamDecl, A>& a,
                                              const std::array<ParamDecl, B>& b) {
    std::array<ParamDecl, A + B> all{};
    for (std::size_t i = 0; i < A; ++i) all[i] = a[i];
    for (std::size_t i = 0; i < B; ++i) all[A + i] = b[i];
    return all;
}

/// What classes of labels are made of where there are none.
inline constexpr ParamDecl labels_param{"labels",
                                        ParamType::choice,
                                        "random",
                                        0,
                                        0,
                                        "random|degrees",
                                        "labels where there are none: at random, or by degree: vertices in "
                                        "ascending order of degrees, cut into classes "
                                        "of equal size (thesis on Plexus, section 6.2)"};

/// Masks of one split, and the seed, of whatever is drawn at random.
inline constexpr std::array<ParamDecl, 4> split_params{{
    {"train_fraction", ParamType::real, "0.6", 0, 1, nullptr,
     "vertices in the train mask, where masks are made up"},
    {"validation_fraction", ParamType::real, "0.2", 0, 1, nullptr, "vertices in the validation mask"},
    {"test_fraction", ParamType::real, "0.2", 0, 1, nullptr, "vertices in the test mask"},
    {"seed", ParamType::integer, "1", 0, 9e15, nullptr, "seed of everything drawn at random"},
}};

/// For importers: arrays that the file contains are never replaced.
inline constexpr auto fill_params = joined(
    std::array<ParamDecl, 4>{{
        {"licence", ParamType::text, "", 0, 0, nullptr,
         "the data's terms, for its manifest; if empty, the first line of "
         "LICENSE in the dataset's folder"},
        {"features", ParamType::integer, "64", 1, 65536, nullptr,
         "random features per vertex, where the file has none"},
        {"classes", ParamType::integer, "8", 1, 1000000, nullptr, "classes of labels, where the file has none"},
        labels_param,
    }},
    split_params);

/// Resolves a JSON object of scalars against declarations: defaults where a key is absent; SpecError, beginning
/// with `what`, for an unknown key (with the nearest known one), a wrong type or a value out of range.
Params resolve_params(std::span<const ParamDecl> declared, const nlohmann::json& given, const std::string& what);

/// Every parameter with its value, typed.
nlohmann::json to_json(const Params& params);

/// The same for the identity of a store, without parameters that came after the first stores (`labels`) where they have
/// their default: the stores that were made before are those that they describe.
nlohmann::json identity_json(std::span<const ParamDecl> declared, const Params& params);

/// The parameters that differ from their declared defaults.
nlohmann::json beyond_defaults(std::span<const ParamDecl> declared, const Params& params);

/// The first hex digits of the XXH3-128 of the JSON's text.
std::string short_digest(const nlohmann::json& j, std::size_t digits);

}  // namespace gnnbench
