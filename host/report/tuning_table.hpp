#pragma once
#include <span>
#include <string>
#include <vector>

#include "record/time_parts.hpp"
#include "report/format.hpp"

namespace gnnbench {

/// A candidate that `gnnbench tune` has predicted, or that runs out of memory.
struct TunedCell {
    std::string dataset, scheme, scheme_name, partitioner;  ///< the scheme with its parameters, and without
    std::string others = {};    ///< what else tells cells of one dataset apart: "hidden 64,64"; mostly empty
    std::string status = "ok";  ///< else "OOM", "failed" …
    double epoch_s = 0;
    TimeParts parts = {};
    double sent_bytes_per_rank = 0, peak_memory_bytes = 0;  ///< of an epoch; of the rank that has the most
};

struct Tuning {
    std::string machine;
    int gpus = 1;
    std::vector<TunedCell> cells;
    /// "scheme cagnet-3d: needs a cubic number of ranks (1, 8, 27 …); 6 given", once for each scheme and reason.
    std::vector<std::string> not_predicted;
};

/// Cells of each dataset and setting by predicted time, those without one last; `top` of each (0: all) in the formats for people,
/// which also say what the fastest cell of each other scheme loses.
std::string render_tuning(const Tuning& tuning, std::size_t top, OutputFormat format);
/// "SpMM +1.2 ms, communication −0.3 ms": what makes `other` slower than `best`, the largest first; what is less than a
/// twentieth of the largest is left out.
std::string difference_text(const TimeParts& other, const TimeParts& best);

}  // namespace gnnbench
