#include "spec/outline_keys.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

#include <fmt/format.h>

#include <gnnbench/spelling.hpp>

namespace gnnbench {

std::vector<std::string> top_level_keys() {
    std::vector<std::string> keys;
    for (const Field& f : fields())
        if (last_word(f.path) == f.path) keys.emplace_back(f.path);
    for (const Section& s : sections()) keys.emplace_back(s.name);
    keys.emplace_back("matrix");
    keys.emplace_back("scaling");
    for (const char* key : file_keys()) keys.emplace_back(key);
    return keys;
}

std::vector<std::string> keys_of(const Section& section) {
    std::vector<std::string> keys;
    for (const Field& f : fields())
        if (f.path != last_word(f.path) && section_of(f.path) == section.name)
            keys.emplace_back(last_word(f.path));
    return keys;
}

std::vector<std::string> matrix_keys() {
    std::vector<std::string> keys;
    for (const Section& s : sections())
        if (s.varies) keys.emplace_back(s.name);
    for (const Field& f : fields())
        if (f.varies) keys.emplace_back(f.path);
    for (const char* key : matrix_rules()) keys.emplace_back(key);
    return keys;
}

namespace {

constexpr KeyElsewhere elsewhere[] = {
    {"algorithm", "scheme"},
    {"strategy", "scheme"},
    {"method", "scheme"},
    {"graph", "dataset"},
    {"data", "dataset"},
    {"partition", "partitioner"},
    {"partitioning", "partitioner"},
    {"backend", "kernel"},
    {"device", "kernel"},
    {"devices", "gpus"},
    {"numgpus", "gpus"},
    {"ngpus", "gpus"},
    {"ranks", "gpus"},
    {"worldsize", "gpus"},
    {"nproc", "gpus"},
    {"nprocs", "gpus"},
    {"numworkers", "gpus"},
    {"threads", "threads_per_rank"},
    {"numthreads", "threads_per_rank"},
    {"ompnumthreads", "threads_per_rank"},
    {"dtype", "precision"},
    {"numepochs", "epochs"},
    {"nepochs", "epochs"},
    {"maxepochs", "epochs"},
    {"iterations", "epochs"},
    {"warmupepochs", "warmup"},
    {"repeats", "trials"},
    {"repetitions", "trials"},
    {"runs", "trials"},
    {"numtrials", "trials"},
    {"randomseed", "seed"},
    {"randomstate", "seed"},
    {"numlayers", "model.hidden"},
    {"nlayers", "model.hidden"},
    {"hiddendim", "model.hidden"},
    {"hiddensize", "model.hidden"},
    {"hiddenchannels", "model.hidden"},
    {"nhidden", "model.hidden"},
    {"widths", "model.hidden"},
    {"layertype", "model.layers"},
    {"conv", "model.layers"},
    {"numheads", "model.heads"},
    {"nheads", "model.heads"},
    {"norm", "model.normalisation"},
    {"normalization", "model.normalisation"},
    {"nonlinearity", "model.activation"},
    {"learningrate", "train.lr"},
    {"stepsize", "train.lr"},
    {"optim", "train.optimizer"},
    {"optimiser", "train.optimizer"},
    {"wd", "train.weight_decay"},
    {"decay", "train.weight_decay"},
    {"l2", "train.weight_decay"},
    {"dropoutrate", "train.dropout"},
    {"evalevery", "train.evaluate_every"},
    {"timeout", "limits.trial_timeout"},
};

/// "numGPUs", "num-gpus" and "num_gpus" are one word.
std::string folded(std::string_view word) {
    std::string out;
    for (const char c : word)
        if (c != '_' && c != '-') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

}  // namespace

std::span<const KeyElsewhere> keys_elsewhere() { return elsewhere; }

const Field* meant_by(std::string_view word) {
    const auto found = std::ranges::find(elsewhere, folded(word), &KeyElsewhere::elsewhere);
    return found == std::end(elsewhere) ? nullptr : find_field(found->path);
}

bool is_of_an_experiment(const YamlNode& root) {
    if (!root.is(YamlNode::Kind::map)) return false;
    if (root.entries.empty()) return true;
    const std::vector<std::string> known = top_level_keys();
    return std::ranges::any_of(root.entries, [&](const YamlEntry& e) {
        return find_field(e.key) || std::ranges::find(known, e.key) != known.end() ||
               !did_you_mean(e.key, known).empty();
    });
}

std::string flow_text(const YamlNode& node) {
    if (node.scalar()) return node.is(YamlNode::Kind::null) ? "null" : node.text;
    std::string text;
    for (const YamlNode& item : node.items) text += (text.empty() ? "" : ", ") + flow_text(item);
    for (const YamlEntry& e : node.entries)
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", e.key, flow_text(e.value));
    return node.is(YamlNode::Kind::list) ? "[" + text + "]" : "{" + text + "}";
}

}  // namespace gnnbench
