#include "spec/outline_scaling.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace gnnbench {
namespace {

using Kind = YamlNode::Kind;

constexpr const char* scaling_forms =
    "expected {strong: [1, 2, 4]}, numbers of GPUs for one problem, or {weak: [1, 2, 4], per: vertices}, with a "
    "parameter of the dataset that grows as they do";

}  // namespace

std::optional<ScalingKey> read_scaling(const YamlNode& node, Findings& findings) {
    const auto refuse = [&](const Place& place, const std::string& key, const std::string& message) {
        findings.add(place, key, message);
        return std::optional<ScalingKey>();
    };
    if (!node.is(Kind::map))
        return refuse(node.place, "scaling", fmt::format("{}; found {}", scaling_forms, describe(node)));
    static const std::vector<std::string> keys{"strong", "weak", "per"};
    for (const YamlEntry& e : node.entries)
        if (e.key != "strong" && e.key != "weak" && e.key != "per")
            return refuse(e.place, "scaling." + e.key, "unknown key; " + allowed_words(e.key, keys));
    const YamlNode *strong = node.find("strong"), *weak = node.find("weak"), *per = node.find("per");
    if ((strong != nullptr) == (weak != nullptr))
        return refuse(node.place, "scaling",
                      fmt::format("{}; found {} of strong and weak", scaling_forms, strong ? "both" : "neither"));
    const YamlNode& gpus = strong ? *strong : *weak;
    if (!gpus.is(Kind::list) || gpus.items.empty())
        return refuse(gpus.place, strong ? "scaling.strong" : "scaling.weak",
                      fmt::format("expected a list of numbers of GPUs, as [1, 2, 4]; found {}",
                                  gpus.is(Kind::list) ? "an empty list" : describe(gpus)));
    if (strong && per)
        return refuse(per->place, "scaling.per", "is of weak scaling; under strong scaling nothing grows");
    if (strong) return ScalingKey{{ScalingAxis::Kind::strong}, gpus};
    if (!per || !per->is(Kind::text) || per->text.empty())
        return refuse(
            per ? per->place : node.place, "scaling.per",
            fmt::format("expected the dataset's parameter that grows as the GPUs do, as vertices; found {}",
                        per ? describe(*per) : "none"));
    return ScalingKey{{ScalingAxis::Kind::weak, per->text}, gpus};
}

std::optional<YamlNode> grown(const YamlNode& dataset, const std::string& per, std::int64_t times,
                              Findings& findings) {
    const auto refuse = [&](const Place& place, const std::string& message) {
        findings.add(place, "scaling.per", message);
        return std::optional<YamlNode>();
    };
    if (!dataset.find("generate") && !dataset.find("expect"))
        return refuse(dataset.place,
                      fmt::format("weak scaling is of datasets that can be made of any size, {{generate: "
                                  "…}} or {{expect: …}}; found {}",
                                  describe(dataset)));
    const YamlNode* size = dataset.find(per);
    if (!size)
        return refuse(dataset.place,
                      fmt::format("the dataset does not give {0}; write what one GPU has: {{…, {0}: …}}", per));
    YamlNode all = dataset;
    std::int64_t whole = 0;
    double real = 0;
    std::string text;
    if (to_integer(*size, whole) && !__builtin_mul_overflow(whole, times, &whole))
        text = fmt::format("{}", whole);
    else if (to_real(*size, real))
        text = fmt::format("{}", real * static_cast<double>(times));
    else
        return refuse(size->place, fmt::format("expected a number as {}; found {}", per, describe(*size)));
    YamlNode& larger = *all.find(per);
    const Place place = larger.place;
    larger = plain_scalar(text);
    larger.place = place;
    if (YamlNode* name = all.find("name")) name->text += "-" + text;
    return all;
}

}  // namespace gnnbench
