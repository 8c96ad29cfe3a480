#include "spec/outline.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "spec/outline_defaults.hpp"
#include "spec/outline_keys.hpp"
#include "spec/outline_scaling.hpp"
#include "spec/samples.hpp"

namespace gnnbench {
namespace {

using Kind = YamlNode::Kind;

bool is_at_the_top(const Field& f) { return last_word(f.path) == f.path; }

/// What is said at the top level of a key that has another name here.
std::string here_that_is(const Field& meant) {
    if (is_at_the_top(meant)) return fmt::format("here that is '{}'", meant.path);
    const auto word = last_word(meant.path), section = section_of(meant.path);
    return fmt::format("here that is '{0}' of '{1}'; write {1}: {{{0}: …}}", word, section);
}

/// Reads one file's keys into an outline.
class OutlineReader {
public:
    OutlineReader(const ValueReader& reader, Findings& findings) : reader_(reader), findings_(findings) {}

    Outline read(const YamlNode& root) {
        if (!root.is(Kind::map)) {
            findings_.add(root.place, "",
                          fmt::format("expected an experiment, a mapping with at least dataset and scheme; "
                                      "found {}",
                                      describe_kind(root)));
            return {};
        }
        if (!is_of_an_experiment(root)) {
            findings_.add(
                root.place, "",
                fmt::format("none of its keys is an experiment's; {}", allowed_words("", top_level_keys())));
            return {};
        }
        if (const YamlNode* node = root.find("scaling")) scaling_ = read_scaling(*node, findings_);
        if (scaling_) outline_.scaling = scaling_->axis;
        for (const YamlEntry& e : root.entries)
            if (e.key == "scaling")
                add_strong(e.place);
            else if (e.key == "dataset" && outline_.scaling.weak())
                add_weak(with_samples(e).value);
            else if (e.key != "matrix")
                read_top(with_samples(e));
        for (const YamlEntry& e : root.entries)
            if (e.key == "matrix") read_matrix(e.value);
        fill_in_defaults(outline_, set_, root.place, reader_, findings_);
        return std::move(outline_);
    }

private:
    void add_strong(const Place& place) {
        if (scaling_ && !outline_.scaling.weak())
            add_axis({"gpus", place, scaling_->gpus}, find_field("gpus"), nullptr);
    }

    /// Each dataset, or the only one, in the size of each number of GPUs.
    void add_weak(const YamlNode& given) {
        const Field &gpus = *find_field("gpus"), &dataset = *find_field("dataset");
        Outline::VariedKey varied{{"gpus, dataset", {}, {}}, {}};
        const YamlNode* first = &given;
        const YamlNode* last = first + 1;
        if (given.is(Kind::list)) first = given.items.data(), last = first + given.items.size();
        for (; first != last; ++first)
            for (const YamlNode& count : scaling_->gpus.items) {
                Assignments option = read_field(gpus, count);
                set_.seen.emplace_back(dataset.path);
                std::int64_t times = 0;
                if (option.empty() || !to_integer(count, times)) continue;
                const auto larger = grown(*first, outline_.scaling.per, times, findings_);
                if (!larger) return;
                for (Assignment& a : read_field(dataset, *larger)) option.push_back(std::move(a));
                varied.axis.values.push_back(flow_text(count) + ", " + flow_text(*larger));
                varied.axis.places.push_back(count.place);
                varied.options.push_back(std::move(option));
            }
        claim(gpus, scaling_->gpus.place, "scaling");
        claim(dataset, given.place, "scaling");
        if (!varied.options.empty()) outline_.varied.push_back(std::move(varied));
    }

    void read_top(const YamlEntry& e) {
        if (const Section* section = find_section(e.key)) {
            if (section->varies && e.value.is(Kind::list))
                add_axis(e, nullptr, section);
            else
                add_fixed(read_section(*section, e.value));
        } else if (const Field* field = last_word(e.key) == e.key ? find_field(e.key) : nullptr) {
            if (field->varies && e.value.is(Kind::list))
                add_axis(e, field, nullptr);
            else
                add_fixed(read_field(*field, e.value));
        } else if (find_field(e.key)) {
            findings_.add(e.place, e.key,
                          fmt::format("a key with a dot is for matrix; here, write {}: {{{}: …}}",
                                      section_of(e.key), last_word(e.key)));
        } else {
            const auto allowed = top_level_keys();
            std::string hint = allowed_words(e.key, allowed);
            for (const Field& f : fields())
                if (last_word(f.path) == e.key) hint = fmt::format("it belongs into '{}'", section_of(f.path));
            if (const Field* meant = meant_by(e.key)) hint = here_that_is(*meant);
            findings_.add(e.place, e.key, fmt::format("unknown key; {}", hint));
        }
    }

    Assignments read_field(const Field& field, const YamlNode& node) {
        auto value = reader_.read(field, node, field.path);
        set_.seen.emplace_back(field.path);
        if (!value) return {};
        return {{&field, std::move(*value), node.place}};
    }

    Assignments read_section(const Section& section, const YamlNode& node) {
        Assignments all;
        if (node.is(Kind::null)) return all;  // "train:" with nothing below
        if (section.short_for && node.scalar())
            return read_field(*find_field(fmt::format("{}.{}", section.name, section.short_for)), node);
        if (!node.is(Kind::map)) {
            findings_.add(node.place, section.name,
                          fmt::format("expected a mapping; found {}; {}", describe(node),
                                      allowed_words("", keys_of(section))));
            return all;
        }
        for (const YamlEntry& e : node.entries) {
            const std::string path = fmt::format("{}.{}", section.name, e.key);
            if (const Field* field = find_field(path)) {
                auto one = read_field(*field, e.value);
                all.insert(all.end(), one.begin(), one.end());
            } else {
                std::string hint = allowed_words(e.key, keys_of(section));
                if (const Field* meant = meant_by(e.key)) {
                    if (section_of(meant->path) == section.name)
                        hint = fmt::format("here that is '{}'", last_word(meant->path));
                    else if (is_at_the_top(*meant))
                        hint = fmt::format("here that is '{}' at the top level", meant->path);
                    else
                        hint = here_that_is(*meant);
                }
                findings_.add(e.place, path, fmt::format("unknown key; {}", hint));
            }
        }
        return all;
    }

    void read_matrix(const YamlNode& matrix) {
        if (matrix.is(Kind::null)) return;
        if (!matrix.is(Kind::map)) {
            findings_.add(matrix.place, "matrix",
                          fmt::format("expected a mapping of keys to lists; found {}", describe(matrix)));
            return;
        }
        for (const YamlEntry& e : matrix.entries)
            if (e.key == "zip")
                for_each_map(e, [&](const YamlNode& zip) { add_zip(zip); });
            else if (e.key == "exclude")
                for_each_map(e, [&](const YamlNode& rule) { add_exclusion(rule); });
            else if (e.key == "include")
                for_each_map(e, [&](const YamlNode& rule) { add_inclusion(rule); });
            else if (e.key == "dataset" && outline_.scaling.weak())
                add_weak(with_samples(e).value);
            else
                read_matrix_key(with_samples(e));
    }

    /// A mapping, or a list of mappings.
    template <class Read>
    void for_each_map(const YamlEntry& e, Read read) {
        const YamlNode* first = &e.value;
        const YamlNode* last = first + 1;
        if (e.value.is(Kind::list)) first = e.value.items.data(), last = first + e.value.items.size();
        for (; first != last; ++first) {
            if (first->is(Kind::map) && !first->entries.empty())
                read(*first);
            else if (!first->is(Kind::null))
                findings_.add(first->place, "matrix." + e.key,
                              fmt::format("expected a mapping of keys, or a list of "
                                          "mappings; found {}",
                                          first->is(Kind::map) ? "an empty mapping" : describe(*first)));
        }
    }

    /// Lists of one length that go together: the first values, the second values, …
    void add_zip(const YamlNode& zip) {
        std::vector<Outline::VariedKey> lists;
        for (const YamlEntry& e : zip.entries) {
            const auto key = known_key("matrix.zip.", e);
            if (!key) continue;
            if (!e.value.is(Kind::list)) {
                findings_.add(e.value.place, "matrix.zip." + e.key,
                              fmt::format("expected a list; found {}; what holds for "
                                          "all cells stands outside zip",
                                          describe(e.value)));
                continue;
            }
            if (!lists.empty() && e.value.items.size() != lists[0].options.size()) {
                findings_.add(e.value.place, "matrix.zip." + e.key,
                              fmt::format("zipped lists must have the same length; found {} values, and {} "
                                          "in '{}'",
                                          e.value.items.size(), lists[0].options.size(), lists[0].axis.key));
                continue;
            }
            lists.push_back(varied_key(e, key->field, key->section));
        }
        if (lists.empty()) return;
        Outline::VariedKey whole = std::move(lists[0]);
        for (std::size_t k = 1; k < lists.size(); ++k) {
            whole.axis.key += ", " + lists[k].axis.key;
            const std::size_t both = std::min(whole.options.size(), lists[k].options.size());
            for (std::size_t i = 0; i < both; ++i) {
                whole.axis.values[i] += ", " + lists[k].axis.values[i];
                for (Assignment& a : lists[k].options[i]) whole.options[i].push_back(std::move(a));
            }
        }
        outline_.varied.push_back(std::move(whole));
    }

    void add_exclusion(const YamlNode& rule) {
        Outline::Exclusion exclusion{rule.place, {}, {}, {}, {}};
        for (const YamlEntry& e : rule.entries) {
            if (e.key != "where" && e.key != "reason") {
                add_values(exclusion.values, "matrix.exclude.", e);
                continue;
            }
            if (!e.value.is(Kind::text) || e.value.text.empty()) {
                findings_.add(e.value.place, "matrix.exclude." + e.key,
                              fmt::format("expected {}; found {}",
                                          e.key == "where" ? "an expression over a cell's fields" : "a sentence",
                                          describe(e.value)));
                continue;
            }
            (e.key == "where" ? exclusion.where : exclusion.reason) = e.value.text;
            if (e.key == "where") exclusion.where_place = e.value.place;
        }
        if (exclusion.where.empty() && exclusion.values.empty()) {
            if (rule.entries.size() == 1 && rule.entries[0].key == "reason")
                findings_.add(rule.place, "matrix.exclude",
                              "expected 'where' with an expression, or keys with the values "
                              "to leave out; found a reason only");
            return;
        }
        outline_.excluded.push_back(std::move(exclusion));
    }

    void add_inclusion(const YamlNode& rule) {
        Outline::Inclusion inclusion{rule.place, {}};
        for (const YamlEntry& e : rule.entries) add_values(inclusion.values, "matrix.include.", e);
        if (!inclusion.values.empty()) outline_.included.push_back(std::move(inclusion));
    }

    /// One value of a key, in a rule of `exclude` or `include`.
    void add_values(Assignments& values, const std::string& prefix, const YamlEntry& e) {
        const auto key = known_key(prefix, e);
        if (!key) return;
        // A value in a rule does not count as setting the key.
        const std::size_t seen = set_.seen.size();
        for (Assignment& a :
             key->section ? read_section(*key->section, e.value) : read_field(*key->field, e.value))
            values.push_back(std::move(a));
        set_.seen.resize(seen);
    }

    struct Key {
        const Field* field;
        const Section* section;  ///< one of both
    };
    /// The field that a key of the matrix, or of its rules, names; reports an error if it is not allowed there.
    std::optional<Key> known_key(const std::string& prefix, const YamlEntry& e) {
        const std::string path = prefix + e.key;
        const Section* section = find_section(e.key);
        const Field* field = find_field(e.key);
        if ((section && !section->varies) || (field && !field->varies)) {
            findings_.add(e.place, path,
                          fmt::format("this key cannot vary within an experiment; write '{}' outside "
                                      "matrix",
                                      e.key));
            return {};
        }
        if (section || field) return Key{field, section};
        std::string hint = allowed_words(e.key, matrix_keys());
        for (const Field& f : fields())
            if (f.varies && last_word(f.path) == e.key) hint = fmt::format("write '{}'", f.path);
        if (const Field* meant = meant_by(last_word(e.key)); meant && meant->varies)
            hint = fmt::format("here that is '{}'", meant->path);
        findings_.add(e.place, path, fmt::format("unknown key; {}", hint));
        return {};
    }

    void read_matrix_key(const YamlEntry& e) {
        const auto key = known_key("matrix.", e);
        if (!key) return;
        if (e.value.is(Kind::list))
            add_axis(e, key->field, key->section);
        else
            add_fixed(key->section ? read_section(*key->section, e.value) : read_field(*key->field, e.value));
    }

    void add_axis(const YamlEntry& e, const Field* field, const Section* section) {
        outline_.varied.push_back(varied_key(e, field, section));
    }

    Outline::VariedKey varied_key(const YamlEntry& e, const Field* field, const Section* section) {
        Outline::VariedKey varied{{e.key, {}, {}}, {}};
        if (e.value.items.empty())
            findings_.add(e.value.place, e.key, "an empty list gives no cell; list at least one value");
        std::vector<const Field*> set;
        for (const YamlNode& item : e.value.items) {
            if (field && field->type == FieldType::widths && !item.is(Kind::list)) {
                findings_.add(item.place, e.key,
                              fmt::format("each entry is one model's list of widths; found {}; write "
                                          "[[64, 32]] for one model, [[64], [32]] for two",
                                          describe(item)));
                continue;
            }
            varied.axis.values.push_back(flow_text(item));
            varied.axis.places.push_back(item.place);
            varied.options.push_back(section ? read_section(*section, item) : read_field(*field, item));
            for (const Assignment& a : varied.options.back())
                if (std::find(set.begin(), set.end(), a.field) == set.end()) set.push_back(a.field);
        }
        for (const Field* f : set) claim(*f, e.value.place, "matrix");
        return varied;
    }

    void add_fixed(Assignments all) {
        for (Assignment& a : all) {
            claim(*a.field, a.place, to_text(a.place));
            outline_.fixed.push_back(std::move(a));
        }
    }

    /// Reports keys that are set in two places.
    void claim(const Field& field, const Place& place, const std::string& origin) {
        const auto [other, first] = set_.claimed.emplace(field.path, place);
        if (!first) {
            findings_.add(place, field.path,
                          fmt::format("given twice: also at {}; remove one", to_text(other->second)));
        }
        outline_.origins[field.path] = origin;
    }

    const ValueReader& reader_;
    Findings& findings_;
    Outline outline_;
    std::optional<ScalingKey> scaling_;
    SetKeys set_;
};

}  // namespace

Outline read_outline(const YamlNode& root, const ValueReader& reader, Findings& findings) {
    return OutlineReader(reader, findings).read(root);
}

}  // namespace gnnbench
