#include "spec/cell.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <map>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "data/options.hpp"
#include "spec/words.hpp"

namespace gnnbench {

using nlohmann::json;

namespace {

template <class E, std::size_t n>
const char* word(const std::array<const char*, n>& all, E e) {
    return all.at(usize(e));
}

bool is_natural_order(std::string_view name, const ParamValue& value) {
    return name == "order" && value == ParamValue(std::string("natural"));
}

/// As identities have them: a partitioner's `order` is there only where it is another than the natural one, which was
/// the only one before there were orders.
json identity_params(const Params& params) {
    json j = to_json(params);
    if (const auto order = params.values().find("order");
        order != params.values().end() && is_natural_order(order->first, order->second))
        j.erase("order");
    return j;
}

json plugin_json(const PluginChoice& p) {
    json j{{"name", p.name}, {"version", p.version}, {"params", identity_params(p.params)}, {"label", p.label}};
    if (p.is_program()) j["command"] = p.command;
    if (!p.approximation.empty()) j["approximation"] = p.approximation;
    return j;
}

json model_json(const ModelSpec& m) {
    json j{{"layers", word(words::layers, m.kind)},
           {"widths", m.widths},
           {"activation", word(words::activation, m.activation)},
           {"normalisation", word(words::normalisation, m.normalisation)},
           {"feature_normalisation", word(words::feature_normalisation, m.feature_normalisation)},
           {"self_loops", m.self_loops},
           {"bias", m.bias},
           {"initialiser", word(words::initialiser, m.initialiser)},
           {"aggregate_input", m.aggregate_input}};
    if (m.kind == LayerKind::gin) j["epsilon"] = m.epsilon;
    if (m.sparse_features) j["sparse_features"] = true;
    return j;
}

json train_json(const Cell& c) {
    const TrainSpec& t = c.train;
    return {{"optimizer", word(words::optimizer, t.optimizer)},
            {"lr", t.learning_rate},
            {"beta1", t.beta1},
            {"beta2", t.beta2},
            {"epsilon", t.epsilon},
            {"weight_decay", t.weight_decay},
            {"input_dropout", t.input_dropout},
            {"dropout", t.dropout},
            {"evaluate_every", c.evaluate_every},
            {"patience", c.patience},
            {"initial_weights", c.initial_weights}};
}

json slowdown_json(const Slowdown& s) {
    if (!s.declared()) return slowdown_text(s);
    return {{"factors", s.factor}, {"jitter", s.jitter}, {"label", slowdown_text(s)}};
}

/// An object that must be read key by key: nothing missing, nothing of another type, nothing left.
class Object {
public:
    Object(const json& j, std::string name) : j_(j), name_(std::move(name)) {
        if (!j.is_object())
            throw SpecError(fmt::format("cell: expected an object as {}; found {}", name_, j.dump()));
    }
    const json& at(const char* key) {
        const auto found = j_.find(key);
        if (found == j_.end())
            throw SpecError(
                fmt::format("cell: {} has no '{}'; it was written by another version "
                            "of this program",
                            name_, key));
        ++read_;
        return *found;
    }
    bool has(const char* key) const { return j_.contains(key); }
    template <class T>
    void into(const char* key, T& out) {
        const json& value = at(key);
        try {
            value.get_to(out);
        } catch (const json::exception&) {
            throw SpecError(fmt::format("cell: {}.{} has an unexpected type: {}", name_, key, value.dump()));
        }
    }
    template <class E, std::size_t n>
    void into(const char* key, const std::array<const char*, n>& all, E& out) {
        std::string text;
        into(key, text);
        const int i = words::index_of(all, text);
        if (i < 0)
            throw SpecError(fmt::format("cell: {}.{} is '{}', which is none of its words", name_, key, text));
        out = static_cast<E>(i);
    }
    void done() const {
        if (j_.size() != read_)
            throw SpecError(fmt::format("cell: {} has keys this version does not know: {}", name_, j_.dump()));
    }

private:
    const json& j_;
    std::string name_;
    std::size_t read_ = 0;
};

/// Parameters carry their types in JSON: no declaration is needed to read them.
Params params_from(const json& j, const std::string& owner) {
    if (!j.is_object())
        throw SpecError(fmt::format("cell: expected an object as {}.params; found {}", owner, j.dump()));
    Params params;
    for (const auto& [key, value] : j.items()) {
        ParamDecl d{key.c_str(), ParamType::text, "", -1e300, 1e300, nullptr, ""};
        std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        if (value.is_boolean())
            d.type = ParamType::boolean;
        else if (value.is_number_integer())
            d.type = ParamType::integer;
        else if (value.is_number_float())
            d.type = ParamType::real;
        else if (!value.is_string())
            throw SpecError(fmt::format("cell: {}.params.{} has an unexpected type: {}", owner, key, text));
        params.set(d, text);
    }
    return params;
}

PluginChoice plugin_from(const json& j, const char* name) {
    Object o(j, name);
    PluginChoice p;
    o.into("name", p.name);
    o.into("version", p.version);
    p.params = params_from(o.at("params"), name);
    o.into("label", p.label);
    if (o.has("command")) {
        o.into("command", p.command);
        o.into("program", p.program);
    }
    if (o.has("approximation")) o.into("approximation", p.approximation);
    o.done();
    return p;
}

void read_model(const json& j, ModelSpec& m) {
    Object o(j, "model");
    o.into("layers", words::layers, m.kind);
    if (m.kind == LayerKind::gin) o.into("epsilon", m.epsilon);
    o.into("widths", m.widths);
    o.into("activation", words::activation, m.activation);
    o.into("normalisation", words::normalisation, m.normalisation);
    o.into("feature_normalisation", words::feature_normalisation, m.feature_normalisation);
    o.into("self_loops", m.self_loops);
    o.into("bias", m.bias);
    o.into("initialiser", words::initialiser, m.initialiser);
    o.into("aggregate_input", m.aggregate_input);
    if (o.has("sparse_features")) o.into("sparse_features", m.sparse_features);
    o.done();
}

void read_train(const json& j, Cell& c) {
    Object o(j, "train");
    o.into("optimizer", words::optimizer, c.train.optimizer);
    o.into("lr", c.train.learning_rate);
    o.into("beta1", c.train.beta1);
    o.into("beta2", c.train.beta2);
    o.into("epsilon", c.train.epsilon);
    o.into("weight_decay", c.train.weight_decay);
    o.into("input_dropout", c.train.input_dropout);
    o.into("dropout", c.train.dropout);
    o.into("evaluate_every", c.evaluate_every);
    o.into("patience", c.patience);
    o.into("initial_weights", c.initial_weights);
    o.done();
}

void read_slowdown(const json& j, Slowdown& s) {
    Object o(j, "slowdown");
    o.into("factors", s.factor);
    o.into("jitter", s.jitter);
    o.at("label");
    o.done();
}

void read_dataset(const json& j, DatasetChoice& d) {
    Object o(j, "dataset");
    d.source = json(o.at("source"));
    o.into("split", d.split);
    o.into("name", d.name);
    o.into("digest", d.digest);
    o.into("store", d.store);
    o.done();
}

}  // namespace

std::string slowdown_text(const Slowdown& s) {
    if (!s.declared()) return "none";
    std::string text;
    for (const auto& [rank, factor] : s.factor)
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", rank, factor);
    if (s.jitter > 0) text += fmt::format("{}jitter: {}", text.empty() ? "" : ", ", s.jitter);
    return "{" + text + "}";
}

std::string device_of(const Cell& cell) { return cell.kernel.name == "cuda" ? "cuda" : "cpu"; }

std::string program_approximation(const Cell& cell) {
    if (!cell.scheme.approximation.empty()) return cell.scheme.approximation;
    const bool drops = cell.train.dropout > 0 || cell.train.input_dropout > 0;
    return drops ? "a program draws different dropout masks" : "";
}

json identity_part(const Cell& c, std::string_view key) {
    if (key == "dataset")
        return {{"source", *c.dataset.source},
                {"split", c.dataset.split},
                {"name", c.dataset.name},
                {"digest", c.dataset.digest}};
    if (key == "model") return model_json(c.model);
    if (key == "train") return train_json(c);
    if (key == "scheme") return plugin_json(c.scheme);
    if (key == "partitioner") return plugin_json(c.partitioner);
    if (key == "kernel") return plugin_json(c.kernel);
    if (key == "gpus") return c.gpus;
    if (key == "threads_per_rank") return c.threads_per_rank;
    if (key == "precision") return c.precision;
    if (key == "epochs") return c.epochs;
    if (key == "warmup") return c.warmup;
    if (key == "seed") return c.train.seed;
    if (key == "separate_wait") return c.separate_wait;
    if (key == "slowdown") return slowdown_json(c.slowdown);
    throw LogicError(fmt::format("a cell has no part '{}'", key));
}

json to_json(const Cell& c, JsonFor use) {
    json j;
    for (const char* key : identity_keys) j[key] = identity_part(c, key);
    if (!c.slowdown.declared()) j.erase("slowdown");
    if (use == JsonFor::worker) {
        j["dataset"]["store"] = c.dataset.store;
        if (c.scheme.is_program()) j["scheme"]["program"] = c.scheme.program;
    }
    return j;
}

Cell cell_from_json(const json& j) {
    Object o(j, "the cell");
    Cell c;
    read_dataset(o.at("dataset"), c.dataset);
    read_model(o.at("model"), c.model);
    read_train(o.at("train"), c);
    c.scheme = plugin_from(o.at("scheme"), "scheme");
    c.partitioner = plugin_from(o.at("partitioner"), "partitioner");
    c.kernel = plugin_from(o.at("kernel"), "kernel");
    o.into("gpus", c.gpus);
    o.into("threads_per_rank", c.threads_per_rank);
    o.into("precision", c.precision);
    o.into("epochs", c.epochs);
    o.into("warmup", c.warmup);
    o.into("seed", c.train.seed);
    o.into("separate_wait", c.separate_wait);
    if (o.has("slowdown")) read_slowdown(o.at("slowdown"), c.slowdown);
    o.done();
    return c;
}

namespace {

/// Writes JSON as nlohmann's dump() does, without building it first: a plan of 10,000 cells takes 30,000 digests.
class IdentityText {
public:
    explicit IdentityText(const Cell& c) {
        text_.reserve(2048);
        const ModelSpec& m = c.model;
        const TrainSpec& t = c.train;
        open("dataset");
        member("digest", c.dataset.digest);
        if (c.dataset.digest.empty()) {
            key("source");
            text_ += c.dataset.source.text();
        }
        member("split", c.dataset.split);
        close();
        member("epochs", c.epochs);
        member("gpus", c.gpus);
        plugin("kernel", c.kernel);
        open("model");
        member("activation", word(words::activation, m.activation));
        // As databases before API 5 have it: off was "default". Schemes whose default was another have another version.
        member("aggregate_input", m.aggregate_input ? "true" : "default");
        member("bias", m.bias);
        if (m.kind == LayerKind::gin) member("epsilon", m.epsilon);
        member("feature_normalisation", word(words::feature_normalisation, m.feature_normalisation));
        member("initialiser", word(words::initialiser, m.initialiser));
        member("layers", word(words::layers, m.kind));
        member("normalisation", word(words::normalisation, m.normalisation));
        member("self_loops", m.self_loops);
        if (m.sparse_features) member("sparse_features", true);
        member("widths", m.widths);
        close();
        plugin("partitioner", c.partitioner);
        member("precision", c.precision);
        plugin("scheme", c.scheme);
        member("seed", t.seed);
        member("separate_wait", c.separate_wait);
        if (c.slowdown.declared()) {
            open("slowdown");
            member("factors", c.slowdown.factor);
            member("jitter", c.slowdown.jitter);
            close();
        }
        member("threads_per_rank", c.threads_per_rank);
        open("train");
        member("beta1", t.beta1);
        member("beta2", t.beta2);
        member("dropout", t.dropout);
        member("epsilon", t.epsilon);
        member("evaluate_every", c.evaluate_every);
        member("initial_weights", c.initial_weights);
        member("input_dropout", t.input_dropout);
        member("lr", t.learning_rate);
        member("optimizer", word(words::optimizer, t.optimizer));
        member("patience", c.patience);
        member("weight_decay", t.weight_decay);
        close();
        member("warmup", c.warmup);
        text_ += '}';
    }
    const std::string& text() const { return text_; }

private:
    void key(std::string_view name) {
        text_ += text_.back() == '{' ? "\"" : ",\"";
        text_ += name;
        text_ += "\":";
    }
    void open(const char* name) {
        key(name);
        text_ += '{';
    }
    void close() { text_ += '}'; }
    template <class T>
    void member(std::string_view name, const T& value) {
        key(name);
        if constexpr (std::is_same_v<T, bool>)
            text_ += value ? "true" : "false";
        else if constexpr (std::is_integral_v<T>)
            text_ += std::to_string(value);
        else if constexpr (std::is_same_v<T, std::string> || std::is_convertible_v<const T&, const char*>)
            string(value);
        else if constexpr (std::is_same_v<T, double>)
            number(value);
        else if constexpr (std::is_same_v<T, std::vector<double>>)
            list(value, [this](double v) { number(v); });
        else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>)
            list(value, [this](std::int64_t v) { text_ += std::to_string(v); });
        else
            text_ += json(value).dump();
    }
    template <class T, class Write>
    void list(const std::vector<T>& values, Write&& write) {
        text_ += '[';
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (i > 0) text_ += ',';
            write(values[i]);
        }
        text_ += ']';
    }
    void string(std::string_view value) {
        const bool plain =
            std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
        if (!plain) {
            text_ += json(value).dump();
            return;
        }
        text_ += '"';
        text_ += value;
        text_ += '"';
    }
    /// dump() spends a microsecond on a number; cells share most of theirs.
    void number(double value) {
        thread_local std::map<std::uint64_t, std::string> known;
        if (known.size() > 1024) known.clear();
        auto [entry, fresh] = known.try_emplace(std::bit_cast<std::uint64_t>(value));
        if (fresh) entry->second = json(value).dump();
        text_ += entry->second;
    }
    /// As identities have them: see identity_params.
    void params(const Params& params) {
        open("params");
        for (const auto& [name, value] : params.values()) {
            if (is_natural_order(name, value)) continue;
            std::visit([&](const auto& v) { member(name, v); }, value);
        }
        close();
    }
    void plugin(const char* name, const PluginChoice& p) {
        open(name);
        if (!p.approximation.empty()) member("approximation", p.approximation);
        if (p.is_program()) member("command", p.command);
        member("name", p.name);
        params(p.params);
        member("version", p.version);
        close();
    }

    std::string text_ = "{";
};

}  // namespace

std::string cell_digest(const Cell& cell) {
    const IdentityText identity(cell);
    const XXH128_hash_t h = XXH3_128bits(identity.text().data(), identity.text().size());
    return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

}  // namespace gnnbench
