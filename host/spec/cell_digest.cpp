#include <algorithm>
#include <bit>
#include <map>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "spec/cell_json.hpp"

namespace gnnbench {

using nlohmann::json;

namespace {

/// Writes a cell's identity without what is only shown, as nlohmann's dump() would, without building it first: a plan of
/// 10,000 cells takes 30,000 digests.
class IdentityText {
public:
    explicit IdentityText(const Cell& c) {
        text_.reserve(2048);
        std::string_view open;
        for (const Field* f : identity_fields()) {
            if (is_left_out(*f, c)) continue;
            const std::string_view path = f->path;
            const std::string_view group = path.find('.') == path.npos ? std::string_view() : section_of(path);
            if (group != open) {
                if (!open.empty()) text_ += '}';
                if (!group.empty()) begin(group);
                open = group;
            }
            std::visit([&](const auto& value) { member(f->key(), value); }, f->access.of_cell(c));
        }
        if (!open.empty()) text_ += '}';
        text_ += '}';
    }
    const std::string& text() const { return text_; }

private:
    void key(std::string_view name) {
        text_ += text_.back() == '{' ? "\"" : ",\"";
        text_ += name;
        text_ += "\":";
    }
    void begin(std::string_view name) {
        key(name);
        text_ += '{';
    }
    void member(std::string_view name, bool value) {
        key(name);
        text_ += value ? "true" : "false";
    }
    void member(std::string_view name, std::int64_t value) {
        key(name);
        text_ += std::to_string(value);
    }
    void member(std::string_view name, double value) {
        key(name);
        number(value);
    }
    void member(std::string_view name, std::string_view value) {
        key(name);
        string(value);
    }
    void member(std::string_view name, const std::vector<std::int64_t>* values) {
        key(name);
        list(*values, [this](std::int64_t v) { text_ += std::to_string(v); });
    }
    void member(std::string_view name, const std::vector<double>* values) {
        key(name);
        list(*values, [this](double v) { number(v); });
    }
    void member(std::string_view name, const DatasetChoice* d) {
        begin(name);
        member("digest", std::string_view(d->digest));
        if (d->digest.empty()) {
            key("source");
            text_ += d->source.text();
        }
        member("split", std::int64_t{d->split});
        text_ += '}';
    }
    void member(std::string_view name, const PluginChoice* p) {
        begin(name);
        if (!p->approximation.empty()) member("approximation", std::string_view(p->approximation));
        if (p->is_program()) {
            key("command");
            text_ += json(p->command).dump();
        }
        member("name", std::string_view(p->name));
        begin("params");
        for (const auto& [param, value] : p->params.values())
            std::visit([&, n = std::string_view(param)](const auto& v) { parameter(n, v); }, value);
        text_ += '}';
        member("version", std::string_view(p->version));
        text_ += '}';
    }
    void member(std::string_view name, const Slowdown* s) {
        begin(name);
        key("factors");
        text_ += json(s->factor).dump();
        member("jitter", s->jitter);
        if (s->lasts_s > 0) member("lasts", s->lasts_s);
        if (s->spread > 0) member("spread", s->spread);
        text_ += '}';
    }
    template <class T>
    void parameter(std::string_view name, const T& value) {
        if constexpr (std::is_same_v<T, std::string>)
            member(name, std::string_view(value));
        else
            member(name, value);
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

    std::string text_ = "{";
};

}  // namespace

std::string cell_digest(const Cell& cell) {
    const IdentityText identity(cell);
    const XXH128_hash_t h = XXH3_128bits(identity.text().data(), identity.text().size());
    return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

}  // namespace gnnbench
