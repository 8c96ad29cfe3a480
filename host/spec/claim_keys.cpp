// What a file of claims may contain.
#include <array>

#include "spec/table_keys.hpp"

namespace gnnbench {
namespace {

using KeyType = TableKeyType;
using Words = std::span<const char* const>;

constexpr std::array over_values{"each", "mean", "geometric_mean", "median", "minimum", "maximum"};
constexpr std::array open_fields{"model.hidden", "gpus"};
constexpr std::array settings{"paper", "scaled", "simulated"};

constexpr std::array all_keys{
    TableKey{"claims", "paper", KeyType::text, {}, true, "Its short name, as tables have it"},
    TableKey{"claims", "source", KeyType::text, {}, true, "The paper: authors, title, year"},
    TableKey{"claims", "claims", KeyType::claims, {}, true, "In the order of the text"},

    TableKey{
        "claim", "id", KeyType::text, {}, true, "Its name, unique in the file: small letters, digits, hyphens"},
    TableKey{"claim", "at", KeyType::text, {}, true, "Where the paper says it: every place"},
    TableKey{"claim", "says", KeyType::text, {}, true, "What it says, in one sentence of one's own"},
    TableKey{
        "claim", "numbers", KeyType::places, {}, false, "The numbers that are compared, by names of one's own"},
    TableKey{"claim",
             "value",
             KeyType::text,
             {},
             false,
             "An expression over these names, in SQL, such as `plain / overlapped`; of several places one value "
             "for each"},
    TableKey{"claim", "over", KeyType::word, Words(over_values), false,
             "How several values are combined; default: each, which judges each of them"},
    TableKey{"claim", "is", KeyType::real, {}, false, "What the value is, in the metric's own unit"},
    TableKey{"claim",
             "factor",
             KeyType::real,
             {},
             false,
             "What the value, a ratio, is: a value on the other side of 1 contradicts it, however near"},
    TableKey{"claim", "at_least", KeyType::real, {}, false, "The least that the value is"},
    TableKey{"claim", "at_most", KeyType::real, {}, false, "The most that the value is"},
    TableKey{"claim",
             "within",
             KeyType::share,
             {},
             false,
             "By which share `is`, `factor` and `matches` may be missed; default: 0.1"},
    TableKey{"claim",
             "matches",
             KeyType::text,
             {},
             false,
             "Numbers that are those which the paper gives for their places"},
    TableKey{
        "claim", "order", KeyType::texts, {}, false, "Numbers from the lowest to the highest, place by place"},
    TableKey{
        "claim", "rises", KeyType::text, {}, false, "Numbers that grow from each of their places to the next"},
    TableKey{
        "claim", "falls", KeyType::text, {}, false, "Numbers that fall from each of their places to the next"},
    TableKey{"claim", "runs", KeyType::text, {}, false, "Numbers whose trials end well: what they train fits"},
    TableKey{"claim", "out_of_memory", KeyType::text, {}, false, "Numbers whose trials run out of memory"},
    TableKey{"claim", "settings", KeyType::words, Words(settings), false,
             "The settings that can carry it; default: paper and simulated"},
    TableKey{"claim", "unstated", KeyType::words, Words(open_fields), false,
             "Fields that the paper leaves open: numbers with any value of ours can carry the claim, which is "
             "shown. For ratios and orders: a time by itself depends on them"},
    TableKey{"claim", "caution", KeyType::text, {}, false, "What readers of its verdict must know"},
    TableKey{"claim",
             "contradicts",
             KeyType::text,
             {},
             false,
             "How the paper contradicts itself; its tables are judged"},
    TableKey{"claim",
             "missing",
             KeyType::text,
             {},
             false,
             "Why it is not judged: the data, the device or the term of the model that is missing"},

    TableKey{"places", "table", KeyType::text, {}, true, "A table or figure of this folder, by its file's stem"},
    TableKey{"places", "row", KeyType::texts, {}, true, "Its row, or several, by their names"},
    TableKey{"places", "column", KeyType::texts, {}, true, "Its column, or several"},
};

}  // namespace

std::span<const TableKey> claim_keys() { return all_keys; }

}  // namespace gnnbench
