#include "spec/samples.hpp"

#include <vector>

namespace gnnbench {
namespace {

using Kind = YamlNode::Kind;

/// The seeds of several samples; nullptr if it is one dataset.
const YamlNode* seeds_of(const YamlNode& dataset) {
    if (!dataset.find("generate")) return nullptr;
    const YamlNode* seed = dataset.find("seed");
    return seed && seed->is(Kind::list) && !seed->items.empty() ? seed : nullptr;
}

void add_samples(std::vector<YamlNode>& datasets, const YamlNode& given) {
    const YamlNode* seeds = seeds_of(given);
    if (!seeds) return datasets.push_back(given);
    for (const YamlNode& seed : seeds->items) *datasets.emplace_back(given).find("seed") = seed;
}

}  // namespace

YamlEntry with_samples(const YamlEntry& key) {
    if (key.key != "dataset") return key;
    YamlEntry all = key;
    if (seeds_of(key.value)) {
        all.value = YamlNode{.kind = Kind::list, .text = {}, .place = key.value.place, .items = {}, .entries = {}};
        add_samples(all.value.items, key.value);
    } else if (key.value.is(Kind::list)) {
        all.value.items.clear();
        for (const YamlNode& item : key.value.items) add_samples(all.value.items, item);
    }
    return all;
}

}  // namespace gnnbench
