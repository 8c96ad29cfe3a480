#include <fmt/format.h>

#include "spec/claims_file.hpp"
#include "spec/table_keys.hpp"

namespace gnnbench {
namespace {

using nlohmann::ordered_json;

constexpr const char* opening = R"(# The claims of a paper

<!-- Generated: GNNBENCH_REWRITE=1 ctest --test-dir build/release -R unit.spec -->

`claims.yaml` beside a paper's tables lists what the paper claims. `gnnbench claims` judges each claim by what the database
has: `gnnbench claims` counts the verdicts of every paper, `gnnbench claims mg-gcn` lists that paper's claims, with
`--undecided` those that nothing decides yet, and what is missing. `--json` has the cells, commands and commits behind each
verdict. `gnnbench init --paper my-paper` writes a file to begin with.

```yaml
# yaml-language-server: $schema=../../schemas/claims.schema.json
paper: MG-GCN
source: Balın, Sancak and Çatalyürek, MG-GCN, 2021
claims:
  - id: overlap-products
    at: section 6.4, Figure 8
    says: On four V100s overlap makes a distributed SpMM of Products 1.27 times as fast.
    numbers:
      plain: {table: figure-8, row: without overlap, column: SpMM}
      overlapped: {table: figure-8, row: with overlap, column: SpMM}
    value: plain / overlapped
    factor: 1.27
  - id: l2-hits
    at: section 5.2
    says: Permuting lowers the share of L2 hits.
    missing: hardware counters of a GPU
```

A number is a place of a [table](table-reference.md) of the same folder, or several places, in the order of the rows, then of
the columns. What no table has gets a row of one. `value` is an [expression](table-reference.md#conditions) over the numbers'
names, in the metrics' own units (seconds, bytes); where names have several places it has one value for each. A claim may
have several relations, all of which have to hold.

## Verdicts

| verdict | when |
| --- | --- |
| REPRODUCED | every relation holds; a stated number is met `within` its share |
| WITHIN 2× | a number is off by more than that, and by a factor of 2 at most, in the direction that is claimed; of ratios, what they exceed 1 by is compared: 1.1 is a tenth of a claimed speed-up of 2 |
| CONTRADICTED | a relation does not hold, of numbers that are there; others may be missing |
| FITTED | it holds or not, but constants of the simulated machine were fitted to one of its numbers (`fitted_to`) |
| UNDECIDED | a number is missing, or no setting that was run can carry the claim; the reason says which |

A claim is judged twice, by what was measured and by what was simulated, and both are counted. The measured numbers of one
claim are of one profile: `paper`, unless `small` has more of them. Of measured numbers an order or a bound is decided only
where the whole confidence interval agrees, of a quotient those of both sides; simulated numbers have an order where they
differ by more than a thousandth, means over three seeds or more by more than two standard errors of their difference, and
a bound where the value is as far from it: errors of the jackknife, which leaves one seed at a time out of all numbers at
once. These cannot carry a claim, and leave it undecided:

- numbers of another setting than the paper's (`ours ÷ paper` would not stand beside them), unless `settings` has `scaled`;
- times of more ranks × threads than cores, times of different numbers of CPU ranks, which are shares of one machine, and
  times of fewer than three trials;
- cells whose verification failed, or whose counted bytes are not the stated ones;
- numbers that combine several cells of which some have none; a quotient over several graphs is of those that both sides have;
- simulated graphs of another size than the paper's, and models that it does not have or state.

## Keys

)";

}  // namespace

ordered_json claims_schema() {
    ordered_json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                        {"title", "the claims of a paper, for gnnbench"},
                        {"description", "Generated from host/spec/claim_keys.cpp: see docs/claims.md"}};
    schema.update(schema_of("claims"));
    schema["definitions"] = {{"claim", schema_of("claim")}, {"places", schema_of("places")}};
    return schema;
}

std::string claims_reference_page() {
    return opening + key_rows("claims") + "\n## A claim\n\n" + key_rows("claim") + "\n## Its numbers\n\n" +
           key_rows("places");
}

}  // namespace gnnbench
