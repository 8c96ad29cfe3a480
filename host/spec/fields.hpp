#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spec/cell.hpp"
#include "spec/launcher_choice.hpp"

namespace gnnbench {

/// An experiment while it is read: what every cell shares, and the cell that the matrix varies.
struct Draft {
    std::string name, description;
    std::int64_t trials = 0;
    Limits limits;
    LauncherChoice launcher;
    Cell cell;
    bool threads_given = false, epochs_given = false, input_dropout_given = false;
    /// Whether the model's normalisation and self-loops are given; their defaults depend on the kind of its layers.
    bool normalisation_given = false, self_loops_given = false;
};

/// What a key's value may be. `word` is one of a few; `texts` is a list of
/// texts, `widths` one of integers; `per_layer` is a number or a list of numbers, `count_per_layer` the same of integers; `slowdown` is a mapping from ranks to
/// factors; the last four are names or mappings.
enum class FieldType {
    boolean,
    integer,
    real,
    text,
    texts,
    folder,
    word,
    widths,
    per_layer,
    count_per_layer,
    slowdown,
    dataset,
    strategy,
    partitioner,
    kernel
};
using FieldValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                 std::vector<std::string>, Slowdown, DatasetChoice, PluginChoice>;
/// The same where it stands in a cell, which outlives it: a plan of 10,000 cells asks for a million of them.
using FieldRef =
    std::variant<bool, std::int64_t, double, std::string_view, const std::vector<std::int64_t>*,
                 const std::vector<double>*, const Slowdown*, const DatasetChoice*, const PluginChoice*>;
FieldValue copied(const FieldRef& ref);

/// What a key is part of: the experiment alone; a cell's identity; that, and what a verification is good for.
enum class PartOf : std::uint8_t { experiment, identity, verification };

/// Where the value of a key is kept.
struct Access {
    PartOf part_of;
    void (*assign)(Draft&, const FieldValue&);
    FieldRef (*of_cell)(const Cell&);  ///< nullptr: it is no part of a cell
    bool Draft::* given = nullptr;     ///< which `assign` sets, where the default depends on other keys
};

/// The numbers a key allows. The bounds themselves are allowed unless open.
struct Range {
    double minimum = -std::numeric_limits<double>::infinity();
    double maximum = std::numeric_limits<double>::infinity();
    bool open_minimum = false, open_maximum = false;
    bool contains(double v) const;
};

/// One key of an experiment file. Reading, the JSON Schema, the reference page, a cell's JSON, its digest and the key of
/// its verification all come from this.
struct Field {
    const char* path;  ///< "epochs", "train.lr"
    FieldType type;
    const char* fallback;  ///< the default, as YAML; nullptr: required or computed
    const char* computed;  ///< the default in words; nullptr: `fallback` or required. With `fallback`,
                           ///< what that becomes in cells whose other keys say so
    bool varies;           ///< may be an axis of the matrix
    Range range;           ///< of numbers
    std::span<const char* const> words;  ///< of FieldType::word
    const char* help;                    ///< one sentence without a full stop
    Access access;
    const char* json_key = nullptr;  ///< in a cell's JSON, where it is another than the path's last word
    /// In a cell's JSON and digest only where it is not the default: cells from before there was the key stay the same.
    bool is_later = false;

    bool required() const { return !fallback && !computed; }
    void assign(Draft& draft, const FieldValue& value) const { access.assign(draft, value); }
    /// "widths" of "model.hidden"
    std::string_view key() const;
};

/// A mapping of keys at the top level: "model", "train", "limits".
struct Section {
    const char* name;
    bool varies;
    const char* help;
    const char* short_for = nullptr;  ///< the key that a single word sets: `launcher: srun`
};

std::span<const Field> fields();
std::span<const Section> sections();
/// Keys of `matrix` that are not fields: zip, exclude, include.
std::span<const char* const> matrix_rules();
/// Keys of the top level that are not fields: imports, profiles, profile.
std::span<const char* const> file_keys();

/// nullptr if there is no such key.
const Field* find_field(std::string_view path);

/// A name by which expressions and tables choose cells (see record/cell_filter.hpp).
struct ChoosableField {
    std::string name, help;
};
/// All but the parameters of plugins and datasets, which are named after what has them: scheme.overlap.
std::vector<ChoosableField> choosable_fields();
bool is_choosable(std::string_view name);
const Section* find_section(std::string_view name);
/// "a number between 0 and 1 (1 excluded)", "one of: relu, sigmoid".
std::string expectation(const Field& field);
/// "relu" of "model.relu"; the section, "model"; both whole where there is no dot.
std::string_view last_word(std::string_view path);
std::string_view section_of(std::string_view path);

}  // namespace gnnbench
